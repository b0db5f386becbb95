"""The provider contract: all that a plugin author needs to carry messages one way and replies back.

Required: a `Settings` class and `async send(message) -> Sent`. Everything else is optional and found by
being overridden. The core does retry, pacing, de-duplication, metrics and authorisation; a plugin does
none of it: it says what happened, by returning or by raising one of the errors below.
"""

import abc
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from answerback.allowed import Allowed
from answerback.calling import in_thread
from answerback.errors import (
    ConfigurationError,
    Moved,
    ProviderError,
    TryLater,
    Undeliverable,
    Unverified,
)
from answerback.http import Http, HttpReply, NoAnswer, Unreachable
from answerback.messages import (
    Asked,
    Batch,
    Button,
    Event,
    HttpAnswer,
    Inbound,
    Message,
    PlaceNews,
    Receipt,
    ReceiptStatus,
    Reply,
    Sent,
    Take,
    Void,
    answering,
    hanging,
    labelled,
    outline,
)
from answerback.model import (
    Address,
    Attachment,
    Choice,
    Json,
    MessageKind,
    OnError,
    Outcome,
    Question,
    QuestionKind,
    StandsIn,
)
from answerback.outgoing import Outgoing
from answerback.shortening import shorten

__all__ = [
    "CONTRACT_VERSION",
    "Address",
    "Allowed",
    "Asked",
    "Attachment",
    "Batch",
    "Button",
    "Choice",
    "ConfigurationError",
    "Event",
    "Http",
    "HttpAnswer",
    "HttpReply",
    "Inbound",
    "Json",
    "Message",
    "MessageKind",
    "Moved",
    "NoAnswer",
    "OnError",
    "Outcome",
    "Outgoing",
    "Pace",
    "PlaceNews",
    "Provider",
    "ProviderContext",
    "ProviderError",
    "Question",
    "QuestionKind",
    "Receipt",
    "ReceiptStatus",
    "Reply",
    "SecretStr",
    "Sent",
    "Settings",
    "StandInSettings",
    "StandsIn",
    "Stored",
    "Take",
    "TryLater",
    "Undeliverable",
    "Unreachable",
    "Unverified",
    "Void",
    "answering",
    "hanging",
    "in_thread",
    "labelled",
    "nothing_stored",
    "outline",
    "shorten",
]

CONTRACT_VERSION = 1
Stored = Callable[[str, str], Awaitable[bytes | None]]


class Settings(BaseModel):
    """Base of a plugin's settings: unknown keys are errors, values are converted from strings.

    Declare secrets as `SecretStr`; each may also be given as `<key>_file` in the configuration.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class StandInSettings(Settings):
    """Base of a stand-in's settings: what it may decide and see (law 6), and what follows when it fails.

    The core sees to all of it.
    """

    may_approve: bool = False  # also approve, confirm and edit
    sees_sensitive: bool = False  # is asked what is marked as sensitive, too
    on_error: OnError = OnError.RETRY
    attempts: int | None = Field(None, ge=1, le=100)  # None: as any provider to retry, otherwise one


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the service may be spoken to, in messages a second; 0 means no limit.

    `shared` is for a place that others read too (`Provider.alone`), where that is slower than `place`.
    """

    account: float = 0
    place: float = 0
    shared: float = 0


