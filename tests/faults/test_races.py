"""Law 2 under pressure: answers, expiry and cancel let go at one moment leave one winner and one resume."""

import contextlib
import json
import random
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from answerback.model import Address, Contact, Interaction, Outcome
from answerback.provider import ProviderContext
from answerback.settings import Route
from answerback.store import deliveries
from answerback.store.codec import loads
from answerback.testing import ManualClock, ScriptedAgent, asks
from answerback_sandbox import FaultKind, Message, Sandbox
from answerback_sandbox.telegram import thumbs
from tests.faults.phone import Phone, rows
from tests.faults.racing import DEADLINE, race
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

ROUNDS, MANY_ROUNDS = 20, 500


class InMemory:
    """Two people on the provider in memory."""

    people = ("1001", "2002")

    def __init__(self, g: Gateway, phone: Phone) -> None:
        self._g, self._phone, self._id = g, phone, ""

    async def find(self, record: Interaction) -> str:
        self._id = record.id
        return self._phone.asked(record.id)[0].message.form_url.rpartition("/")[2]

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        [message] = self._phone.asked(self._id, who)
        if way == "tap":
            event = self._phone.tap(who, message, value.capitalize())
        elif way == "reply":
            event = self._phone.reply(who, message, value)
        else:
            event = self._phone.typed(who, f"{value} #{message.message.code}")

        async def give() -> str:
            for _ in range(2 if twice else 1):
                await self._g.app.receiver.webhook("memory", event)
            return str(json.loads(event.body)["event_id"])

        return give

    async def arrived(self) -> None:
        """They were taken in one by one."""

    async def check(self, record: Interaction, sentences: int) -> None:
        copies = self._phone.asked(record.id)
        assert {message.message.to.contact for message in copies} == {"alice", "ben"}
        assert all(self._phone.is_edited(message) for message in copies)
        said = [
            shown
            for shown in self._phone.sent
            if shown.message.interaction_id == record.id and shown.message.kind == "conversation"
        ]
        assert len(said) == sentences


class OnTelegram:
    """Two people on the sandbox's Telegram."""

    people = ("1001", "2002")

    def __init__(self, g: Gateway, box: Sandbox) -> None:
        self._g, self._box = g, box
        self._copies: dict[str, Message] = {}  # who → the message that asks, as it was shown
        self._code = ""

    async def find(self, record: Interaction) -> str:
        asked = [row for row in await self._rows(record) if row["kind"] == "question"]
        self._copies = {
            row["place"]: self._shown(row["place"], loads(row["message_ids"])[0]) for row in asked
        }
        self._code = record.code
        assert set(self._copies) == set(self.people)
        return self._g.app.context.tokens.of(asked[0]["id"])

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        async def give() -> str:
            if twice:
                self._box.fail(FaultKind.DUPLICATE)
            if way == "tap":
                self._tap(int(who), self._copies[who], value.capitalize())
            elif way == "reply":
                self._box.type(int(who), value, reply_to=self._copies[who].id)
            else:
                self._box.type(int(who), f"{value} #{self._code}")
            world = self._box.world
            return f"{world.bot_id}:{world.updates._next_id - 1}"

        return give

    def _tap(self, who: int, message: Message, label: str) -> None:
        """On the question as it was shown: the phone may not have heard yet that it was edited."""
        [index] = [place for place, button in enumerate(message.buttons) if button.text == label]
        thumbs._send_callback(self._box.world, who, message, index, message.buttons[index].data)

    async def arrived(self) -> None:
        await self._box.wait_for(lambda: not len(self._box.world.updates), 30)

    async def check(self, record: Interaction, sentences: int) -> None:
        for who, asked in self._copies.items():
            shown = self._shown(who, f"{who}:{asked.id}")
            assert shown.edited_at is not None and not shown.buttons
        said = [row for row in await self._rows(record) if row["kind"] == "conversation"]
        assert [row["status"] for row in said] == ["sent"] * sentences
        shown_to = [self._shown(row["place"], id) for row in said for id in loads(row["message_ids"])]
        assert len({(shown.chat_id, shown.id) for shown in shown_to}) == sentences

    async def _rows(self, record: Interaction) -> list[Any]:
        every = await rows(self._g, deliveries.OF, interaction_id=record.id)
        return [row for row in every if row["provider"] == "telegram"]

    def _shown(self, who: str, message_id: str) -> Message:
        return self._box.world.chats[int(who)].messages[int(message_id.rpartition(":")[2])]


