"""Laws 3 and 4: an event counts once, is stored before anything follows, and one bad event stops no other."""

from sqlalchemy import select

from answerback.model import RunStatus
from answerback.provider import Batch, Inbound
from answerback.receive import ENOUGH
from answerback.store import Tx, replies
from answerback.store.query import Query
from answerback.tables import ReplyRow
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

ALL = Query(select(ReplyRow.__table__).order_by(ReplyRow.__table__.c.id))  # type: ignore[attr-defined]


async def stored(g: Gateway) -> list[tuple[str, str]]:
    def tx(tx: Tx) -> list[tuple[str, str]]:
        return [(row["event_id"], row["outcome"]) for row in tx.all(ALL)]

    return await g.app.context.store.read(tx)


async def test_a_redelivered_tap_does_not_answer_the_next_question(database: Database) -> None:
    agent = ScriptedAgent(asks("First?", "Yes", "No"), asks("Second?", "Yes", "No"))
    async with gateway(database, agent) as g:
        run = await g.run()
        tap = g.memory.tapped("1001", "Yes")
        for _ in range(3):
            await g.receive(tap)
        run = await g.settled(run.id)
        assert run.status is RunStatus.WAITING
        assert [text for _, text, _ in agent.journal] == ["First?"]
        assert len(await stored(g)) == 1


async def test_a_second_tap_on_an_answered_question_never_reaches_the_next_one(database: Database) -> None:
    agent = ScriptedAgent(asks("First?", "Yes", "No"), asks("Second?", "Yes", "No"))
    async with gateway(database, agent) as g:
        run = await g.run()
        double = [g.memory.tapped("1001", "Yes") for _ in range(2)]  # a double tap: two events
        for event in double:
            await g.receive(event)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert [text for _, text, _ in agent.journal] == ["First?"]
        assert [outcome for _, outcome in await stored(g)] == ["accepted", "already answered"]


async def test_an_event_that_cannot_be_parsed_is_stored_and_acknowledged_and_stops_nothing(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.receive(g.memory.typed("1001", "raise while parsing"))
        await g.receive(Inbound(b"\x00\xff not even JSON"))
        await g.types("1001", "fine")
        assert (await g.settled(run.id)).result == ["fine"]
        assert sorted(outcome for _, outcome in await stored(g)) == ["accepted", "failed", "failed"]


async def test_a_poll_and_its_cursor_are_one_transaction(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        events = (g.memory.typed("1001", "raise while parsing"), g.memory.typed("1001", "fine"))
        await g.app.receiver.polled("memory", Batch(events, "17"))
        assert await g.app.receiver.cursor("memory") == "17"
        assert (await g.settled(run.id)).result == ["fine"]


async def test_the_same_event_id_on_two_providers_is_two_events(database: Database) -> None:
    async with gateway(database) as g:
        first = await g.app.context.store.write(lambda tx: replies.add(tx, "memory", "e1", b""))
        second = await g.app.context.store.write(lambda tx: replies.add(tx, "other", "e1", b""))
        again = await g.app.context.store.write(lambda tx: replies.add(tx, "memory", "e1", b""))
    assert first and second and not again


async def test_of_what_is_from_a_stranger_the_beginning_is_kept_and_of_an_answer_all(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        sent = [g.memory.typed(who, "word " * 20_000) for who in ("somebody", "1001")]
        for event in sent:
            await g.receive(event)
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
        rows = await g.app.context.store.read(lambda tx: tx.all(ALL))
    assert [row["outcome"] for row in rows] == ["unknown", "accepted"]
    assert [bytes(row["raw"]) for row in rows] == [sent[0].body[:ENOUGH], sent[1].body]


async def test_law_4_an_unproved_copy_that_comes_first_does_not_shut_out_the_original(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        for _ in range(2):
            await g.types("1001", "this one", event_id="mail:1", trusted=False)
        for _ in range(2):  # as by IMAP and by LMTP
            await g.types("1001", "this one", event_id="mail:1")
        assert (await g.settled(run.id)).result == ["this one"]
        outcomes = [("unproved:mail:1", "not allowed"), ("mail:1", "accepted")]
        assert await stored(g) == outcomes


async def test_law_4_an_unproved_copy_that_comes_after_the_original_is_the_same_event(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?", "Yes", "No"))
    async with gateway(database, agent) as g:
        await g.run()
        await g.types("1001", "perhaps", event_id="mail:1")
        said = g.memory.titles("1001")
        await g.types("1001", "perhaps", event_id="mail:1", trusted=False)
        assert await stored(g) == [("mail:1", "asked again")]
        assert g.memory.titles("1001") == said
