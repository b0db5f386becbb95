"""Runs: started once, shown as they are, failed without harm, tried again, cancelled, replaced."""

import asyncio
import functools

import pytest
from sqlalchemy import text

from answerback.agent import Finished, State
from answerback.errors import AgentUnavailable, Conflict, DoesNotFit, NotFound
from answerback.model import Address, Contact, InteractionStatus, Json, Question, RunStatus
from answerback.run import Run, RunRequest
from answerback.settings import Hitl
from answerback.store import contacts, leases, runs, stops
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_a_waiting_thread_takes_no_second_run(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        await g.run(thread_id="t1")
        with pytest.raises(Conflict, match="waiting"):
            await g.app.runner.start(RunRequest("scripted", thread_id="t1"))


class AtWork(ScriptedAgent):
    """It works until it is told to go on."""

    def __init__(self) -> None:
        super().__init__(asks("Which?"))
        self.go_on = asyncio.Event()

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        await self.go_on.wait()
        return await super().start(thread, input, run)


async def test_whoever_starts_another_on_a_thread_at_work_is_told_to_wait(database: Database) -> None:
    agent = AtWork()
    async with gateway(database, agent) as g:
        await g.app.runner.start(RunRequest("scripted", thread_id="t1"))
        with pytest.raises(Conflict, match="Wait for its end, or start with replace"):
            await g.app.runner.start(RunRequest("scripted", thread_id="t1"))
        agent.go_on.set()


async def test_what_the_agent_refuses_is_asked_again_with_its_reason(database: Database) -> None:
    agent = ScriptedAgent(asks("Which name?"))
    agent.failures.append(DoesNotFit("It needs at least 3 characters."))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "ab")
        run = await g.settled(run.id)
        assert g.memory.titles("1001")[-1] == "Which name?"
        again = await g.app.reader.interaction(run.interactions[-1])
        assert again.context == "It needs at least 3 characters."
        await g.types("1001", "abc")
        assert (await g.settled(run.id)).result == ["abc"]


