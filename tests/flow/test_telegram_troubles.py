"""Telegram in trouble, and strangers who make some: nothing is asked twice at once, nothing is lost."""

import contextlib
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from answerback.model import RunStatus
from answerback.provider import Batch, Inbound
from answerback.testing import ScriptedAgent, asks
from answerback_sandbox import FaultKind
from answerback_sandbox.telegram import thumbs
from tests.support.chatting import ANA, Chatting, chatting
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("telegram"), pytest.mark.either_database]


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


def shown(chat: Chatting) -> list[tuple[str, bool]]:
    """The first line of each message to Ana, and whether buttons stand below it."""
    return [(message.text.splitlines()[0], bool(message.buttons)) for message in chat.box.received(ANA)]


@contextlib.asynccontextmanager
async def never_heard(database: Database, *choices: str) -> AsyncIterator[Chatting]:
    """Ana has a question, and the gateway was never told that it arrived."""
    async with chatting(database, ScriptedAgent(asks("Which?", *choices)), in_group=False) as chat:
        chat.box.fail(FaultKind.DROPPED, method="sendMessage")
        await chat.run()
        yield chat


CHOSE, DONE = "✅ You chose “Yes” · 12:0{}. Going on.", "📄 Scripted is done: yes"


async def test_whoever_taps_a_message_of_which_nobody_knows_whether_it_arrived_sees_that_it_counts(
    database: Database,
) -> None:
    async with never_heard(database, "Yes", "No") as chat:
        chat.box.tap(ANA, chat.last().id, "Yes")
        await chat.heard()
        await chat.g.later(61)
        assert shown(chat) == [(CHOSE.format(0), False), (DONE, False)]


async def test_law_1_whoever_replies_to_such_a_message_in_words_sees_the_same(database: Database) -> None:
    """Telegram shows what they reply to, with the buttons that we gave it."""
    async with never_heard(database, "Yes", "No") as chat:
        chat.box.type(ANA, "yes", reply_to=chat.last().id)
        await chat.heard()
        await chat.g.later(61)
        assert shown(chat) == [(CHOSE.format(0), False), (DONE, False)]


async def test_whoever_replies_to_one_without_buttons_says_what_it_is_for_and_hears_how_it_ended(
    database: Database,
) -> None:
    async with never_heard(database) as chat:
        chat.box.type(ANA, "yes", reply_to=chat.last().id)
        await chat.heard()
        (_, which) = chat.box.received(ANA)
        chat.box.tap(ANA, which.id, which.buttons[0].text)
        await chat.heard()
        await chat.g.later(61)
        said = [text for text, _ in shown(chat)]
        assert said[2:] == ["✅ You wrote “yes” · 12:00. Going on.", DONE]


async def test_of_two_copies_both_say_how_it_ended_whichever_of_them_was_tapped(
    database: Database,
) -> None:
    async with never_heard(database, "Yes", "No") as chat:
        await chat.g.later(61)
        first, _ = chat.box.received(ANA)
        chat.box.tap(ANA, first.id, "Yes")
        await chat.heard()
        assert shown(chat) == [(CHOSE.format(1), False), (CHOSE.format(1), False), (DONE, False)]


async def test_a_copy_of_which_nobody_knew_says_how_it_ended_as_soon_as_it_is_tapped(
    database: Database,
) -> None:
    async with never_heard(database, "Yes", "No") as chat:
        await chat.g.later(61)
        first, second = chat.box.received(ANA)
        chat.box.tap(ANA, second.id, "Yes")
        await chat.heard()
        assert shown(chat) == [("🟦 Scripted", True), (CHOSE.format(1), False), (DONE, False)]
        for _ in range(2):  # the second tap was under way before the buttons were gone
            thumbs._send_callback(chat.box.world, ANA, first, 0, first.buttons[0].data)
        await chat.heard()
        again = ("You answered this at 12:01 on Telegram: “Yes”. Nothing changed.", False)
        assert shown(chat) == [
            (CHOSE.format(1), False),
            (CHOSE.format(1), False),
            (DONE, False),
            again,
            again,
        ]


async def test_of_10000_updates_at_once_the_answer_counts_and_the_gateway_stays_responsive(
    database: Database,
) -> None:
    def update(id: int, sender: int, **message: Any) -> Inbound:
        who = {"id": sender, "is_bot": False, "first_name": "X"}
        chat = {"id": -1_009_000_000_009, "type": "supergroup", "title": "Noise"}
        fields = {"message_id": id, "from": who, "chat": chat, "date": 1_764_590_460, **message}
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
