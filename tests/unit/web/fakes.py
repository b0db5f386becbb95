"""Hand-written counterparts of the use cases, which remember what they were asked to do."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from pydantic import SecretStr

from answerback.ask import Asked, AskRequest
from answerback.errors import AlreadyAnswered, Conflict, DoesNotFit, NotAllowed, NotFound, Unverified
from answerback.forms import FormView
from answerback.model import (
    Action,
    Answer,
    Choice,
    Contact,
    Interaction,
    InteractionStatus,
    Json,
    Question,
    QuestionKind,
    RunStatus,
)
from answerback.provider import HttpAnswer, Inbound
from answerback.run import Run, RunRequest
from answerback.settings import ApiKey, Limits, Settings
from answerback.uploads import Upload
from answerback.web import Services, create_app
from answerback.web.services import Identifier
from tests.support.described import through

NOW = 1_795_269_720_000_000  # Saturday 21 November 2026, 14:02 UTC
HOUR = 3_600_000_000
TOKEN = "k7q2abcdefghijklmnopqrstuv"
KEY = "a-key-for-the-tests"
PUBLIC = "https://ask.example.org"
ACTION = Action("refund_payment", {"customer": "Ana Lima (c_8812)", "amount": 100.0, "notify": True})
CHOICES = (Choice("psr", "Use “PSR”"), Choice("coding", "Use “coding”"))

TEXT = Question("term", "Which term should I search for?")
CONFIRM = Question("go", "Wipe production?", QuestionKind.CONFIRM)
CHOICE = Question("which", "Which one?", QuestionKind.CHOICE, choices=CHOICES)
OPEN_CHOICE = replace(CHOICE, free_text=True)
SEVERAL = Question("which", "Which ones?", QuestionKind.CHOICES, choices=CHOICES)
NUMBER = Question("count", "How many?", QuestionKind.NUMBER, minimum=1, maximum=10)
DATE = Question("day", "Until when?", QuestionKind.DATE)
REVIEW = Question(
    "act",
    "Customer confirmed by phone.",
    QuestionKind.REVIEW,
    action=ACTION,
    decisions=("approve", "edit", "reject", "respond"),
)


def interaction(*questions: Question, **more: Any) -> Interaction:
    """A pending interaction, as the store would give it."""
    values = {
        "id": "0193-a1",
        "code": "K7Q2",
        "status": InteractionStatus.PENDING,
        "context": "",
        "title": "Research · term check",
        "created_at": NOW - HOUR,
    }
    return Interaction(questions=questions or (TEXT,), **{**values, **more})


def answered(record: Interaction, value: Json, *, by: str = "ana", via: str = "form") -> Interaction:
    answer = Answer({record.questions[0].id: value}, str(value), by, via, NOW)
    return replace(
        record,
        status=InteractionStatus.COMPLETED,
        answer=answer,
        answered_by=by,
        answered_via=via,
        answered_at=NOW,
    )


def view(record: Interaction, **more: Any) -> FormView:
    values = {
        "contact": Contact("ana", "Ana"),
        "needs_code": False,
        "can_send_code": True,
        "answerer": "",
        "you": False,
        "now": NOW,
        "timezone": "UTC",
        "language": "en",
    }
    return FormView(interaction=record, **{**values, **more})


@dataclass
class FakeForms:
    """One link. `refusal` is raised by the next submit; the right code is 123456."""

    page: FormView
    refusal: Exception | None = None
    meanwhile: FormView | None = None  # what somebody else's answer makes of the page, after one more look
    submitted: list[tuple[dict[str, Json], str, str]] = field(default_factory=list)
    codes: int = 0
    files: tuple[Upload, ...] = ()  # all that came with what was submitted

    async def view(self, token: str) -> FormView:
        if token != TOKEN:
            raise NotFound("This link leads to no question.")
        seen, self.page = self.page, self.meanwhile or self.page
        return seen

    async def submit(
        self,
        token: str,
        values: dict[str, Json],
        *,
        text: str = "",
        code: str = "",
        files: tuple[Upload, ...] = (),
    ) -> FormView:
        if self.refusal:
            raise self.refusal
        if self.page.needs_code and code != "123456":
            raise NotAllowed("This is not the code that was sent. Please look again.")
        self.submitted.append((values, text, code))
        self.files += files
        record = self.page.interaction
        done = answered(record, values.get(record.questions[0].id))
        self.page = replace(self.page, interaction=done, answerer="Ana", you=True)
        return self.page

    async def send_code(self, token: str) -> None:
        if self.codes:
            raise Conflict("A code was sent a moment ago.")
        self.codes += 1


@dataclass
class FakeAsker:
    asked: list[AskRequest] = field(default_factory=list)
    cancelled: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    refusal: Exception | None = None

    async def ask(self, request: AskRequest) -> Asked:
        if self.refusal:
            raise self.refusal
        again = bool(request.idempotency_key) and any(
            earlier.idempotency_key == request.idempotency_key for earlier in self.asked
        )
        self.asked.append(request)
        expires = None if request.expires_in is None else NOW + round(request.expires_in * 1e6)
        record = interaction(*request.questions, expires_at=expires)
        return Asked(record, f"{PUBLIC}/f/{TOKEN}", not again)

    async def cancel(self, interaction_id: str, reason: str = "") -> Interaction:
        if self.refusal:
            raise self.refusal
        self.cancelled.append((interaction_id, reason))
        return interaction(status=InteractionStatus.CANCELLED, reason=reason)

    async def drop_state(self, interaction_id: str) -> None:
        self.dropped.append(interaction_id)


@dataclass
class FakePage:
    items: tuple[Any, ...]
    next: str | None = None


@dataclass
class FakeReader:
    record: Interaction = field(default_factory=interaction)
    looked: list[tuple[Any, ...]] = field(default_factory=list)

    async def interaction(self, interaction_id: str) -> Interaction:
        if interaction_id != self.record.id:
            raise NotFound("There is no interaction with this id.")
        return self.record

    async def state(self, interaction_id: str) -> Json:
        return {"step": 3} if interaction_id == self.record.id else None

    async def interactions(self, status: str | None, limit: int, after: str | None, user: str) -> FakePage:
        self.looked.append((status, limit, after, user))
        return FakePage((self.record,), "0193-a1")

    async def wait(self, interaction_id: str, timeout: float) -> Interaction:
        self.looked.append(("wait", timeout))
        return self.record


def run(**more: Any) -> Run:
    values = {
        "id": "run-1",
        "agent": "research",
        "thread_id": "t-1",
        "status": RunStatus.WAITING,
        "result": None,
        "error": "",
        "interactions": ("0193-a1",),
        "created_at": NOW - HOUR,
        "updated_at": NOW,
    }
    return Run(**{**values, **more})


@dataclass
class FakeRunner:
    started: list[RunRequest] = field(default_factory=list)
    steered: list[str] = field(default_factory=list)
    one: Run = field(default_factory=run)
    refusal: Exception | None = None

    async def start(self, request: RunRequest) -> Run:
        if self.refusal:
            raise self.refusal
        self.started.append(request)
        return replace(self.one, status=RunStatus.RUNNING)

    async def get(self, run_id: str) -> Run:
        if run_id != self.one.id:
            raise NotFound("There is no run with this id.")
        return self.one

    async def list(self, status: str | None, limit: int, after: str | None) -> FakePage:
        self.steered.append(f"list {status} {limit} {after}")
        return FakePage((self.one,))

    async def cancel(self, run_id: str) -> Run:
        self.steered.append("cancel")
        return replace(self.one, status=RunStatus.CANCELLED)

    async def retry(self, run_id: str) -> Run:
        self.steered.append("retry")
        return self.one

    async def reask(self, run_id: str) -> Run:
        self.steered.append("reask")
        return self.one


@dataclass
class FakeReceiver:
    events: list[Inbound] = field(default_factory=list)
    responses: list[tuple[Json, str, str]] = field(default_factory=list)
    refusal: Exception | None = None
    screened: list[Inbound] = field(default_factory=list)

    async def screen(self, provider: str, inbound: Inbound) -> None:
        self._known(provider)
        self.screened.append(inbound)
        if "x-stranger" in inbound.headers:
            raise Unverified("the secret is wrong")

    async def webhook(self, provider: str, inbound: Inbound) -> HttpAnswer:
        self._known(provider)
        self.events.append(inbound)
        return HttpAnswer(200, b"<Response/>", "text/xml")

    async def challenge(self, provider: str, inbound: Inbound) -> HttpAnswer:
        self._known(provider)
        return HttpAnswer(200, dict(inbound.query).get("challenge", "").encode())

    async def respond(self, interaction_id: str, response: Json, *, by: str, via: str) -> Interaction:
        if self.refusal:
            raise self.refusal
        if self.responses:
            raise AlreadyAnswered("This question was answered through api. Nothing changed.")
        if not isinstance(response, str):
            raise DoesNotFit("This does not answer the question.")
        self.responses.append((response, by, via))
        return answered(interaction(), response)

    def _known(self, provider: str) -> None:
        if self.refusal:
            raise self.refusal
        if provider != "telegram":
            raise NotFound("There is no such provider.")


@dataclass
class FakeHealth:
    fine: bool = True

    async def ready(self) -> tuple[bool, dict[str, str]]:
        telegram = "works" if self.fine else "does not answer; trying again in 5 s"
        return self.fine, {"store": "works", "provider:telegram": telegram}


class World:
    """An application on fakes, and a client for it."""

    def __init__(
        self,
        page: FormView | None = None,
        *,
        public_url: str = PUBLIC,
        keys: tuple[ApiKey, ...] | None = None,
        body_bytes: int = 100_000,
        identifier: Identifier | None = None,
    ) -> None:
        self.forms = FakeForms(page or view(interaction()))
        self.asker, self.reader, self.runner = FakeAsker(), FakeReader(), FakeRunner()
        self.receiver, self.health = FakeReceiver(), FakeHealth()
        self.settings = Settings(
            public_url=public_url,
            api_keys=keys if keys is not None else (ApiKey("ops", SecretStr(KEY)),),
            limits=Limits(body_bytes=body_bytes),
        )
        self.app = create_app(
            Services(
                settings=self.settings,
                asker=self.asker,
                receiver=self.receiver,
                forms=self.forms,
                runner=self.runner,
                reader=self.reader,
                health=self.health,
                identifier=identifier,
            )
        )

    def client(self, key: str = KEY, *, raising: bool = True) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return through(self.app, PUBLIC, raising=raising, headers=headers)


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
