"""Stand-ins for tests: one that does as it is told, and a message as the gateway sends it to one."""

from collections import deque

from answerback.ask import AskRequest
from answerback.fits import listed, problem_of
from answerback.model import Interaction, InteractionStatus, Json, Question, StandsIn
from answerback.provider import (
    Address,
    Asked,
    Message,
    MessageKind,
    Provider,
    ProviderContext,
    Sent,
    StandInSettings,
    answering,
)
from answerback.settings import Route
from answerback.standing import StandIn
from tests.support.gateway import Gateway

TEXT = Question("q", "Which costing?")
NOW = 1_790_000_000_000_000  # microseconds


class Stand(Provider):
    """Answers with what it is given; an exception is raised, `None` declines. `told` is all but questions."""

    Settings = StandInSettings
    stand_in = StandsIn.PROGRAM

    def __init__(
        self, name: str, *answers: Json, kind: StandsIn = StandsIn.PROGRAM, **settings: Json
    ) -> None:
        super().__init__(name, StandInSettings.model_validate(settings), ProviderContext())
        self.answers, self.asked, self.told = deque(answers), list[Message](), list[str]()
        self.stand_in = kind  # type: ignore[misc]

    @property
    def stands_as(self) -> str:
        return f"{self.name} (some:model)"

    async def send(self, message: Message) -> Sent:
        if message.asked is None:
            self.told.append(message.title)
            return Sent()
        self.asked.append(message)
        answer = self.answers.popleft() if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return Sent(declined="it has no opinion")
        return Sent(replies=(answering(message, answer),))


def routed(*stand_ins: str, **more: object) -> dict[str, Route]:
    fields = {"ask": ("alice",), "providers": ("memory",), "stand_ins": stand_ins, **more}
    return {"default": Route("default", **fields)}


async def ask(g: Gateway, *questions: Question, **more: object) -> Interaction:
    asked = await g.app.asker.ask(AskRequest(questions or (TEXT,), **more))
    await g.app.idle()
    return await g.app.reader.interaction(asked.interaction.id)


async def again(g: Gateway, record: Interaction) -> Interaction:
    return await g.app.reader.interaction(record.id)


def message(
    *questions: Question,
    delivery: str = "d1",
    agent: str = "research",
    context: str = "",
    sensitive: bool = False,
    may_approve: bool = False,
) -> Message:
    """A question to a stand-in; without questions, a notice."""
    to = Address("stand", "stand", "i1")
    if not questions:
        return Message(to, MessageKind.NOTICE, "Research is done.")
    record = Interaction(
        "i1", "K7Q2", InteractionStatus.PENDING, questions, context, "Research · terms", agent,
        sensitive=sensitive,
    )  # fmt: skip
    stand_in = StandIn("stand", "stand-in:stand", may_approve)

    def problem(value: Json, question: Question | None = None) -> str:
        return problem_of(record, stand_in, value, question, NOW)

    def as_listed(text: str, question: Question) -> tuple[Json, str]:
        return listed(record, stand_in, text, question, NOW)

    asked = Asked(questions, context, agent, record.title, sensitive, problem, as_listed)
    return Message(
        to, MessageKind.QUESTION, questions[0].text, footer="#K7Q2", code="K7Q2", token=f"token-{delivery}",
        delivery_id=delivery, interaction_id="i1", asked=asked,
    )  # fmt: skip


def made(kind: type[Provider], extra: dict[str, object] | None = None, **settings: Json) -> Provider:
    """A provider with its settings checked as those of a configuration are."""
    return kind("stand", kind.Settings.model_validate(settings), ProviderContext(extra=extra or {}))
