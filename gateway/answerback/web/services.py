"""What the web layer is given: the use cases behind it, as it sees them."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from answerback.caller import Request as CallerRequest
from answerback.metrics import Metrics
from answerback.model import Interaction, Json
from answerback.provider import HttpAnswer, Inbound

if TYPE_CHECKING:
    from answerback.ask import Asked, AskRequest
    from answerback.attachments import File
    from answerback.auditing import Checked, Entries
    from answerback.endings import Ending
    from answerback.erasure import Erasure
    from answerback.feed import Begin, Step
    from answerback.forms import FormView
    from answerback.history import History
    from answerback.inbox import Listed, Viewer
    from answerback.letters import Kind, Letter
    from answerback.plans import Plan
    from answerback.removing import Remover
    from answerback.run import Run, RunRequest
    from answerback.store.feed import Place as Read
    from answerback.store.waiting import Place
    from answerback.uploads import Upload
    from answerback.web.notices import Notices
    from answerback.web.people import People


class Caller(Protocol):
    """Who a request is from. Empty `scopes` means all of them, empty `agents` every agent."""

    @property
    def name(self) -> str: ...
    @property
    def scopes(self) -> Set[str]: ...
    @property
    def agents(self) -> Set[str]: ...
    @property
    def contact(self) -> str: ...


class ApiKey(Caller, Protocol):
    """A configured key, and so whoever holds it."""

    @property
    def sha256(self) -> str: ...


class Identifier(Protocol):
    @property
    def form_key(self) -> bytes: ...
    async def of(self, request: CallerRequest, /) -> Caller | None: ...


class Limits(Protocol):
    @property
    def body_bytes(self) -> int: ...


class Settings(Protocol):
    @property
    def public_url(self) -> str: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def api_keys(self) -> Sequence[ApiKey]: ...


class OfAgent(Protocol):
    @property
    def agent(self) -> str: ...


Item_co = TypeVar("Item_co", bound=OfAgent, covariant=True)


class Page(Protocol[Item_co]):
    """One page of a list, oldest first; `next` goes on, or is None."""

    @property
    def items(self) -> Sequence[Item_co]: ...
    @property
    def next(self) -> str | None: ...


class Asker(Protocol):
    async def ask(self, request: "AskRequest", /) -> "Asked": ...
    async def cancel(self, interaction_id: str, /, reason: str = "") -> Interaction: ...
    async def drop_state(self, interaction_id: str, /) -> None: ...


class Runner(Protocol):
    async def start(self, request: "RunRequest", /) -> "Run": ...
    async def get(self, run_id: str, /) -> "Run": ...
    async def list(self, status: str | None, limit: int, after: str | None, /) -> "Page[Run]": ...
    async def cancel(self, run_id: str, /) -> "Run": ...
    async def retry(self, run_id: str, /) -> "Run": ...
    async def reask(self, run_id: str, /) -> "Run": ...


class Reader(Protocol):
    async def interaction(self, interaction_id: str, /) -> Interaction: ...
    async def state(self, interaction_id: str, /) -> Json: ...
    async def interactions(
        self, status: str | None, limit: int, after: str | None, user: str, /
    ) -> Page[Interaction]: ...
    async def wait(self, interaction_id: str, timeout: float, /) -> Interaction: ...


class Receiver(Protocol):
    async def screen(self, provider: str, inbound: Inbound, /) -> None: ...
    async def webhook(self, provider: str, inbound: Inbound, /) -> HttpAnswer: ...
    async def challenge(self, provider: str, inbound: Inbound, /) -> HttpAnswer: ...
    async def respond(self, interaction_id: str, response: Json, /, *, by: str, via: str) -> Interaction: ...


class Forms(Protocol):
    async def view(self, token: str, /) -> "FormView": ...
    async def submit(
        self,
        token: str,
        values: dict[str, Json],
        /,
        *,
        text: str = "",
        code: str = "",
        files: "tuple[Upload, ...]" = (),
    ) -> "FormView": ...
    async def send_code(self, token: str, /) -> None: ...


class Endings(Protocol):
    async def view(self, token: str, /) -> "Ending": ...
    async def retry(self, token: str, /, code: str = "") -> None: ...
    async def send_code(self, token: str, /) -> None: ...


class Inbox(Protocol):
    async def now(self) -> int: ...
    async def of(self, viewer: "Viewer", after: "Place | None" = None, /) -> "Listed": ...
    async def ids(self, viewer: "Viewer", after: "Place | None" = None, /) -> tuple[str, ...]: ...
    async def view(self, viewer: "Viewer", id: str, /) -> "FormView": ...
    async def answer(
        self,
        viewer: "Viewer",
        id: str,
        values: dict[str, Json],
        /,
        *,
        text: str = "",
        files: "tuple[Upload, ...]" = (),
    ) -> None: ...


class Letters(Protocol):
    async def list(self, kind: "Kind | None", limit: int, after: str | None, /) -> "Page[Letter]": ...
    async def get(self, id: str, /) -> "Letter": ...
    async def replay(self, id: str, by: str, /) -> str: ...
    async def discard(self, id: str, by: str, /) -> str: ...


class Eraser(Protocol):
    async def now(self, interaction_id: str, by: str, /) -> Interaction: ...


class Auditor(Protocol):
    async def entries(self, limit: int, after: str | None, /) -> "Entries": ...
    async def check(self, limit: int, after: str | None, /) -> "Checked": ...


class Feed(Protocol):
    async def begin(self, *after: int) -> "Begin": ...
    def follow(self, place: "Read", /) -> AsyncGenerator["Step | None", None]: ...


class Historian(Protocol):
    async def of(self, interaction_id: str, /) -> "History": ...


class Planner(Protocol):
    def names(self) -> Sequence[str]: ...
    async def of(self, name: str, ask: tuple[str, ...], /) -> "Plan": ...


class Files(Protocol):
    async def fetch(self, interaction: Interaction, number: int, /) -> "File": ...


class Health(Protocol):
    async def ready(self) -> tuple[bool, Mapping[str, str]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything behind the web layer, built by the composition root or, in tests, by hand."""

    settings: Settings
    asker: Asker
    receiver: Receiver
    forms: Forms
    runner: Runner
    reader: Reader
    health: Health
    metrics: Metrics = field(default_factory=Metrics)
    endings: Endings | None = None  # how runs ended, behind the links of the messages that say so
    auditor: Auditor | None = None  # what is kept of all that happened, and whether it is whole
    feed: Feed | None = None  # what happens, for who follows along
    streams: Counter[str] = field(default_factory=Counter)  # how many each caller follows it in
    identifier: Identifier | None = None  # knows callers without a key, where somebody else vouches for them
    historian: Historian | None = None  # what happened to one question
    inbox: Inbox | None = None  # what waits for who signs in, where it can be answered
    planner: Planner | None = None  # who would be asked on a route; comes with `people`
    files: Files | None = None  # what came with answers, where it can be fetched
    eraser: Eraser | None = None  # takes out at once what was said
    remover: "Remover | None" = None  # takes contacts out again
    erasure: "Erasure | None" = None  # takes out what is kept of who was one
    letters: Letters | None = None  # what was given up, where it is wanted
    notices: "Notices | None" = None  # messages that ask nothing, where they are wanted
    people: "People | None" = None  # contacts, providers and agents over HTTP, where they are wanted
