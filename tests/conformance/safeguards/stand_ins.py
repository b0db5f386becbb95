"""The safeguards of law 6 against stand-ins: what no model, script or terminal decides, is asked or sees."""

from tests.conformance.safeguards.mutant import FLOW, GATEWAY, Mutant

HERE = FLOW + "test_stand_ins.py::"

OF_STAND_INS = (
    Mutant(
        "a stand-in approves nothing",
        GATEWAY + "door.py",
        "(record.human_only or may_not(record.questions, values, stand_in))",
        "record.human_only",
        HERE + "test_law_6_a_stand_in_never_approves_confirms_or_edits[edit-llm]",
    ),
    Mutant(
        "a stand-in is refused at the door what is for people",
        GATEWAY + "door.py",
        "(record.human_only or may_not(record.questions, values, stand_in))",
        "may_not(record.questions, values, stand_in)",
        HERE + "test_the_door_refuses_a_stand_in_that_was_asked_what_only_people_may_answer[sqlite]",
    ),
    Mutant(
        "a stand-in is not asked what is for people",
        GATEWAY + "standing.py",
        "if not human_only and self._may_see(name, sensitive)]",
        "if self._may_see(name, sensitive)]",
        HERE + "test_what_only_people_may_answer_never_goes_to_a_stand_in[sqlite]",
    ),
    Mutant(
        "a stand-in sees nothing that is sensitive",
        GATEWAY + "standing.py",
        "(found.sees_sensitive or not sensitive)",
        "True",
        HERE + "test_what_is_sensitive_is_seen_by_no_stand_in[sqlite]",
    ),
    Mutant(
        "a stand-in answers its own delivery only",
        GATEWAY + "substitute.py",
        '    if gathered is None or not isinstance(found, Match) or found.how != "token":',
        "    if gathered is None or not isinstance(found, Match):",
        HERE + "test_an_answer_without_its_token_is_for_nothing[sqlite]",
    ),
    Mutant(
        "a stand-in's answer counts once",
        GATEWAY + "instead.py",
        "    if not replies.add(tx, *event, _raw(reply)):",
        "    if not replies.add(tx, *event, _raw(reply)) and False:",
        HERE + "test_an_answer_that_was_not_taken_is_not_made_good_under_the_same_id[sqlite]",
    ),
    Mutant(
        "a run that ended with its stand-in has ended",
        GATEWAY + "settle.py",
        "    if not isinstance(state, Finished) and failing.has_ended(tx, run):",
        "    if False:",
        FLOW + "test_stand_ins_that_fail.py::test_of_a_run_that_ended_with_it_nobody_hears_twice"
        "_whatever_becomes_of_an_answer_on_its_way[sqlite-it waits on]",
    ),
)
