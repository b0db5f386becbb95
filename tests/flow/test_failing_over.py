"""When a message does not arrive: the person's next address at once, and never twice within a minute."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

import pytest

from answerback.errors import TryLater, Undeliverable
from answerback.metrics import Metric
from answerback.model import Address, Contact, InteractionStatus
from answerback.provider import Event, Inbound, Message, Receipt, Sent
from answerback.settings import Route
from answerback.store import Row, audit, contacts, deliveries
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

GONE = Undeliverable("blocked", address_dead=True)
ANA = Contact(
    "ana",
    "Ana",
    addresses=(Address("first", "a", "a"), Address("second", "b", "b"), Address("third", "c", "c")),
)
IN_ORDER = {"default": Route("default", ask=("ana",), providers=("first", "second", "third"))}
LOST = TryLater(5, "no answer", maybe_sent=True)


class Service(MemoryProvider):
    """Notes when it is asked to send, and can say later what became of a message."""

    def __init__(self, name: str, attempts: list[int], clock: ManualClock) -> None:
        super().__init__(name)
        self.attempts, self.clock = attempts, clock
        self.unreadable = 0  # events that nothing can be made of at first

    async def send(self, message: Message) -> Sent:
        self.attempts.append(self.clock.now)
        return await super().send(message)

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        if self.unreadable:
            self.unreadable -= 1
            raise ValueError("not understood")
        event = json.loads(inbound.body)
        return [Receipt(**event)] if "status" in event else super().parse(inbound)


class Phones:
    """Ana's three services, and a gateway that asks her on one after the other."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = ManualClock()
        self.attempts: list[int] = []  # to send anything, anywhere; microseconds
        self.first, self.second, self.third = (
            Service(name, self.attempts, self.clock) for name in ("first", "second", "third")
        )
        self.agent = ScriptedAgent(asks("Which?"))
        self.sent_receipts = 0

    def gateway(self, **settings: object) -> AbstractAsyncContextManager[Gateway]:
        providers = {one.name: one for one in (self.first, self.second, self.third)}
        known = {"contacts": {"ana": ANA}, "routes": IN_ORDER, **settings}
        return gateway(self.database, self.agent, providers=providers, clock=self.clock, **known)

    def asked(self) -> list[str]:
        """Where Ana sees the question, oldest provider first; a name for each time."""
        return [one.name for one in (self.first, self.second, self.third) for shown in one.shown
                if shown.message.title == "Which?"]  # fmt: skip

    async def says(self, g: Gateway, delivery: str, status: str, **more: object) -> None:
        """The first service says what became of a message whose taking it never confirmed."""
        self.sent_receipts += 1
        event = {
            "event_id": f"r{self.sent_receipts}", "message_id": "at-the-service", "status": status,
            "delivery_id": delivery, **more,
        }  # fmt: skip
        await g.receive(Inbound(json.dumps(event).encode()), "first")


@pytest.fixture
async def phones(database: Database) -> Phones:
    return Phones(database)


async def rows(g: Gateway, kind: str = "question") -> list[Row]:
    """Everything of this kind that was sent or is to be sent, oldest first."""
    records = (await g.app.reader.interactions()).items
    found = await g.app.context.store.read(
        lambda tx: [row for record in records for row in tx.all(deliveries.OF, interaction_id=record.id)]
    )
    return [row for row in found if row["kind"] == kind and row["provider"] != "form"]


async def reachable(g: Gateway) -> list[str]:
    person = await g.app.context.store.read(lambda tx: contacts.contact(tx, "ana"))
    return [f"{address.provider}:{address.external_id}" for address in person.addresses if address.reachable]


# A permanent failure


async def test_a_dead_address_is_left_for_the_next_one_in_the_same_breath(phones: Phones) -> None:
    phones.first.failures.append(GONE)
    async with phones.gateway() as g:
        await g.run()
        assert phones.asked() == ["second"]
        assert await reachable(g) == ["second:b", "third:c"]
        assert g.app.context.metrics.of(Metric.DEAD_ADDRESSES, "first") == 1


