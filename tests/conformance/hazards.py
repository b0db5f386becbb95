"""The hazards, as data: what can go wrong between an answer and its question, and what the journal must say.

A question is named by its text; of several with one text, `nth` counts them as they were asked. Every line of
the journal is `question answer`, as the node heard it, and `end` when the graph has run to its end. A hazard
is held when the set of lines is one of `holds` and the end came at most once. (A node's line may repeat: an
interrupted node runs again from its start.)
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.driver import MOMENTS
from tests.conformance.graphs import NOBODY


@dataclass(frozen=True, slots=True)
class Start:
    """Run the graph; see `Driver.start`."""

    how: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`who` answers a question, in process `at` (0, or 1 after `Join`); `key` names the event for `Again`."""

    question: str
    answer: str
    who: str = "alice"
    via: str = ""
    nth: int = -1
    key: str = ""
    at: int = 0
    stranger: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """The service delivers the event once more, byte for byte."""

    key: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Do:
    """Something else that a driver can do: `say`, `respond`, `forge`, `expire`, `cancel`, `crash`, …"""

    what: str
    args: tuple[Any, ...] = ()
    at: int = 0


@dataclass(frozen=True, slots=True)
class Respond:
    """Raw JSON as the answer to a question."""

    question: str
    response: Any


@dataclass(frozen=True, slots=True)
class Together:
    """At the same moment."""

    steps: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Restart:
    """The process ends in good order, or has been killed, and another begins."""


@dataclass(frozen=True, slots=True)
class Join:
    """A second process beside the first."""


@dataclass(frozen=True, slots=True)
class Hazard:
    name: str
    why: str
    graph: str
    steps: tuple[Any, ...]
    holds: tuple[frozenset[str], ...]
    per_node: int = 1  # questions in one node: some systems allow one only
    ends_twice: bool = False  # a crash may make the node after the last checkpoint run again


def lines(*told: str) -> frozenset[str]:
    return frozenset(told)


FIRST, SECOND = Answer("First?", "one", key="first"), Answer("Second?", "two", key="second")
BOTH = (lines("First? one", "Second? two", "end"),)
DEEP: Any = json.loads("[" * 600 + "]" * 600)
UNKEPT: tuple[Any, ...] = (2**70, DEEP, {"a\ud83d": 1}, float("nan"))
UNFIT: tuple[Any, ...] = ("maybe", None, 2**70, [], {"q9": "yes"}, {"content": "x"})
LEFT = lines()  # a run that silence leaves paused is no wrong answer either
ONE = (lines("Which? one", "end"),)
WHICH = Answer("Which?", "one", key="which")
ABC = (lines("About a? one", "About b? two", "About c? three", "end"),)
A, B, C = Answer("About a?", "one"), Answer("About b?", "two"), Answer("About c?", "three")

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
        "an answer that the node cannot use, then another",
        "the node raises, and the first answer stays locked in",
        "fragile",
        (Start(), Answer("How many?", "three"), Do("reask"), Answer("How many?", "two")),
        (lines("How many? three", "How many? two", "end"),),
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

