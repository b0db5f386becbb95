"""A whole gateway in one process for flow tests: real store, providers and agents in memory."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from answerback import app as composition
from answerback.agent import Agent
from answerback.app import App
from answerback.faults import Faults
from answerback.gates import Gates, MakeGates
from answerback.model import Address, Contact
from answerback.provider import Inbound, Provider
from answerback.run import Run, RunRequest
from answerback.settings import Route, Settings
from answerback.testing import ManualClock, MemoryProvider
from answerback.turns import Turns
from tests.support.databases import Database

ALICE = Contact("alice", "Alice", addresses=(Address("memory", "1001", "1001"),))
BEN = Contact("ben", "Ben", addresses=(Address("memory", "2002", "2002"), Address("other", "b", "b")))


@dataclass(slots=True)
class Gateway:
    """The app, its clock, and shortcuts for what tests say often."""

    app: App
    clock: ManualClock
    memory: MemoryProvider
    tampers: bool = False  # whether the test writes into the database itself: then the audit may say so

    async def run(self, agent: str = "scripted", **more: object) -> Run:
        """Start a run and let it get as far as it can."""
        run = await self.app.runner.start(RunRequest(agent, **more))
        return await self.settled(run.id)

    async def settled(self, run_id: str) -> Run:
        """The run, once nothing is under way any more."""
        await self.app.idle()
        return await self.app.runner.get(run_id)

    async def receive(self, inbound: Inbound, provider: str = "memory") -> None:
        """An event comes in, and all that follows from it is done."""
        await self.app.receiver.webhook(provider, inbound)
        await self.app.idle()

    async def types(self, who: str, text: str, **more: object) -> None:
        await self.receive(self.memory.typed(who, text, **more))

    async def taps(self, who: str, label: str, **more: object) -> None:
        await self.receive(self.memory.tapped(who, label, **more))

    async def later(self, seconds: float) -> None:
        """Time passes, and what falls due is done."""
        self.clock.advance(seconds)
        await self.sweep()

    async def sweep(self) -> None:
        """What the clock would wake, in its order."""
        for pump in (self.app.elapser, self.app.deliverer, self.app.resumer, self.app.runner):
            await pump.pump()
            await self.app.idle()


def settings_for(database: Database, **more: object) -> Settings:
    """Alice is asked through `memory` by default; Ben is there too."""
    values = {
        "data_dir": str(database.data_dir),
        "database": database.url,
        "contacts": {"alice": ALICE, "ben": BEN},
        "routes": {"default": Route("default", ask=("alice",), providers=("memory", "other"))},
        **more,
    }
    return Settings(**values)


async def assert_audited(built: App) -> None:
    """After whatever a test did, the audit is whole and says the same as the records."""
    after: str | None = ""
    while after is not None:
        checked = await built.auditor.check(200, after)
        assert not checked.flaws
        after = checked.next


@contextlib.asynccontextmanager
async def gateway(
    database: Database,
    *agents: Agent,
    providers: dict[str, Provider] | None = None,
    clock: ManualClock | None = None,
    faults: Faults | None = None,
    turns: Callable[[], Turns] = Turns,
    gates: MakeGates = Gates,
    **settings: object,
) -> AsyncIterator[Gateway]:
    """A started gateway without its clock and its polling: tests let time pass by hand."""
    memory = (providers or {}).get("memory")
    if not isinstance(memory, MemoryProvider):
        memory = MemoryProvider()
    clock = clock or ManualClock()
    database.prepare(database.data_dir)
    built = composition.build(
        settings_for(database, **settings),
        time=clock,
        faults=faults,
        turns=turns,
        gates=gates,
        providers={"memory": memory, **(providers or {})},
        agents={agent.name: agent for agent in agents},
    )
    await built.start(clock=False)
    try:
        here = Gateway(built, clock, memory)
        yield here
        if built.context.store.is_open and not here.tampers:
            await assert_audited(built)
    finally:
        await built.stop()
