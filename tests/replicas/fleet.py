"""What a test holds: several gateway processes on one PostgreSQL, and the far side that they talk to."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import aiohttp
import psycopg

from answerback_sandbox import Sandbox
from answerback_sandbox.sandbox import BOT_ID
from tests.replicas.clock import SharedClock
from tests.replicas.replica import KEY, PEOPLE
from tests.replicas.watch import Poll, Watch

ROOT = Path(__file__).parents[2]
STEP = 10.0  # seconds that pass at once: less than any lease lasts, so that who runs can renew his
PATIENCE = 50.0  # seconds to give up after; nothing takes that long


class Nest:
    """Speaks to the preloaded process that forks replicas."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.replicas.nest"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def start(self, **order: Any) -> int:
        """A replica's process id."""
        return self._ask(start=order)

    def reap(self, pid: int) -> int:
        """Its exit code once it has ended, negative for a signal."""
        return os.waitstatus_to_exitcode(self._ask(reap=pid))

    def _ask(self, **order: Any) -> int:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


@contextlib.contextmanager
def nesting() -> Iterator[Nest]:
    nest = Nest()
    try:
        yield nest
    finally:
        nest.close()


class Life(StrEnum):
    """Of a process: a number that is gone may belong to another one, and is left alone."""

    RUNS = "runs"
    STOPPED = "stopped"
    GONE = "gone"


@dataclass(slots=True)
class Replica:
    """One process."""

    name: str
    token: str
    pid: int
    owner: str = ""
    url: str = ""
    life: Life = Life.RUNS

    def signal(self, number: signal.Signals) -> None:
        assert self.life is not Life.GONE
        os.kill(self.pid, number)

    def stop(self) -> None:
        self.signal(signal.SIGSTOP)
        self.life = Life.STOPPED

    def go_on(self) -> None:
        self.signal(signal.SIGCONT)
        self.life = Life.RUNS


