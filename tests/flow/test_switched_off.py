"""`hitl.enabled: false`: no person is asked anything; what is told, started and answered goes on as ever."""

import pytest

from answerback.ask import AskRequest
from answerback.model import InteractionStatus, OnExpire, Question, QuestionKind, RunStatus
from answerback.notices import NoticeRequest
from answerback.settings import Hitl, Plugin
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_deadlines import Sets
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

OFF = {"hitl": Hitl(enabled=False)}
CONFIRM = Question("q", "Deploy?", QuestionKind.CONFIRM)


async def ask(g: Gateway, question: Question = CONFIRM, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((question,), **more))
    await g.sweep()
    return asked.interaction.id


async def test_what_is_asked_over_http_expires_at_once_whatever_its_deadline(database: Database) -> None:
    async with gateway(database, **OFF) as g:
        for more in ({}, {"expires_in": 7200.0}, {"on_expire": OnExpire.NO_RESPONSE}):
            record = await g.app.reader.interaction(await ask(g, **more))
            assert record.status is InteractionStatus.EXPIRED
            assert record.answer is not None and record.answer.expired and record.answer.values == {}
        assert g.memory.shown == []


async def test_a_default_counts_at_once(database: Database) -> None:
    async with gateway(database, **OFF) as g:
        id = await ask(g, Question("q", "Where?"), on_expire=OnExpire.DEFAULT, default="here")
        record = await g.app.reader.interaction(id)
        assert record.status is InteractionStatus.EXPIRED and record.answer is not None
        assert (record.answer.default_used, record.answer.values) == (True, {"q": "here"})


async def test_a_run_that_is_promised_nothing_for_silence_waits_for_the_api_or_its_form(
    database: Database,
) -> None:
    async with gateway(database, Sets(asks("Which?"), expirable=False), **OFF) as g:
        run = await g.run()
        await g.sweep()
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        [record] = (await g.app.reader.interactions()).items
        assert record.status is InteractionStatus.PENDING and record.overdue_at is not None
        assert g.memory.shown == []
        await g.app.receiver.respond(record.id, "this one", by="ops", via="api")
        assert (await g.settled(run.id)).result == ["this one"]


async def test_people_are_still_told_what_asks_nothing(database: Database) -> None:
    async with gateway(database, **OFF) as g:
        await g.app.notices.send(NoticeRequest("The build is done."))
        await g.app.idle()
        assert len(g.memory.shown) == 1


async def test_who_may_start_an_agent_still_does_and_hears_how_it_ends(database: Database) -> None:
    research = Plugin("research", "x", may_start=("alice",))
    agent = ScriptedAgent(asks("Which tea?"), name="research")
    async with gateway(database, agent, agents={"research": research}, **OFF) as g:
        await g.types("1001", "run research tea")
        await g.sweep()
        await g.sweep()
        [run] = (await g.app.runner.list()).items
        assert run.status is RunStatus.COMPLETED
        titles = g.memory.titles("1001")
        assert titles[0] == "Research has started." and "Which tea?" not in titles
        assert len(titles) == 2
