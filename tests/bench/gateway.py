"""A gateway as `serve` runs it, in this process: the app, the site, uvicorn; and when a run has ended."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn
from pydantic import SecretStr
from starlette.types import ASGIApp

from answerback import app as composition
from answerback.agent import Agent, AgentContext
from answerback.app import App
from answerback.cli.listening import bind
from answerback.cli.site import site
from answerback.faults import Faults
from answerback.model import Address, Contact, Json
from answerback.provider import Provider, ProviderContext
from answerback.run import RunRequest
from answerback.settings import ApiKey, Route, Settings
from tests.bench.agent import RESUMED_AT, Observed
from tests.bench.processes import FarSide
from tests.bench.provider import Loopback

PROVIDER, AGENT = "loopback", "bench"
GIVE_UP = 60.0  # seconds until a loop that does not end ends the benchmark
_thread: ContextVar[str] = ContextVar("thread")


class Ends(Faults):
    """Tells when what followed from an answer has been committed."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == "resume.after-commit" and (event := self._waiting.pop(_thread.get(), None)):
            event.set()

    @staticmethod
    def begin(thread: str) -> None:
        """What is reached from here on belongs to this thread."""
        _thread.set(thread)

    def of(self, thread: str) -> asyncio.Event:
        """Set once the thread's next answer is through."""
        return self._waiting.setdefault(thread, asyncio.Event())


@dataclass(slots=True)
class Gateway:
    """The app, its agent and provider, and how to run one loop."""

    app: App
    agent: Observed
    provider: Loopback
    ends: Ends
    url: str

    async def loop(self, who: str, thread: str) -> tuple[float]:
        """One run from its start to its end; seconds from the sender's first byte to the resume."""
        ended = self.ends.of(thread)
        await self.app.runner.start(RunRequest(AGENT, {"number": 1}, thread_id=thread, ask=(who,)))
        async with asyncio.timeout(GIVE_UP):
            await ended.wait()
        return ((self.agent.results.pop(thread)[RESUMED_AT] - self.provider.sent_at[who]) / 1e9,)


def people(count: int, provider: str = PROVIDER) -> dict[str, Contact]:
    """p0, p1, …, each with one address, so that each has at most one open question a loop."""
    names = (f"p{number}" for number in range(count))
    return {name: Contact(name, name, addresses=(Address(provider, name, name),)) for name in names}


def settings_of(folder: Path, database: str, persons: int) -> Settings:
    return Settings(
        data_dir=str(folder),
        base_dir=str(folder),
        database=database,
        listen="127.0.0.1:0",
        api_keys=(ApiKey("bench", SecretStr("a key of the bench only")),),
        contacts=people(persons),
        routes={"default": Route("default", ask=("p0",), providers=(PROVIDER,), expires_in=86_400.0)},
    )


def observed(settings: Settings, graph: str) -> Observed:
    """The agent of a gateway of the bench, in a worker of its own."""
    context = AgentContext(settings.data_dir, settings.database, settings.base_dir)
    return Observed(AGENT, graph, context, Ends.begin)


def loopback(far: FarSide, kind: type[Loopback] = Loopback) -> Loopback:
    return kind(PROVIDER, kind.Settings(far=far.url, secret=far.secret), ProviderContext())


@contextlib.asynccontextmanager
async def gateway(
    folder: Path,
    database: str,
    far: FarSide,
    persons: int,
    kind: type[Loopback] = Loopback,
    *,
    graph: str = "tests.bench.graph:graph",
    alone: bool = False,
) -> AsyncIterator[Gateway]:
    """A started gateway that listens; the far side knows where to.

    `alone`: it does not, so nobody answers, and nothing happens that is not asked for (no clock).
    """
    settings, ends, provider = settings_of(folder, database, persons), Ends(), loopback(far, kind)
    agent = observed(settings, graph)
    providers: dict[str, Provider] = {PROVIDER: provider}
    agents: dict[str, Agent] = {AGENT: agent}
    app = composition.build(settings, faults=ends, providers=providers, agents=agents)
    await app.start(clock=not alone)
    try:
        async with serving(site(app), settings) as url:
            if not alone:
                await tell(far, "/hook", {"url": f"{url}/in/{PROVIDER}"})
            gc.collect()
            gc.freeze()  # as `serve` does
            yield Gateway(app, agent, provider, ends, url)
    finally:
        await app.stop()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, settings: Settings, *, logs: bool = True) -> AsyncIterator[str]:
    """An application behind uvicorn, configured as `serve` does it; its URL. `logs`: a line a request."""
    with bind(settings) as listener:
        config = uvicorn.Config(
            app, log_config=None, server_header=False, proxy_headers=False, lifespan="off", ws="none",
            loop="uvloop", http="httptools", access_log=logs, timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = _Server(config)
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


async def tell(far: FarSide, path: str, order: Json) -> Any:
    """Ask something of the far side."""
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        return await (await session.post(far.url + path, json=order)).json()
