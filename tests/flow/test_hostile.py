"""What a stranger or a broken service may send: nothing makes a statement fail, nothing is lost."""

import json

import pytest

from answerback.model import RunStatus
from answerback.provider import Inbound
from answerback.store import Tx
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_once_in import ALL
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

ODD = ["\x00", "\ud83d", "x" * 5000, "'; DROP TABLE reply; --", "\u202e\u200b", ""]


async def outcomes(g: Gateway) -> list[str]:
    def tx(tx: Tx) -> list[str]:
        return [row["outcome"] for row in tx.all(ALL)]

    return await g.app.context.store.read(tx)


@pytest.mark.parametrize("field", ["event_id", "sender", "place", "data", "token", "text", "name", "handle"])
async def test_odd_values_in_any_field_are_stored_and_survived(database: Database, field: str) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        for number, odd in enumerate(ODD):
            event = {"event_id": f"odd{number}", "sender": "6666", "place": "6666", "text": "hi", field: odd}
            await g.receive(Inbound(json.dumps(event).encode()))
        assert len(await outcomes(g)) == len(ODD)
        await g.types("1001", "fine")
        assert (await g.settled(run.id)).result == ["fine"]


@pytest.mark.parametrize("odd", ["\x00", "half \ud83d an emoji"])
async def test_a_character_that_cannot_be_kept_is_named_to_the_person(database: Database, odd: str) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", odd)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert "cannot be kept (U+" in g.memory.titles("1001")[-1]
    assert agent.journal == []


async def test_an_answer_that_is_too_long_is_refused_before_it_is_accepted(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "x" * 300_000)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert g.memory.titles("1001")[-1] == "That is too long to keep. Please send a shorter text."
