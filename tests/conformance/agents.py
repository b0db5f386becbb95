"""LangChain's agent with its own review middleware; apart, because not every system's environment has it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

Turn = Sequence[tuple[str, dict[str, Any]]]


class Scripted(BaseChatModel):
    """Makes the calls of each turn, and ends when there are no more turns."""

    turns: list[list[dict[str, Any]]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        turn = sum(message.type == "ai" for message in messages)
        calls = self.turns[turn] if turn < len(self.turns) else []
        said = AIMessage("" if calls else "Done.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def refund(customer: str, amount: int) -> str:
    """Pay money back."""
    return f"{customer} got {amount}"


@tool
def wipe(path: str) -> str:
    """Delete a folder."""
    return f"{path} is gone"


def reviewed(turns: Sequence[Turn], mode: Any) -> Callable[[], Awaitable[list[str]]]:
    """Runs the agent to its end; what its model heard back. A refund may be edited too, a wipe may not."""
    calls = [
        [{"name": name, "args": args, "id": f"{turn}-{place}"} for place, (name, args) in enumerate(each)]
        for turn, each in enumerate(turns)
    ]
    allowed: dict[str, Any] = {
        "refund": {"allowed_decisions": ["approve", "edit", "reject"]},
        "wipe": {"allowed_decisions": ["approve", "reject"]},
    }
    middleware = HumanInTheLoopMiddleware(allowed, interrupt_mode=mode, edit_notice=None)
    agent: Any = create_agent(Scripted(turns=calls), [refund, wipe], middleware=[middleware])

    async def run() -> list[str]:
        result = await agent.ainvoke({"messages": [{"role": "user", "content": "Tidy up."}]})
        return [message.text for message in result["messages"] if message.type == "tool"]

    return run
