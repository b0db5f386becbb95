"""A service in bad weather: nothing is lost, nothing storms, and one that hangs delays nobody else."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from answerback.agent import State, Target
from answerback.ask import AskRequest
from answerback.errors import AgentUnavailable
from answerback.model import Answer
from answerback.provider import Inbound, Message, Pace, Receipt, Sent
from answerback.store import Row, deliveries
from answerback.testing import ManualClock, ScriptedAgent, asks
from tests.faults.phone import Phone, outcomes, rows
from tests.faults.weather import MINUTE, Schedule, Service, pass_time
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

HOUR = 60.0
# What each hour is like, again and again: bad weather that lasts less than an hour at a time.
HOURS = (
    "fine",
    "error_500",
    "fine",
    "error_429",
    "hanging",
    "slow",
    "reset",
    "garbage",
    "fine",
    "silence_after_sending",
    "fine",
)


def changing(minute: float) -> str:
    """Half of each bad hour is bad."""
    return HOURS[int(minute // HOUR) % len(HOURS)] if minute % HOUR < HOUR / 2 else "fine"


def away(first: float, last: float, how: str = "error_500") -> Schedule:
    """Away from one minute to another, fine otherwise."""
    return lambda minute: how if first <= minute < last else "fine"


async def ask(g: Gateway, text: str, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text),), **more))
    await g.app.idle()
    return asked.interaction.id


async def of(g: Gateway, interaction_id: str) -> list[Row]:
    found = await rows(g, deliveries.OF, interaction_id=interaction_id)
    return [row for row in found if row["provider"] != "form"]


async def test_in_three_days_of_changing_weather_nothing_is_lost_and_nothing_storms(
    database: Database,
) -> None:
    clock, chance = ManualClock(), random.Random(3)  # noqa: S311 - replayable
    service = Service(clock, changing)
    agent = ScriptedAgent(asks("How many?"))
    async with gateway(database, agent, providers={"memory": service}, clock=clock) as g:
        answered: dict[str, str] = {}
        held: list[Inbound] = []
        for number in range(36):  # every two hours; what people write comes late, twice, and out of order
            run = await g.run()
            (id,) = run.interactions
            await pass_time(g, 90)
            [*_, message] = service.asked(id)  # of the first of two, nobody knows the id
            answered[run.id] = f"answer {number}"
            held += [service.reply("1001", message, answered[run.id])] * 2
            if len(held) >= 6:
                chance.shuffle(held)
                for event in held:
                    await g.receive(event)
                held = []
            await pass_time(g, 30)
        results = {id: (await g.app.runner.get(id)).result for id in answered}
        assert results == {id: [answer] for id, answer in answered.items()}
        assert len(agent.journal) == 36
        assert set((await outcomes(g)).values()) == {"accepted"}
        asked = [run.interactions[0] for run in (await g.app.runner.list(limit=100)).items]
        assert all(service.is_edited(service.asked(id)[-1]) for id in asked)
        sent = [row["status"] for id in asked for row in await of(g, id)]
        assert set(sent) == {"sent"}
    assert max(service.per_minute().values()) <= 12
    assert max(Counter(id for _, id, _ in service.attempts).values()) <= 16


@pytest.mark.parametrize("hours", [1, 12, 48])
async def test_a_question_asked_while_the_service_is_away_arrives_when_it_is_back(
    database: Database, hours: int
) -> None:
    clock = ManualClock()
    service = Service(clock, away(0, hours * HOUR))
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        id = await ask(g, "Still there?")
        await pass_time(g, hours * HOUR + 30)
        assert [message.message.title for message in service.asked(id)] == ["Still there?"]
    assert len(service.attempts) <= 20 + hours * 12, "a try every five minutes at most, once it has lasted"


async def test_a_copy_that_could_not_be_edited_for_half_a_day_is_edited_later(database: Database) -> None:
    clock = ManualClock()
    service = Service(clock, away(1, 12 * HOUR))
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        id = await ask(g, "Still there?")
        await pass_time(g, 2)
        await g.app.receiver.respond(id, "yes", by="", via="api")
        await pass_time(g, 13 * HOUR)
        assert service.is_edited(service.asked(id)[0])


async def test_what_the_service_says_of_when_to_come_back_is_kept(database: Database) -> None:
    clock = ManualClock()
    service = Service(clock, away(0, 10, "error_429"))
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        await ask(g, "Now?")
        await pass_time(g, 30)
        assert len(service.shown) == 1
    times = [at for at, _, _ in service.attempts]
    assert all(after - before >= 2 * MINUTE for before, after in pairwise(times))


async def test_a_permanent_refusal_is_not_tried_again(database: Database) -> None:
    clock = ManualClock()
    service = Service(clock, lambda minute: "refusal")
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        id = await ask(g, "Anybody?")
        await pass_time(g, 72 * HOUR)
        (row,) = await of(g, id)
        assert (row["status"], row["error"]) == ("failed", "the person blocked us")
    assert len(service.attempts) == 1


async def test_a_message_with_an_unknown_result_is_sent_again_a_minute_later_and_leads_to_one_question(
    database: Database,
) -> None:
    clock = ManualClock()
    service = Service(clock, away(0, 0.5, "silence_after_sending"))
    agent = ScriptedAgent(asks("Once?"))
    async with gateway(database, agent, providers={"memory": service}, clock=clock) as g:
        run = await g.run()
        await pass_time(g, 10)
        first, second = service.asked(run.interactions[0])
        await g.receive(service.typed("1001", f"yes #{first.message.code}"))
        await g.receive(service.reply("1001", second, "again"))
        assert (await g.settled(run.id)).result == ["yes"]
    times = [at for at, _, weather in service.attempts[:2]]
    assert times[1] - times[0] >= MINUTE
    assert [answer.values for _, _, answer in agent.journal] == [{"q1": "yes"}]


async def test_a_hundred_that_waited_for_the_service_do_not_come_all_at_once(database: Database) -> None:
    clock = ManualClock()
    service = Service(clock, away(0, 40))
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        ids = [await ask(g, f"Question {number}?") for number in range(100)]
        await pass_time(g, 60)
        assert all(service.asked(id) for id in ids)
    assert max(Counter(id for _, id, _ in service.attempts).values()) <= 20
    back = [count for minute, count in service.per_minute().items() if minute >= 40]
    assert max(back) <= 60, "they come back one by one, not together"


class Paced(Phone):
    """A service that takes one message a second."""

    pace = Pace(account=1)

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock, self.times = clock, list[int]()

    async def send(self, message: Message) -> Sent:
        self.times.append(self._clock.now)
        return await super().send(message)


async def test_what_fell_due_while_we_were_down_is_sent_at_the_pace_of_the_service(
    database: Database,
) -> None:
    clock = ManualClock()
    service = Paced(clock)
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        for number in range(30):
            await ask(g, f"Question {number}?")
    clock.advance(3600)
    service.times.clear()
    async with gateway(database, providers={"memory": service}, clock=clock) as g:
        await g.sweep()
        await pass_time(g, 10)
    assert len(service.times) == 29
    assert max(Counter(at // 1_000_000 for at in service.times).values()) <= 2


class HangsFor(Phone):
    """Sends to one place hang until `let_go`; all others are well."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place, self.let_go = place, asyncio.Event()
        self.tried: list[str] = []

    async def send(self, message: Message) -> Sent:
        self.tried.append(message.title)
        if message.to.place == self._place:
            await self.let_go.wait()
        return await super().send(message)


