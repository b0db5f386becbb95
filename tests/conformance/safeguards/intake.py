"""The safeguards of laws 3, 4, 6 and 12: committed first, in once, out at least once, silence no answer."""

from tests.conformance.safeguards.mutant import ADAPTER, DIALECTS, FLOW, GATEWAY, GRAPH, HERE, Mutant

AWAY = "tests/faults/test_store_faults.py::"
OF_INTAKE = (
    # Law 3: commit first
    Mutant(
        "commit before the result",
        GATEWAY + "store/writer.py",
        '        cursor.execute("COMMIT")\n',
        '        _answer(group)\n        cursor.execute("COMMIT")\n',
        HERE + "test_nobody_hears_of_a_transaction_that_could_not_be_committed",
    ),
    Mutant(
        "commit before the acknowledgement",
        GATEWAY + "receive.py",
        "        await self._take(plugin, [inbound], None)\n",
        "        import asyncio\n\n"
        "        self._later = asyncio.create_task(self._take(plugin, [inbound], None))\n",
        HERE + "test_a_webhook_is_acknowledged_only_once_it_is_stored[sqlite]",
    ),
    Mutant(
        "cursor in the events' transaction",
        GATEWAY + "receive.py",
        "        events = [_parse(plugin, inbound) for inbound in inbounds]\n",
        "        events = [_parse(plugin, inbound) for inbound in inbounds]\n"
        "        if position is not None:\n"
        "            await self._context.store.write(\n"
        "                lambda tx: replies.move(tx, plugin.name, position.cursor)\n"
        "            )\n",
        HERE + "test_a_cursor_never_moves_without_its_events[sqlite]",
    ),
    # Law 4: once in
    Mutant(
        "dedupe of events",
        GATEWAY + "store/replies.py",
        "    if added is None:\n        return False\n    unnamed.note_key",
        "    if added is None:\n        return True\n    unnamed.note_key",
        FLOW + "test_once_in.py::test_the_same_event_id_on_two_providers_is_two_events[sqlite]",
    ),
    Mutant(
        "what somebody sent who is erased is known by its hash",
        GATEWAY + "store/replies.py",
        "    if _erased(tx, provider, event_id) is None:",
        "    if provider:",
        FLOW
        + "test_erasing_a_person.py::test_law_4_what_she_sent_comes_again_and_is_known_by_its_hash[sqlite]",
    ),
    Mutant(
        "what nobody vouches for does not shut out the original",
        GATEWAY + "event_keys.py",
        "    unproved = isinstance(found, Reply) and not found.trusted",
        "    unproved = False",
        FLOW + "test_once_in.py::test_law_4_an_unproved_copy_that_comes_first_does_not_shut_out_the_original"
        "[sqlite]",
    ),
    Mutant(
        "a copy of what is there is the same event",
        GATEWAY + "event_keys.py",
        "    return found.event_id if is_copy else key",
        "    return key",
        FLOW + "test_once_in.py::test_law_4_an_unproved_copy_that_comes_after_the_original_is_the_same_event"
        "[sqlite]",
    ),
    Mutant(
        "a duplicate is not considered again",
        GATEWAY + "receive.py",
        "        if not replies.add(tx, *event, raw):\n            reply = found if",
        "        if not replies.add(tx, *event, raw) and False:\n            reply = found if",
        FLOW + "test_binding.py::test_the_first_answer_delivered_again_does_not_answer_"
        "the_second_question_of_the_node[sqlite]",
    ),
    Mutant(
        "superseded questions are withdrawn",
        GATEWAY + "settle.py",
        '        if row["status"] == "pending" and (row["interrupt_id"], row["digest"]) not in alive:',
        "        if False:",
        FLOW
        + "test_binding.py::test_a_sibling_whose_question_changed_under_the_same_id_is_asked_anew[sqlite]",
    ),
    Mutant(
        "a run that asks is not cancelled elsewhere",
        GATEWAY + "settle.py",
        "runs.HELD_OF_THREAD",
        "runs.OF_THREAD",
        FLOW + "test_replicas.py::"
        "test_a_run_that_is_cancelled_elsewhere_while_its_agent_asks_leaves_no_open_question[False]",
    ),
    Mutant(
        "an interrupt is asked once",
        GATEWAY + "settle.py",
        '        if (row["interrupt_id"], row["digest"]) == key:',
        "        if False:",
        HERE + "test_what_still_waits_after_a_siblings_answer_is_not_asked_again[sqlite]",
    ),
    Mutant(
        "what an answer came to nothing for is asked again",
        GATEWAY + "settle.py",
        '            if row["resume_error"] != GONE:',
        "            if True:",
        FLOW + "test_binding.py::"
        "test_law_4_what_waits_again_is_asked_again_if_an_answer_to_it_has_come_to_nothing[sqlite]",
    ),
    Mutant(
        "an answer waits while something else is asked first",
        GATEWAY + "resume.py",
        "return Paused(await agent.pending(record.thread_id)), NOT_YET",
        "return Paused(await agent.pending(record.thread_id)), GONE",
        FLOW + "test_binding.py::"
        "test_law_3_an_answer_waits_while_a_breakpoint_that_came_meanwhile_is_asked_about[sqlite-Yes-True]",
    ),
    # Law 6: silence is not an answer
    Mutant(
        "what a service has still to bring is waited for",
        GATEWAY + "intake.py",
        'if not type(provider).can("behind"):',
        "if True:",
        FLOW + "test_intake.py::"
        "test_an_answer_that_a_service_has_still_to_bring_comes_before_its_deadlines_outcome[sqlite-down]",
    ),
    Mutant(
        "what was said while nobody looked is heard before what fell due",
        GATEWAY + "app.py",
        "clock = Clock(context.store, pumps, lambda: intake.drained_anew(DRAIN))",
        "clock = Clock(context.store, pumps)",
        FLOW + "test_intake.py::"
        "test_an_answer_that_waited_while_the_machine_was_asleep_comes_before_its_deadlines_outcome[sqlite]",
    ),
    Mutant(
        "a default never approves",
        GATEWAY + "deadlines.py",
        "    if not may_approve and decides(questions, values):",
        "    if False:",
        FLOW + "test_silence.py::test_a_default_never_approves[sqlite]",
    ),
    Mutant(
        "silence rejects a call",
        DIALECTS + "reviews.py",
        '        return {"decision": "reject", "message": NOBODY}\n',
        '        return {"decision": "approve"}\n',
        GRAPH + "test_reviews.py::test_silence_rejects_with_that_reason[sqlite]",
    ),
    Mutant(
        "all that is said of a message before it is known",
        GATEWAY + "store/parked.py",
        'set_={"parked": M.c.parked + "\\n" + p("parked")}',
        'set_={"parked": p("parked")}',
        FLOW + "test_receipts.py::test_all_that_is_said_before_the_message_is_known_counts_in_whatever_order"
        "[sqlite-failed sent-failed]",
    ),
    Mutant(
        "a receipt that comes as its message is written down",
        GATEWAY + "store/parked.py",
        "return tx.run(PARK, **names, parked=receipt) == 1",
        "return tx.run(PARK, **names, parked=receipt) >= 0",
        FLOW + "test_at_the_same_moment.py::test_what_a_service_says_to_one_of_a_message"
        "_that_the_other_is_just_writing_down_is_not_lost",
    ),
    # Law 12: at least once, and what is known of each time
    Mutant(
        "that a message was sent is written down when the database is back",
        GATEWAY + "deliver.py",
        "        if self._context.store.is_open:\n            log.info(",
        "        if False:\n            log.info(",
        AWAY
        + "test_law_12_a_message_that_was_sent_but_not_recorded_is_recorded_once_that_can_be[sqlite-locked]",
    ),
    Mutant(
        "an answer waits for a database that is away, however often it is",
        GATEWAY + "resume.py",
        "DATABASE_AWAY, away=True",
        "DATABASE_AWAY",
        AWAY + "test_law_12_however_often_it_is_away_just_then_the_answer_is_no_dead_letter[sqlite]",
    ),
    Mutant(
        "a run waits for a database that is away, however often it is",
        GATEWAY + "work.py",
        "DATABASE_AWAY, away=True",
        "DATABASE_AWAY",
        AWAY + "test_nor_does_a_run_fail_of_which_nobody_could_write_down_how_far_it_came[sqlite]",
    ),
    Mutant(
        "what was sent is written down before the first reply to it",
        GATEWAY + "deliver.py",
        "            self._written_soon(row, done, self.again)\n",
        "            asyncio.get_running_loop().call_later(self.again, self._written_soon, row, done)\n",
        AWAY
        + "test_a_reply_that_comes_as_soon_as_the_database_is_back_finds_what_it_replies_to[sqlite-full]",
    ),
    Mutant(
        "a tap says that a message is there",
        GATEWAY + "inbound.py",
        "    learned = _learned(case, gathered)\n",
        "    learned = Follows()\n",
        FLOW
        + "test_telegram_troubles.py::test_whoever_taps_a_message_of_which_nobody_knows_whether_it_arrived"
        "_sees_that_it_counts[sqlite]",
    ),
    Mutant(
        "so does an answer in words",
        GATEWAY + "answering.py",
        "    follows = answered(tx, case.context.outbox, asked)\n",
        "    follows = Follows()\n",
        FLOW + "test_telegram_troubles.py::test_whoever_replies_to_one_without_buttons_says_what_it_is_for"
        "_and_hears_how_it_ended[sqlite]",
    ),
    Mutant(
        "the saver leaves a server that lets nobody write",
        ADAPTER + "on_postgres.py",
        "            self._hang_up()\n            raise",
        "            raise",
        GRAPH + "test_standby.py::test_law_3_what_cannot_be_written_is_no_failure_of_the_graph"
        "_and_goes_on_later",
    ),
    Mutant(
        "checkpoints that are away are no failure of the agent",
        ADAPTER + "reading.py",
        "        if is_storage(error):\n            raise AgentUnavailable",
        "        if False:\n            raise AgentUnavailable",
        GRAPH + "test_savers.py::test_law_3_a_saver_that_is_away_for_a_moment_is_asked_again_later"
        "_whatever_it_was_asked",
    ),
    Mutant(
        "what went wrong is written down by whoever claimed it last",
        GATEWAY + "store/claimed.py",
        'D.c.attempts == p("attempt"), D.c.created_at',
        'p("attempt") == p("attempt"), D.c.created_at',
        FLOW + "test_claims_that_lapse.py::test_law_12_what_went_wrong_late_changes_nothing_of_what_another"
        "_has_claimed[sqlite-False-the service is away]",
    ),
    Mutant(
        "an attempt of then is none of now",
        GATEWAY + "store/claimed.py",
        'D.c.created_at == p("since")',
        'p("since") == p("since")',
        FLOW + "test_claims_that_lapse.py::test_a_dead_letter_that_is_sent_again_is_not_what_failed"
        "_before_it_was_one[sqlite]",
    ),
    Mutant(
        "of a message that two have sent both copies are known",
        GATEWAY + "receipts.py",
        "    if asks and not taken.news:",
        "    if False:",
        FLOW + "test_claims_that_lapse.py::test_law_12_of_a_message_that_two_have_sent_both_copies"
        "_are_known_and_edited[sqlite-late]",
    ),
)
