"""A stand-in by itself: a message with questions, as the gateway would send it."""

from answerback.fits import problem_of
from answerback.model import Interaction, InteractionStatus, Json, Question
from answerback.provider import Address, Asked, Message, MessageKind, Provider, ProviderContext
from answerback.standing import StandIn

NOW = 1_790_000_000_000_000  # microseconds


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

    asked = Asked(questions, context, agent, record.title, sensitive, problem)
    return Message(
        to, MessageKind.QUESTION, questions[0].text, footer="#K7Q2", code="K7Q2", token=f"token-{delivery}",
        delivery_id=delivery, interaction_id="i1", asked=asked,
    )  # fmt: skip


def made(kind: type[Provider], extra: dict[str, object] | None = None, **settings: Json) -> Provider:
    """A provider with its settings checked as those of a configuration are."""
    return kind("stand", kind.Settings.model_validate(settings), ProviderContext(extra=extra or {}))
