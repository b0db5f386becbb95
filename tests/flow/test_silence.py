"""Law 6: silence is not an answer. Deadlines, what the agent is told, reminders, and a restart."""

import pytest

from answerback.ask import AskRequest
from answerback.errors import Closed, DoesNotFit
from answerback.model import InteractionStatus, OnExpire, Question, QuestionKind, RunStatus
from answerback.settings import Route
from answerback.testing import ManualClock, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

TEN_MINUTES = 600.0


def route(on_expire: OnExpire = OnExpire.AUTO, **more: object) -> dict[str, Route]:
    fields = {"ask": ("alice",), "providers": ("memory",), "expires_in": TEN_MINUTES, "on_expire": on_expire}
    return {"default": Route("default", **{**fields, **more})}


async def status(g: Gateway) -> InteractionStatus:
    (record,) = (await g.app.reader.interactions()).items
    return record.status


async def test_without_expires_in_nothing_expires(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        await g.run()
        await g.later(10 * 365 * 86_400)
        assert await status(g) is InteractionStatus.PENDING


async def test_an_expired_question_tells_the_agent_that_nobody_answered(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe?", confirm=True))
    async with gateway(database, agent, routes=route()) as g:
        run = await g.run()
        await g.later(TEN_MINUTES - 1)
        assert await status(g) is InteractionStatus.PENDING
        await g.later(2)
        assert await status(g) is InteractionStatus.EXPIRED
        assert (await g.settled(run.id)).result == [None]
        assert "without an answer" in g.memory.titles("1001")[0]
    ((_, _, answer),) = agent.journal
    assert answer.expired and answer.values == {}


async def test_an_answer_after_the_deadline_does_not_count_even_before_the_sweep(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe?", confirm=True))
    async with gateway(database, agent, routes=route()) as g:
        await g.run()
        g.clock.advance(TEN_MINUTES + 1)
        (record,) = (await g.app.reader.interactions()).items
        with pytest.raises(Closed):
            await g.app.receiver.respond(record.id, True, by="alice", via="api")
        await g.taps("1001", "Yes")
        assert agent.journal == []
        await g.sweep()
        assert agent.journal[0][2].expired


async def test_a_trusted_time_before_the_deadline_counts_when_the_message_arrives_late(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, routes=route()) as g:
        run = await g.run()
        written = g.clock.now + 30_000_000
        g.clock.advance(TEN_MINUTES + 30)  # we were down; the message waited at the service
        await g.types("1001", "in time", sent_at=written)
        await g.sweep()
        assert (await g.settled(run.id)).result == ["in time"]


async def test_leave_marks_it_overdue_and_it_can_still_be_answered(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, routes=route(OnExpire.LEAVE)) as g:
        run = await g.run()
        await g.later(TEN_MINUTES + 1)
        (record,) = (await g.app.reader.interactions()).items
        assert record.status is InteractionStatus.PENDING and record.overdue_at is not None
        await g.types("1001", "late but fine")
        assert (await g.settled(run.id)).result == ["late but fine"]


async def test_cancel_ends_the_run(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, routes=route(OnExpire.CANCEL)) as g:
        run = await g.run()
        await g.later(TEN_MINUTES + 1)
        assert (await g.settled(run.id)).status is RunStatus.CANCELLED
        assert await status(g) is InteractionStatus.EXPIRED
    assert agent.journal == []


async def test_a_default_never_approves(database: Database) -> None:
    yes = AskRequest(
        (Question("q1", "Wipe?", QuestionKind.CONFIRM),), on_expire=OnExpire.DEFAULT, default=True
    )
    no = AskRequest(
        (Question("q1", "Wipe?", QuestionKind.CONFIRM),), on_expire=OnExpire.DEFAULT, default=False
    )
    async with gateway(database) as g:
        with pytest.raises(DoesNotFit, match="silence is not an answer"):
            await g.app.asker.ask(yes)
        assert (await g.app.asker.ask(no)).created


async def test_a_reminder_repeats_the_question_under_the_same_code(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A", "B"))
    async with gateway(database, agent, routes=route(reminders=(120.0,))) as g:
        run = await g.run()
        await g.later(120)
        first, second = (shown.message for shown in g.memory.shown)
        assert first.code == second.code
        assert "Still waiting, 8 min left." in second.text
        assert second.reply_to == (g.memory.shown[0].id,)
        await g.taps("1001", "A")
        assert (await g.settled(run.id)).result == ["a"]
        assert [shown.edited for shown in g.memory.shown[:2]] == [True, True]


async def test_what_fell_due_while_we_were_down_is_done_at_the_next_start(database: Database) -> None:
    agent, clock = ScriptedAgent(asks("Which?")), ManualClock()
    async with gateway(database, agent, routes=route(), clock=clock) as g:
        run = await g.run()
    clock.advance(TEN_MINUTES * 3)
    async with gateway(database, agent, routes=route(), clock=clock) as g:
        await g.sweep()
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_law_8_a_reminder_of_a_question_whose_deadline_cancels_stops_nothing(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, routes=route(OnExpire.CANCEL, reminders=(60.0,))) as g:
        run = await g.run()
        await g.later(61)
        assert len(g.memory.titles("1001")) == 2
        await g.types("1001", "tea")
        assert (await g.settled(run.id)).result == ["tea"]