async def test_replace_withdraws_what_waits_and_starts_anew(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A", "B"))
    async with gateway(database, agent) as g:
        first = await g.run(thread_id="t1")
        tap = g.memory.tapped("1001", "A")
        second = await g.run(thread_id="t1", replace=True)
        assert (await g.app.runner.get(first.id)).status is RunStatus.CANCELLED
        await g.receive(tap)  # on the message of the first run
        assert (await g.settled(second.id)).status is RunStatus.WAITING
        assert agent.journal == []
        await g.taps("1001", "B")
        assert (await g.settled(second.id)).result == ["b"]


async def test_an_agent_that_hears_late_of_a_cancelled_run_does_not_stop_the_next_one_on_its_thread(
    database: Database,
) -> None:
    agent, late = ScriptedAgent(asks("Which?")), list[tuple[str, str]]()
    async with gateway(database, agent) as g:
        first = await g.run(thread_id="t1")
        g.app.context.signals.stop = late.append
        await g.app.asker.cancel(first.interactions[0])
        g.clock.advance(31)  # nobody waits longer than that for an agent to hear
        second = await g.run(thread_id="t1", replace=True)
        for thread in late:
            await g.app.runner.stopper.stop(*thread)
        await g.types("1001", "tea")
        assert (await g.settled(second.id)).result == ["tea"]


async def test_an_agent_that_raises_fails_the_run_and_the_gateway_goes_on(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "fail")
        run = await g.settled(run.id)
        assert (run.status, run.error) == (RunStatus.FAILED, "ValueError: told to fail")
        assert g.memory.titles("1001")[-1] == "⚠️ Scripted stopped: ValueError: told to fail"
        again = await g.run()
        assert again.status is RunStatus.WAITING


async def test_a_failed_run_can_be_tried_again(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        with pytest.raises(Conflict):
            await g.app.runner.retry(run.id)
        await g.types("1001", "fail")
        await g.app.runner.retry(run.id)
        run = await g.settled(run.id)
        assert run.status is RunStatus.WAITING
        await g.types("1001", "better")
        assert (await g.settled(run.id)).result == ["better"]


class Absent(ScriptedAgent):
    """It cannot be begun while it is away; `begun` are the inputs that it was begun with."""

    def __init__(self, *steps: Question) -> None:
        super().__init__(*steps)
        self.is_away, self.refused, self.begun, self.ended = False, 0, list[Json](), list[str]()

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        if self.is_away:
            self.refused += 1
            raise AgentUnavailable("its disk is full")
        self.begun.append(input)
        return await super().start(thread, input, run)

    async def retry(self, thread: str) -> State:
        return Finished("what the thread ended with")

    async def cancel(self, thread: str) -> Json:
        self.ended.append(thread)
        return await super().cancel(thread)


async def test_what_never_began_begins_when_it_is_tried_again_and_is_not_given_what_its_thread_ended_with(
    database: Database,
) -> None:
    agent = Absent()
    async with gateway(database, agent) as g:
        assert (await g.run(thread_id="t1", input="first")).status is RunStatus.COMPLETED
        agent.is_away = True
        second = await g.run(thread_id="t1", input="second")
        for _ in range(12):
            await g.later(7200)
        failed = await g.app.runner.get(second.id)
        assert (failed.status, failed.error) == (RunStatus.FAILED, "its disk is full")
        agent.is_away = False
        await g.app.runner.retry(second.id)
        assert (await g.settled(second.id)).result == []
        assert agent.begun == ["first", "second"]


async def test_what_cannot_be_begun_is_tried_ten_times(database: Database) -> None:
    agent = Absent()
    async with gateway(database, agent) as g:
        agent.is_away = True
        run = await g.run()
        for _ in range(20):
            await g.later(7200)
        assert ((await g.app.runner.get(run.id)).status, agent.refused) == (RunStatus.FAILED, 10)


async def test_what_was_to_be_replaced_is_ended_once_even_if_the_new_run_begins_much_later(
    database: Database,
) -> None:
    agent = Absent(asks("Which?"))
    async with gateway(database, agent) as g:
        await g.run(thread_id="t1", input="first")
        agent.is_away = True
        second = await g.run(thread_id="t1", input="second", replace=True)
        agent.ended.clear()
        await g.later(7200)
        agent.is_away = False
        await g.later(7200)
        assert (await g.settled(second.id)).status is RunStatus.WAITING
        assert (agent.begun, agent.ended) == (["first", "second"], [])


async def test_an_agent_that_is_away_gets_the_answer_when_it_is_back(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        agent.failures = [AgentUnavailable("its server is away"), RuntimeError("odd")]
        await g.types("1001", "kept")
        assert (await g.settled(run.id)).status is RunStatus.RUNNING
        await g.later(10)
        await g.later(20)
        assert (await g.settled(run.id)).result == ["kept"]


async def test_an_answer_that_can_never_be_given_is_set_aside_with_its_reason(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        await g.run()
        agent.failures = [RuntimeError("a bug in the adapter") for _ in range(50)]
        await g.types("1001", "kept")
        for _ in range(15):
            await g.later(600)
        (record,) = (await g.app.reader.interactions()).items
        assert (record.status, record.resumed_at) == (InteractionStatus.COMPLETED, None)
        assert record.resume_error == "RuntimeError while resuming"


async def test_unknown_agents_and_runs_are_not_found(database: Database) -> None:
    async with gateway(database) as g:
        with pytest.raises(NotFound, match="no agent"):
            await g.app.runner.start(RunRequest("nobody"))
        with pytest.raises(NotFound):
            await g.app.runner.get("nothing")


async def test_somebody_unknown_cannot_be_asked_and_somebody_added_later_can(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        with pytest.raises(NotFound, match="no contact 'dora'"):
            await g.app.runner.start(RunRequest("scripted", ask=("dora",)))
        dora = Contact("dora", "Dora", addresses=(Address("memory", "7", "7"),))
        await g.app.context.store.write(lambda tx: contacts.put(tx, dora, "added"))
        await g.run(ask=("dora",))
        assert g.memory.titles("7") == ["Which?"]


async def test_runs_are_listed_page_by_page(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        ids = [(await g.run()).id for _ in range(5)]
        first = await g.app.runner.list("waiting", limit=3)
        second = await g.app.runner.list("waiting", limit=3, after=first.next)
        assert [run.id for run in (*first.items, *second.items)] == ids
        assert second.next is None


@pytest.mark.parametrize("status", [None, "completed"])
async def test_a_page_of_runs_with_large_results_ends_early_and_none_of_them_is_left_out(
    database: Database, status: str | None
) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        ids = [(await g.run()).id for _ in range(6)]
        g.tampers = True
        for id in ids:
            end = functools.partial(runs.finish, id=id, status=RunStatus.COMPLETED, result="x" * 700_000)
            await g.app.context.store.write(end)
        found, pages = list[Run](), 0
        after: str | None = ""
        while after is not None:
            page = await g.app.runner.list(status, limit=50, after=after)
            assert sum(len(run.result) for run in page.items) <= runs.PORTION * 700_000
            found, after, pages = [*found, *page.items], page.next, pages + 1
        assert [run.id for run in found] == ids
        assert pages == 2


async def test_parallel_questions_are_answered_in_any_order(database: Database) -> None:
    agent = ScriptedAgent([asks("A?"), asks("B?"), asks("C?")], asks("Last?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        for title in ("C?", "A?", "B?"):
            shown = next(shown for shown in g.memory.shown if shown.message.title == title)
            await g.types("1001", f"answer to {title}", references=[shown.id])
        await g.types("1001", "end")
        assert (await g.settled(run.id)).result == ["answer to C?", "answer to A?", "answer to B?", "end"]
        assert {text: answer.text for _, text, answer in agent.journal} == {
            **{title: f"answer to {title}" for title in ("A?", "B?", "C?")},
            "Last?": "end",
        }


async def test_a_run_that_asks_without_end_fails_at_its_limit(database: Database) -> None:
    agent = ScriptedAgent(asks("1?"), asks("2?"), asks("3?"))
    async with gateway(database, agent, hitl=Hitl(max_interactions=2)) as g:
        run = await g.run()
        await g.types("1001", "a")
        await g.types("1001", "b")
        run = await g.settled(run.id)
    assert (run.status, run.error) == (
        RunStatus.FAILED,
        "It asked more than 2 questions (hitl.max_interactions).",
    )


class Away(ScriptedAgent):
    """Cannot be told that its run is cancelled."""

    async def cancel(self, thread: str) -> None:
        raise AgentUnavailable("It is away.")


async def test_a_cancelled_run_keeps_what_it_had_finished(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("1?"), asks("2?"))) as g:
        run = await g.run()
        await g.types("1001", "a")
        cancelled = await g.app.runner.cancel(run.id)
        assert (cancelled.status, cancelled.result) == (RunStatus.CANCELLED, ["a"])


async def test_so_does_one_that_the_person_cancels_by_a_word(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("1?"), asks("2?"))) as g:
        run = await g.run()
        await g.types("1001", "a")
        await g.types("1001", "quit")
        cancelled = await g.settled(run.id)
        assert (cancelled.status, cancelled.result) == (RunStatus.CANCELLED, ["a"])


async def test_what_is_told_of_a_cancelled_run_too_late_is_not_taken_for_the_next_one(
    database: Database,
) -> None:
    async with gateway(database, ScriptedAgent(asks("1?"), asks("2?"))) as g:
        first = await g.run(thread_id="t")
        await g.types("1001", "a")
        second = await g.run(thread_id="t", replace=True)
        await g.app.context.store.write(lambda tx: stops.keep(tx, second.id, ["late"]))
        assert [(await g.settled(run.id)).result for run in (first, second)] == [None, None]


async def test_an_erased_run_does_not_get_a_result_again(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("1?"))) as g:
        run = await g.run(thread_id="t")
        await g.app.runner.cancel(run.id)
        [asked] = (await g.app.runner.get(run.id)).interactions
        await g.app.eraser.now(asked, "ops")
        await g.app.context.store.write(lambda tx: stops.keep(tx, run.id, ["late"]))
        assert (await g.settled(run.id)).result is None


async def test_an_answer_that_had_to_wait_is_not_given_to_a_run_that_was_cancelled_meanwhile(
    database: Database,
) -> None:
    agent = Away(asks("Delete?", "Yes", "No"))
    agent.failures = [AgentUnavailable("It is away.")]
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.taps("1001", "Yes")
        assert (await g.app.runner.cancel(run.id)).status is RunStatus.CANCELLED
        await g.later(600)
        assert agent.journal == []


DAMAGED_INPUT = Query(text("UPDATE run SET input = '{' WHERE id = :id"))
DAMAGED_RESULT = Query(text("UPDATE run SET result = '{' WHERE id = :id"))


async def test_law_10_a_run_whose_record_is_damaged_has_failed_and_keeps_none_of_the_others_waiting(
    database: Database,
) -> None:
    async with gateway(database, agent := Absent(asks("Which?"))) as g:
        agent.is_away = True
        damaged, other = [await g.run() for _ in range(2)]
        agent.is_away = False
        g.tampers = True
        await g.app.context.store.write(lambda tx: tx.run(DAMAGED_INPUT, id=damaged.id))
        await g.later(600)
        assert (await g.settled(other.id)).status is RunStatus.WAITING
        run = await g.settled(damaged.id)
        assert (run.status, run.error) == (
            RunStatus.FAILED,
            "The record of this run is damaged. Start another.",
        )
        with pytest.raises(Conflict, match=r"is damaged\. Start another\."):
            await g.app.runner.retry(damaged.id)
        thread = await g.app.context.store.read(lambda tx: tx.one(runs.GET, id=damaged.id))
        assert await g.app.context.store.read(
            lambda tx: not leases.is_held(tx, thread["agent"], thread["thread_id"])
        )


async def test_law_10_a_run_whose_result_is_damaged_hides_none_of_the_others(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        found = [await g.run() for _ in range(2)]
        for _ in found:
            await g.types("1001", "this one", references=[g.memory.shown[-1].id])
        g.tampers = True
        await g.app.context.store.write(lambda tx: tx.run(DAMAGED_RESULT, id=found[0].id))
        page = await g.app.runner.list()
        assert [run.id for run in page.items] == [run.id for run in found]
        assert (page.items[0].result, page.items[0].error) == (None, "Its result is damaged.")
