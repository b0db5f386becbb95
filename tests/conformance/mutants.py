"""Mutants: each removes one safeguard from a copy of the source, and one named test must fail there.

    python -m tests.conformance.mutants [WORD …]    only those whose name has one of the words

A mutant that survives is an error: nothing proves that its safeguard works.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("gateway", "providers", "agents", "demo")
COPIED = (*SOURCES, "tests", "docs", "config", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")
FAILED = 1  # pytest's exit code when tests ran and some failed
LONGEST = 300.0  # seconds for one test, on however busy a machine
GATEWAY, ADAPTER = "gateway/answerback/", "agents/answerback_agents/langgraph/"
FLOW, GRAPH = "tests/flow/", "tests/flow/langgraph/"
BINDING, DOOR = GRAPH + "test_binding.py::", FLOW + "test_one_door.py::"
CRASHES = GRAPH + "test_crashes.py::"
HERE = "tests/conformance/test_safeguards.py::"


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` stands in `file` exactly once and is replaced by `new`; then `test` must fail."""

    safeguard: str
    file: str
    old: str
    new: str
    test: str


MUTANTS = (
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
        "digest check",
        ADAPTER + "adapter.py",
        "if digest_of(found[0]) != target.digest:",
        "if False:",
        BINDING + "test_a_sibling_whose_question_changed_under_the_same_id_is_not_answered[sqlite]",
    ),
    Mutant(
        "read-back",
        ADAPTER + "adapter.py",
        "return self._read_back(target.interrupt_id, state)",
        "return state",
        HERE + "test_a_question_that_waits_again_after_its_resume_ends_the_run",
    ),
    Mutant(
        "synchronous checkpoints",
        ADAPTER + "adapter.py",
        'durability="sync"',
        'durability="exit"',
        CRASHES
        + "test_killed_in_the_next_step_the_answer_is_consumed_and_the_run_goes_on[sqlite-deadly_graph]",
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
        "        if held:\n            raise NotPending(",
        "        if False:\n            raise NotPending(",
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
        "    if not leases.release(tx, lease):\n        return None\n    done",
        "    leases.release(tx, lease)\n    done",
        HERE + "test_a_worker_that_was_overtaken_writes_no_state[sqlite]",
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
    # Law 3: commit first
    Mutant(
        "commit before the result",
        GATEWAY + "store/engine.py",
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
        "    return id if added == 1 else None",
        "    return id",
        FLOW + "test_once_in.py::test_the_same_event_id_on_two_providers_is_two_events[sqlite]",
    ),
    Mutant(
        "a duplicate is not considered again",
        GATEWAY + "receive.py",
        "        if row is None:\n            return _Done(",
        "        if row is None and False:\n            return _Done(",
        FLOW + "test_binding.py::test_the_first_answer_delivered_again_does_not_answer_"
        "the_second_question_of_the_node[sqlite]",
    ),
    Mutant(
        "superseded questions are withdrawn",
        GATEWAY + "settle.py",
        '        if (row["interrupt_id"], row["digest"]) not in alive:',
        "        if False:",
        FLOW
        + "test_binding.py::test_a_sibling_whose_question_changed_under_the_same_id_is_asked_anew[sqlite]",
    ),
    Mutant(
        "an interrupt is asked once",
        GATEWAY + "settle.py",
        "    if tx.one(interactions.LIVE, **key) is not None:\n        return\n",
        "",
        HERE + "test_what_still_waits_after_a_siblings_answer_is_not_asked_again[sqlite]",
    ),
    # Law 6: silence is not an answer
    Mutant(
        "a default never approves",
        GATEWAY + "ask.py",
        "    if decides and not settings.hitl.may_approve:",
        "    if False:",
        FLOW + "test_silence.py::test_a_default_never_approves[sqlite]",
    ),
    # Law 7: one door
    Mutant(
        "authorisation",
        GATEWAY + "evidence.py",
        "    return bool(asked == (provider, reply.sender, reply.place, contact))",
        "    return bool(asked)",
        DOOR + "test_another_contact_who_was_not_asked_gets_nothing[sqlite]",
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
        "    if mine is None:\n        return _stranger(case)\n",
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
        "if needs_code(record) and (problem := _check_code(tx, row, code)):",
        "if False and (problem := _check_code(tx, row, code)):",
        FLOW + "test_forms.py::test_a_confirmation_needs_the_code_that_was_sent_to_the_same_address[sqlite]",
    ),
    Mutant(
        "tries of a code",
        GATEWAY + "forms.py",
        '    if row["code_tries"] >= CODE_TRIES:',
        "    if False:",
        FLOW + "test_forms.py::test_codes_cannot_be_guessed_or_asked_for_without_end[sqlite]",
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
    # Laws 8 and 10, and the process itself
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
        "    canonical(values, context.settings.limits.answer_bytes)\n",
        "",
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
        GATEWAY + "store/engine.py",
        "        if self._is_final(connection, group, error):",
        "        if True:",
        "tests/store/test_engine.py::test_one_bad_transaction_spoils_none_of_its_neighbours[sqlite]",
    ),
)


def copy_tree(to: Path) -> None:
    """The source tree as it stands, without what runs have left in it."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignore)
        elif source.exists():
            shutil.copy2(source, to / name)


def run(copy: Path, *tests: str) -> tuple[int, str]:
    """pytest's exit code (-1: it did not end) and the end of what it said, on the copy's own modules."""
    path = os.pathsep.join(str(copy / name) for name in SOURCES)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, "it did not end"
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def killed(copy: Path, mutant: Mutant) -> str:
    """ "killed", or what happened instead."""
    file = copy / mutant.file
    before = file.read_text()
    if before.count(mutant.old) != 1:
        return f"stale: its text stands in {mutant.file} {before.count(mutant.old)} times"
    file.write_text(before.replace(mutant.old, mutant.new))
    try:
        code, said = run(copy, mutant.test)
    finally:
        file.write_text(before)
    if code in (FAILED, -1):
        return "killed"
    return "SURVIVED" if code == 0 else f"error: pytest's exit code {code}\n{said}"


def say(line: str) -> None:
    """To whoever runs it, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """Print the table; 1 if a mutant survived or could not be tried, or a test fails without any mutant."""
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.safeguard for word in words)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        copy_tree(copy)
        code, said = run(copy, *sorted({mutant.test for mutant in chosen}))
        if code != 0:
            say(f"The tests fail without any mutant:\n{said}")
            return 1
        results = []
        for mutant in chosen:
            results.append(killed(copy, mutant))
            say(f"{mutant.safeguard:55} {results[-1]:10} {mutant.test.rpartition('::')[2]}")
    alive = sum(result != "killed" for result in results)
    say(f"{len(results)} mutants, {len(results) - alive} killed, {alive} not")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