@dataclass(slots=True)
class Fleet:
    """The replicas, the phones, the database, the time, and shortcuts for what tests say often."""

    folder: Path
    database: str
    nest: Nest
    box: Sandbox
    http: aiohttp.ClientSession
    rows: psycopg.AsyncConnection[Any]
    clock: SharedClock
    polls: list[Poll]
    replicas: list[Replica] = field(default_factory=list)

    def __getitem__(self, number: int) -> Replica:
        """Of those that run, counted around, so that each takes his turn."""
        return self.running[number % len(self.running)]

    @property
    def running(self) -> list[Replica]:
        return [replica for replica in self.replicas if replica.life is Life.RUNS]

    # -- processes

    async def start(self, count: int, **more: Any) -> None:
        """So many more, all at the same time."""
        began = [self._forked(f"replica-{len(self.replicas) + number}", more) for number in range(count)]
        self.replicas += began
        for replica in began:
            ready = self.folder / replica.name / "ready"
            await until(ready.exists)
            found = json.loads(ready.read_text())
            replica.owner, replica.url = found["owner"], f"http://127.0.0.1:{found['port']}"

    def _forked(self, name: str, more: dict[str, Any]) -> Replica:
        token = f"{BOT_ID}:{name:_<35}"
        order = {"name": name, "folder": str(self.folder), "database": self.database, "token": token}
        return Replica(name, token, self.nest.start(api_base=self.box.url, **order, **more))

    def kill(self, replica: Replica) -> None:
        """SIGKILL; returns when it is gone."""
        replica.signal(signal.SIGKILL)
        assert self._reaped(replica) == -signal.SIGKILL

    def end(self) -> list[int]:
        """All that run, in peace; their exit codes."""
        left = self.running
        for replica in left:
            replica.signal(signal.SIGTERM)
        return [self._reaped(replica) for replica in left]

    def close(self) -> None:
        """Whatever a test has left behind."""
        for replica in self.replicas:
            if replica.life is not Life.GONE:
                self.kill(replica)

    def _reaped(self, replica: Replica) -> int:
        replica.life = Life.GONE
        return self.nest.reap(replica.pid)

    # -- time

    async def settle(self, happened: Callable[[], Any]) -> None:
        """Until it is so. Time passes whenever nobody who runs has anything in his hands."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for _ in range(20):
                    if await _true(happened):
                        return
                    await asyncio.sleep(0.02)
                if not await self._at_work():
                    await self.age(STEP)

    async def age(self, seconds: float) -> None:
        """Time passes, in steps that each running reader's lease outlasts; what is due is looked at."""
        while seconds > 0:
            await self._renewed()
            self.clock.advance(min(STEP, seconds))
            seconds -= STEP
            for replica in self.running:
                replica.signal(signal.SIGUSR1)

    async def _renewed(self) -> None:
        """Until no lease of a running reader, and no claim of a running sender, would lapse by one step."""
        query = """SELECT owner, until FROM thread_lease WHERE agent = 'poll:'
            UNION ALL SELECT lease_owner, next_attempt_at FROM delivery
            WHERE status = 'queued' AND lease_owner <> ''"""
        async with asyncio.timeout(PATIENCE):
            while any(  # noqa: ASYNC110 - it is seen in the database
                owner in self._owners() and until - self.clock() < (STEP + 10) * 1e6
                for owner, until in await self.all(query)
            ):
                await asyncio.sleep(0.02)

    async def _at_work(self) -> bool:
        living = self._owners()
        return bool(
            await self.all("SELECT 1 FROM thread_lease WHERE agent <> 'poll:' AND owner = ANY(%s)", living)
            or await self.all(
                "SELECT 1 FROM delivery WHERE status = 'queued' AND lease_owner = ANY(%s)", living
            )
        )

    def _owners(self) -> list[str]:
        return [replica.owner for replica in self.running]

    # -- what can be seen

    async def all(self, query: str, *values: Any) -> list[Any]:
        """Rows of the database that they share."""
        cursor = await self.rows.execute(query, values)
        return await cursor.fetchall()

    async def reader(self) -> Replica | None:
        """Who holds the right to read updates now."""
        found = await self.all("SELECT owner FROM thread_lease WHERE agent = 'poll:'")
        return next((one for one in self.replicas if (one.owner,) in found), None)

    @property
    def conflicts(self) -> list[Poll]:
        """Calls for updates beside somebody else's: Telegram takes one, and ends the other with 409.

        One that asks again, because it was away, ends its own earlier call, which it no longer waits for.
        """
        return [poll for poll in self.polls if poll.beside]

    def is_reading(self, replica: Replica) -> bool:
        """Whether a call of it for updates waits at Telegram."""
        return any(poll.reader == replica.token and not poll.status for poll in self.polls)

    async def unread(self, replica: Replica) -> None:
        """Until Telegram has given up its last call, as it does before a lease of 30 seconds has lapsed."""
        await until(lambda: not self.is_reading(replica))

    def journal(self, run: str) -> list[str]:
        """What the graph's steps were told in this run."""
        file = self.folder / run
        return file.read_text().splitlines() if file.exists() else []

    # -- the API

    async def get(self, replica: Replica, path: str) -> Any:
        async with self.http.get(replica.url + path) as response:
            assert response.status == 200, await response.text()
            return await response.json()

    async def post(self, replica: Replica, path: str, **body: Any) -> Any:
        async with self.http.post(replica.url + path, json=body) as response:
            assert response.status in (200, 201, 202), await response.text()
            return await response.json()


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 - it is seen in a file
            await asyncio.sleep(0.01)


async def _true(happened: Callable[[], Any]) -> bool:
    found = happened()
    return bool(await found if asyncio.iscoroutine(found) else found)


@contextlib.asynccontextmanager
async def fleet(nest: Nest, database: str, folder: Path) -> AsyncIterator[Fleet]:
    """No replica yet; those that a test has started and not ended are killed in the end."""
    polls: list[Poll] = []
    box = Sandbox()
    box.app.add_middleware(Watch, polls=polls)
    for name, number in PEOPLE.items():
        box.add_person(int(number), name)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(box.serve())
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=headers))
        rows = await stack.enter_async_context(
            await psycopg.AsyncConnection.connect(database, autocommit=True)
        )
        made = Fleet(folder, database, nest, box, http, rows, SharedClock(folder / "clock"), polls)
        try:
            yield made
        finally:
            made.close()