async def turns(until: Callable[[], object]) -> None:
    """Let everything go on that can, until a condition is true; a limit in turns, not in time."""
    for _ in range(3000):
        if until():
            return
        await asyncio.sleep(0.001)


async def test_one_person_whose_messages_hang_delays_nobody_else_on_the_same_service(
    database: Database,
) -> None:
    service = HangsFor("1001")
    async with gateway(database, providers={"memory": service}) as g:
        for number in range(40):
            await g.app.asker.ask(AskRequest((asks(f"For Alice {number}?"),), ask=("alice",)))
        await g.app.asker.ask(AskRequest((asks("For Ben?"),), ask=("ben",)))
        await turns(lambda: service.titles("2002"))
        try:
            assert service.titles("2002") == ["For Ben?"]
        finally:
            service.let_go.set()


async def test_a_message_that_waits_behind_others_is_not_sent_twice_when_its_claim_lapses(
    database: Database,
) -> None:
    service = HangsFor("1001")
    async with gateway(database, providers={"memory": service}) as g:
        for number in range(40):
            await g.app.asker.ask(AskRequest((asks(f"For Alice {number}?"),), ask=("alice",)))
        await turns(lambda: len(service.tried) >= 16)
        started = set(service.tried)
        g.clock.advance(61)
        await g.app.deliverer.pump()
        service.let_go.set()
        await g.app.idle()
        twice = {title for title, count in Counter(service.titles("1001")).items() if count > 1}
        assert twice <= started, "only what was under way when its claim lapsed may be sent again"


class Away(ScriptedAgent):
    """An agent that lives elsewhere, and is not there until `back`."""

    def __init__(self, clock: ManualClock, *steps: object) -> None:
        super().__init__(*steps)
        self._clock, self.back, self.calls = clock, 0, 0

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self.calls += 1
        if self._clock.now < self.back:
            raise AgentUnavailable("The agent's server does not answer.")
        return await super().resume(thread, target, answer, again=again)


@pytest.mark.parametrize("hours", [0.1, 6])
async def test_an_answer_waits_for_an_agent_that_is_away(database: Database, hours: float) -> None:
    clock = ManualClock()
    agent = Away(clock, asks("Which?"))
    async with gateway(database, agent, clock=clock) as g:
        run = await g.run()
        agent.back = clock.now + round(hours * HOUR * MINUTE)
        await g.types("1001", "this one")
        await pass_time(g, hours * HOUR + 30)
        assert (await g.settled(run.id)).result == ["this one"]
    assert agent.calls <= 20 + hours * 15


class Reports(Phone):
    """A service that says later what became of a message."""

    def parse(self, inbound: Inbound) -> list:
        kind, _, rest = inbound.body.partition(b" ")
        if kind != b"receipt":
            return list(super().parse(inbound))
        event, message, status = rest.decode().split()
        return [Receipt(event, message, status)]


async def test_receipts_that_come_twice_and_out_of_order_never_move_a_message_back(
    database: Database,
) -> None:
    service = Reports()
    async with gateway(database, providers={"memory": service}) as g:
        id = await ask(g, "Seen?")
        message = service.sent[0].id
        for event in ("r2 M read", "r1 M delivered", "r2 M read", "r0 M sent", "r3 M failed"):
            await g.receive(Inbound(f"receipt {event.replace('M', message)}".encode()))
        (row,) = await of(g, id)
        assert row["status"] == "read"
