"""The hazards of LangGraph itself: what a resume, a saver, a node or a restart does to an answer."""

import json
from typing import Any

from tests.conformance.hazards.common import ABC, BOTH, FIRST, LEFT, ONE, SECOND, WHICH, A, B, C
from tests.conformance.steps import Again, Answer, Do, Hazard, Respond, Restart, Start, Together, lines

DEEP: Any = json.loads("[" * 600 + "]" * 600)
UNKEPT: tuple[Any, ...] = (2**70, DEEP, {"a\ud83d": 1}, float("nan"))
MACHINERY: tuple[Any, ...] = (None, {}, {"0" * 32: "x"}, [], False, 0)
LONG = "x" * 300_000  # more than is kept here, and more than a messenger carries

OF_LANGGRAPH = (
    Hazard(
        "the first answer again, while the second question of the node waits",
        "a plain resume sent twice answers the next question",
        "two",
        (Start(), FIRST, Again("first"), SECOND),
        BOTH,
        per_node=2,
    ),
    Hazard(
        "the first answer again, while the next node's question waits",
        "a plain resume sent twice answers the next question",
        "two nodes",
        (Start(), FIRST, Again("first"), SECOND),
        BOTH,
    ),
    Hazard(
        "another tap on the first question, while the second of the node waits",
        "the id of a question that was answered reaches the next one of its node",
        "two",
        (Start(), FIRST, Answer("First?", "three"), SECOND),
        BOTH,
        per_node=2,
    ),
    Hazard(
        "another tap on the first question, while the next node's waits",
        "the old message with its buttons is still on the phone",
        "two nodes",
        (Start(), FIRST, Answer("First?", "three"), SECOND),
        BOTH,
    ),
    Hazard(
        "an answer to a question that never was",
        "a plain resume on an unknown thread starts the graph",
        "one",
        (Start(), Do("forge"), WHICH),
        ONE,
    ),
    Hazard(
        "answers that look like machinery",
        "{} and objects of 32-digit keys are taken for maps of ids, null crashes",
        "text",
        (Start(), Answer("First?", '{"' + "0" * 32 + '": "x"}'), Answer("Second?", "null")),
        (lines('First? {"' + "0" * 32 + '": "x"}', "Second? null", "end"),),
    ),
    Hazard(
        "raw values that look like machinery",
        "the same as values, not as texts; null crashes, and what follows may take its place",
        "text",
        (Start(), *(Respond("First?", bad) for bad in MACHINERY), FIRST, SECOND),
        BOTH,
    ),
    Hazard(
        "answers that count as nothing",
        "an empty object or a zero may be lost as if nobody had answered",
        "text",
        (Start(), Answer("First?", "{}"), Answer("Second?", "0")),
        (lines("First? {}", "Second? 0", "end"),),
    ),
    Hazard(
        "characters that cannot be stored",
        "a lone surrogate or a NUL is stored as something else, or not at all",
        "text",
        (Start(), Answer("First?", "a\ud83d"), Answer("First?", "a\x00b"), FIRST, SECOND),
        # Refused, or told as they were written.
        (*BOTH, *(lines(f"First? {odd}", "Second? two", "end") for odd in ("a\ud83d", "a\x00b"))),
    ),
    Hazard(
        "an answer too long to keep",
        "a body of any size passes many checks, and fails or is cut where it is stored",
        "text",
        (Start(), Answer("First?", LONG), FIRST, SECOND),
        # Refused, or told as it was written.
        (*BOTH, lines(f"First? {LONG}", "Second? two", "end")),
    ),
    Hazard(
        "parallel questions in the order asked",
        "an unanswered sibling runs again at every resume",
        "parallel",
        (Start(), A, B, C),
        ABC,
    ),
    Hazard(
        "parallel questions in the opposite order",
        "an unanswered sibling runs again at every resume",
        "parallel",
        (Start(), C, B, A),
        ABC,
    ),
    Hazard(
        "parallel questions at the same moment",
        "no saver locks a thread",
        "parallel",
        (Start(), Together((A, B, C))),
        ABC,
    ),
    Hazard(
        "one of parallel questions twice, then the others",
        "a repeated answer may take a sibling's place",
        "parallel",
        (Start(), Answer("About b?", "two", key="b"), Again("b"), A, Again("b"), C),
        ABC,
    ),
    Hazard(
        "two questions of a step whose results are cached",
        "LangGraph keeps what a step was told, and gives it to the next one with the same input",
        "cached",
        (Start(), Answer("About tea?", "one", nth=0), Answer("About tea?", "two", nth=1)),
        (lines("About tea? one", "About tea? two", "end"),),
    ),
    Hazard(
        "a sibling's question changes under the same id",
        "yes to one file must not delete two",
        "changing",
        (
            Start(),
            Answer("Anything else?", "two"),
            Answer("Delete 1 files?", "Yes"),
            *[Answer("Delete 2 files?", "No")],
        ),
        (lines("Anything else? two", "Delete 2 files? No", "end"),),
    ),
    Hazard(
        "a step asks something else when it runs again",
        "its answer goes to whatever it asks by then: yes to one file deletes two",
        "restless",
        (Start(), Answer("Delete 1 files?", "Yes"), Answer("Delete 2 files?", "No")),
        (lines("Delete 2 files? No", "end"), LEFT),
    ),
    Hazard(
        "an answer that the node cannot use, then another",
        "the node raises, and the first answer stays locked in",
        "fragile",
        (Start(), Answer("How many?", "three"), Do("reask"), Answer("How many?", "two")),
        (lines("How many? three", "How many? two", "end"),),
    ),
    Hazard(
        "an answer that the demanded form does not take, then one that it takes",
        "a `response_schema` refuses it, and whoever sent it must be asked again",
        "form",
        (Start(), Respond("Which zip code?", "A-1010"), Respond("Which zip code?", "1010")),
        (lines("zip 1010", "end"),),
        foreign=True,
    ),
    Hazard(
        "the old message after the question was asked again",
        "a fork asks the same question under a new id",
        "fragile",
        (
            Start(),
            Answer("How many?", "three", key="bad"),
            Do("reask"),
            Again("bad"),
            Answer("How many?", "one", nth=0),
            Answer("How many?", "two"),
        ),
        (lines("How many? three", "How many? two", "end"),),
    ),
    Hazard(
        "a node that fails once after the answer",
        "the retry must use the answer that was given",
        "fails once",
        (Start(), WHICH, Answer("Which?", "two"), Do("retry")),
        ONE,
    ),
    Hazard(
        "a breakpoint behind the question",
        "it looks like a consumed interrupt, and a blind resume runs the guarded step",
        "guarded",
        (Start(), WHICH, Again("which"), Answer("Which?", "two")),
        (lines("Which? one"),),
    ),
    Hazard(
        "questions of an inner graph",
        "they surface on the parent, whose node runs again",
        "inner",
        (Start(), FIRST, Again("first"), SECOND, Again("first"), Answer("Third?", "three")),
        (lines("First? one", "Second? two", "Third? three", "end"),),
    ),
    Hazard(
        "a step calls a graph that asks twice at once, and later in another order",
        "LangGraph tells the calls apart by their order alone: yes to one file deletes the other",
        "called",
        (Start(), Answer("Delete a?", "Yes"), Answer("Delete b?", "No")),
        (lines("Delete a? Yes", "Delete b? No", "end"), LEFT),
    ),
    Hazard(
        "a model calls two tools that ask in one turn",
        "LangGraph runs both again for each answer: what was agreed to first is done twice",
        "tools",
        (Start(), Answer("Delete a?", "Yes"), Answer("Delete b?", "No")),
        (lines("Delete a? Yes", "Delete b? No", "end"),),
        per_node=2,
    ),
    Hazard(
        "new input on a waiting thread",
        "LangGraph abandons the question without a word",
        "topic",
        (Start(), Start({"anew": True}), Answer("About tea?", "one")),
        # Refused: the first question still waits and takes it. Replaced: its answer goes nowhere.
        (lines("About tea? one", "end"), lines()),
    ),
    Hazard(
        "somebody resumes the thread past the system",
        "the answer that comes afterwards finds another question under its id",
        "two nodes",
        (Start(), Do("elsewhere", ("three",)), FIRST),
        (lines("First? three"),),
    ),
    Hazard(
        "a restart between question and answer",
        "ids are stable only if the thread is kept",
        "two nodes",
        (Start(), Restart(), FIRST, Restart(), Again("first"), SECOND),
        BOTH,
    ),
    Hazard(
        "a graph that was compiled without a saver",
        "LangGraph reports its question and keeps nothing of it",
        "compiled",
        (Start(), Restart(), WHICH),
        ONE,
    ),
    Hazard(
        "values that no saver can keep",
        "integers over 64 bit, lists 600 deep and keys that are no text make every later resume raise",
        "text",
        (Start(), *(Respond("First?", bad) for bad in UNKEPT), FIRST, SECOND),
        BOTH,
    ),
    Hazard(
        "killed inside the node that heard the answer",
        "the question still waits, and the service delivers again",
        "dies in the node",
        (Start(), WHICH, Restart(), Again("which")),
        ONE,
    ),
    Hazard(
        "killed inside the next node",
        "without synchronous checkpoints the answer is lost and asked for again",
        "dies in the next node",
        (Start(), WHICH, Restart(), Again("which"), Answer("And then?", "two")),
        (lines("Which? one", "And then? two", "end"),),
    ),
)
