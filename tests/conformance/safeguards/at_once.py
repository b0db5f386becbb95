"""The safeguards of what two gateways do at the same moment: one does it, and the other is told."""

from tests.conformance.safeguards.mutant import FLOW, GATEWAY, TOLD, Mutant

GIVEN_UP = FLOW + "test_given_up_at_once.py::test_what_is_replayed_and_discarded_at_once_is_one_of_both"
MUTING = FLOW + "test_muting_at_once.py::"
HANDING_ON = FLOW + "test_handing_on_at_once.py::"
STOPPING = FLOW + "test_stopping_at_once.py::"
LEAVING = FLOW + "test_stopping.py::"
TURNS = FLOW + "test_turns.py::"

OF_TWO_AT_ONCE = (
    # An agent that has as many threads at work as it may
    Mutant(
        "what waits for one agent keeps no other agent waiting",
        GATEWAY + "turns.py",
        "self._gates.setdefault(agent, ",
        'self._gates.setdefault("", ',
        TURNS + "test_law_10_an_agent_that_hangs_keeps_no_other_agent_waiting[sqlite-answers]",
    ),
    Mutant(
        "an answer is not given to a run that was cancelled while it waited",
        GATEWAY + "resume.py",
        "if waited and not await",
        "if False and not await",
        TURNS
        + "test_law_1_an_answer_is_not_given_when_its_run_was_cancelled_while_it_waited_for_its_turn[sqlite]",
    ),
    Mutant(
        "a run that was cancelled while it waited does not begin",
        GATEWAY + "work.py",
        "if waited and not await",
        "if False and not await",
        TURNS + "test_a_run_does_not_begin_when_it_was_cancelled_while_it_waited_for_its_turn[sqlite]",
    ),
    # A gateway that stops, and whoever comes next
    Mutant(
        "what is being sent when the gateway stops is not sent again",
        GATEWAY + "background.py",
        "            await self._until(over)\n",
        "            pass\n",
        LEAVING + "test_law_12_a_message_that_is_being_sent_is_not_sent_again_by_the_next_gateway[sqlite]",
    ),
    Mutant(
        "what has not begun when the gateway stops is given back",
        GATEWAY + "background.py",
        "        for task in given_back:\n            task.cancel()\n",
        "",
        LEAVING
        + "test_what_has_not_begun_is_whoever_comes_nexts_at_once_and_that_was_no_attempt[postgresql]",
    ),
    # A dead letter is replayed or discarded
    Mutant(
        "what is being replayed is not discarded",
        GATEWAY + "letters.py",
        "    table.still(tx, kind, id)\n    try:",
        "    try:",
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
        GATEWAY + "letters.py",
        '        leases.hold(tx, run["agent"], run["thread_id"])\n',
        "",
        GIVEN_UP + "[discard-a_run]",
    ),
    # Somebody mutes or unmutes while something is made for them
    Mutant(
        "nobody mutes while they are asked",
        GATEWAY + "store/contacts.py",
        'if asks and tx.dialect == "postgresql":',
        "if False:",
        MUTING + "test_what_is_made_as_somebody_mutes_waits[ask]",
    ),
    Mutant(
        "nobody unmutes while they are reminded",
        GATEWAY + "store/contacts.py",
        "postgresql=_contact.with_for_update(read=True)",
        "postgresql=_contact",
        MUTING + "test_they_are_reminded_now_as_they_unmute[True]",
    ),
    Mutant(
        "of mute and unmute at once the second knows of the first",
        GATEWAY + "muting.py",
        "tx.one(contacts.HELD, id=person.id)",
        "tx.one(contacts.CONTACT, id=person.id)",
        MUTING + "test_of_mute_and_unmute_at_once_the_second_knows_of_the_first",
    ),
    # A question is handed on or closed while somebody answers it
    Mutant(
        "who is just handing a question on does not answer it",
        GATEWAY + "door.py",
        "record = interactions.held(tx, record.id) or record",
        "record = record",
        HANDING_ON + "test_law_7_who_is_just_handing_it_on_does_not_answer_it[by_form]",
    ),
    Mutant(
        "of several the next is not asked once the question is closed",
        GATEWAY + "answering.py",
        "record = interactions.held(case.tx, record.id) or record",
        "record = record",
        HANDING_ON + "test_a_question_that_is_withdrawn_as_the_first_of_several_is_answered"
        "_is_open_to_nobody[False]",
    ),
    # A run is stopped while its agent begins to wait
    Mutant(
        "a run that is stopped while it is looked at is not taken up as another one",
        GATEWAY + "adopt.py",
        'if run["status"] != "failed" if run is not None else before:',
        'if run is not None and run["status"] != "failed":',
        STOPPING + "test_a_run_that_is_stopped_while_it_is_looked_at_asks_nothing_more[sqlite-True]",
    ),
    Mutant(
        "what a stopped run leaves on somebody else's thread is not asked",
        GATEWAY + "settle.py",
        "        _leave_unasked(tx, context, agent, thread, waiting)\n",
        "",
        STOPPING + "test_a_run_that_is_stopped_while_it_is_looked_at_asks_nothing_more[sqlite-False]",
    ),
    Mutant(
        "a thread is nobody's until its agent was told that the run is stopped",
        GATEWAY + "closing.py",
        'lease = leases.take(tx, run["agent"], run["thread_id"], context.stopper)',
        "lease = None",
        TOLD + "test_no_other_run_of_the_thread_is_tried_again_until_the_agent_was_told[sqlite]",
    ),
    Mutant(
        "an agent that was told too early that its run is stopped is told again",
        GATEWAY + "settle.py",
        "done.stopped = stops.again(tx, agent, thread, context.stopper, waits=bool(waiting))",
        "done.stopped = ''",
        STOPPING + "test_an_agent_that_was_told_too_early_is_told_again[sqlite]",
    ),
    Mutant(
        "no run begins while another gateway tells the agent that the one before is stopped",
        GATEWAY + "run.py",
        "if stops.is_claimed(tx, earlier):",
        "if False:",
        TOLD + "test_no_run_begins_while_another_process_tells_the_agent[sqlite]",
    ),
    Mutant(
        "what is still to be stopped is not looked at",
        GATEWAY + "adopt.py",
        " or stops.of(tx, name, change.thread):",
        ":",
        STOPPING + "test_nobody_looks_at_a_thread_whose_agent_was_not_told_as_its_gateway_was_killed[sqlite]",
    ),
    # Other things that two do
    Mutant(
        "of two chats confirmed at once one is linked",
        GATEWAY + "linking.py",
        "        mine = contacts.address_of(tx, provider, reply.sender)\n    waiting",
        "    waiting",
        FLOW + "test_two_people_at_once.py"
        "::test_law_7_of_two_chats_that_one_confirms_at_once_on_two_gateways_one_is_linked",
    ),
    Mutant(
        "what is being sent again is not erased",
        GATEWAY + "store/erasing.py",
        'update(D).where(D.c.id == p("key"), D.c.status != "queued")',
        'update(D).where(D.c.id == p("key"))',
        FLOW + "test_given_up_at_once.py"
        "::test_what_is_sent_again_as_it_is_erased_is_sent_as_it_was_or_not_at_all[True]",
    ),
    Mutant(
        "a second copy is told how its question ended",
        GATEWAY + "receipts.py",
        'interactions.held(tx, row["interaction_id"])  # closed before',
        "pass  # closed before",
        HANDING_ON + "test_a_copy_that_turns_up_as_its_question_is_closed_is_told_how_it_ended[False]",
    ),
    Mutant(
        "who stops what has just ended is not told that they stopped it",
        GATEWAY + "stopping.py",
        "    if not effect.stops:\n        return None\n",
        "",
        STOPPING + "test_who_stops_what_ends_at_that_moment_is_not_told_that_they_stopped_it",
    ),
    Mutant(
        "an account that two people are given at once is of one of them",
        GATEWAY + "store/contacts.py",
        'PUT_OWN_ADDRESS = _upsert(A, _ACCOUNT, keep=_NOTED, whose="contact_id")',
        "PUT_OWN_ADDRESS = PUT_ADDRESS",
        FLOW + "test_two_people_at_once.py"
        "::test_law_7_an_account_that_two_people_are_given_at_once_is_of_one_of_them",
    ),
    Mutant(
        "of two messages of a notice that fail at once one goes on",
        GATEWAY + "store/notices.py",
        "postgresql=_one.with_for_update()",
        "postgresql=_one",
        FLOW + "test_two_people_at_once.py"
        "::test_when_two_messages_of_a_notice_fail_at_once_the_next_address_is_told_once",
    ),
    Mutant(
        "who ends a run takes its questions in the order of who answers them",
        GATEWAY + "closing.py",
        '    interactions.hold_asked(tx, run["agent"], run["thread_id"])\n',
        "",
        FLOW + "test_two_people_at_once.py::test_an_answer_and_the_end_of_its_run_do_not_wait_for_each_other"
        "[cancel]",
    ),
    Mutant(
        "who looks after an answer takes its question before its thread",
        GATEWAY + "threads.py",
        '    interactions.held(tx, due["id"])\n',
        "",
        FLOW + "test_at_the_same_moment.py"
        "::test_an_agent_that_ends_as_another_gateway_looks_after_its_answer_lets_neither_wait_for_the_other",
    ),
    Mutant(
        "a message that had no turn was not tried",
        GATEWAY + "store/claimed.py",
        "attempts=D.c.attempts - 1",
        "attempts=D.c.attempts",
        FLOW + "test_gates.py"
        "::test_law_10_a_message_that_waited_for_long_asks_on_the_next_provider_as_soon_as_any_other",
    ),
    Mutant(
        "of two that erase the last two runs of a thread one has it forgotten",
        GATEWAY + "store/erasing.py",
        "postgresql=_of_thread.with_for_update()",
        "postgresql=_of_thread",
        FLOW + "test_at_the_same_moment.py"
        "::test_of_two_that_erase_the_last_two_runs_of_a_thread_one_has_it_forgotten",
    ),
)
