"""Values and states: what is asked, of whom, and what came back. Immutable, without behaviour."""

import datetime
import zoneinfo
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = Any  # None | bool | int | float | str | list | dict, as RFC 8259 has it
SUPERSEDED = "superseded"  # the reason of a question that was withdrawn because it changed
# Why an answer that was accepted has not reached its agent, and cannot any more.
CHANGED = "The question has changed since it was answered, so the answer was not passed on."
GONE = "The agent no longer waits for this question: its thread moved on without the answer."
# Why an answer that was accepted waits.
NOT_YET = "The agent takes this answer once what it asks first is answered."


class InteractionStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class DeliveryStatus(StrEnum):
    QUEUED = "queued"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"
    UNKNOWN = "unknown"  # sent without a known result


class QuestionKind(StrEnum):
    TEXT = "text"
    CONFIRM = "confirm"
    CHOICE = "choice"
    CHOICES = "choices"
    NUMBER = "number"
    DATE = "date"
    REVIEW = "review"


class Written(StrEnum):
    """How the text that answers a question is meant."""

    AS_IT_IS = ""
    LINES = "lines"  # a list of texts, one on each line, or as JSON
    JSON = "json"


class OnExpire(StrEnum):
    AUTO = "auto"  # what the dialect of the payload promises
    NO_RESPONSE = "no-response"  # the same, and the plain text "No response" where there is no promise
    DEFAULT = "default"  # a value that the asker set
    CANCEL = "cancel"  # cancel the run
    LEAVE = "leave"  # stays pending, marked overdue, still answerable


class MessageKind(StrEnum):
    QUESTION = "question"
    REMINDER = "reminder"
    OUTCOME = "outcome"  # the edited copy, or a short message where editing is not possible
    CONVERSATION = "conversation"  # "which one?", "not clear", "already answered" and the like
    NOTICE = "notice"  # asks nothing: "going on", the outcome of a run, POST /v1/notices


class StandsIn(StrEnum):
    """Who answers in place of a person; the word begins what `answered_by` says of them ("stand-in:llm")."""

    NOBODY = ""
    PROGRAM = "stand-in"
    TERMINAL = "terminal"  # whoever sits at it


class OnError(StrEnum):
    """What follows when a stand-in fails."""

    RETRY = "retry"  # it is asked again later, and whoever is next beside it
    NEXT = "next"  # whoever is next is asked
    FAIL = "fail"  # nobody is: the question ends


class Outcome(StrEnum):
    """What became of a reply."""

    ACCEPTED = "accepted"
    ASKED_AGAIN = "asked again"
    WHICH_ONE = "which one"
    ALREADY_ANSWERED = "already answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    NOT_ALLOWED = "not allowed"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    COMMAND = "command"
    LINKED = "linked"
    NOTED = "noted"  # one of several questions is answered; the last one decides
    FAILED = "failed"  # matching raised: stored with its error, can be replayed


@dataclass(frozen=True, slots=True)
class Choice:
    """One button or option: `id` reaches the agent, `label` is what the person sees."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Action:
    """A call that an agent wants to make: shown from the call itself, never from what the agent says."""

    name: str
    args: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: one of 1..n in an interaction.

    The canonical value of its answer, by kind: text `str` · confirm `bool` · choice the id `str` ·
    choices list of ids · number `int | float` · date ISO 8601 `str` ·
    review `{"decision": "approve" | "edit" | "reject" | "respond", "args"?: object, "message"?: str}`.
    """

    id: str
    text: str
    kind: QuestionKind = QuestionKind.TEXT
    choices: tuple[Choice, ...] = ()
    free_text: bool = False  # a choice question that also takes a text of the person's own
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False  # numbers: integers only
    action: Action | None = None
    decisions: tuple[str, ...] = ()  # review: what is allowed, of approve, edit, reject, respond
    # What the value has to fit beyond its kind, as JSON Schema, without references out of it: a text as it is
    # `written`, the list of chosen ids, the changed arguments of a review. None: its kind says it all.
    demands: Json = None
    written: Written = Written.AS_IT_IS
    files: bool = True  # False: whoever asks gets the value alone, without the files that came with it


