"""For whom a program asks: kept with the question, shown, and what a list can be narrowed to."""

from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.model import InteractionStatus, Question
from answerback.store.query import Query
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
