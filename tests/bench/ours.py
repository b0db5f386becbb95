"""The two-question job on answerback, served as the other groups serve it."""

import asyncio
import contextlib
import gc
import itertools
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from answerback import app as composition
from answerback.app import App
from answerback.cli.site import site
from answerback.run import RunRequest
from tests.bench.agent import Observed
from tests.bench.gateway import AGENT, GIVE_UP, PROVIDER, Ends, loopback, observed, serving, settings_of, tell
from tests.bench.jobs import PEOPLE, QUESTIONS
from tests.bench.processes import FarSide
from tests.bench.provider import Loopback


@dataclass(frozen=True, slots=True)
class Done:
    """Some jobs: how long they took together, and from each answer's first byte to its node; in seconds."""

    jobs: int
    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.jobs / self.seconds


class Ours:
    """A gateway that does jobs. A burst ends when nothing is left to send either."""

    def __init__(self, app: App, agent: Observed, provider: Loopback, ends: Ends) -> None:
        self._app, self._agent, self._provider, self._ends = app, agent, provider, ends
        self._numbers = itertools.count()

    async def burst(self, jobs: int, at_once: int) -> Done:
        left = iter(range(jobs))
        latencies: list[float] = []

        async def work(slot: int) -> None:
            for _ in left:
                latencies.extend(await self._job(f"p{slot}", f"job-{next(self._numbers)}"))

        begun = time.perf_counter()
        await asyncio.gather(*(work(slot) for slot in range(at_once)))
        await self._app.idle()
        return Done(jobs, time.perf_counter() - begun, latencies)

    async def _job(self, who: str, job: str) -> list[float]:
        answered = self._ends.of(job)
        await self._app.runner.start(RunRequest(AGENT, {"job": job}, thread_id=job, ask=(who,)))
        sent = []
        for number in QUESTIONS:
            async with asyncio.timeout(GIVE_UP):
                await answered.wait()
            answered = self._ends.of(job) if number != QUESTIONS[-1] else answered
            sent.append(self._provider.sent_at[who])
        heard = self._agent.results.pop(job)
        return [
            (at - begun) / 1e9
            for at, begun in zip((heard["first_at"], heard["second_at"]), sent, strict=True)
        ]


@contextlib.asynccontextmanager
async def our_jobs(folder: Path, far: FarSide) -> AsyncIterator[Ours]:
    """A started gateway on SQLite; the far side answers at once."""
    settings, ends, provider = settings_of(folder, "sqlite", PEOPLE), Ends(), loopback(far)
    agent = observed(settings, "tests.bench.jobs:ours")
    app = composition.build(settings, faults=ends, providers={PROVIDER: provider}, agents={AGENT: agent})
    await app.start()
    try:
        async with serving(site(app), settings) as url:
            await tell(far, "/hook", {"url": f"{url}/in/{PROVIDER}"})
            gc.collect()
            gc.freeze()  # as `serve` does
            yield Ours(app, agent, provider, ends)
    finally:
        await app.stop()
