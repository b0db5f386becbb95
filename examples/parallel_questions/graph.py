"""One node for each invoice, all at the same time (LangGraph's Send), and each of them asks."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Send

from answerback_agents.toolkit import ask

ACCOUNTS = ["Travel", "Equipment", "Hospitality"]


class State(TypedDict, total=False):
    invoices: list[str]
    booked: Annotated[dict[str, str], operator.or_]


class One(TypedDict):
    invoice: str


def each(state: State) -> list[Send]:
    return [Send("account", One(invoice=invoice)) for invoice in state["invoices"]]


def account(state: One) -> State:
    invoice = state["invoice"]
    return {"booked": {invoice: ask(f"Which account for “{invoice}”?", choices=ACCOUNTS)}}


steps = StateGraph(State).add_node(account)
steps.add_conditional_edges(START, each, ["account"])
graph = steps.compile()
