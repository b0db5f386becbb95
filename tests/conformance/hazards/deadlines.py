"""The hazards of time: silence, late answers, and ends that come at the same moment."""

from tests.conformance.graphs import NOBODY
from tests.conformance.hazards.common import FIRST, LEFT, ONE, SECOND, WHICH
from tests.conformance.steps import Answer, Do, Hazard, Start, Together, lines

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
