"""The research agent that comes along, `graph: answerback_agents.research:graph`: no model, no account.

Started with `{"topic": "which question a massage is for"}` it proposes search terms, pauses to ask whether
they are meant ("massage" is nowhere in the collection, "message" is), takes a choice or words of the person's
own, and ends with `{"report": markdown, "passages": [{"document", "section", "text"}]}`. The report cites
nothing but passages of the collection: the project's own documents.
"""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.research.ask import chosen, question
from answerback_agents.research.collection import Cited, collection
from answerback_agents.research.report import no_answer, report
from answerback_agents.research.terms import Term, final, propose, words_of

__all__ = ["graph"]


class Topic(TypedDict):
    """What it is started with."""

    topic: str


class Findings(TypedDict):
    """What it ends with."""

    report: str
    passages: list[Cited]


class State(Topic, Findings):
    """What is kept between the steps. `terms` is replaced once the person has answered."""

    terms: list[Term]
    answered: bool


def propose_terms(state: State) -> dict[str, Any]:
    """From the topic to search terms, each with what the collection has of it, and a likelier word."""
    topic: Any = state.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise ValueError('say what to look for: {"topic": "how an answer finds its question"}')
    topic = " ".join(topic.split())
    return {"topic": topic, "terms": propose(topic, collection().vocabulary)}


def clarify(state: State) -> dict[str, Any]:
    """Pause; go on with what the person meant."""
    answer = interrupt(question(state["topic"], state["terms"]))
    topic = chosen(state["topic"], state["terms"], answer)
    if topic is None:
        return {"answered": False}
    found = collection().vocabulary
    terms = [final(word, found) for word in words_of(topic)]
    return {"answered": True, "topic": topic, "terms": terms}


def search(state: State) -> dict[str, Any]:
    """Full text search for the terms, whole words only; the report about it."""
    if not state["answered"]:
        return {"report": no_answer(state["topic"]), "passages": []}
    words = [term["word"] for term in state["terms"]]
    found = collection().search(words)
    return {"report": report(state["topic"], words, found), "passages": list(found.passages)}


def _build() -> StateGraph[State, None, Topic, Findings]:
    builder = StateGraph(State, input_schema=Topic, output_schema=Findings)
    builder.add_sequence([propose_terms, clarify, search])
    builder.add_edge(START, "propose_terms")
    builder.add_edge("search", END)
    return builder


graph = _build().compile(name="research")