OF_PEOPLE = (
    Hazard(
        "a double tap",
        "two events, one intention",
        "two nodes",
        (Start(), Answer("First?", "one"), Answer("First?", "one"), SECOND),
        BOTH,
    ),
    Hazard(
        "two different taps at the same moment",
        "one must win",
        "one",
        (Start(), Together((Answer("Which?", "one"), Answer("Which?", "two")))),
        (*ONE, lines("Which? two", "end")),
    ),
    Hazard(
        "thirty-two answers at the same moment",
        "one must win",
        "one",
        (Start(), Together((Answer("Which?", "one"), Answer("Which?", "two")) * 16)),
        (*ONE, lines("Which? two", "end")),
    ),
    Hazard(
        "a webhook redelivered ten times",
        "services repeat what was not acknowledged in time",
        "two nodes",
        (Start(), FIRST, *[Again("first")] * 10, SECOND),
        BOTH,
    ),
    Hazard(
        "a webhook redelivered at the same moment",
        "services repeat what was not acknowledged in time",
        "two nodes",
        (Start(), Together((FIRST, Again("first"), Again("first"))), SECOND),
        BOTH,
    ),
    Hazard(
        "everything redelivered after the end",
        "a finished thread may be started again",
        "two nodes",
        (Start(), FIRST, SECOND, Again("first"), Again("second")),
        BOTH,
    ),
    Hazard(
        "the same words asked twice in a node",
        "only an id tells the questions apart",
        "same text",
        (Start(), WHICH, Again("which"), Answer("Which?", "three", nth=0), Answer("Which?", "two")),
        (lines("first time: one", "second time: two", "end"),),
        per_node=2,
    ),
    Hazard(
        "the same words asked by two nodes",
        "only an id tells the questions apart",
        "same text in two nodes",
        (Start(), WHICH, Again("which"), Answer("Which?", "three", nth=0), Answer("Which?", "two")),
        (lines("first time: one", "second time: two", "end"),),
    ),
    Hazard(
        "a text that names no question, while three wait",
        "a guess would be wrong two times of three",
        "parallel",
        (Start(), Do("say", ("one", "alice")), A, B, C),
        ABC,
    ),
    Hazard(
        "an answer that was not offered",
        "the node raises, and the answer stays locked in",
        "choice",
        (Start(), Answer("Deploy?", "Maybe"), Answer("Deploy?", "Yes")),
        (lines("Deploy? Yes", "end"),),
    ),
    Hazard(
        "raw answers that do not fit",
        "the node raises, and the answer stays locked in",
        "choice",
        (
            Start(),
            *(Respond("Deploy?", bad) for bad in UNFIT),
            Answer("Deploy?", "No"),
        ),
        (lines("Deploy? No", "end"),),
    ),
    Hazard(
        "a stranger taps",
        "a button in a group can be tapped by everybody there",
        "one",
        (Start(), Answer("Which?", "two", who="mallory", stranger=True), WHICH),
        ONE,
    ),
    Hazard(
        "somebody known taps who was not asked",
        "being known is not being asked",
        "one",
        (Start(), Answer("Which?", "two", who="ben", stranger=True), WHICH),
        ONE,
    ),
    Hazard(
        "two people, one after the other",
        "the second must not answer the next question",
        "two nodes",
        (
            Start({"people": 2}),
            FIRST,
            Answer("First?", "three", who="ben"),
            Answer("Second?", "two", who="ben"),
        ),
        BOTH,
    ),
    Hazard(
        "two people at the same moment",
        "one must win",
        "one",
        (Start({"people": 2}), Together((WHICH, Answer("Which?", "two", who="ben")))),
        (*ONE, lines("Which? two", "end")),
    ),
    Hazard(
        "one person through two providers",
        "the copy on the other one must not answer the next question",
        "two nodes",
        (
            Start({"providers": 2}),
            Answer("First?", "one", via="second"),
            Answer("First?", "three", via="first"),
            Answer("Second?", "two", via="first"),
        ),
        BOTH,
    ),
    Hazard(
        "both providers at the same moment",
        "one must win",
        "one",
        (
            Start({"providers": 2}),
            Together((Answer("Which?", "one", via="first"), Answer("Which?", "two", via="second"))),
        ),
        (*ONE, lines("Which? two", "end")),
    ),
)

OF_TIME = (
    Hazard(
        "nobody answers",
        "a value for silence that the graph does not expect poisons it",
        "choice",
        (Start({"deadline": True}), Do("expire")),
        (lines(f"Deploy? {NOBODY}", "end"), LEFT),
    ),
    Hazard(
        "an answer after the deadline",
        "the agent was told that nobody answered",
        "choice",
        (Start({"deadline": True}), Do("expire"), Answer("Deploy?", "Yes")),
        (lines(f"Deploy? {NOBODY}", "end"), LEFT),
    ),
    Hazard(
        "a late answer, while the next question waits",
        "it must not answer the next one",
        "two nodes",
        (Start({"deadline": True}), Do("expire"), FIRST, SECOND),
        (lines(f"First? {NOBODY}", "Second? two", "end"), LEFT),
    ),
    Hazard(
        "an answer racing the deadline",
        "one must win, and the other must know",
        "choice",
        (Start({"deadline": True}), Together((Answer("Deploy?", "Yes"), Do("expire")))),
        (lines("Deploy? Yes", "end"), lines(f"Deploy? {NOBODY}", "end"), LEFT),
    ),
    Hazard(
        "an answer after the run was cancelled",
        "what was taken back must not go on",
        "one",
        (Start(), Do("cancel"), WHICH),
        (lines(),),
    ),
    Hazard(
        "an answer racing a cancel",
        "one must win, and a cancelled run must not go half way",
        "one",
        (Start(), Together((WHICH, Do("cancel")))),
        (*ONE, lines(), lines("Which? one")),
    ),
)

OF_PROCESSES = (
    Hazard(
        "two processes, one question",
        "no saver locks a thread",
        "two nodes",
        (
            Start(),
            Join(),
            Together((Answer("First?", "one"), Answer("First?", "three", at=1))),
            SECOND,
        ),
        (*BOTH, lines("First? three", "Second? two", "end")),
    ),
    Hazard(
        "one event to two processes",
        "a load balancer repeats to another instance",
        "two nodes",
        (Start(), Join(), Together((FIRST, Again("first", at=1))), Answer("Second?", "two", at=1)),
        BOTH,
    ),
    Hazard(
        "parallel questions through two processes",
        "no saver locks a thread",
        "parallel",
        (Start(), Join(), Together((A, Answer("About b?", "two", at=1))), C),
        ABC,
    ),
    *(
        Hazard(
            f"killed: {moment}",
            "what was accepted must arrive, once, where it belongs",
            "choice" if moment == "silence stored" else "two nodes",
            (Start({"deadline": True}), Do("crash", (moment,)), Do("expire"), Restart())
            if moment == "silence stored"
            else (Do("crash", (moment,)), Start(), FIRST, SECOND),
            (lines(f"Deploy? {NOBODY}", "end"),) if moment == "silence stored" else BOTH,
            ends_twice=True,
        )
        for moment in MOMENTS
    ),
)

HAZARDS = (*OF_LANGGRAPH, *OF_PEOPLE, *OF_TIME, *OF_PROCESSES)
