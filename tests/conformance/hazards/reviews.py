"""The hazards of reviews: what LangChain's middleware asks about the calls of its agent.

What the middleware does not expect raises in the graph after the answer was locked in, so that a corrected
one is never used. The journal has what the model heard back from its calls.
"""

from typing import Any

from tests.conformance.steps import Again, Answer, Decide, Do, Hazard, Restart, Start, lines

APPROVE: dict[str, Any] = {"decision": "approve"}
REJECT: dict[str, Any] = {"decision": "reject", "message": "no"}
HALF: dict[str, Any] = {"decision": "edit", "args": {"customer": "ana", "amount": 50}}
MORE: dict[str, Any] = {"decision": "edit", "args": {"customer": "ana", "amount": 50, "admin": True}}
NUMBER: dict[str, Any] = {"decision": "edit", "args": 7}
REPLY: dict[str, Any] = {"decision": "respond", "message": "done"}
GONE, KEPT = "/old is gone", "User rejected the tool call for `wipe` with reason: {}"

OF_REVIEWS = (
    Hazard(
        "a decision that was not offered",
        "the middleware raises, and the answer stays locked in",
        "reviewed",
        (
            Start(),
            Decide("wipe", ({"decision": "edit", "args": {"path": "/"}},)),
            Decide("wipe", (REPLY,)),
            Decide("wipe", ({"decision": "shred"},)),
            Decide("wipe", ({},)),
            Answer("wipe", "Approve"),
        ),
        (lines(GONE, "end"),),
        foreign=True,
    ),
    Hazard(
        "edited arguments",
        "what was changed must be what runs",
        "editable",
        (Start(), Decide("refund", (HALF,))),
        (lines("ana got 50", "end"),),
        foreign=True,
    ),
    Hazard(
        "edited arguments that the call does not have",
        "nobody has reviewed what was added",
        "editable",
        (Start(), Decide("refund", (MORE,)), Decide("refund", (NUMBER,)), Answer("refund", "Approve")),
        (lines("ana got 100", "end"),),
        foreign=True,
    ),
    Hazard(
        "several calls in one review",
        "decisions are told apart by their order alone",
        "two calls",
        (Start(), Decide("", (APPROVE, {"decision": "reject", "message": "keep it"}))),
        (lines("ana got 100", KEPT.format("keep it"), "end"),),
        foreign=True,
    ),
    Hazard(
        "fewer decisions than calls, then all of them",
        "the middleware raises, and the answer stays locked in",
        "two calls",
        (Start(), Decide("", (APPROVE,)), Decide("", (HALF, REJECT))),
        (lines("ana got 50", KEPT.format("no"), "end"),),
        foreign=True,
    ),
    Hazard(
        "calls that are reviewed each by itself",
        "an unanswered sibling runs again at every resume",
        "two calls, each by itself",
        (Start(), Decide("wipe", (REJECT,)), Decide("refund", (APPROVE,))),
        (lines(KEPT.format("no"), "ana got 100", "end"),),
        foreign=True,
    ),
    Hazard(
        "an approval again, while the next call of the same tool waits",
        "both reviews read the same, and the old message is still on the phone",
        "reviewed in turn",
        (
            Start(),
            Answer("wipe", "Approve", key="first"),
            Again("first"),
            Answer("wipe", "Approve", nth=0),
            Restart(),
            Again("first"),
            Decide("wipe", (REJECT,)),
        ),
        (lines(GONE, KEPT.format("no"), "end"),),
        foreign=True,
    ),
    Hazard(
        "nobody decides about a call",
        "silence must not approve, and an unexpected value poisons the thread",
        "reviewed",
        (Start({"deadline": True}), Do("expire")),
        (lines(KEPT.format("Nobody answered in time."), "end"), lines()),
        foreign=True,
    ),
)
