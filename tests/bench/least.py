"""The least that a gateway of this shape does, one loop at a time, beside bare LangGraph.

Nothing of what a gateway is for: it knows no people, words nothing, checks nothing and keeps no record. Stage
by stage, a loop is

- `worker`: the two calls of the agent in its worker, a start and a resume, as law 1 has them;
- `committed`: and four rows, each committed before it goes on;
- `answered`: and one message over HTTP, and the signed tap that answers it.

What our loop takes beyond the last can be brought down by work on the gateway. What that takes cannot.
"""

import asyncio
import hmac
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path

import psycopg
from starlette.types import Receive, Scope, Send

from answerback.agent import Finished, Paused, Target
from answerback.model import Answer
from tests.bench import least_intake
from tests.bench.agent import Observed
from tests.bench.bare import bare
from tests.bench.bursts import Burst, Bursts, burst, nothing
from tests.bench.gateway import observed, serving, settings_of, tell
from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.processes import FarSide, cpu_with_workers, far_side
from tests.bench.provider import JSON, SIGNATURE, sign
from tests.bench.wire import Wire

LOOPS = 100
ROW = "x" * 800  # characters: about what a question's record has
_numbers = itertools.count()


class Stage(StrEnum):
    """How much of a loop is done."""

    WORKER = "worker"
    COMMITTED = "committed"
    ANSWERED = "answered"


async def run(options: Options) -> AsyncIterator[Figure]:
    """Both databases, one loop at a time; then the least of an intake."""
    with far_side() as far:
        async for name, url, folder in options.databases():
            async with least(folder, url, far) as ours, bare(folder, url) as theirs:
                for stage in Stage:
                    for each in await _compare(options, ours, theirs, stage, f"{name}.c1.{stage}"):
                        yield each
    async for each in least_intake.run(options):
        yield each


async def _compare(options: Options, ours: "Least", theirs: Bursts, stage: Stage, key: str) -> list[Figure]:
    loops = options.fewer(LOOPS)

    async def our_burst() -> Burst:
        return await burst(lambda _: ours.loop(stage), loops, 1, nothing, cpu_with_workers)

    async def their_burst() -> Burst:
        return await theirs(loops, 1)

    pairs = await alternate(options.rounds, our_burst, their_burst)
    return [
        figure(f"least_vs_langgraph.{key}", [(a.rate, b.rate) for a, b in pairs]),
        figure(f"least_cpu_vs_langgraph.{key}", [(a.cpu, b.cpu) for a, b in pairs]),
    ]


class Least:
    """An agent in its worker, a thread that commits rows, a wire to the far side; and where taps come in."""

    def __init__(self, agent: Observed, commit: Callable[[], None], far: FarSide) -> None:
        self._agent, self._commit, self._far = agent, commit, far
        self._writing = ThreadPoolExecutor(1)
        self._wire = Wire.to(far.url)
        self._tapped: dict[str, asyncio.Event] = {}

    async def loop(self, stage: Stage) -> tuple[float, ...]:
        """One run from its start to its end."""
        thread = f"least-{next(_numbers)}"
        await self._commits(stage)
        state = await self._agent.start(thread, {"number": 1})
        assert isinstance(state, Paused)
        (pending,) = state.pending
        await self._commits(stage)
        if stage is Stage.ANSWERED:
            await self._ask(thread)
        else:
            await self._commits(stage)
        answer = Answer({pending.questions[0].id: "Yes"}, "Yes", by="p0", via="least")
        state = await self._agent.resume(thread, Target(pending.interrupt_id, pending.digest), answer)
        assert isinstance(state, Finished)
        self._agent.results.pop(thread)
        await self._commits(stage)
        return ()

    async def _commits(self, stage: Stage) -> None:
        if stage is not Stage.WORKER:
            await asyncio.get_running_loop().run_in_executor(self._writing, self._commit)

    async def _ask(self, thread: str) -> None:
        tapped = self._tapped[thread] = asyncio.Event()
        body = {"to": "p0", "text": "Shall I go on?", "buttons": [["Yes", thread], ["No", "no"]]}
        await self._wire.ask("/send", JSON, json.dumps(body).encode())
        await tapped.wait()

    async def taps(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application: takes a tap once it is committed."""
        body = (await receive())["body"]
        given = dict(scope["headers"]).get(SIGNATURE.encode(), b"").decode()
        assert hmac.compare_digest(given, sign(self._far.secret, body))
        await self._commits(Stage.ANSWERED)
        self._tapped.pop(json.loads(body)["data"]).set()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def close(self) -> None:
        self._wire.close()
        self._writing.shutdown()


@asynccontextmanager
async def least(folder: Path, database: str, far: FarSide) -> AsyncIterator[Least]:
    """It, listening; the far side knows where to."""
    settings = settings_of(folder, database, 1)
    agent = observed(settings, "tests.bench.graph:graph")
    async with AsyncExitStack() as stack:
        await agent.open()
        stack.push_async_callback(agent.close)
        if agent.state:
            raise RuntimeError(agent.state)
        found = Least(agent, _commits_to(folder, database), far)
        stack.callback(found.close)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await found.taps(scope, receive, send)

        url = await stack.enter_async_context(serving(app, settings, logs=False))
        await tell(far, "/hook", {"url": f"{url}/"})
        yield found


def _commits_to(folder: Path, database: str) -> Callable[[], None]:
    """Commits one row, durably: the fewest ways there are."""
    if database == "sqlite":
        file = sqlite3.connect(folder / "least.db", isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("CREATE TABLE least (id INTEGER PRIMARY KEY, body TEXT)")
        return lambda: file.execute("INSERT INTO least (body) VALUES (?)", [ROW]).close()
    server = psycopg.connect(database, autocommit=True, prepare_threshold=0)
    server.execute("CREATE TABLE least (id BIGSERIAL PRIMARY KEY, body TEXT)")
    return lambda: server.execute("INSERT INTO least (body) VALUES (%s)", [ROW]).close()
