"""What a service says later of a message: in any order, before we know of it, and what follows from it."""

import json
from collections.abc import Sequence

import pytest

from answerback.ask import AskRequest
from answerback.model import Address, Contact
from answerback.provider import Event, Inbound, Message, Receipt, Sent, Undeliverable
from answerback.settings import Route
from answerback.store import Row, deliveries
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

ANA = Contact("ana", "Ana", addresses=(Address("service", "a", "a"), Address("memory", "1001", "1001")))
ROUTES = {"default": Route("default", ask=("ana",), providers=("service", "memory"))}
DAY = 86_400.0


class Service(MemoryProvider):
    """Tells what became of its messages; some of it before `send` has returned."""

    windowed = True

    def __init__(self) -> None:
        super().__init__("service")
        self.g: Gateway | None = None
        self.early: list[str] = []  # what it says of each of the next messages while that is being sent

    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        for status in self.early.pop(0).split() if self.early else []:
            await self.says(sent.message_ids[0], status)
        return sent

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        raise Undeliverable("nothing is edited here: an outcome is a message of its own")

    async def says(self, message_id: str, status: str) -> None:
        assert self.g is not None
        event = {"receipt": f"{message_id}:{status}", "id": message_id, "status": status}
        await self.g.app.receiver.webhook("service", Inbound(json.dumps(event).encode()))

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        event = json.loads(inbound.body)
        if "receipt" in event:
            return [Receipt(event["receipt"], event["id"], event["status"], "the service says so")]
        return super().parse(inbound)


@pytest.fixture
async def service() -> Service:
    return Service()


async def asked(g: Gateway, service: Service, *early: str) -> str:
    """One question to Ana; the id of its interaction."""
    service.g, service.early = g, list(early)
    run = await g.run()
    return (await g.settled(run.id)).interactions[0]


async def rows(g: Gateway, id: str, kind: str = "question") -> list[Row]:
    found = await g.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
    return [row for row in found if row["kind"] == kind and row["provider"] != "form"]


@pytest.mark.parametrize("order", [("delivered", "read"), ("read", "delivered"), ("read", "sent", "read")])
async def test_only_a_higher_status_counts(
    database: Database, service: Service, order: tuple[str, ...]
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service)
        for status in order:
            await service.says("m1", status)
        assert [row["status"] for row in await rows(g, id)] == ["read"]


@pytest.mark.parametrize(
    ("early", "counts"),
    [
        *((each, each) for each in ("delivered", "read", "failed")),
        *(("failed sent", "failed"), ("read sent", "read"), ("sent failed", "failed")),
    ],
)
async def test_all_that_is_said_before_the_message_is_known_counts_in_whatever_order(
    database: Database, service: Service, early: str, counts: str
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service, early)
        assert (await rows(g, id))[0]["status"] == counts
        assert g.memory.titles("1001") == (["Which?"] if counts == "failed" else [])


async def test_what_failed_for_good_is_asked_at_the_next_address_at_once(
    database: Database, service: Service
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service)
        await service.says("m1", "failed")
        await g.app.idle()
        assert g.memory.titles("1001") == ["Which?"]
        assert [(row["provider"], row["status"]) for row in await rows(g, id)] == [
            ("service", "failed"),
            ("memory", "sent"),
        ]


async def test_what_was_read_did_not_fail(database: Database, service: Service) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service)
        await service.says("m1", "read")
        await service.says("m1", "failed")
        assert [row["status"] for row in await rows(g, id)] == ["read"]
        assert g.memory.titles("1001") == []


async def test_a_closed_window_is_remembered_and_the_message_goes_out_once_more_only(
    database: Database, service: Service
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        await g.receive(service.typed("a", "hello"), "service")
        id = await asked(g, service)
        number = len(service.shown)
        assert service.shown[-1].message.to.last_inbound_at is not None
        await service.says(f"m{number}", "window")
        await g.sweep()
        assert service.shown[-1].message.to.last_inbound_at is None
        assert len(service.shown) == number + 1
        await service.says(f"m{number + 1}", "window")
        await g.app.idle()
        assert [(row["provider"], row["status"]) for row in await rows(g, id)] == [
            ("service", "failed"),
            ("memory", "sent"),
        ]


async def test_two_messages_that_were_on_their_way_when_the_window_closed_both_go_out_once_more(
    database: Database, service: Service
) -> None:
    async with gateway(database, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES) as g:
        service.g = g
        await g.receive(service.typed("a", "hello"), "service")
        ids = [(await g.app.asker.ask(AskRequest((asks(text),)))).interaction.id for text in ("A?", "B?")]
        await g.sweep()
        await g.later(5)
        first = next(shown.id for shown in service.shown if shown.message.title == "A?")
        second = next(shown.id for shown in service.shown if shown.message.title == "B?")
        for message in (first, second):
            await service.says(message, "window")
        for _ in range(3):
            await g.later(5)
        assert service.titles("a").count("A?") == service.titles("a").count("B?") == 2
        assert g.memory.titles("1001") == []
        for id in ids:
            assert {row["provider"] for row in await rows(g, id) if row["kind"] == "question"} <= {
                "service",
                "form",
            }


async def test_what_has_to_wait_goes_out_again_for_days_and_is_given_up_then(
    database: Database, service: Service
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service)
        await service.says("m1", "wait")
        await g.later(DAY)
        assert service.titles("a") == ["Which?", "Which?"]
        await g.later(3 * DAY)
        await service.says("m2", "wait")
        await g.app.idle()
        assert (await rows(g, id))[0]["status"] == "failed"
        assert g.memory.titles("1001") == ["Which?"]


async def test_an_outcome_that_has_to_wait_goes_out_again_too(database: Database, service: Service) -> None:
    agent = ScriptedAgent(asks("Which?", "A"))
    async with gateway(
        database, agent, providers={"service": service}, contacts={"ana": ANA}, routes=ROUTES
    ) as g:
        id = await asked(g, service)
        tap = service.tapped("a", "A")
        service.early = ["wait", "wait"]  # the run's end is told at the same time, and either may be first
        await g.receive(tap, "service")
        await g.app.idle()
        await g.app.context.store.settled()
        assert [row["status"] for row in await rows(g, id, "outcome")] == ["queued"]
