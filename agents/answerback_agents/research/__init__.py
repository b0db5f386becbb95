"""The research agent that comes along, `graph: answerback_agents.research:graph`: no model, no account.

Started with `{"topic": "which question a massage is for"}` it proposes search terms, pauses to ask whether
they are meant ("massage" is nowhere in the collection, "message" is), takes a choice or words of the person's
own, searches, sums up and reports. It ends with `report` (Markdown, which cites nothing but passages of the
collection: the project's own documents), `passages` (`{"document", "section", "text"}` each), the `topic`
and the `search_terms` that were searched for, and `additional_context`: what the person wrote, "" if they
only tapped.
"""

from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.research.ask import chosen, question, written
from answerback_agents.research.collection import Cited, Found, collection
from answerback_agents.research.report import no_answer, report
from answerback_agents.research.summary import Point, summary
from answerback_agents.research.terms import Term, final, propose, words_of

__all__ = ["graph"]


class Topic(TypedDict):
    """What it is started with."""

    topic: str


class Findings(TypedDict):
    """What it ends with."""

    report: str
    passages: list[Cited]
    topic: str
    search_terms: list[str]
    additional_context: str


class State(Topic, Findings):
    """What is kept between the steps. `terms` is replaced once the person has answered."""

    terms: list[Term]
    answered: bool
    count: int
    all_words: bool
    gist: list[Point]


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
    topic, said = chosen(state["topic"], state["terms"], answer), written(answer)
    if topic is None:
        return {"answered": False, "search_terms": [], "additional_context": ""}
    vocabulary = collection().vocabulary
    terms = [final(word, vocabulary) for word in words_of(topic)]
    words = [term["word"] for term in terms]
    return {
        "answered": True,
        "topic": topic,
        "terms": terms,
        "search_terms": words,
        "additional_context": said,
    }


def search(state: State) -> dict[str, Any]:
    """Full text search for the terms, whole words only; nothing if nobody said what is meant."""
    found = collection().search(state["search_terms"])
    return {"passages": list(found.passages), "count": found.count, "all_words": found.all_words}


def summarise(state: State) -> dict[str, Any]:
    """The few sentences of it that say most."""
    return {"gist": summary(state["search_terms"], state["passages"])}


def write_report(state: State) -> dict[str, Any]:
    """All of it, cited."""
    if not state["answered"]:
        return {"report": no_answer(state["topic"])}
    found = Found(tuple(state["passages"]), state["count"], state["all_words"])
    gist = [Point(*point) for point in state["gist"]]  # a checkpoint keeps them as lists
    return {"report": report(state["topic"], state["search_terms"], found, gist)}


def _build() -> StateGraph[State, None, Topic, Findings]:
    builder = StateGraph(State, input_schema=Topic, output_schema=Findings)
    builder.add_sequence([propose_terms, clarify, search, summarise, write_report])
    builder.add_edge(START, "propose_terms")
    builder.add_edge("write_report", END)
    return builder


graph = _build().compile(name="research")