async def test_one_dead_address_after_the_other_leads_to_the_last(phones: Phones) -> None:
    phones.first.failures.append(GONE)
    phones.second.failures.append(GONE)
    async with phones.gateway() as g:
        await g.run()
        assert phones.asked() == ["third"]


async def test_a_dead_address_is_passed_over_next_time_until_its_owner_writes(phones: Phones) -> None:
    phones.first.failures.append(GONE)
    async with phones.gateway() as g:
        await g.run()
        await g.run()
        assert phones.asked() == ["second", "second"]
        await g.receive(phones.first.typed("a", "hello again"), "first")
        await g.run()
        assert phones.asked() == ["first", "second", "second"]


async def test_a_message_that_fails_alone_does_not_make_its_address_a_dead_one(phones: Phones) -> None:
    phones.first.failures.append(Undeliverable("too long for this service"))
    async with phones.gateway() as g:
        await g.run()
        await g.run()
        assert phones.asked() == ["first", "second"]


async def test_a_person_with_two_addresses_on_one_service_is_asked_at_the_other(phones: Phones) -> None:
    both = Contact("ana", "Ana", addresses=(Address("first", "a1", "a1"), Address("first", "a2", "a2")))
    phones.first.failures.append(GONE)
    async with phones.gateway(contacts={"ana": both}) as g:
        run = await g.run()
        assert phones.first.titles("a2") == ["Which?"] and phones.first.titles("a1") == []
        await g.receive(phones.first.typed("a2", "this"), "first")
        assert (await g.settled(run.id)).result == ["this"]


async def test_a_service_that_is_down_is_not_tried_at_another_address_of_the_same_person(
    phones: Phones,
) -> None:
    addresses = (Address("first", "a1", "a1"), Address("first", "a2", "a2"), Address("second", "b", "b"))
    phones.first.failures.extend(TryLater(300, "down") for _ in range(5))
    async with phones.gateway(contacts={"ana": Contact("ana", "Ana", addresses=addresses)}) as g:
        await g.run()
        assert phones.asked() == ["second"]


async def test_a_message_that_stands_in_for_one_elsewhere_says_so(phones: Phones) -> None:
    addresses = (Address("telegram", "t", "t"), Address("second", "b", "b"))
    telegram = Service("telegram", phones.attempts, phones.clock)
    telegram.failures.extend([TryLater(1, "down"), TryLater(300, "down")])
    people = {"ana": Contact("ana", "Ana", addresses=addresses)}
    routes = {"default": Route("default", ask=("ana",), providers=("telegram", "second"))}
    async with gateway(
        phones.database,
        phones.agent,
        providers={"telegram": telegram, "second": phones.second},
        contacts=people,
        routes=routes,
        clock=phones.clock,
    ) as g:
        await g.run()
        await g.later(5)
        (shown,) = phones.second.shown
        assert shown.message.body == "Also sent on Telegram, which is not answering right now."
        await g.later(400)
        assert [one.message.body for one in telegram.shown] == [""]


async def test_with_all_dead_the_addresses_are_put_to_the_test_again(phones: Phones) -> None:
    phones.first.failures.append(GONE)
    only = {"default": Route("default", ask=("ana",), providers=("first",))}
    async with phones.gateway(routes=only) as g:
        await g.run()
        await g.run()
        assert phones.asked() == ["first"]
        assert "first:a" in await reachable(g)


async def test_when_the_last_address_fails_it_is_said_and_an_answer_is_still_taken(
    phones: Phones, caplog: pytest.LogCaptureFixture
) -> None:
    for one in (phones.first, phones.second, phones.third):
        one.failures.append(GONE)
    async with phones.gateway() as g:
        run = await g.run()
        (record,) = (await g.app.reader.interactions()).items
        assert g.app.context.metrics.of(Metric.UNREACHED) == 1
        (line,) = [one for one in caplog.records if "nobody was reached" in one.getMessage()]
        assert (vars(line)["interaction"], vars(line)["contact"]) == (record.id, "ana")
        events = await g.app.context.store.read(lambda tx: audit.of(tx, record.id))
        assert [(each["event"], each["actor"]) for each in events][-1] == ("not reached", "ana")
        letters = (await g.app.letters.list()).items
        assert {letter.provider for letter in letters} == {"first", "second", "third"}
        assert record.status is InteractionStatus.PENDING
        await g.app.receiver.respond(record.id, "by hand", by="ana", via="api")
        assert (await g.settled(run.id)).result == ["by hand"]


