"""The coach with a model whose turns are written down beforehand, and what that model was told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from answerback_agents.coach import coach
from answerback_agents.coach.prompts import TASKS

Turn = Sequence[dict[str, Any]] | str | Exception
WROTE = {step: f"What the model wrote of {step}." for step in TASKS}


@dataclass
class Seen:
    """One turn: in which step, with which tools bound, after which messages."""

    step: str
    tools: tuple[str, ...]
    messages: list[BaseMessage]


@dataclass
class Journal:
    seen: list[Seen] = field(default_factory=list)

    def steps(self) -> list[str]:
        return [each.step for each in self.seen]


class Coaching(BaseChatModel):
    """Makes the calls of a step's turns one after the other, and then writes its part.

    It counts the turns in the talk, as a service does, which remembers nothing itself; exceptions are raised
    once each.
    """

    script: Any  # dict[str, list[Turn]], not copied when tools are bound
    journal: Any = None
    bound: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "coaching"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        bound = tuple(tool.name for tool in tools)
        return Coaching(script=self.script, journal=self.journal, bound=bound)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        step = next(name for name, task in TASKS.items() if task in str(messages[0].content))
        self.journal.seen.append(Seen(step, self.bound, list(messages)))
        turns = self.script.get(step, [])
        if turns and isinstance(turns[0], Exception):
            raise turns.pop(0)
        taken = sum(isinstance(message, AIMessage) for message in messages)
        turn = turns[taken] if taken < len(turns) else WROTE[step]
        said = AIMessage(turn) if isinstance(turn, str) else AIMessage("", tool_calls=list(turn))
        return ChatResult(generations=[ChatGeneration(message=said)])


def model(**script: list[Turn]) -> Coaching:
    """A model with these turns in these steps."""
    return Coaching(script=script, journal=Journal())


def asks(question: str, id: str = "1", **more: Any) -> dict[str, Any]:
    return {"name": "ask_human", "args": {"question": question, **more}, "id": id}


# -- as agents of a gateway

chatty_model = model(
    metrics=[[asks("What happened in week 46?", context="Load doubled.", choices=["Camp", "Mistake"])]],
    physiology=[[asks("Were you ill?", "a"), asks("Who slept badly?", "b")], [asks("And since then?")]],
)
chatty = coach(chatty_model)
