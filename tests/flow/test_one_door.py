"""Law 7: one door, deny by default, by external id: never by a name or a token alone."""

import pytest

from answerback.errors import NotAllowed
from answerback.model import RunStatus
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_linking import WITH_CAROL
from tests.support.databases import Database
from tests.support.gateway import gateway


async def test_a_stranger_who_taps_gets_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe?", "Yes", "No"))
    async with gateway(database, agent) as g:
        run = await g.run()
        tap = g.memory.tapped("1001", "Yes")
        stolen = tap.body.replace(b'"sender": "1001"', b'"sender": "6666"').replace(b'"e1"', b'"e2"')
        await g.receive(type(tap)(stolen))
        assert (await g.settled(run.id)).status is RunStatus.WAITING
    assert agent.journal == []


async def test_another_contact_who_was_not_asked_gets_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe?", "Yes", "No"))
    async with gateway(database, agent) as g:
        run = await g.run()
        tap = g.memory.tapped("1001", "Yes")
        stolen = tap.body.replace(b'"sender": "1001"', b'"sender": "2002"')
        await g.receive(type(tap)(stolen))
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert g.memory.toasts[-1][1] == "This question is for Alice."
    assert agent.journal == []


async def test_the_right_person_in_another_place_gets_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("Wipe?", "Yes", "No"))
    async with gateway(database, agent) as g:
        run = await g.run()
        tap = g.memory.tapped("1001", "Yes")
        elsewhere = tap.body.replace(b'"place": "1001"', b'"place": "-77"')
        await g.receive(type(tap)(elsewhere))
        assert (await g.settled(run.id)).status is RunStatus.WAITING


async def test_a_stranger_hears_one_sentence_a_day_and_only_in_private(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("9999", "hello?")
        await g.types("9999", "hello??")
        await g.types("8888", "hi all", private=False)
        assert g.memory.titles("9999") == [
            "I don't know this account. Ask whoever runs the agent for a link."
        ]
        assert g.memory.titles("8888") == []
        g.clock.advance(86_401)
        await g.types("9999", "hello???")
        assert len(g.memory.titles("9999")) == 2


async def test_a_mail_that_is_not_trusted_stops_nothing_links_nothing_and_is_kept_for_nothing(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, **WITH_CAROL) as g:
        first, second = await g.run(), await g.run()
        shown = len(g.memory.titles("1001"))
        for text in ("stop", "cancel", "this one"):  # two are open: nobody is asked which one is meant
            await g.types("1001", text, trusted=False)
        code = (await g.app.linker.create("carol", "memory")).code
        await g.types("6666", f"/start {code}", trusted=False)
        assert len(g.memory.titles("1001")) == shown
        assert g.memory.titles("6666") == []  # nor does a stranger hear anything: the address may be forged
        ended = [(await g.settled(run.id)).status for run in (first, second)]
        assert ended == [RunStatus.WAITING, RunStatus.WAITING]
    assert agent.journal == []


async def test_a_mail_that_is_not_trusted_decides_nothing_and_says_where_to_answer(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "this one", trusted=False)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert "I can't be sure this mail is from you" in g.memory.titles("1001")[-1]
        assert "/f/" in g.memory.titles("1001")[-1]


async def test_a_key_that_answers_for_somebody_who_was_not_asked_is_refused(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        (record,) = (await g.app.reader.interactions()).items
        with pytest.raises(NotAllowed, match="not for Ben"):
            await g.app.receiver.respond(record.id, "mine", by="ben", via="api")
        await g.app.receiver.respond(record.id, "hers", by="alice", via="api")
        assert (await g.settled(run.id)).result == ["hers"]
