"""Telegram in trouble, and strangers who make some: nothing is asked twice at once, nothing is lost."""

import json
import time
from typing import Any

import pytest

from answerback.model import RunStatus
from answerback.provider import Batch, Inbound
from answerback.testing import ScriptedAgent, asks
from answerback_sandbox import FaultKind
from tests.support.chatting import ANA, chatting
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("telegram")


async def test_a_question_of_which_nobody_knows_whether_it_arrived_is_not_asked_again_within_a_minute(
    database: Database,
) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        chat.box.fail(FaultKind.DROPPED, method="sendMessage")
        run = await chat.run()
        await chat.g.later(59)
        assert (len(chat.said()), chat.g.memory.titles("a")) == (1, [])
        await chat.g.later(2)
        assert len(chat.said()) == 2  # at least once
        chat.box.type(ANA, "this one", reply_to=chat.last().id)
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]


async def test_of_10000_updates_at_once_the_answer_counts_and_the_gateway_stays_responsive(
    database: Database,
) -> None:
    def update(id: int, sender: int, **message: Any) -> Inbound:
        who = {"id": sender, "is_bot": False, "first_name": "X"}
        chat = {"id": -1_009_000_000_009, "type": "supergroup", "title": "Noise"}
        fields = {"message_id": id, "from": who, "chat": chat, "date": 1_764_590_400, **message}
        return Inbound(json.dumps({"update_id": id, "message": fields}).encode())

    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        run = await chat.run()
        noise = [update(900_000_000 + id, 6666 + id, text="buy now") for id in range(10_000)]
        private = {"id": ANA, "type": "private", "first_name": "Ana"}
        noise[5000] = update(900_005_000, ANA, text="this one", chat=private)
        slowest = 0.0
        for start in range(0, len(noise), 1000):  # as the provider takes them
            began = time.monotonic()
            await chat.g.app.receiver.polled("telegram", Batch(tuple(noise[start : start + 1000]), ""))
            slowest = max(slowest, time.monotonic() - began)
        assert (await chat.g.settled(run.id)).result == ["this one"]
        assert slowest < 10


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"update_id": "x"}', b'{"update_id": 1, "message": 7}']
)
async def test_what_makes_no_sense_is_kept_and_changes_nothing(database: Database, body: bytes) -> None:
    async with chatting(database, ScriptedAgent(asks("Which?")), in_group=False) as chat:
        run = await chat.run()
        await chat.g.app.receiver.polled("telegram", Batch((Inbound(body),), ""))
        assert await chat.status(run) is RunStatus.WAITING
        chat.box.type(ANA, "this one")
        await chat.heard()
        assert (await chat.g.settled(run.id)).result == ["this one"]
