"""The graph of the research agent: terms, a question, a search, a report."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from answerback_agents.research.ask import chosen, instead, is_no, question, written
from answerback_agents.research.collection import Cited, Collection, Found
from answerback_agents.research.report import no_answer, report
from answerback_agents.research.summary import Point, summary
from answerback_agents.research.terms import Term, corrected, final, propose, words_of

MOST_AGAIN = 2  # times that a correction is asked about
NOTHING: dict[str, Any] = {"answered": False, "terms": [], "search_terms": [], "additional_context": ""}


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
    """What is kept between the steps. `terms` is replaced whenever the person has answered.

    `wrote`: what they wrote, answer by answer. `doubted`: the words that they were asked about. `again`: how
    often they were asked about a correction.
    """

    terms: list[Term]
    wrote: list[str]
    doubted: list[str]
    again: int
    answered: bool
    count: int
    all_words: bool
    gist: list[Point]


Graph = StateGraph[State, None, Topic, Findings]
Searched = Callable[[], Collection]


def flow(searched: Searched) -> Graph:
    """`searched` gives the collection, whenever it is needed."""
    builder: Graph = StateGraph(State, input_schema=Topic, output_schema=Findings)
    builder.add_node("propose_terms", partial(propose_terms, searched))
    builder.add_node("clarify", partial(clarify, searched))
    builder.add_node("search", partial(search, searched))
    builder.add_sequence([summarise, write_report])
    builder.add_edge(START, "propose_terms")
    builder.add_edge("propose_terms", "clarify")
    builder.add_conditional_edges("clarify", _after_answer)
    builder.add_edge("search", "summarise")
    builder.add_edge("write_report", END)
    return builder


def propose_terms(searched: Searched, state: State) -> dict[str, Any]:
    """From the topic to search terms, each with what the collection has of it, and a likelier word."""
    topic: Any = state.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise ValueError('say what to look for: {"topic": "how an answer finds its question"}')
    topic = " ".join(topic.split())
    terms = propose(topic, searched().vocabulary)
    return {"topic": topic, "terms": terms, "wrote": [], "doubted": [], "again": 0}


def clarify(searched: Searched, state: State) -> dict[str, Any]:
    """Pause; go on with what the person meant, or with terms to ask about once more."""
    before = state["terms"]
    answer = interrupt(question(state["topic"], before))
    refused = is_no(answer)
    if refused:
        answer = interrupt(instead(state["topic"]))
        if is_no(answer):
            return NOTHING
    topic, said = chosen(state["topic"], before, answer), written(answer)
    wrote = [*state["wrote"], said] if said else state["wrote"]
    doubted = [*state["doubted"], *(term["word"] for term in before if term["likelier"])]
    if topic is None and wrote and not refused:
        topic = state["topic"]  # what they wrote before stands
    if topic is None:
        return NOTHING
    vocabulary = searched().vocabulary
    may_ask = bool(said) and state["again"] < MOST_AGAIN
    terms = (
        corrected(topic, vocabulary, doubted)
        if may_ask
        else [final(word, vocabulary) for word in words_of(topic)]
    )
    return {
        "answered": True,
        "topic": topic,
        "terms": terms,
        "wrote": wrote,
        "doubted": doubted,
        "again": state["again"] + _is_doubted(terms),
        "search_terms": [term["word"] for term in terms],
        "additional_context": "\n".join(wrote),
    }


def search(searched: Searched, state: State) -> dict[str, Any]:
    """Full text search for the terms, whole words only; nothing if nobody said what is meant."""
    found = searched().search(state["search_terms"])
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


def _after_answer(state: State) -> Literal["clarify", "search"]:
    return "clarify" if _is_doubted(state["terms"]) else "search"


def _is_doubted(terms: list[Term]) -> bool:
    return any(term["likelier"] for term in terms)
