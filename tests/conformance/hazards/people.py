"""The hazards of people and their services: who answers, how often, with what."""

from typing import Any

from tests.conformance.hazards.common import ABC, BOTH, FIRST, ONE, SECOND, WHICH, A, B, C
from tests.conformance.steps import Again, Answer, Do, Hazard, Respond, Start, Together, lines

UNFIT: tuple[Any, ...] = ("maybe", None, 2**70, [], {"q9": "yes"}, {"content": "x"})

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
