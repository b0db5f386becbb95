"""The safeguards of laws 1 and 2: an answer reaches its own question, and one answer wins."""

from tests.conformance.safeguards.mutant import (
    ADAPTER,
    BINDING,
    CRASHES,
    FLOW,
    GATEWAY,
    GRAPH,
    HANDLERS,
    HERE,
    INNER,
    LOADING,
    MOVING,
    TOLD,
    Mutant,
)

OF_BINDING = (
    # Law 1: binding
    Mutant(
        "strict resume",
        ADAPTER + "reading.py",
        '{"thread_id": thread, STRICT: True}',
        '{"thread_id": thread}',
        HERE + "test_an_answer_that_comes_a_moment_too_late_is_refused_by_langgraph_itself",
    ),
    Mutant(
        "the canary of strict resume",
        ADAPTER + "adapter.py",
        "            await sing()\n",
        "",
        HERE + "test_an_adapter_whose_langgraph_is_not_strict_does_not_open",
    ),
    Mutant(
        "no cache for what was answered",
        ADAPTER + "running.py",
        'config["configurable"][CACHE] = None',
        "pass",
        BINDING + "test_law_1_an_answer_is_not_kept_for_other_questions_of_steps_that_are_cached[cached]",
    ),
    Mutant(
        "an error handler that has ended runs no second time",
        ADAPTER + "handlers.py",
        "if added and is_ours():",
        "if False:",
        HANDLERS
        + "test_law_12_a_handler_that_has_ended_does_not_run_again_beside_what_still_waits[sqlite-two]",
    ),
    Mutant(
        "what an error handler was told before its last question",
        ADAPTER + "evidence.py",
        "return [graph, *(",
        "return [graph] or [*(",
        HANDLERS + "test_a_handler_asks_twice[sqlite]",
    ),
    Mutant(
        "a graph that a step calls with something else starts anew",
        ADAPTER + "called.py",
        "yield from _find(run.calls, loop, call)",
        "yield from ()",
        INNER
        + "test_law_1_what_was_approved_is_not_the_result_of_a_call_with_something_else[sqlite-changed]",
    ),
    Mutant(
        "a call in another order finds its own history",
        ADAPTER + "called.py",
        "if other and other.metadata.get(CALL) == call and calls.take(task, place):",
        "if False:",
        INNER + "test_law_1_calls_at_the_same_time_get_their_own_results_in_any_order[sqlite-raced]",
    ),
    Mutant(
        "a call that had asked does not stand for another",
        ADAPTER + "called.py",
        "if stays and not (yield from _has_asked(found, was))",
        "if stays",
        INNER
        + "test_law_1_what_was_approved_is_not_the_result_of_a_call_with_something_else[sqlite-changed]",
    ),
    Mutant(
        "what asked nothing and is half done does not start again",
        ADAPTER + "called.py",
        "(_is_finished(loop, found) or not others)",
        "_is_finished(loop, found)",
        INNER + "test_law_12_nor_does_it_start_again_where_it_is_half_done",
    ),
    Mutant(
        "what asked nothing and has ended does not run again",
        ADAPTER + "called.py",
        "    return not values.get(TASKS) and not any(due)",
        "    return False and any(due)",
        INNER + "test_law_12_nor_does_what_has_ended_among_several",
    ),
    Mutant(
        "one history for each of two equal calls",
        ADAPTER + "called.py",
        "if was == call and calls.take(task, own):",
        "if was == call:",
        INNER + "test_law_12_equal_calls_in_another_order_are_each_asked_about",
    ),
    Mutant(
        "what a graph was called with in a step before is another call",
        ADAPTER + "called.py",
        "_start(loop)  # on what it remembers, also of a step before",
        "pass",
        INNER + "test_nor_is_it_given_what_came_out_there_if_nothing_was_asked",
    ),
    Mutant(
        "an answer that nothing took is not taken for given",
        ADAPTER + "adapter.py",
        "asks_other = gave and not await taking.settled(interrupt_id, patience)",
        "pass",
        INNER
        + "test_law_1_what_was_approved_is_not_the_result_of_a_call_with_something_else[sqlite-changed]",
    ),
    Mutant(
        "what a step has left running begins nothing",
        ADAPTER + "calls.py",
        "self._is_over = True",
        "pass",
        INNER + "test_law_12_what_a_step_has_left_running_asks_nothing_once_the_thread_is_at_work_again",
    ),
    Mutant(
        "a thread waits for what its step has left running",
        ADAPTER + "running.py",
        "while left.is_running():",
        "while False:",
        INNER + "test_law_12_a_thread_goes_on_when_what_its_step_has_left_running_has_ended",
    ),
    Mutant(
        "nothing asks in a history that two runs share",
        ADAPTER + "calls.py",
        "self._at_once.add(namespace)",
        "pass",
        INNER + "test_law_1_two_runs_with_one_history_are_not_both_answered[sqlite-sent_whole]",
    ),
    Mutant(
        "nothing asks in a graph that keeps nothing",
        ADAPTER + "calls.py",
        "self._unkept.add(namespace)",
        "pass",
        INNER + "test_a_graph_that_keeps_nothing_is_not_asked_about[kept_nowhere]",
    ),
    Mutant(
        "no step on a server",
        ADAPTER + "elsewhere.py",
        "if not isinstance(inner, Pregel):",
        "if False:",
        LOADING + "test_law_1_a_step_that_runs_on_a_server_is_refused_with_the_way_out[graph]",
    ),
    Mutant(
        "digest check",
        ADAPTER + "adapter.py",
        "if digest_of(found[0]) != target.digest:",
        "if False:",
        BINDING + "test_a_sibling_whose_question_changed_under_the_same_id_is_not_answered[sqlite]",
    ),
    Mutant(
        "what a step asks as it is answered",
        ADAPTER + "taking.py",
        "same = was is None or was == now",
        "same = True or was == now",
        MOVING + "test_law_1_a_yes_to_one_price_pays_no_other[sqlite-sync]",
    ),
    Mutant(
        "what a step asked before its last question",
        ADAPTER + "evidence.py",
        "return {**asked_before(found), **{",
        "return {**{",
        MOVING
        + "test_law_1_an_answer_is_not_used_again_where_an_earlier_question_has_changed[sqlite-account]",
    ),
    Mutant(
        "no answer beside a question that has changed",
        ADAPTER + "taking.py",
        "        del scratchpad.resume[place:]\n",
        "",
        MOVING
        + "test_law_1_an_answer_is_not_used_again_where_an_earlier_question_has_changed[sqlite-account]",
    ),
    Mutant(
        "read-back",
        ADAPTER + "adapter.py",
        "return await self._read_back(thread, target.interrupt_id, state, taking, given is not None)",
        "return state",
        HERE + "test_a_question_that_waits_again_after_its_resume_ends_the_run",
    ),
    Mutant(
        "synchronous checkpoints",
        ADAPTER + "running.py",
        'durability="sync"',
        'durability="exit"',
        CRASHES
        + "test_killed_in_the_next_step_the_answer_is_consumed_and_the_run_goes_on[sqlite-deadly_graph]",
    ),
    Mutant(
        "what became of the input's checkpoint",
        ADAPTER + "grouped.py",
        "            await asyncio.shield(kept)\n",
        "            return\n",
        "tests/flow/langgraph/test_our_saver.py::TestGroup::"
        "test_what_became_of_the_inputs_checkpoint_is_raised_by_the_next_call[sqlite-checkpoint]",
    ),
    Mutant(
        "one worker a thread",
        ADAPTER + "locks.py",
        "if not await self._guard.take(number):",
        "if not await self._guard.take(number) and False:",
        BINDING + "test_of_two_workers_at_once_one_wins_and_the_other_is_refused[sqlite]",
    ),
    Mutant(
        "an answer that is locked in",
        ADAPTER + "adapter.py",
        "if not again or values.plain(taken) != value:",
        "if False:",
        BINDING + "test_a_step_that_raises_after_the_answer_fails_and_a_retry_uses_the_same_answer[sqlite]",
    ),
    Mutant(
        "a breakpoint holds its thread",
        ADAPTER + "adapter.py",
        "        elif held:\n            raise NotPending(",
        "        elif False:\n            raise NotPending(",
        HERE + "test_an_answer_never_releases_a_step_that_is_held_beside_its_question",
    ),
    Mutant(
        "values that poison a thread",
        ADAPTER + "adapter.py",
        "        values.check(value)\n",
        "",
        BINDING + "test_a_value_that_would_poison_the_thread_is_refused_and_the_question_stays[2**70]",
    ),
    Mutant(
        "a waiting thread takes no new input",
        ADAPTER + "adapter.py",
        "if waiting and not ours:",
        "if False:",
        BINDING + "test_start_on_a_waiting_thread_is_a_conflict[sqlite]",
    ),
    Mutant(
        "lease",
        GATEWAY + "store/leases.py",
        'where=or_(T.c.owner == "", T.c.until < p("now")),',
        "",
        HERE + "test_a_lease_that_somebody_holds_is_not_given_to_another[sqlite]",
    ),
    Mutant(
        "fence",
        GATEWAY + "store/leases.py",
        '    T.c.fence == p("fence_"),\n',
        '    p("fence_") == p("fence_"),\n',
        HERE + "test_who_lost_a_lease_writes_nothing_in_its_name[sqlite]",
    ),
    Mutant(
        "no result without the lease",
        GATEWAY + "threads.py",
        "    if not leases.release(tx, lease):\n        return None\n",
        "    leases.release(tx, lease)\n",
        HERE + "test_a_worker_that_was_overtaken_writes_no_state[sqlite]",
    ),
    Mutant(
        "what was found due is looked at again, with the lease",
        GATEWAY + "threads.py",
        'row = tx.one(interactions.STILL_DUE, key=due["id"], now=tx.now)',
        'row = tx.one(interactions.GET, id=due["id"])',
        HERE + "test_an_answer_that_was_given_since_it_was_found_due_is_not_given_again[sqlite]",
    ),
    Mutant(
        "a question is held while it is changed",
        GATEWAY + "store/interactions.py",
        "postgresql=_one.with_for_update()",
        "postgresql=_one",
        FLOW + "test_at_the_same_moment.py::test_who_snoozed_is_asked_again_once_when_both_find_it_due",
    ),
    Mutant(
        "what never began begins",
        GATEWAY + "work.py",
        'said = row["intent"].removeprefix(runs.ADOPTED).strip() or "retry"',
        'said = "retry"',
        FLOW + "test_runs.py::test_what_never_began_begins_when_it_is_tried_again"
        "_and_is_not_given_what_its_thread_ended_with[sqlite]",
    ),
    # Law 2: one winner
    Mutant(
        "compare and set of an answer",
        GATEWAY + "store/interactions.py",
        '.where(X.c.id == p("key"), STILL_PENDING, or_(',
        '.where(X.c.id == p("key"), or_(',
        HERE + "test_only_a_pending_row_can_be_completed[sqlite]",
    ),
    Mutant(
        "compare and set of an end",
        GATEWAY + "store/interactions.py",
        'CLOSE = Query(\n    update(X)\n    .where(X.c.id == p("key"), STILL_PENDING)',
        'CLOSE = Query(\n    update(X)\n    .where(X.c.id == p("key"))',
        HERE + "test_only_a_pending_row_can_be_closed[sqlite-expired]",
    ),
    Mutant(
        "the deadline decides before the sweep",
        GATEWAY + "store/interactions.py",
        'or_(X.c.closes_at.is_(None), X.c.closes_at > p("at"))',
        'or_(X.c.closes_at.is_(None), X.c.closes_at.is_not(None), p("at") == p("at"))',
        FLOW
        + "test_silence.py::test_an_answer_after_the_deadline_does_not_count_even_before_the_sweep[sqlite]",
    ),
    Mutant(
        "a button answers the question above it only",
        GATEWAY + "given.py",
        "    if question is not asked_by(record, step):",
        "    if False:",
        FLOW + "test_one_by_one.py::test_a_forged_place_in_a_button_answers_nothing[sqlite]",
    ),
    Mutant(
        "one of several questions is answered once",
        GATEWAY + "store/passing.py",
        'PASS_ON = Query(update(D).where(D.c.id == p("key"), text("delivery.open = 1"))',
        'PASS_ON = Query(update(D).where(D.c.id == p("key"))',
        FLOW + "test_one_by_one.py::test_law_2_of_two_taps_in_two_processes_one_counts",
    ),
    # What was decided before a stop, and is done after it
    Mutant(
        "a thread that was taken up again is not forgotten",
        ADAPTER + "adapter.py",
        "                if tip not in (None, await self.tip(thread)):",
        "                if False:",
        BINDING + "test_a_thread_that_was_taken_up_again_since_it_was_looked_at_is_not_forgotten[sqlite]",
    ),
    Mutant(
        "a thread is looked at before it is known to be nobody's",
        GATEWAY + "erase.py",
        "lambda tx: leases.renew(tx, lease) and may(tx)",
        "lambda tx: True",
        FLOW + "test_erasing.py::test_who_was_stopped_while_a_thread_was_to_be_forgotten_deletes"
        "_nothing_of_a_run_begun_since[sqlite-tip]",
    ),
    Mutant(
        "an agent is told that its run is stopped, whoever dies",
        GATEWAY + "store/stops.py",
        'stop_at=p("until"), stop_by=p("by"), stop_attempts=0)',
        "stop_at=None, stop_by='', stop_attempts=0)",
        TOLD + "test_law_3_an_agent_hears_from_the_next_life_what_the_one_that_was_killed_did_not_tell"
        "[sqlite-by_taking_it_back]",
    ),
    Mutant(
        "a run that begins before the agent has heard tells it first",
        GATEWAY + "run.py",
        'intent = "replace" if before or',
        'intent = "replace" if False or',
        TOLD
        + "test_law_1_a_run_that_begins_before_the_agent_has_heard_tells_it_first_and_is_not_stopped_later"
        "[sqlite]",
    ),
    Mutant(
        "a later run is not stopped with the one before it",
        GATEWAY + "stop.py",
        "if marks and runs.goes_on_there(tx, agent, thread):",
        "if False:",
        TOLD + "test_who_tries_another_run_of_the_thread_again_is_not_stopped_with_the_one_that_was_cancelled"
        "[sqlite]",
    ),
    Mutant(
        "a question that is being answered is not taken back with its run",
        GATEWAY + "ask.py",
        "interactions.held_with_others(tx, interaction_id)",
        "interactions.get(tx, interaction_id)",
        FLOW + "test_two_people_at_once.py::test_law_2_a_question_that_is_just_being_answered"
        "_is_not_taken_back_with_its_run",
    ),
    Mutant(
        "nothing is written behind a checkpoint that a standby lacks",
        ADAPTER + "on_postgres.py",
        "                    self._lacks = True",
        "                    self._lacks = False",
        GRAPH + "test_standby.py::test_law_1_what_a_standby_lacks_is_not_built_upon",
    ),
    Mutant(
        "no table is changed while a gateway of an older version runs",
        GATEWAY + "migrations/__init__.py",
        "                _wait_for_others(connection, patience)\n",
        "",
        "tests/store/test_versions.py::test_the_newer_one_does_not_start_while_the_older_one_runs_and_says"
        "_what_to_do",
    ),
    Mutant(
        "a gateway writes nothing to tables that a newer version has changed",
        GATEWAY + "store/backend.py",
        "            if writer and self.shape is not None:",
        "            if False:",
        "tests/store/test_versions.py::test_law_3_the_older_one_writes_nothing_more_once_the_newer_one_was_there",
    ),
    Mutant(
        "what was written while a question was on its way is not for it",
        GATEWAY + "deliver.py",
        '"taken_at": loaded.told.now + took',
        '"taken_at": loaded.told.now',
        FLOW + "test_matching.py::test_law_1_a_text_that_was_written_while_a_question_was_on_its_way_answers"
        "_nothing_unasked[sqlite-sent at once]",
    ),
    Mutant(
        "a commit is on the disk before it counts, whatever the database has been set to",
        GATEWAY + "sessions.py",
        '        f"{_DURABLE}"\n',
        '        "SELECT 1"\n',
        "tests/store/test_sessions.py::test_law_3_a_commit_is_durable_and_a_text_is_kept_whatever_the_database"
        "_has_been_set_to",
    ),
    Mutant(
        "a pool in which no lock lasts is refused",
        GATEWAY + "store/pooling.py",
        "        if theirs == mark or ours != mark:",
        "        if False:",
        "tests/store/test_pooling.py::test_law_1_one_of_transactions_is_refused_because_no_lock_lasts_there[0]",
    ),
    Mutant(
        "the locks of a machine that has vanished are given back",
        ADAPTER + "locks.py",
        "            await made.execute(begun(made.info.get_parameters(), LASTING), prepare=False)\n",
        "",
        "tests/faults/test_vanished_machines.py::test_law_3_the_lock_of_a_worker_whose_machine_has_vanished_is"
        "_soon_another_ones",
    ),
    Mutant(
        "what a machine that stood still does later leads nowhere",
        ADAPTER + "on_postgres.py",
        "        return connection.execute(OTHERS, (*at, run.own)).fetchone() is None",
        "        return True",
        GRAPH + "test_lost_connections.py::test_law_10_it_writes_nothing_where_somebody_else_has_gone_on",
    ),
    Mutant(
        "a run whose lock was lost does not write beside whoever has it",
        ADAPTER + "on_postgres.py",
        '            if taken is None or not (taken["taken"] or self._is_ours(connection, number)):',
        "            if False:",
        GRAPH + "test_lost_connections.py::test_law_1_it_writes_nothing_while_somebody_else_has_its_thread",
    ),
    Mutant(
        "what a clock that is behind writes comes after what it follows",
        ADAPTER + "order.py",
        "    if time is not None and time < NEVER:",
        "    if False:",
        GRAPH + "test_clocks.py::test_law_3_an_answer_counts_though_the_clock_was_put_back_since_its_question"
        "[sqlite-two_steps]",
    ),
    Mutant(
        "a checkpoint that nobody would see is not written",
        ADAPTER + "savers.py",
        "        order.check(config, checkpoint)\n",
        "",
        GRAPH + "test_clocks.py::test_law_3_a_checkpoint_that_nobody_would_see_is_not_written_and_no_run_ends"
        "_by_it[sqlite]",
    ),
    Mutant(
        "an old button is no answer to what is open now",
        GATEWAY + "evidence.py",
        "        or bool(_token(reply) and token is None)  # of something that asks nothing any more\n",
        "",
        FLOW + "test_removed_and_back.py::test_law_1_an_old_button_is_no_answer_to_the_only_question_that_is"
        "_open_now[sqlite]",
    ),
)
