"""One race: answers, expiry and cancel let go at one moment, and everything that must be true afterwards."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import bindparam, select

from answerback.errors import AlreadyAnswered, Closed
from answerback.model import Interaction, InteractionStatus, RunStatus
from answerback.run import Run
from answerback.store.query import Query
from answerback.tables import InteractionRow
from answerback.testing import ScriptedAgent
from tests.faults.phone import outcomes, rows
from tests.support.gateway import Gateway

DEADLINE = 600.0
# Turns of the loop between the barrier and an act: a few, or as many as it takes until a message, which has
# its way through Telegram, can be there before a form.
TURNS = (0, 0, 1, 2, 3, 30, 300, 1000)
# What who came too late must hear, by how the question ended. An answer that meets a deadline which
# nobody has acted on yet is told the same as after it.
TOLD = {
    InteractionStatus.COMPLETED: "already answered",
    InteractionStatus.EXPIRED: "expired",
    InteractionStatus.CANCELLED: "cancelled",
}
CODED = Query(select(InteractionRow.id).where(InteractionRow.code == bindparam("code")))  # type: ignore[call-overload]
Act = Callable[[], Awaitable[None]]


class Phones(Protocol):
    """The far side: people who were all asked, and what stands on their phones."""

    @property
    def people(self) -> tuple[str, ...]:
        """Who they are to the service; each was asked."""

    async def find(self, record: Interaction) -> str:
        """Remember the copies of this question; the token of one of its form links."""

    def answer(self, way: str, who: str, value: str, *, twice: bool) -> Callable[[], Awaitable[str]]:
        """To be called in the race: somebody taps, replies, or writes the code; the event's id."""

    async def arrived(self) -> None:
        """Until everything that was written or tapped has been taken in."""

    async def check(self, record: Interaction, sentences: int) -> None:
        """Every copy says how the question ended, and `sentences` have been said to those who lost."""


@dataclass(slots=True)
class Race:
    """One question and everything that happens to it at once."""

    g: Gateway
    phones: Phones
    record: Interaction
    link: str
    chance: random.Random
    ways: tuple[str, ...]  # beside a tap or a reply
    results: dict[str, str] = field(default_factory=dict)  # what each was told, by its name
    values: dict[str, str] = field(default_factory=dict)  # what each said
    events: dict[str, str] = field(default_factory=dict)  # event id → its name

    def answer(self, name: str) -> Act:
        """One answer, on a way of its own."""
        is_choice = bool(self.record.questions[0].choices)
        value = self.chance.choice(("now", "later")) if is_choice else name
        self.values[name] = value
        way = self.chance.choice(("tap" if is_choice else "reply", *self.ways))
        if way == "api":
            respond = self.g.app.receiver.respond
            return lambda: self._told(name, respond(self.record.id, value, by="", via="api"))
        if way == "form":
            return lambda: self._told(name, self.g.app.forms.submit(self.link, {"q1": value}))
        who = self.chance.choice(self.phones.people)
        twice = self.chance.random() < 1 / 3  # the service may deliver it twice
        return self._by_phone(name, self.phones.answer(way, who, value, twice=twice))

    def _by_phone(self, name: str, give: Callable[[], Awaitable[str]]) -> Act:
        async def act() -> None:
            self.events[await give()] = name

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

    async def start(self, *acts: Act) -> None:
        """All wait at one barrier; then each goes on after a few turns of the loop, in any order."""
        barrier = asyncio.Barrier(len(acts))

        async def run(act: Act, turns: int) -> None:
            await barrier.wait()
            for _ in range(turns):
                await asyncio.sleep(0)
            await act()

        await asyncio.gather(*(run(act, self.chance.choice(TURNS)) for act in acts))
        await self.phones.arrived()
        await self.g.app.idle()
        found = await outcomes(self.g)
        self.results |= {name: found[event] for event, name in self.events.items()}


async def race(g: Gateway, phones: Phones, agent: ScriptedAgent, chance: random.Random) -> None:
    """One round, and everything that must be true after it."""
    run = await g.run(agent.name)
    record = await g.app.reader.interaction(run.interactions[0])
    ways = chance.choice(((), ("api", "form"))) + (("code",) if await has_its_own_code(g, record) else ())
    round_ = Race(g, phones, record, await phones.find(record), chance, ways)
    acts = [round_.answer(f"answer {number}") for number in range(chance.choice((2, 3, 8, 32)))]
    acts += chance.choice(([], [], [round_.expire], [round_.cancel], [round_.expire, round_.cancel]))
    chance.shuffle(acts)
    await round_.start(*acts)
    await g.sweep()
    record = await g.app.reader.interaction(record.id)
    check_winner(round_, record, await g.app.runner.get(run.id), agent)
    await check_told(round_, record)


async def has_its_own_code(g: Gateway, record: Interaction) -> bool:
    """Whether no earlier question has the same short code, which comes by chance: that names neither."""
    return len(await rows(g, CODED, code=record.code)) == 1


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


async def check_told(round_: Race, record: Interaction) -> None:
    """Everybody else heard how it ended, and every copy says so."""
    lost = {name: told for name, told in round_.results.items() if told != "accepted"}
    may_hear = {TOLD[record.status]}
    if await _was_overdue(round_, record):
        may_hear.add("expired")  # between the deadline and that
    assert set(lost.values()) <= may_hear
    await round_.phones.check(record, len([name for name in lost if name in round_.events.values()]))


async def _was_overdue(round_: Race, record: Interaction) -> bool:
    """Whether it was cancelled, or answered by what had been written in time, after its deadline."""
    deadline = record.expires_at or 0
    if record.status is InteractionStatus.CANCELLED:
        return round_.g.clock.now >= deadline
    return record.answered_at is not None and record.answered_at >= deadline