async def test_of_copies_sent_at_once_one_that_fails_changes_nothing_while_another_is_out(
    phones: Phones,
) -> None:
    at_once = {"default": Route("default", ("ana",), ("first", "second", "third"), at_once=True)}
    phones.first.failures.append(GONE)
    async with phones.gateway(routes=at_once) as g:
        await g.run()
        assert phones.asked() == ["second", "third"]
        assert g.app.context.metrics.of(Metric.UNREACHED) == 0
        await g.run()
        assert phones.asked() == ["second", "second", "third", "third"]


async def test_a_receipt_that_says_dead_marks_the_address_and_asks_at_the_next_one(phones: Phones) -> None:
    async with phones.gateway() as g:
        await g.run()
        (row,) = await rows(g)
        await phones.says(g, row["id"], "failed", message_id="m1", address_dead=True)
        assert phones.asked() == ["first", "second"]
        assert await reachable(g) == ["second:b", "third:c"]


async def test_a_receipt_that_could_not_be_read_is_acted_on_when_it_is_replayed(phones: Phones) -> None:
    async with phones.gateway() as g:
        await g.run()
        (row,) = await rows(g)
        phones.first.unreadable = 1
        await phones.says(g, row["id"], "failed", message_id="m1", address_dead=True)
        assert phones.asked() == ["first"]
        (letter,) = (await g.app.letters.list()).items
        await g.app.letters.replay(letter.id, "ops")
        await g.app.idle()
        assert phones.asked() == ["first", "second"]
        assert g.app.context.metrics.of(Metric.DEAD_ADDRESSES, "first") == 1


# A result that nobody knows


async def test_what_may_have_arrived_is_asked_nowhere_again_within_a_minute(phones: Phones) -> None:
    phones.first.failures.extend([LOST, LOST, LOST])
    async with phones.gateway() as g:
        await g.run()
        for _ in range(40):
            await g.later(5)
        moments = [(at - phones.attempts[0]) / 1e6 for at in phones.attempts]
        assert moments == [0, 60, 120, 180]  # the third time it is the next provider's turn
        assert phones.asked() == ["second"]


async def test_a_long_pause_that_is_asked_for_does_not_hurry_the_next_provider(phones: Phones) -> None:
    phones.first.failures.extend(TryLater(3600, "overloaded", maybe_sent=True) for _ in range(3))
    async with phones.gateway() as g:
        await g.run()
        await g.later(59)
        assert phones.asked() == []
        await g.later(1)
        assert phones.asked() == ["second"]


@pytest.mark.parametrize("status", ["delivered", "read"])
async def test_a_late_receipt_that_says_it_arrived_stops_both(phones: Phones, status: str) -> None:
    phones.first.failures.append(TryLater(3600, "overloaded", maybe_sent=True))
    async with phones.gateway() as g:
        run = await g.run()
        await g.later(30)
        (row, _) = await rows(g)
        await phones.says(g, row["id"], status)
        for _ in range(10):
            await g.later(600)
        assert phones.asked() == []
        assert [row["status"] for row in await rows(g)] == [status, "failed"]
        assert (await g.app.letters.list()).items == ()
        await g.receive(phones.first.typed("a", "yes, I saw it", references=["at-the-service"]), "first")
        assert (await g.settled(run.id)).result == ["yes, I saw it"]


async def test_a_late_receipt_that_says_it_failed_ends_the_waiting(phones: Phones) -> None:
    phones.first.failures.append(LOST)
    async with phones.gateway() as g:
        await g.run()
        (row,) = await rows(g)
        await g.later(3)
        await phones.says(g, row["id"], "failed", address_dead=True)
        assert phones.asked() == ["second"]
        await g.later(600)
        assert phones.asked() == ["second"]


