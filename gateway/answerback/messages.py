"""Messages out, replies and receipts in: the values that a provider is given and gives back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from answerback.model import Address, Attachment, Json, MessageKind, Question

ReceiptStatus = str  # "delivered", "read", "failed", "window" (needs a template), "wait" (try again)
MARK = "│ "  # how what follows the first line of a field begins in plain text


@dataclass(frozen=True, slots=True)
class Asked:
    """What a stand-in is asked: the questions as they are, and the reason as the agent gave it.

    `problem(value)` says in a sentence why a value (as `POST …/respond` takes it) would not be accepted, ""
    if it would; `problem(value, question)` that of one of several. `listed(text, question)` is the value for
    what is written where choices stand with their numbers, and the same sentence: there "2" is the second
    choice, while the value "2" is the choice with that id.
    """

    questions: tuple[Question, ...]
    context: str = ""
    agent: str = ""
    title: str = ""  # who asks and about what
    sensitive: bool = False  # then nothing of it may stand in a log or an error
    problem: Callable[..., str] = lambda value, question=None: ""
    listed: Callable[[str, Question], tuple[Json, str]] = lambda text, question: (text, "")
    is_command: Callable[[str], bool] = lambda text: False  # "stop" in a terminal: handed in as it is
    wanted: Callable[[Question], str] = lambda question: (
        ""
    )  # what an answer has to be beyond its kind, in words


@dataclass(frozen=True, slots=True)
class Button:
    """One tap. `data` (at most 64 bytes of ASCII) comes back in `Reply.data`; or `url` opens a page.

    `means` is "yes" or "no" under a question of yes or no, "approve" or "reject" under a review: for services
    with templates for these, and because no number stands for them where an answer is typed.
    """

    label: str
    data: str = ""
    url: str = ""
    means: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one address, already worded and ordered for a person (see VOICE).

    A provider shows, in this order: `heading` (who asks and about what, one line), `title` (the
    question: the largest thing), `fields` (an action's arguments, label and value), `body` (the
    reason), `buttons`, `footer` (what silence does, and the short code). `text` is all of it as plain
    text without the buttons. `token` identifies this delivery and may be put where a reply will carry
    it back (a plus address); it is a secret: never log it.
    """

    to: Address
    kind: MessageKind
    title: str
    heading: str = ""
    body: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    buttons: tuple[Button, ...] = ()
    footer: str = ""
    subject: str = ""  # one line for mail, with the short code
    form_url: str = ""
    token: str = field(default="", repr=False)
    code: str = ""
    language: str = "en"
    reply_to: tuple[str, ...] = ()  # ids of our earlier messages of this conversation, oldest first
    delivery_id: str = ""
    interaction_id: str = ""
    expires_at: int | None = None  # microseconds since the epoch
    placeholder: str = ""  # a hint for a text answer ("Something else…"), "" when no text is wanted
    asked: Asked | None = field(default=None, repr=False, compare=False)  # questions, for stand-ins only

    @property
    def text(self) -> str:
        """The whole message as plain text, blocks separated by one blank line, buttons left out."""
        rows = "\n".join("".join(labelled(label, value)) for label, value in self.fields)
        blocks = (self.heading, self.title, rows, self.body, self.footer)
        return "\n\n".join(block for block in blocks if block)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a nested value, and what stands below it."""

    text: str
    below: "tuple[Entry, ...]" = ()


def outline(value: str) -> tuple[Entry, ...]:
    """A nested value of a list of fields as a tree, for where lists can be nested; () if it is a text.

    A nested one begins with an empty line, which no text does, and each line with as many `MARK`s as there
    are others around it.
    """
    if not value.startswith("\n"):
        return ()
    lines = []
    for row in value[1:].split("\n"):
        text = row
        while text.startswith(MARK):
            text = text[len(MARK) :]
        lines.append(((len(row) - len(text)) // len(MARK), text))
    return _entries(lines)


def _entries(lines: list[tuple[int, str]]) -> tuple[Entry, ...]:
    heads = [place for place, (depth, _) in enumerate(lines) if depth <= lines[0][0]]
    ends = [*heads[1:], len(lines)]
    return tuple(
        Entry(lines[head][1], _entries(lines[head + 1 : end]) if end > head + 1 else ())
        for head, end in zip(heads, ends, strict=True)
    )


def labelled(label: str, value: str) -> tuple[str, str]:
    """A field in plain text: its label with what sets the value apart, and the value, `hanging`."""
    shown = hanging(value)
    return (f"{label}:\n", shown[1:]) if value.startswith("\n") else (f"{label}: ", shown)


def hanging(value: str) -> str:
    """A value of a list of fields in plain text: what follows its first line is marked, so that no line of a

    value can be taken for another field, or for what stands below the list.
    """
    return value.replace("\n", f"\n{MARK}")


@dataclass(frozen=True, slots=True)
class Sent:
    """The service took it. The first of its ids is the one that `update` replaces.

    A stand-in answers at once, in `replies`, or says in `declined` why it has no answer. `sent_at` is when
    the service says that it took it, in microseconds since the epoch, by the clock of its `Reply.sent_at`:
    what was written before is not taken for an answer. Without it the gateway's own clock has to do.
    """

    message_ids: tuple[str, ...] = ()
    replies: "tuple[Reply, ...]" = field(default=(), repr=False)
    declined: str = ""
    sent_at: int | None = None


@dataclass(frozen=True, slots=True)
class Inbound:
    """Raw and untrusted: one webhook request, or one event of a poll (then only `body` is set).

    `url` is built from `public_url`, never from the Host header. Header names are lower case.
    """

    body: bytes
    method: str = "POST"
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    received_at: int = 0


class Void(StrEnum):
    """Why a reply can decide nothing, whoever sent it."""

    FORWARDED = "forwarded"  # somebody else wrote it
    EDITED = "edited"  # it was changed after it had been read
    NAMELESS = "nameless"  # nobody in particular wrote it: an anonymous administrator, a channel
    TOO_LONG = "too_long"  # it was not read to its end


@dataclass(frozen=True, slots=True)
class Reply:
    """What came in, normalised. It may match nothing. `event_id` is unique for this provider, for good."""

    event_id: str
    sender: str  # the opaque external id of who wrote
    place: str  # where it was written
    text: str = ""
    data: str = field(default="", repr=False)  # the tapped button's data
    token: str = field(default="", repr=False)  # a delivery token that came back (plus address)
    references: tuple[str, ...] = ()  # ids of our messages that it replies to
    shows: bool = False  # the first of them has buttons with `token`, as the service shows it
    sent_at: int | None = None  # when the service says it was written, if that can be trusted
    private: bool = True  # only this person reads the place
    trusted: bool = True  # the service vouches for the sender (mail: DKIM or DMARC aligned)
    name: str = ""  # for display only, never for authorisation
    quoted: bool = False  # the text holds what it replies to, as mail does: only what is new is read
    attachments: tuple[Attachment, ...] = ()
    handle: str = field(default="", repr=False)  # what `acknowledge` needs (a callback query id)
    value: Json = field(default=None, repr=False)  # a stand-in's answer, as POST …/respond takes it
    called: str = ""  # the part of `text` that only calls us ("@our_bot"): it is kept, and not read
    void: Void | None = None  # why it decides nothing; then `sender` may be nobody's
    partial: bool = False  # the service does not say (any more) which message or button it answers
    untimed: bool = False  # the service does not say when it was written


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the service says of a message that it took earlier.

    `address_dead`: it failed, and so will any other message to this address. `delivery_id`: whose message
    it is, where the service says that too (a callback address with `Message.delivery_id` in it): then a
    receipt counts although `send` never got an answer.
    """

    event_id: str
    message_id: str
    status: ReceiptStatus
    reason: str = ""
    address_dead: bool = False
    delivery_id: str = ""


@dataclass(frozen=True, slots=True)
class PlaceNews:
    """What the service says of a place: it has a new id, it was closed to us, or it is open again."""

    event_id: str
    place: str
    moved_to: str = ""  # its new id
    closed: str = ""  # why nothing arrives there any more, as a sentence


Event = Reply | Receipt | PlaceNews


@dataclass(frozen=True, slots=True)
class Batch:
    """What one poll brought; `cursor` is committed with the events, then given to the next poll."""

    events: tuple[Inbound, ...]
    cursor: str


Take = Callable[[Inbound], Awaitable[None]]
"""Takes one event in: it returns when the event is committed, and raises when it is not."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer to a webhook request or a handshake."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"


def answering(message: Message, value: Json, event_id: str = "") -> Reply:
    """A stand-in's answer to a message: a text, or a value as `POST …/respond` takes it.

    Asked again after a crash, a stand-in must answer under the same `event_id`; by default the delivery's.
    """
    text = value if isinstance(value, str) else ""
    to, id = message.to, event_id or message.delivery_id
    return Reply(id, to.external_id, to.place, text, token=message.token, value=value)
