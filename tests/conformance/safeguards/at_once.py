"""The safeguards of what two gateways do at the same moment: one does it, and the other is told."""

from tests.conformance.safeguards.mutant import FLOW, GATEWAY, Mutant

GIVEN_UP = FLOW + "test_given_up_at_once.py::test_what_is_replayed_and_discarded_at_once_is_one_of_both"

OF_TWO_AT_ONCE = (
    # A dead letter is replayed or discarded
    Mutant(
        "what is being replayed is not discarded",
        GATEWAY + "letters.py",
        "kind, row = _held(tx, id)",
        "kind, row = _found(tx, id)",
        GIVEN_UP + "[replay-a_message]",
    ),
    Mutant(
        "what is being discarded is not replayed",
        GATEWAY + "replay.py",
        "    if not letters.still(tx, kind, id):",
        "    if False:",
        GIVEN_UP + "[discard-a_message]",
    ),
    Mutant(
        "a damaged question that is being discarded is not asked anew",
        GATEWAY + "replay.py",
        'if not letters.done(tx, record.id, "asked anew", by):',
        'if not letters.done(tx, record.id, "asked anew", by) and False:',
        GIVEN_UP + "[discard-a_damaged_question]",
    ),
    Mutant(
        "a failed run that is being discarded is not tried again",
        GATEWAY + "run.py",
        "row = tx.one(runs.HELD, id=id)",
        "row = tx.one(runs.GET, id=id)",
        GIVEN_UP + "[discard-a_run]",
    ),
)
