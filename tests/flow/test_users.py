"""For whom a program asks: kept with the question, shown, and what a list can be narrowed to."""

from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.model import InteractionStatus, Question, RunStatus
from answerback.settings import Plugin
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

DAMAGE = Query(text("UPDATE interaction SET questions = 'broken'"))


async def ask(g: Gateway, user: str = "", **more: object) -> str:
    request = AskRequest((Question("q", "Which term?"),), user=user, **more)
    return (await g.app.asker.ask(request)).interaction.id


async def ids(g: Gateway, *query: object, **more: object) -> list[str]:
    return [record.id for record in (await g.app.reader.interactions(*query, **more)).items]


async def test_a_list_is_narrowed_to_whom_it_was_asked_for(database: Database) -> None:
    async with gateway(database) as g:
        first, _, other, last = [await ask(g, user) for user in ("u-1", "", "u-2", "u-1")]
        assert await ids(g, user="u-1") == [first, last]
        assert await ids(g, user="u-2") == [other]
        assert await ids(g, user="u") == []
        await g.app.asker.cancel(first)
        assert await ids(g, "cancelled", user="u-1") == [first]
        assert await ids(g, "pending", user="u-1") == [last]


async def test_it_is_read_a_page_at_a_time(database: Database) -> None:
    async with gateway(database) as g:
        asked = [await ask(g, user) for user in ("u-1", "u-2") * 3]
        page = await g.app.reader.interactions(None, 2, None, "u-1")
        rest = await g.app.reader.interactions(None, 2, page.next, "u-1")
        assert [record.id for record in (*page.items, *rest.items)] == asked[::2]
        assert rest.next is None


async def test_it_stays_known_when_the_question_is_erased_or_damaged(database: Database) -> None:
    async with gateway(database) as g:
        g.tampers = True
        erased, damaged = [await ask(g, "u-1", ask=("alice",)) for _ in range(2)]
        await g.app.receiver.respond(erased, "tokens", by="alice", via="api")
        await g.app.idle()
        await g.app.eraser.now(erased, "ops")
        await g.app.context.store.write(lambda tx: tx.run(DAMAGE))
        records = [await g.app.reader.interaction(id) for id in (erased, damaged)]
        assert [record.user for record in records] == ["u-1", "u-1"]
        assert (records[1].readable, records[1].status) == (False, InteractionStatus.PENDING)
        assert await ids(g, user="u-1") == [erased, damaged]


async def test_all_that_a_run_asks_is_asked_for_whom_it_was_started(database: Database) -> None:
    agent = ScriptedAgent(asks("Which tea?"), asks("Which cup?"))
    async with gateway(database, agent) as g:
        run, other = await g.run(user="u-1"), await g.run(ask=("ben",))
        assert (run.user, other.user) == ("u-1", "")
        await g.types("1001", "green")
        assert (await g.settled(run.id)).user == "u-1"
        records = (await g.app.reader.interactions(user="u-1")).items
        assert [record.questions[0].text for record in records] == ["Which tea?", "Which cup?"]
        assert {record.run_id for record in records} == {run.id}


async def test_a_run_that_takes_the_place_of_another_has_a_user_of_its_own(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which tea?"))) as g:
        first = await g.run(thread_id="t", user="u-1")
        second = await g.run(thread_id="t", user="u-2", replace=True)
        page = await g.app.reader.interactions()
        assert [(record.run_id, record.user) for record in page.items] == [
            (first.id, "u-1"),
            (second.id, "u-2"),
        ]


async def test_who_starts_an_agent_by_a_message_is_its_user(database: Database) -> None:
    research = Plugin("research", "x", may_start=("alice",))
    agent = ScriptedAgent(asks("Which tea?"), name="research")
    async with gateway(database, agent, agents={"research": research}) as g:
        await g.types("1001", "run research tea")
        await g.sweep()
        [run] = (await g.app.runner.list()).items
        assert (run.status, run.user) == (RunStatus.WAITING, "alice")
        assert await ids(g, user="alice") == list(run.interactions)


async def test_the_user_of_a_run_stays_known_when_it_is_erased(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which tea?"))) as g:
        run = await g.run(user="u-1")
        await g.types("1001", "green")
        await g.settled(run.id)
        await g.app.eraser.now(run.interactions[0], "ops")
        erased = await g.app.runner.get(run.id)
        assert erased.erased_at is not None
        assert (erased.user, await ids(g, user="u-1")) == ("u-1", list(run.interactions))
