"""Law 2 under pressure: answers, expiry and cancel let go at one moment leave one winner and one resume."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from answerback.errors import AlreadyAnswered, Closed
from answerback.model import Interaction, InteractionStatus, Outcome, RunStatus
from answerback.provider import Inbound
from answerback.run import Run
from answerback.settings import Route
from answerback.testing import ScriptedAgent, asks
from answerback.testing.providers import Shown
from tests.faults.phone import Phone, outcomes
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

DEADLINE = 600.0
ROUTES = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), expires_in=DEADLINE)}
PEOPLE = {"1001": "alice", "2002": "ben"}
ROUNDS, MANY_ROUNDS = 20, 500
# What who came too late must hear, by how the question ended. An answer that meets a deadline which
# nobody has acted on yet is told the same as after it.
TOLD = {
    InteractionStatus.COMPLETED: "already answered",
    InteractionStatus.EXPIRED: "expired",
    InteractionStatus.CANCELLED: "cancelled",
}


@dataclass(slots=True)
class Race:
    """One question and everything that happens to it at once."""

    g: Gateway
    phone: Phone
    record: Interaction
    link: str
    chance: random.Random
    results: dict[str, str] = field(default_factory=dict)  # what each was told, by its name
    values: dict[str, str] = field(default_factory=dict)  # what each said
    events: dict[str, str] = field(default_factory=dict)  # event id → its name

    def answer(self, name: str) -> Callable[[], Awaitable[None]]:
        """One answer, on a way of its own."""
        is_choice = bool(self.record.questions[0].choices)
        value = self.chance.choice(("now", "later")) if is_choice else name
        self.values[name] = value
        way = self.chance.choice(("tap" if is_choice else "reply", "code", "api", "form"))
        if way == "api":
            respond = self.g.app.receiver.respond
            return lambda: self._told(name, respond(self.record.id, value, by="", via="api"))
        if way == "form":
            return lambda: self._told(name, self.g.app.forms.submit(self.link, {"q1": value}))
        who = self.chance.choice(list(PEOPLE))
        [message] = self.phone.asked(self.record.id, who)
        return self._by_phone(name, self._event(way, who, message, value))

    def _event(self, way: str, who: str, message: Shown, value: str) -> Inbound:
        if way == "tap":
            return self.phone.tap(who, message, value.capitalize())
        if way == "reply":
            return self.phone.reply(who, message, value)
        return self.phone.typed(who, f"{value} #{message.message.code}")

    def _by_phone(self, name: str, event: Inbound) -> Callable[[], Awaitable[None]]:
        self.events[json.loads(event.body)["event_id"]] = name

        async def act() -> None:
            for _ in range(self.chance.choice((1, 1, 2))):  # the service may deliver it twice
                await self.g.app.receiver.webhook("memory", event)

        return act

    async def _told(self, name: str, call: Awaitable[object]) -> None:
        try:
            await call
            self.results[name] = "accepted"
        except AlreadyAnswered:
            self.results[name] = "already answered"
        except Closed as closed:
            self.results[name] = "cancelled" if "cancelled" in closed.detail else "expired"

    async def expire(self) -> None:
        self.g.clock.advance(DEADLINE + 1)
        await self.g.app.elapser.pump()

    async def cancel(self) -> None:
        await self._told("cancel", self.g.app.asker.cancel(self.record.id))

    async def start(self, *acts: Callable[[], Awaitable[None]]) -> None:
        """All wait at one barrier; then each goes on after a few turns of the loop, in any order."""
        barrier = asyncio.Barrier(len(acts))

        async def run(act: Callable[[], Awaitable[None]], turns: int) -> None:
            await barrier.wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            await act()

        await asyncio.gather(*(run(act, self.chance.randrange(4)) for act in acts))
        await self.g.app.idle()
        found = await outcomes(self.g)
        self.results |= {name: found[event] for event, name in self.events.items()}


async def race(g: Gateway, phone: Phone, agent: ScriptedAgent, chance: random.Random) -> None:
    """One round, and everything that must be true after it."""
    run = await g.run(agent.name)
    (id,) = run.interactions
    link = phone.asked(id)[0].message.form_url.rpartition("/")[2]
    round_ = Race(g, phone, await g.app.reader.interaction(id), link, chance)
    acts = [round_.answer(f"answer {number}") for number in range(chance.choice((2, 3, 8, 32)))]
    acts += chance.choice(([], [], [round_.expire], [round_.cancel], [round_.expire, round_.cancel]))
    chance.shuffle(acts)
    await round_.start(*acts)
    await g.sweep()
    check_winner(round_, await g.app.reader.interaction(id), await g.app.runner.get(run.id), agent)
    check_told(round_, await g.app.reader.interaction(id))


def check_winner(round_: Race, record: Interaction, run: Run, agent: ScriptedAgent) -> None:
    """One of them ended the question, and the agent was told once, exactly that."""
    journal = [answer for thread, _, answer in agent.journal if thread == record.thread_id]
    winners = [name for name, told in round_.results.items() if told == "accepted"]
    assert record.status is not InteractionStatus.PENDING
    if record.status is InteractionStatus.COMPLETED:
        (winner,) = winners
        assert [answer.values for answer in journal] == [{"q1": round_.values[winner]}]
        assert journal == [record.answer]
        assert (run.status, run.result) == (RunStatus.COMPLETED, [round_.values[winner]])
    elif record.status is InteractionStatus.EXPIRED:
        assert winners == [] and [answer.expired for answer in journal] == [True]
        assert (run.status, run.result) == (RunStatus.COMPLETED, [None])
    else:
        assert winners == ["cancel"] and journal == []
        assert run.status is RunStatus.CANCELLED


def check_told(round_: Race, record: Interaction) -> None:
    """Everybody else heard how it ended, and every copy says so."""
    lost = {name: told for name, told in round_.results.items() if told != "accepted"}
    may_hear = {TOLD[record.status]}
    if record.status is InteractionStatus.CANCELLED and round_.g.clock.now >= (record.expires_at or 0):
        may_hear.add("expired")  # it came between the deadline and the cancel
    assert set(lost.values()) <= may_hear
    copies = round_.phone.asked(record.id)
    assert {message.message.to.contact for message in copies} == {"alice", "ben"}
    assert all(round_.phone.is_edited(message) for message in copies)
    sentences = [
        shown
        for shown in round_.phone.sent
        if shown.message.interaction_id == record.id and shown.message.kind == "conversation"
    ]
    assert len(sentences) == len([name for name in lost if name in round_.events.values()])


async def many(database: Database, rounds: int, seed: int) -> None:
    agents = [ScriptedAgent(asks("Which number?"), name="words")]
    agents.append(ScriptedAgent(asks("Now or later?", "Now", "Later"), name="taps"))
    chance, phone = random.Random(seed), Phone()  # noqa: S311 - a replayable choice, no secret
    async with gateway(database, *agents, providers={"memory": phone}, routes=ROUTES) as g:
        for _ in range(rounds):
            await race(g, phone, chance.choice(agents), chance)
    assert Outcome.FAILED not in {outcome for outcome, _ in phone.toasts}


async def test_answers_expiry_and_cancel_at_one_moment_leave_one_winner_and_one_resume(
    database: Database,
) -> None:
    await many(database, ROUNDS, seed=1)


@pytest.mark.slow
async def test_five_hundred_races_have_one_winner_each(database: Database) -> None:
    await many(database, MANY_ROUNDS, seed=2)