async def nothing_stored(provider: str, event_id: str) -> bytes | None:
    """Where there is no gateway that stores anything."""
    return None


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What a provider is given beside its settings.

    `http` is for addresses that somebody else chose: it checks where they lead. `stored` brings the body of
    an event that came in through a provider (its name, the event's id) as the gateway keeps it, or None:
    for files that come within an event.
    """

    public_url: str = ""  # the only base for links and webhook addresses
    data_dir: str = "."
    extra: dict[str, Any] = field(default_factory=dict)
    base_dir: str = "."  # relative paths in the configuration start here
    http: Outgoing = field(default_factory=Outgoing)
    stored: Stored = nothing_stored


class Provider(abc.ABC):
    """One way to reach people. `name` is its name in the configuration; two may share one class."""

    contract_version: ClassVar[int] = CONTRACT_VERSION
    Settings: ClassVar[type[Settings]] = Settings
    max_length: ClassVar[int] = 0  # characters of one message; 0: no limit
    max_choices: ClassVar[int] = 10
    max_label: ClassVar[int] = 40  # characters of a button that can be read; a longer label is numbered
    tappable: ClassVar[bool] = False  # whether every button can be tapped here, or picked by its number
    pace: ClassVar[Pace] = Pace()
    one_by_one: ClassVar[bool] = False  # whether several questions are asked here, one after the other
    probes_here: ClassVar[bool] = False  # whether `probe` asks no service: then every check does it
    needs_address: ClassVar[bool] = True  # whether only somebody with an address on it hears of a question
    windowed: ClassVar[bool] = False  # whether `Message.to.last_inbound_at` matters (WhatsApp's 24 hours)
    stand_in: ClassVar[StandsIn] = StandsIn.NOBODY  # whether it answers itself, in place of a person
    patience: float = 30.0  # seconds that `send` may take, before its result counts as unknown

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        self.name, self.settings, self.context = name, settings, context

    async def open(self) -> None:
        """Prepare connections; may raise `TryLater` (it is retried) or `ConfigurationError`."""

    async def close(self) -> None:
        """Release what `open` took."""

    @abc.abstractmethod
    async def send(self, message: Message) -> Sent:
        """Send one message. Raises `Undeliverable`, `TryLater` or `Moved`."""

    @property
    def stands_as(self) -> str:
        """What a stand-in is called where it is said who answered, e.g. with the model that it asks."""
        return self.name

    async def screen(self, inbound: Inbound) -> None:
        """Refuse (`Unverified`) by the headers alone, before the body is read; `inbound.body` is empty."""

    async def verify(self, inbound: Inbound) -> None:
        """Prove where a webhook request comes from, or raise `Unverified`. Refuses by default."""
        raise Unverified(f"The provider {self.name} takes no webhooks.", status=404)

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        """Turn one verified event into `Reply`, `Receipt` and `PlaceNews`; `[]` for what concerns nobody."""
        return []

    def canonical(self, id: str) -> str:
        """The one form of an id or place that `Reply` uses, where people write it in several ways.

        Raises ValueError, with the reason, for what can never be one: it is refused where it is configured.
        """
        return id

    @classmethod
    def alone(cls, external_id: str, place: str) -> str:
        """Where only this person reads: `place` itself, or another one when others read `place` too.

        No link and no code is sent to a place that others read, since whoever has one can use it.
        """
        return place

    def challenge(self, inbound: Inbound) -> HttpAnswer | None:
        """Answer a GET handshake; stores nothing. None: there is no such handshake (404)."""
        return None

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        """Tell the service, at once, that a reply was handled (a toast). Best effort, after the commit."""

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """Events after `cursor` ("" at first). `wait`: seconds to wait for the first; None: as suits it."""
        raise Undeliverable(f"The provider {self.name} is not polled.")

    async def listen(self, take: Take) -> None:
        """Take events by a protocol of the provider's own, until cancelled; every process listens.

        Each is acknowledged once `take` returned. When it raises, the other side is told to come again.
        """
        raise Undeliverable(f"The provider {self.name} does not listen.")

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """Replace a sent message (its first id) by `message`, without buttons. Raises like `send`."""
        raise Undeliverable(f"Messages of {self.name} cannot be edited.")

    @property
    def polls(self) -> bool:
        """Whether the core should run `poll` in a loop; a provider with two modes overrides this."""
        return type(self).can("poll")

    @property
    def listens(self) -> bool:
        """Whether the core should run `listen` (instead of `poll`)."""
        return type(self).can("listen")

    async def fetch(self, attachment: Attachment) -> bytes:
        """Bring an attachment's bytes."""
        raise Undeliverable(f"The provider {self.name} carries no attachments.")

    async def hears(self) -> str:
        """Why what people say does not get here, as a sentence; "" if nothing is known to keep it.

        A provider that neither polls nor listens is asked every few minutes. Raises like `send`.
        """
        return ""

    async def behind(self) -> bool:
        """Whether the service has still to bring something here that people said, as far as it tells.

        A provider that neither polls nor listens is asked after a start or a sleep, a few times: what was
        said in time comes before what fell due meanwhile. Raises like `send`.
        """
        return False

    async def probe(self) -> str:
        """Ask the service who we are there, for `check --online`; a sentence. Raises like `send`, or

        `ConfigurationError`.
        """
        return "nothing to check"

    @classmethod
    def can(cls, capability: str) -> bool:
        """Whether a plugin overrides an optional method: `can("poll")`, `can("update")`."""
        return getattr(cls, capability) is not getattr(Provider, capability)
