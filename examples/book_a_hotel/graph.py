"""Books a hotel: asks which city is meant, for how long, which hotel, and before it spends money."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.toolkit import ask, confirmed

HOTELS = [("Hotel Mozart", 220), ("Pension Nossek", 130), ("Hotel Stephansplatz", 310)]


class State(TypedDict, total=False):
    city: str
    nights: int
    hotel: str
    price: int
    outcome: str


def clarify(state: State) -> State:
    """Unclear: the likely answers, beside which people may write another."""
    where = ask(f"Which {state['city']}?", "There are several.", ["Austria", "Virginia"])
    return {"city": f"{state['city']}, {where}"}


def how_long(state: State) -> State:
    """Missing: a number. What is none is asked again, and never comes here."""
    schema = {"type": "integer", "minimum": 1, "maximum": 30}
    return {"nights": interrupt("How many nights?", response_schema=schema)}


def choose(state: State) -> State:
    """A matter of taste: one question after the other, as long as they keep searching."""
    for name, price in HOTELS:
        if ask(f"{name} in {state['city']}?", f"${price} a night.", [name, "Keep searching"]) == name:
            return {"hotel": name, "price": price * state["nights"]}
    return {"outcome": "Not booked: there is no other hotel."}


def confirm(state: State) -> State:
    """Costs money: yes is True, no is False, and silence is None, which is no yes either."""
    details = f"{state['nights']} nights, ${state['price']}"
    match confirmed(f"Book {state['hotel']}", details, expires_in="1h"):
        case True:
            return {"outcome": f"Booked: {state['hotel']}."}
        case False:
            return {"outcome": f"Not booked: you do not want {state['hotel']} after all."}
        case None:
            return {"outcome": "Not booked: nobody answered."}


steps = StateGraph(State).add_sequence([clarify, how_long, choose]).add_node(confirm)
steps.add_edge(START, "clarify")
steps.add_conditional_edges("choose", lambda state: "confirm" if "hotel" in state else END)
graph = steps.compile()