@dataclass(frozen=True, slots=True)
class Address:
    """Where one person is reached: `external_id` may answer, `place` is where messages go."""

    provider: str
    external_id: str
    place: str
    contact: str = ""  # the contact's id; "" for nobody in particular
    id: str = ""
    last_inbound_at: int | None = None  # when its owner last wrote from there; None: never, or not known
    unreachable: str = ""  # why nothing arrives there; "" when nobody knows of a reason

    @property
    def reachable(self) -> bool:
        """False: a message there failed for good, and its owner has not written since."""
        return not self.unreachable


@dataclass(frozen=True, slots=True)
class Contact:
    """A person. `language` is a BCP 47 tag, `timezone` an IANA name."""

    id: str
    name: str
    language: str = "en"
    timezone: str = "UTC"
    quiet_hours: str = ""
    addresses: tuple[Address, ...] = ()
    quiet_until: int = 0  # microseconds since the epoch: what can wait does so until then

    @property
    def zone(self) -> datetime.tzinfo:
        return zoneinfo.ZoneInfo(self.timezone)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a reply, by reference; `Provider.fetch` brings its bytes. `size` is in bytes.

    With an answer, `provider` is where it can be fetched, and `href` the path of the HTTP API that does so.
    """

    id: str
    name: str = ""
    content_type: str = ""
    size: int | None = None
    provider: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Validated values and where they come from; what an agent is resumed with.

    `values` maps question ids to canonical values; `text` is what the person wrote or the label they
    tapped, unmodified (law 9); `attachments` are the files that came with it. When `expired` is true
    nobody answered: `values` is empty, or the asker's own default, which is then in `default_used`.
    """

    values: dict[str, Json]
    text: str = ""
    by: str = ""  # the contact's id; with a colon in it, which no id has, a stand-in's kind and name
    via: str = ""  # the provider's name, "api", "form", "inbox"
    at: int = 0  # microseconds since the epoch
    expired: bool = False
    no_response: bool = False  # on_expire: no-response: plain questions get the text "No response"
    default_used: bool = False
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Interaction:
    """The durable record of one ask, as read from the store."""

    id: str
    code: str
    status: InteractionStatus
    questions: tuple[Question, ...]
    context: str
    title: str  # who asks and about what, one line: "Research · term check"
    agent: str = ""
    run_id: str = ""
    thread_id: str = ""
    interrupt_id: str = ""
    digest: str = ""
    checkpoint: str = ""
    route: dict[str, Json] = field(default_factory=dict)
    on_expire: OnExpire = OnExpire.AUTO
    default: Json = None
    expirable: bool = True  # whether the dialect promises a value for silence (`auto`)
    sensitive: bool = False
    callback_url: str = field(default="", repr=False)  # where its end is posted to; may hold a secret
    user: str = ""  # for whom its asker asks: a name of the asker's own, which decides nothing here
    created_at: int = 0
    expires_at: int | None = None
    overdue_at: int | None = None
    answered_by: str = ""
    answered_via: str = ""
    answered_at: int | None = None
    answer: Answer | None = None
    reason: str = ""  # why it was cancelled: "superseded", "cancelled by the asker", …
    resumed_at: int | None = None
    resume_attempts: int = 0
    resume_error: str = ""
    readable: bool = True  # False: its row is damaged, and it is set aside
    erased_at: int | None = None  # since when it holds no questions and no answer any more (`retention`)

    @property
    def human_only(self) -> bool:
        """Whether no stand-in is asked, and none may answer."""
        return bool(self.route.get("human_only"))

    @property
    def brings_files(self) -> bool:
        """Whether files that come with an answer reach whoever asks; if not, they stay with the record."""
        return any(question.files for question in self.questions)

    @property
    def takes_files(self) -> bool:
        """Whether its form takes files: wherever one can write freely, and they reach whoever asks."""
        return any(question.kind is QuestionKind.TEXT and question.files for question in self.questions)
