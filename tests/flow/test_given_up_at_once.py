"""Two operators deal with one dead letter on two gateways at the same moment: one does, the other is told."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from answerback.agent import Failed, State, Target
from answerback.backoff import AWAY
from answerback.errors import AgentUnavailable, Conflict, Undeliverable
from answerback.model import Answer, Json, RunStatus
from answerback.run import RunRequest
from answerback.store import replies
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.two import Opened, Two, at_once, opening

pytestmark = pytest.mark.needs_extra("postgres")
LETTER = Query(text("SELECT id FROM reply WHERE error <> ''"))
DONE = Query(text("SELECT done FROM letter"))
SPOIL = Query(text("UPDATE interaction SET questions = 'not JSON' WHERE id = :key"))
QUICKER = "It is no dead letter any more: somebody else was quicker."


class Stumbles(ScriptedAgent):
    """Its step fails, or cannot be reached at all, until it is mended."""

    def __init__(self, *, away: bool = False) -> None:
        super().__init__(asks("Which?"))
        self.away, self.mended, self.told = away, False, list[str]()

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if self.mended:
            return await super().resume(thread, target, answer, again=again)
        if self.away:
            raise ZeroDivisionError("a graph that is broken")
        return Failed("ZeroDivisionError: division by zero")

    async def cancel(self, thread: str) -> Json:
        if self.away:
            raise AgentUnavailable("its server does not answer")
        self.told.append(thread)
        return await super().cancel(thread)

    async def retry(self, thread: str) -> State:
        """Not failed again before the other operator has been told."""
        raise AgentUnavailable("its server does not answer")


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def a_message(both: Two) -> tuple[str, str]:
    both.one.memory.failures.append(Undeliverable("the person blocked the bot"))
    id = await both.ask()
    return "delivery", (await both.message(id))["id"]


async def an_event(both: Two) -> tuple[str, str]:
    raw, store = both.one.memory.typed("1001", "help").body, both.one.app.context.store
    await store.write(lambda tx: replies.add(tx, "memory", "e1", raw, outcome="failed", error="Bug"))
    (letter,) = await store.read(lambda tx: tx.all(LETTER))
    return "reply", letter["id"]


async def an_answer(both: Two) -> tuple[str, str]:
    run = await both.one.run("away")
    await both.one.types("1001", "kept")
    for _ in range(12):
        await both.one.later(3600)
    return "interaction", run.interactions[0]


async def a_run(both: Two) -> tuple[str, str]:
    run = await both.one.run()
    await both.one.types("1001", "x")
    return "run", run.id


async def a_damaged_question(both: Two) -> tuple[str, str]:
    run = await both.one.run()
    both.one.tampers = both.two.tampers = True
    await both.one.app.context.store.write(lambda tx: tx.run(SPOIL, key=run.interactions[0]))
    return "interaction", run.interactions[0]


async def a_stop(both: Two) -> tuple[str, str]:
    """Given up, of the agent that is away; while the letter is dealt with, it does not come back."""
    run = await both.one.run("away")
    await both.one.app.runner.cancel(run.id)
    await both.one.later(AWAY / 1e6 + 1)
    return "run", run.id


GIVEN_UP = [a_message, an_event, an_answer, a_run, a_damaged_question, a_stop]
GivenUp = Callable[[Two], Awaitable[tuple[str, str]]]


@pytest.mark.parametrize("given_up", GIVEN_UP)
@pytest.mark.parametrize("first", ["replay", "discard"])
async def test_what_is_replayed_and_discarded_at_once_is_one_of_both(
    two: Opened, given_up: GivenUp, first: str
) -> None:
    agents = Stumbles(), Stumbles(away=True)
    agents[1].name = "away"
    async with two(*agents) as both:
        table, id = await given_up(both)
        second = "discard" if first == "replay" else "replay"
        work = (
            getattr(both.one.app.letters, first)(id, "ops"),
            getattr(both.two.app.letters, second)(id, "dev"),
        )
        became, refused = await at_once(both, table, id, *work)
        assert isinstance(became, str) and isinstance(refused, Conflict), (became, refused)
        cancelled = given_up is a_run and first == "discard"
        assert str(refused) == (
            "Only a failed run can be tried again; this one is cancelled." if cancelled else QUICKER
        )
        done = {row["done"] for row in await both.one.app.context.store.read(lambda tx: tx.all(DONE))}
        anew = {"asked anew"} if given_up is a_damaged_question else set[str]()
        assert done == ({"discarded"} if first == "discard" else anew)
        assert await both.waited_in_a_ring() == 0


async def test_a_run_that_is_discarded_as_its_failed_step_is_tried_again_goes_on(two: Opened) -> None:
    agent = Stumbles()
    async with two(agent) as both:
        _, id = await a_run(both)
        agent.mended = True
        work = both.one.app.runner.reask(id), both.two.app.letters.discard(id, "ops")
        _, refused = await at_once(both, "run", id, *work)
        assert isinstance(refused, Conflict) and str(refused) == QUICKER
        assert (await both.one.settled(id)).status is not RunStatus.CANCELLED


@pytest.mark.parametrize("told_first", [True, False])
async def test_laws_1_and_3_a_stop_that_is_tried_again_as_another_run_begins_there_does_not_stop_that_one(
    two: Opened, told_first: bool
) -> None:
    agent = Stumbles(away=True)
    async with two(agent) as both:
        first = await both.one.run(thread_id="t")
        await both.one.app.runner.cancel(first.id)
        await both.one.later(AWAY / 1e6 + 1)
        agent.away = False
        work = [
            both.one.app.letters.replay(first.id, "ops"),
            both.two.app.runner.start(RunRequest("scripted", thread_id="t")),
        ]
        became = await at_once(both, "run", first.id, *(work if told_first else reversed(work)))
        for hours in range(3):
            await both.one.later(3600 * hours)
        stopped, begun = became if told_first else reversed(became)
        if isinstance(begun, Conflict):  # the one before was being stopped at that moment
            assert (stopped, agent.told) == ("Its agent is being told again.", ["t"])
            return
        second = (await both.one.app.runner.list()).items[-1]
        assert (second.id != first.id, second.status) == (True, RunStatus.WAITING), became
        assert agent.told == ["t"], "by the run that began, before it did"
        assert await both.one.app.letters.count() == 0


@pytest.mark.parametrize("sent_first", [True, False])
async def test_what_is_sent_again_as_it_is_erased_is_sent_as_it_was_or_not_at_all(
    two: Opened, sent_first: bool
) -> None:
    async with two(retention=3600.0) as both:
        both.one.memory.failures.append(Undeliverable("the person blocked the bot"))
        await both.one.types("1001", "help")
        (letter,) = (await both.one.app.letters.list()).items
        both.one.clock.advance(7200)
        work = [both.one.app.letters.replay(letter.id, "ops"), both.two.app.eraser.sweep()]
        became = await at_once(both, "delivery", letter.id, *(work if sent_first else reversed(work)))
        await both.one.sweep()
        (said,) = both.one.memory.titles("1001") or [""]
        assert ("pending" in said) is sent_first, said
        assert isinstance(became[1], Conflict) is not sent_first
