"""Agents whose calls are reviewed: LangChain's own middleware in both modes, Agent Inbox, and forms."""

from typing import Any, Literal, Self

import pydantic
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.types import interrupt

from tests.flow.langgraph.graphs import State, line_of, note

TASK = {"messages": [{"role": "user", "content": "Refund Ana."}]}
REFUND = {"name": "refund", "args": {"customer": "c_8812", "amount": 100.0}, "id": "1"}
WIPE = {"name": "wipe", "args": {"path": "/old"}, "id": "2"}


class Caller(BaseChatModel):
    """A model that makes these calls and, once they have results, is done."""

    calls: list[dict[str, Any]]

    @property
    def _llm_type(self) -> str:
        return "caller"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        called = any(message.type == "ai" for message in messages)
        said = AIMessage("Done.") if called else AIMessage("", tool_calls=self.calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def refund(customer: str, amount: float) -> str:
    """Pay money back."""
    return f"{customer} got {amount:.2f}"


@tool
def wipe(path: str) -> str:
    """Delete a folder."""
    return f"{path} is gone"


@tool
def look(path: str) -> str:
    """Look into a folder; nobody has to be asked."""
    return "empty"


def agent(*calls: dict[str, Any], mode: Any = "batched", **interrupt_on: Any) -> Any:
    middleware = HumanInTheLoopMiddleware(interrupt_on=interrupt_on, interrupt_mode=mode, edit_notice=None)
    return create_agent(Caller(calls=list(calls)), [refund, wipe, look], middleware=[middleware])


one = agent(REFUND, refund=True)
strict = agent(REFUND, refund={"allowed_decisions": ["approve", "reject"], "description": "Ana called."})
approve_only = agent(REFUND, refund={"allowed_decisions": ["approve"]})
two = agent(
    REFUND,
    {"name": "look", "args": {"path": "/old"}, "id": "3"},
    WIPE,
    refund=True,
    wipe={"allowed_decisions": ["approve", "reject"]},
)
one_a_call = agent(
    REFUND, WIPE, mode="per_call", refund=True, wipe={"allowed_decisions": ["approve", "reject"]}
)


def shown_in_an_inbox(state: State) -> State:
    """As langgraph's own prebuilt HumanInterrupt is documented."""
    request = {
        "action_request": {"action": "refund", "args": {"customer": "c_8812", "amount": 100.0}},
        "config": {"allow_ignore": True, "allow_respond": True, "allow_edit": True, "allow_accept": True},
        "description": "Ana was charged twice.",
    }
    return {"heard": [interrupt([request])[0]]}


inbox = line_of(shown_in_an_inbox)


class Order(pydantic.BaseModel):
    """What a form asks for."""

    term: str = pydantic.Field(description="Which term?")
    count: int = pydantic.Field(ge=1, le=9)
    size: Literal["small", "large"] = "small"
    zip: str = pydantic.Field(default="1010", pattern=r"^\d{4}$")


def order(state: State) -> State:
    given = interrupt("Please order.", response_schema=Order)
    note(state, "ordered")
    return {"heard": [given.model_dump()]}


form = line_of(order)


class Booking(pydantic.BaseModel):
    """A form with a rule that no schema tells."""

    first: int
    last: int

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.first > self.last:
            raise ValueError("the first day is after the last")
        return self


def book(state: State) -> State:
    return {"heard": [interrupt("Which days?", response_schema=Booking).last]}


booking = line_of(book)


def weigh(state: State) -> State:
    """A schema given as JSON, which LangGraph itself does not check."""
    given = interrupt("How heavy?", response_schema={"type": "number", "exclusiveMinimum": 0})
    return {"heard": [1 / given]}


json_form = line_of(weigh)
