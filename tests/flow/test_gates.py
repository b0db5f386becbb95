"""Law 10: what waits behind messages that hang is nobody's again after a while, and was not tried."""

import asyncio
from collections.abc import Mapping

from answerback.ask import AskRequest
from answerback.errors import TryLater
from answerback.gates import AT_ONCE_PLACE, ROOM_PLACE, Gates
from answerback.provider import Message, Sent
from answerback.store import Row, Tx, deliveries
from answerback.testing import MemoryProvider, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

LONGEST = 30.0  # seconds to give up after; nothing takes that long


class Hanging(MemoryProvider):
    """What it is told to send hangs until it is let go on; then it has no time for `busy` of them."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()
        self.busy = set[str]()
        self.tried: list[str] = []

    async def send(self, message: Message) -> Sent:
        self.tried.append(message.title)
        await self.goes_on.wait()
        if message.title in self.busy:
            raise TryLater(1, "busy")
        return await super().send(message)


def impatient(at_once: Mapping[str, int]) -> Gates:
    return Gates(at_once, patience=0.01)


async def ask(g: Gateway, *texts: str, who: str = "ben") -> None:
    for text in texts:
        await g.app.asker.ask(AskRequest((asks(text),), ask=(who,)))


async def rows(g: Gateway) -> list[Row]:
    """Every delivery on the provider that hangs, as they were made."""
    ids = [record.id for record in (await g.app.reader.interactions(None, 100)).items]

    def tx_(tx: Tx) -> list[Row]:
        return [row for id in ids for row in tx.all(deliveries.OF, interaction_id=id)]

    return [row for row in await g.app.context.store.read(tx_) if row["provider"] == "memory"]


async def nobodys(g: Gateway, number: int) -> list[Row]:
    """So many deliveries, once they have been given back."""
    async with asyncio.timeout(LONGEST):
        while len(found := await unclaimed(g)) < number:  # noqa: ASYNC110 - tasks of the gateway do it
            await asyncio.sleep(0.01)
    return found


async def unclaimed(g: Gateway) -> list[Row]:
    return [row for row in await rows(g) if not row["lease_owner"]]


async def is_tried(service: Hanging, title: str) -> None:
    async with asyncio.timeout(LONGEST):
        while title not in service.tried:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)


async def test_law_10_what_had_no_turn_is_anybodys_and_that_was_no_attempt(database: Database) -> None:
    service = Hanging()
    async with gateway(database, providers={"memory": service}, gates=impatient) as g:
        await ask(g, *["Hangs?"] * AT_ONCE_PLACE)
        await ask(g, "Waits?")
        (row,) = await nobodys(g, 1)
        assert (row["attempts"], row["error"]) == (0, "")
        assert g.clock() < row["next_attempt_at"] <= g.clock() + 60_000_000
        service.goes_on.set()
        await g.app.idle()
        await g.later(60)
        assert service.titles("2002") == [*["Hangs?"] * AT_ONCE_PLACE, "Waits?"]


async def test_law_10_a_message_that_waited_for_long_asks_on_the_next_provider_as_soon_as_any_other(
    database: Database,
) -> None:
    service, other = Hanging(), MemoryProvider("other")
    async with gateway(database, providers={"memory": service, "other": other}, gates=impatient) as g:
        await ask(g, *["Hangs?"] * AT_ONCE_PLACE)
        await ask(g, "Waits?")
        for _ in range(5):  # its turn comes again and again, as nobody's who has one
            await nobodys(g, 1)
            g.clock.advance(20)
            await g.app.deliverer.pump()
        await nobodys(g, 1)
        service.busy.add("Waits?")
        service.goes_on.set()
        await g.app.idle()
        for _ in range(2):
            assert other.titles("b") == []
            await g.later(60)
        assert other.titles("b") == ["Waits?"]


async def test_law_10_of_a_crowd_only_so_many_are_in_hand_and_the_others_wait_in_their_rows(
    database: Database,
) -> None:
    service = Hanging()
    async with gateway(database, providers={"memory": service}) as g:
        await ask(g, *[f"Question {number}?" for number in range(ROOM_PLACE + 5)])
        found = await nobodys(g, 5)
        assert len(found) == 5 and {row["attempts"] for row in found} == {0}
        await ask(g, "For Alice?", who="alice")
        await is_tried(service, "For Alice?")
        service.goes_on.set()
        await g.app.idle()
        await g.later(60)
        assert len(service.titles("2002")) == ROOM_PLACE + 5
        assert set(service.tried) == set(service.titles("2002") + service.titles("1001"))
