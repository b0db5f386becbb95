"""A journey: three questions from the asking to their outcome, through whatever strikes the gateway."""

import contextlib
import functools
from collections.abc import AsyncIterator
from dataclasses import dataclass

from answerback_sandbox import Sandbox
from tests.faults.kill_audit import Findings, Nodes, Rows, audit, node_journal
from tests.faults.kill_client import Client, client_of
from tests.faults.kill_gateway import Begun, Gateway, Place, Time, nobody
from tests.faults.kill_life import Zygote, listening
from tests.faults.victim import EXPIRES
from tests.support.databases import Database

INTAKES = ("api", "form", "telegram")
OUTCOMES = ("answered", "expired", "cancelled")
STAGES = ("open", "answer", "end")
TURNS = 30  # more sweeps than there can be messages left for one chat


@dataclass(slots=True)
class Journey:
    """An API caller's question and a graph's two. The graph's first is answered, the rest has the `outcome`.

    Whatever the outcome, the intake is used in it: too late, where the questions were closed otherwise.
    """

    gateway: Gateway
    client: Client
    intake: str
    outcome: str

    async def stage(self, name: str) -> None:
        await getattr(self, f"_{name}")()

    async def finish(self) -> Findings:
        """Restart, let time pass, and compare what everybody says."""
        rows, nodes = await self.evidence()
        return audit(self.outcome, self.client.journal, nodes, rows)

    async def evidence(self) -> tuple[Rows, Nodes]:
        """What stands in the database after a restart and some time, and what the nodes wrote down."""
        await self.gateway.restart()
        for _ in range(4):
            await self.gateway.settle(600.0)
        rows = await self.gateway.ask("records")
        for _ in range(TURNS):
            if all(row["status"] != "queued" for row in rows["delivery"]):
                break
            await self.gateway.settle(600.0)  # a chat takes one message a second: a sweep sends it one
            rows = await self.gateway.ask("records")
        return rows, node_journal(self.gateway.place.database.data_dir)

    async def _open(self) -> None:
        """Both ask, and the questions reach the phone."""
        await self.gateway.until(lambda: self.client.ask("Zero?"))
        await self.gateway.until(self.client.start)
        for question in ("Zero?", "First?"):
            await self.shown(question)

    async def _answer(self) -> None:
        await self.answered("First?")
        await self.shown("Second?")

    async def _end(self) -> None:
        await getattr(self, f"_{self.outcome}_all")()
        await self.gateway.settle()

    async def _answered_all(self) -> None:
        for question in ("Zero?", "Second?"):
            await self.answered(question)

    async def _expired_all(self) -> None:
        await self.gateway.settle(EXPIRES + 1)
        await self.gateway.settle(60.0)
        await self._too_late()

    async def _cancelled_all(self) -> None:
        ids = self.client.ids
        await self.gateway.until(lambda: self.client.cancel(f"/v1/interactions/{ids['Zero?']}"))
        await self.gateway.until(lambda: self.client.cancel(f"/v1/runs/{self.client.run}"))
        await self.gateway.settle()
        await self._too_late()

    async def _too_late(self) -> None:
        for question in ("Zero?", "Second?"):
            await self.gateway.until(functools.partial(self.client.answer_late, question, self.intake))

    async def answered(self, question: str) -> None:
        """The client answers until it has heard a 2xx, and what follows is done."""
        await self.gateway.until(lambda: self.client.answer(question, self.intake))
        await self.gateway.settle()

    async def shown(self, question: str) -> None:
        """It stands on the phone, and the client knows its id and its form's address."""

        async def shown() -> bool:
            return self.client.message(question) is not None

        await self.gateway.until(shown)
        await self.gateway.until(lambda: self.client.find(question))
        if question not in self.client.links:
            link = await self.gateway.ask("link", interaction=self.client.ids[question])
            self.client.links[question] = link


@contextlib.asynccontextmanager
async def journey(
    zygote: Zygote,
    database: Database,
    intake: str,
    outcome: str,
    begun: Begun = nobody,
) -> AsyncIterator[Journey]:
    """A gateway that serves, a far side and a client, before anything was asked."""
    time = Time()
    async with (
        listening() as (listener, url),
        Sandbox.start(clock=time, retry_seconds=0.05) as box,
        client_of(box, url) as client,
    ):
        gateway = Gateway(Place(zygote, listener, url, database, box, time), begun)
        await gateway.start()
        try:
            yield Journey(gateway, client, intake, outcome)
        finally:
            await gateway.life.kill()
