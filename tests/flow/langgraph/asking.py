"""Agents that ask with the toolkit: with a model that calls its tools, and a step without one."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from answerback_agents.toolkit import INSTRUCTIONS, Silence, ask, confirmed, tools
from tests.flow.langgraph.graphs import State, line_of

TASK = {"messages": [{"role": "user", "content": "Tidy up."}]}


class Turns(BaseChatModel):
    """A model that makes the calls of one turn after the other and, once all have results, is done."""

    turns: list[list[dict[str, Any]]]

    @property
    def _llm_type(self) -> str:
        return "turns"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        taken = sum(message.type == "ai" for message in messages)
        calls = self.turns[taken] if taken < len(self.turns) else []
        said = AIMessage("" if calls else "Done.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


def asks(id: str, question: str, **more: Any) -> dict[str, Any]:
    return {"name": "ask_human", "args": {"question": question, **more}, "id": id}


def wants(id: str, action: str, details: str = "") -> dict[str, Any]:
    return {"name": "confirm_action", "args": {"action": action, "details": details}, "id": id}


def agent(*turns: list[dict[str, Any]]) -> Any:
    return create_agent(Turns(turns=list(turns)), tools(), system_prompt=INSTRUCTIONS)


WHICH = asks("1", "Which folder?", context="Two are named “old”.", choices=["/old", "/srv/old"])
one_after_the_other = agent([WHICH], [wants("2", "Delete /old", "Its 3 files are gone then.")])
both_at_once = agent([asks("a", "Which colour?"), asks("b", "Which name?")])


def tidy(state: State) -> State:
    try:
        folder = ask("Which folder?")
    except Silence:
        folder = "-"
    return {"heard": [folder, confirmed("Delete it")]}


without_a_model = line_of(tidy)


def insist(state: State) -> State:
    return {"heard": [ask("Which folder?")]}


insisting = line_of(insist)
