"""The hazards of processes: two of them, and one that is killed before or after each commit."""

from tests.conformance.driver import MOMENTS
from tests.conformance.graphs import NOBODY
from tests.conformance.hazards.common import ABC, BOTH, FIRST, SECOND, A, C
from tests.conformance.steps import Again, Answer, Do, Hazard, Join, Restart, Start, Together, lines

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
