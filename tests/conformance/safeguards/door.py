"""The safeguards of laws 7, 8, 10 and 11: who may answer, with what; one bad thing stays alone."""

from tests.conformance.safeguards.mutant import DIALECTS, DOOR, FLOW, GATEWAY, GRAPH, HERE, PHONE, Mutant

ENDS = FLOW + "test_run_ends.py::"
OF_DOOR = (
    # Law 7: one door
    Mutant(
        "authorisation",
        GATEWAY + "evidence.py",
        "return bool(there and asked == (provider, reply.sender, contact))",
        "return bool(asked)",
        DOOR + "test_another_contact_who_was_not_asked_gets_nothing[sqlite]",
    ),
    Mutant(
        "what was asked in private is shown and answered nowhere else",
        GATEWAY + "evidence.py",
        'there = row["place"] == reply.place or _is_own(reply)',
        "there = True",
        FLOW + "test_telegram_groups.py::"
        "test_in_the_group_a_code_answers_nothing_that_was_asked_in_private[sqlite]",
    ),
    Mutant(
        "in private is where nobody else can write",
        GATEWAY + "evidence.py",
        "return reply.private and reply.place == reply.sender",
        "return reply.private",
        DOOR + "test_the_right_person_in_another_place_gets_nothing[sqlite]",
    ),
    Mutant(
        "what stands in a group is answered in private only once it was picked",
        GATEWAY + "evidence.py",
        "or bool(elsewhere)",
        "or False",
        FLOW
        + "test_telegram_groups.py::test_in_private_somebody_sees_what_waits_for_them_in_the_group[sqlite]",
    ),
    Mutant(
        "of several one by one, a code means the one that is asked now",
        GATEWAY + "evidence.py",
        'coded.sort(key=lambda row: bool(row["open"]))',
        "pass",
        FLOW + "test_showing.py::"
        "test_of_several_one_by_one_a_text_with_the_code_answers_the_one_that_is_next[sqlite]",
    ),
    Mutant(
        "who asks to see a question has not answered it",
        GATEWAY + "answering.py",
        "if asks_to_see(case, record, step):",
        "if False:",
        FLOW + "test_showing.py::test_a_mark_without_a_question_that_it_is_for_is_asked_about[sqlite]",
    ),
    Mutant(
        "a key answers only for whom it names, if they were asked",
        GATEWAY + "receive.py",
        'if person is not None and by not in record.route.get("ask", (by,)):',
        "if False:",
        DOOR + "test_a_key_that_answers_for_somebody_who_was_not_asked_is_refused[sqlite]",
    ),
    Mutant(
        "strangers",
        GATEWAY + "inbound.py",
        "    if mine is None:\n        return turned_away.stranger(case)\n",
        "",
        DOOR + "test_a_stranger_hears_one_sentence_a_day_and_only_in_private[sqlite]",
    ),
    Mutant(
        "mail that nobody vouches for",
        GATEWAY + "inbound.py",
        "    if not reply.trusted:",
        "    if False:",
        DOOR + "test_a_mail_that_is_not_trusted_decides_nothing_and_says_where_to_answer[sqlite]",
    ),
    Mutant(
        "code of a confirmation's form",
        GATEWAY + "forms.py",
        "if codes.are_needed(record) and (problem := codes.problem(tx, row, code)):",
        "if False and (problem := codes.problem(tx, row, code)):",
        FLOW + "test_forms.py::test_a_confirmation_needs_the_code_that_was_sent_to_the_same_address[sqlite]",
    ),
    Mutant(
        "tries of a code",
        GATEWAY + "codes.py",
        '    if row["code_tries"] >= TRIES:',
        "    if False:",
        FLOW + "test_forms.py::test_codes_cannot_be_guessed_or_asked_for_without_end[sqlite]",
    ),
    Mutant(
        "no link to an account that is not that person's any more",
        GATEWAY + "forms.py",
        '    return owner is not None and owner.contact == row["contact_id"]',
        "    return True",
        FLOW + "test_linking.py::test_law_7_an_old_link_leads_nowhere_once_its_account"
        "_is_nobody_s_any_more[sqlite]",
    ),
    Mutant(
        "what somebody had linked who left the configuration",
        GATEWAY + "store/contacts.py",
        '            tx.run(REMOVE_ALL, contact_id=row["id"])',
        "            pass",
        FLOW + "test_linking.py::test_law_7_who_left_the_configuration_may_not_answer"
        "_from_what_they_had_linked[sqlite]",
    ),
    Mutant(
        "links of who left the configuration",
        GATEWAY + "app.py",
        "        return left(tx, self.context.outbox)",
        "        return Follows()",
        FLOW + "test_leaving.py::test_law_7_the_link_of_who_left_the_configuration_answers_nothing[sqlite]",
    ),
    Mutant(
        "links to an account that is another's now",
        GATEWAY + "store/gone.py",
        "D.c.external_id, A.c.contact_id == D.c.contact_id",
        "D.c.external_id",
        FLOW + "test_leaving.py::test_law_7_an_account_that_is_another_s_now"
        "_answers_in_nobody_s_name[sqlite]",
    ),
    Mutant(
        "links of an account that was replaced",
        GATEWAY + "linking.py",
        "    follows = changed_hands(tx, context.outbox, lost)",
        "    follows = Follows()",
        FLOW + "test_leaving.py::test_law_7_an_account_that_was_replaced_answers_nothing"
        "_and_the_new_one_is_asked[sqlite]",
    ),
    Mutant(
        "links of an address that the API replaced",
        GATEWAY + "web/people.py",
        "        more = changed_hands(tx, outbox, lost)",
        "        more = Follows()",
        FLOW
        + "test_leaving.py::test_law_7_an_address_that_the_api_replaces_answers_nothing_any_more[sqlite]",
    ),
    Mutant(
        "links of who was removed",
        GATEWAY + "removing.py",
        "        follows = changed_hands(tx, self._context.outbox, accounts)",
        "        follows = Follows()",
        FLOW + "test_removing.py::test_what_could_not_be_sent_yet_is_sent_to_the_next_address"
        "_or_to_nobody[sqlite]",
    ),
    Mutant(
        "codes of who was removed",
        GATEWAY + "store/removing.py",
        "    tx.run(DROP_CODES, contact_id=contact_id, provider=provider)",
        "    pass",
        FLOW + "test_removing.py::test_law_7_a_code_of_who_was_removed_links_nobody[sqlite]",
    ),
    Mutant(
        "the inbox of who was removed",
        GATEWAY + "inbox.py",
        "    is_there = person is not None and contacts.is_there(tx, person.id)",
        "    is_there = person is not None",
        FLOW + "test_removing.py::test_who_was_removed_is_no_viewer_of_the_inbox_any_more[sqlite]",
    ),
    Mutant(
        "what was being sent to somebody who has left",
        GATEWAY + "loaded.py",
        ' or not row["open"])',
        ")",
        FLOW
        + "test_removed_and_back.py::test_what_was_to_be_sent_as_they_left_is_not_sent_when_they_are_back"
        "[sqlite]",
    ),
    Mutant(
        "who may have a run tried again by a tap",
        GATEWAY + "taps.py",
        "    if not contact or not may_answer(told, case.provider, case.reply, contact):",
        "    if False:",
        ENDS + "test_law_7_somebody_else_s_tap_and_a_stranger_s_try_nothing[sqlite]",
    ),
    Mutant(
        "who may have a run tried again on its page",
        GATEWAY + "endings.py",
        "            if not _is_theirs(tx, told):\n                return",
        "            if False:\n                return",
        ENDS + "test_a_link_that_went_to_nobody_in_particular_tries_nothing[sqlite]",
    ),
    Mutant(
        "one message about a failure, one try",
        GATEWAY + "again.py",
        '    return "" if told["created_at"] == run["updated_at"] else NEWER',
        '    return ""',
        ENDS + "test_of_a_run_that_failed_again_the_newest_message_tries_it_once_more[sqlite]",
    ),
    Mutant(
        "code of a run in which something was confirmed",
        GATEWAY + "endings.py",
        "            if _needs_code(_asked(tx, run)) and",
        "            if False and",
        ENDS + "test_where_something_was_confirmed_the_link_takes_a_code_and_a_tap_does_not[sqlite]",
    ),
    Mutant(
        "what comes to the token of a run's end",
        GATEWAY + "evidence.py",
        '        or (token is not None and not token["interaction_id"])\n',
        "",
        ENDS + "test_law_1_what_comes_to_a_run_s_own_token_answers_no_question[sqlite]",
    ),
    Mutant(
        "what a service lists without saying what it answers",
        GATEWAY + "evidence.py",
        "doubtful=reply.partial\n",
        "doubtful=False\n",
        FLOW + "test_whatsapp_loop.py::"
        "test_law_1_a_tap_on_what_has_ended_since_confirms_no_other_question[sqlite]",
    ),
    Mutant(
        "each open question is seen, however often another was asked",
        GATEWAY + "store/deliveries.py",
        '    .group_by(D.c.interaction_id)\n        .order_by(text("first"))',
        '    .group_by(D.c.id)\n        .order_by(text("first"))',
        FLOW + "test_matching.py::test_law_1_a_question_that_was_asked_many_times_hides_no_other[sqlite]",
    ),
    Mutant(
        "a text from before the question, or of the same second",
        GATEWAY + "evidence.py",
        'return bool(row["sent_at"] <= reply.sent_at <= now + UNREAD)',
        "return True",
        FLOW + "test_matching.py::"
        "test_law_1_a_yes_that_was_sent_twice_does_not_answer_the_next_question_too[sqlite]",
    ),
    Mutant(
        "the service's clock, where ours is another",
        GATEWAY + "evidence.py",
        'if row["service_at"] is not None:',
        "if False:",
        FLOW + "test_matching.py::"
        "test_law_1_what_was_written_first_is_told_by_the_clock_of_the_service[sqlite-service behind]",
    ),
    Mutant(
        "a text of the second in which the service took the question",
        GATEWAY + "evidence.py",
        'return bool(reply.sent_at > row["service_at"])',
        'return bool(reply.sent_at >= row["service_at"])',
        FLOW + "test_matching.py::"
        "test_law_1_a_text_of_the_second_in_which_the_service_took_the_question_answers_nothing[sqlite]",
    ),
    Mutant(
        "a text that is later than now, by a clock that is not ours",
        GATEWAY + "evidence.py",
        'return bool(row["sent_at"] <= reply.sent_at <= now + UNREAD)',
        'return bool(row["sent_at"] <= reply.sent_at)',
        FLOW + "test_matching.py::test_law_1_a_text_that_is_later_than_now_answers_nothing_unasked[sqlite]",
    ),
    Mutant(
        "who names an agent stops that one and no other",
        GATEWAY + "stopping.py",
        "    if not name or case.reply.data:",
        "    if True:",
        FLOW + "test_stopping_by_name.py"
        "::test_it_is_stopped_while_it_works_and_not_the_one_that_asks[sqlite]",
    ),
    Mutant(
        "questions that look alike can be told apart",
        GATEWAY + "render/conversation.py",
        "if alike and each.code else name",
        "if False else name",
        FLOW + "test_matching.py::test_cancel_stops_the_run_that_is_picked_and_answers_nothing[sqlite]",
    ),
    Mutant(
        "a command beside a code answers nothing",
        GATEWAY + "inbound.py",
        "        words = strip_code(words, each.code)\n",
        "        pass\n",
        FLOW + "test_matching.py::test_a_command_may_stand_beside_a_code[sqlite]",
    ),
    Mutant(
        "a number below a list that is not whole any more",
        GATEWAY + "given.py",
        " or not all(_waits(tx, each) for each in listed)",
        "",
        FLOW + "test_matching.py"
        "::test_law_1_a_number_below_a_list_of_which_one_is_answered_picks_nothing[sqlite]",
    ),
    Mutant(
        "a name that nobody has stops nothing",
        GATEWAY + "stopping.py",
        "doubtful=True",
        "doubtful=False",
        FLOW + "test_stopping_by_name.py"
        "::test_a_name_that_nobody_has_stops_nothing_and_they_are_asked[sqlite]",
    ),
    Mutant(
        "a text that may be for what is lost, after a backup was put back",
        GATEWAY + "evidence.py",
        "        or (not named and not coded and bool(open_) and restored.may_mislead(tx, open_)),\n",
        "",
        FLOW + "test_restored.py::"
        "test_law_1_a_text_that_names_no_question_decides_nothing_until_it_was_asked_again[sqlite]",
    ),
    Mutant(
        "a backup says that it is one",
        GATEWAY + "store/copying.py",
        "        _mark(folder / OWN, time.time_ns() // 1000 if now is None else now)\n",
        "",
        FLOW + "test_restored.py::test_a_backup_that_is_started_says_so_once",
    ),
    Mutant(
        "who committed what a standby lacks looks for it",
        GATEWAY + "store/restored.py",
        "    if audit.is_there(tx, entry):",
        "    if True:",
        FLOW + "test_restored.py::test_law_1_a_standby_that_took_over_without_the_last_question"
        "_gets_no_answer_to_it",
    ),
    Mutant(
        "who lost nothing waits until those who did have looked",
        GATEWAY + "store/restored.py",
        "    if tx.now < tx.moved_at + UNSURE:",
        "    if False:",
        FLOW + "test_restored.py::test_just_after_a_lost_connection_others_may_still_have_to_look",
    ),
    Mutant(
        "a key of some agents gives nobody an account",
        GATEWAY + "web/auth.py",
        "        if key.agents:\n",
        "        if False:\n",
        "tests/unit/cli/test_people.py::test_law_7_a_key_that_names_agents_gives_nobody_an_account",
    ),
    Mutant(
        "what a person added to a telephone's own line",
        GATEWAY + "footers.py",
        "    return 0 < len(words) <= MOST_WORDS and all(_belongs(word) for word in words)",
        "    return 0 < len(words)",
        "tests/unit/test_quoting.py::test_law_6_what_is_added_to_such_a_line_was_written_by_a_person"
        "[Sent from my phone but not prod]",
    ),
    Mutant(
        "a form's proof of its page",
        GATEWAY + "web/csrf.py",
        "    return from_our_page(request, public_url) and not made.fresh and _same(made.field, field)",
        "    return from_our_page(request, public_url)",
        "tests/unit/web/test_form.py::TestProof::test_a_page_without_its_cookie_decides_nothing",
    ),
    Mutant(
        "a webhook's secret",
        "providers/answerback_providers/telegram/provider.py",
        "        if not hmac.compare_digest(given, secret.get_secret_value().encode()):",
        "        if given != given:",
        "tests/providers/telegram/test_webhook.py::test_without_the_exact_secret_nothing_is_believed",
    ),
    # Law 8: validate, then accept
    Mutant(
        "what a form demands of an answer",
        GATEWAY + "read/demanded.py",
        "    if value is None or (question.demands is None and not question.written):",
        "    if True:",
        FLOW + "test_demands.py::test_law_8_the_form_says_it_first_and_takes_only_what_fits[sqlite]",
    ),
    Mutant(
        "decisions that were offered",
        GATEWAY + "read/fitting.py",
        "    if decision not in (question.decisions or DEFAULT) or not isinstance(message, str):",
        "    if not isinstance(message, str):",
        PHONE + "test_a_decision_that_was_not_offered_is_refused_before_it_counts[sqlite-response0]",
    ),
    Mutant(
        "decisions that the middleware allows",
        DIALECTS + "reviews.py",
        "    if decision not in call.allowed:",
        "    if False:",
        GRAPH + "test_reviews.py::test_what_is_not_offered_is_refused_and_the_question_stays[sqlite-value0]",
    ),
    Mutant(
        "arguments of the reviewed call",
        GATEWAY + "read/fitting.py",
        "(known is None or args.keys() == known.keys())",
        "True",
        PHONE + "test_arguments_that_the_call_does_not_have_are_refused_before_they_count[sqlite]",
    ),
    Mutant(
        "arguments of the call that waits",
        DIALECTS + "reviews.py",
        "    if unknown := [name for name in args if name not in call.args]:",
        "    if unknown := []:",
        GRAPH + "test_reviews.py::test_arguments_that_the_call_does_not_have_are_refused[sqlite]",
    ),
    Mutant(
        "values that fit a form",
        DIALECTS + "schemas.py",
        "        if found := first(value, self.schema, parts=len(fields) + 1):",
        '        if found := "":',
        GRAPH + "test_forms.py::test_a_schema_given_as_json_is_checked_though_langgraph_does_not[sqlite]",
    ),
    # Law 10, and the process itself
    Mutant(
        "ids that no database can look up",
        GATEWAY + "receive.py",
        "    if any(len(id) > LONGEST_ID or unstorable(id) for id in ids):",
        "    if False:",
        FLOW + "test_hostile.py::test_odd_values_in_any_field_are_stored_and_survived[sqlite-event_id]",
    ),
    Mutant(
        "answers that fit",
        GATEWAY + "door.py",
        "canonical(values, context.settings.limits.answer_bytes)",
        "canonical(values, 1 << 60)",
        HERE + "test_the_door_itself_takes_no_answer_that_is_too_long[sqlite]",
    ),
    Mutant(
        "one bad event stops no other",
        GATEWAY + "receive.py",
        "            done = await self._one_by_one(plugin, events, position)",
        "            raise",
        HERE + "test_an_event_whose_matching_raises_stops_no_other[sqlite]",
    ),
    Mutant(
        "one process a data directory",
        GATEWAY + "store/backend.py",
        "            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "            pass",
        "tests/store/test_engine.py::test_a_second_process_is_kept_out_of_a_data_directory",
    ),
    Mutant(
        "one bad transaction spoils no neighbour",
        GATEWAY + "store/writer.py",
        "        if self._is_final(connection, group, error):",
        "        if True:",
        "tests/store/test_engine.py::test_one_bad_transaction_spoils_none_of_its_neighbours[sqlite]",
    ),
    # Of two at once on two gateways
    Mutant(
        "two guesses at once are two tries",
        GATEWAY + "codes.py",
        '    row = tx.one(deliveries.HELD, id=row["id"]) or row',
        "    row = row",
        FLOW + "test_two_people_at_once.py::test_law_7_two_guesses_at_once_are_two_tries",
    ),
    Mutant(
        "one code in half a minute",
        GATEWAY + "store/deliveries.py",
        'D.c.code_until <= p("latest")',
        'p("latest") == p("latest")',
        FLOW + "test_two_people_at_once.py::test_who_asks_for_a_code_twice_at_once_is_sent_one",
    ),
    Mutant(
        "of two codes used at once the second is confirmed by the first",
        GATEWAY + "store/contacts.py",
        "postgresql=_contact.with_for_update()",
        "postgresql=_contact",
        FLOW + "test_two_people_at_once.py::test_law_7_of_two_chats_that_two_codes_link_at_once"
        "_the_second_is_confirmed_by_the_first",
    ),
    Mutant(
        "an event is read again once",
        GATEWAY + "store/letters.py",
        "postgresql=one.with_for_update()",
        "postgresql=one",
        FLOW + "test_two_people_at_once.py::test_law_4_an_event_that_two_operators_replay_at_once"
        "_is_considered_once",
    ),
    Mutant(
        "what was taken back from somebody decides nothing",
        GATEWAY + "evidence.py",
        "    if not gone.taken_back(tx, row):",
        "    if row:",
        FLOW + "test_removed_and_back.py::test_law_7_what_was_taken_back_is_not_answered_by_what_stands_on"
        "_their_phone[sqlite-reply]",
    ),
    # Law 11: nothing secret is told
    Mutant(
        "a traceback says nothing of what an exception said",
        GATEWAY + "tracebacks.py",
        'return "" if ei[1] is None else told(ei[1])',
        "return super().formatException(ei)",
        "tests/unit/test_tracebacks.py::test_both_forms_of_the_log_say_no_more",
    ),
)