def agents() -> list[ScriptedAgent]:
    """One asks for words, one for a tap."""
    return [
        ScriptedAgent(asks("Which number?"), name="words"),
        ScriptedAgent(asks("Now or later?", "Now", "Later"), name="taps"),
    ]


def routes(provider: str) -> dict[str, Route]:
    return {"default": Route("default", ask=("alice", "ben"), providers=(provider,), expires_in=DEADLINE)}


async def in_memory(database: Database, rounds: int, seed: int) -> None:
    asking, chance, phone = agents(), random.Random(seed), Phone()  # noqa: S311 - replayable, no secret
    async with gateway(database, *asking, providers={"memory": phone}, routes=routes("memory")) as g:
        for _ in range(rounds):
            await race(g, InMemory(g, phone), chance.choice(asking), chance)
    assert Outcome.FAILED not in {outcome for outcome, _ in phone.toasts}


async def on_telegram(database: Database, mode: str, rounds: int, seed: int) -> None:
    asking, chance = agents(), random.Random(seed)  # noqa: S311 - replayable, no secret
    async with telegram(database, mode, asking) as (g, box):
        for _ in range(rounds):
            await race(g, OnTelegram(g, box), chance.choice(asking), chance)


@contextlib.asynccontextmanager
async def telegram(
    database: Database, mode: str, asking: list[ScriptedAgent]
) -> AsyncIterator[tuple[Gateway, Sandbox]]:
    """A gateway that takes what the sandbox's people do from a webhook or by polling."""
    from answerback_providers.telegram.settings import TelegramSettings
    from tests.support.serving import served
    from tests.support.telegram import Unhurried

    clock = ManualClock()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with Sandbox.start(clock=clock) as box:
            box.add_person(2002, "Ben")
            options = TelegramSettings(
                token=box.token, api_base=box.url, mode=mode, webhook_secret="a-secret-of-the-webhook"
            )
            provider = Unhurried("telegram", options, ProviderContext(url, str(database.data_dir)))
            contacts = {
                name: Contact(name, name.title(), addresses=(Address("telegram", number, number),))
                for name, number in zip(("alice", "ben"), OnTelegram.people, strict=True)
            }
            async with (
                gateway(
                    database, *asking, providers={"telegram": provider}, clock=clock, contacts=contacts,
                    routes=routes("telegram"), public_url=url,
                ) as g,
                served(g.app, listener),
            ):  # fmt: skip
                yield g, box


async def test_answers_expiry_and_cancel_at_one_moment_leave_one_winner_and_one_resume(
    database: Database,
) -> None:
    await in_memory(database, ROUNDS, seed=1)


@pytest.mark.needs_extra("telegram")
@pytest.mark.parametrize("mode", ["webhook", "polling"])
async def test_so_do_taps_and_texts_on_telegram_beside_form_and_api(database: Database, mode: str) -> None:
    await on_telegram(database, mode, ROUNDS, seed=3)


@pytest.mark.slow
async def test_five_hundred_races_have_one_winner_each(database: Database) -> None:
    await in_memory(database, MANY_ROUNDS, seed=2)


@pytest.mark.slow
@pytest.mark.needs_extra("telegram")
@pytest.mark.parametrize("mode", ["webhook", "polling"])
async def test_five_hundred_races_on_telegram_have_one_winner_each(database: Database, mode: str) -> None:
    await on_telegram(database, mode, MANY_ROUNDS, seed=4)