async def test_a_receipt_for_another_services_delivery_says_nothing(phones: Phones) -> None:
    phones.second.failures.append(LOST)
    second = {"default": Route("default", ask=("ana",), providers=("second",))}
    async with phones.gateway(routes=second) as g:
        await g.run()
        (row,) = await rows(g)
        await phones.says(g, row["id"], "delivered")
        await g.later(61)
        assert phones.asked() == ["second"]


async def test_what_was_lost_and_is_answered_elsewhere_is_not_sent_again(phones: Phones) -> None:
    at_once = {"default": Route("default", ("ana",), ("first", "second"), at_once=True)}
    phones.first.failures.append(LOST)
    async with phones.gateway(routes=at_once) as g:
        await g.run()
        await g.receive(phones.second.typed("b", "this"), "second")
        for _ in range(5):
            await g.later(600)
        assert phones.first.shown == []


async def test_a_copy_that_arrived_after_all_is_told_how_the_question_ended_once(phones: Phones) -> None:
    at_once = {"default": Route("default", ("ana",), ("first", "second"), at_once=True)}
    phones.first.failures.append(LOST)
    async with phones.gateway(routes=at_once) as g:
        await g.run()
        (row,) = [row for row in await rows(g) if row["provider"] == "first"]
        await g.receive(phones.second.typed("b", "this"), "second")
        for status in ("delivered", "delivered", "read"):
            await phones.says(g, row["id"], status)
        await g.sweep()
        told = [title for title in phones.first.titles("a") if title.startswith("✅")]
        assert len(told) == 1 and "this" in told[0]


async def test_a_copy_that_came_back_is_not_told_how_the_question_ended(phones: Phones) -> None:
    at_once = {"default": Route("default", ("ana",), ("first", "second"), at_once=True)}
    async with phones.gateway(routes=at_once) as g:
        await g.run()
        (row,) = [row for row in await rows(g) if row["provider"] == "first"]
        await phones.says(g, row["id"], "failed", message_id="m1", address_dead=True)
        await g.receive(phones.second.typed("b", "this"), "second")
        assert [row["provider"] for row in await rows(g, "outcome")] == ["second"]


async def test_a_copy_whose_service_is_down_for_an_hour_is_not_made_up_for_after_the_answer(
    phones: Phones,
) -> None:
    at_once = {"default": Route("default", ("ana",), ("first", "second"), at_once=True)}
    phones.first.failures.extend(TryLater(60, "down") for _ in range(20))
    async with phones.gateway(routes=at_once) as g:
        await g.run()
        for _ in range(10):
            await g.later(60)
        await g.receive(phones.second.typed("b", "this"), "second")
        for _ in range(50):
            await g.later(60)
        phones.first.failures.clear()
        for _ in range(20):
            await g.later(600)
        assert phones.first.shown == []
        assert [row["error"] for row in await rows(g) if row["provider"] == "first"] == ["no longer needed"]
        assert [row["provider"] for row in await rows(g, "outcome")] == ["second"]


async def test_two_services_that_both_fall_silent_are_not_asked_in_the_same_minute(phones: Phones) -> None:
    phones.first.failures.extend([LOST] * 3)
    phones.second.failures.append(LOST)
    async with phones.gateway() as g:
        await g.run()
        for _ in range(60):
            await g.later(5)
        moments = [(at - phones.attempts[0]) / 1e6 for at in phones.attempts]
        assert moments == [0, 60, 120, 180, 240, 300]  # the last two arrive: each service was away
        assert phones.asked() == ["first", "second"]


async def test_what_waits_elsewhere_waits_a_minute_more_when_a_message_may_have_arrived(
    phones: Phones,
) -> None:
    phones.first.failures.extend(TryLater(1, "down") for _ in range(2))
    phones.second.failures.append(LOST)
    async with phones.gateway() as g:
        await g.run()
        for _ in range(60):
            await g.later(5)
        moments = [(at - phones.attempts[0]) / 1e6 for at in phones.attempts]
        lost = moments[2]  # at the second service, after two failures at the first
        assert all(moment - lost >= 60 for moment in moments[3:]) and len(moments) == 5
        assert moments[4] - moments[3] >= 60
