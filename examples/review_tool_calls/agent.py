"""LangChain's own middleware pauses the agent; nothing of answerback is imported."""

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

PLAN = [("payments", {"customer": "c_8812"}), ("refund", {"customer": "c_8812", "amount": 100.0})]


def payments(customer: str) -> str:
    """What a customer has paid."""
    return "100.00 on 3 November, 100.00 on 3 November"


def refund(customer: str, amount: float) -> str:
    """Pay money back."""
    return f"{customer} got {amount:.2f} back."


class Rehearsed(BaseChatModel):
    """In place of a model: makes the calls of its plan, one a turn, then says what came of the last one."""

    @property
    def _llm_type(self) -> str:
        return "rehearsed"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        done = [message for message in messages if isinstance(message, ToolMessage)]
        if len(done) < len(PLAN):
            name, arguments = PLAN[len(done)]
            said = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call {len(done)}"}])
        else:
            said = AIMessage(done[-1].content)
        return ChatResult(generations=[ChatGeneration(message=said)])


graph = create_agent(
    Rehearsed(),  # or a model of yours, such as "openai:gpt-5"
    [payments, refund],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"refund": True})],
)
