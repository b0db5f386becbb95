"""The two-question job on answerback, served as the other groups serve it."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

from answerback.run import RunRequest
from tests.bench.bursts import Burst, Bursts, burst
from tests.bench.gateway import AGENT, GIVE_UP, Gateway, gateway
from tests.bench.jobs import PEOPLE, QUESTIONS
from tests.bench.processes import FarSide


@contextlib.asynccontextmanager
async def our_jobs(folder: Path, far: FarSide) -> AsyncIterator[Bursts]:
    """Does jobs on SQLite; the far side answers at once. A burst ends when nothing is left to send either."""
    numbers = itertools.count()
    async with gateway(folder, "sqlite", far, PEOPLE, graph="tests.bench.jobs:ours") as ours:

        async def jobs(number: int, at_once: int) -> Burst:
            return await burst(
                lambda slot: _job(ours, f"p{slot}", f"job-{next(numbers)}"), number, at_once, ours.app.idle
            )

        yield jobs


async def _job(ours: Gateway, who: str, job: str) -> list[float]:
    """Seconds from each answer's first byte to its node."""
    answered = ours.ends.of(job)
    await ours.app.runner.start(RunRequest(AGENT, {"job": job}, thread_id=job, ask=(who,)))
    sent = []
    for number in QUESTIONS:
        async with asyncio.timeout(GIVE_UP):
            await answered.wait()
        answered = ours.ends.of(job) if number != QUESTIONS[-1] else answered
        sent.append(ours.provider.sent_at[who])
    heard = ours.agent.results.pop(job)
    return [
        (at - begun) / 1e9 for at, begun in zip((heard["first_at"], heard["second_at"]), sent, strict=True)
    ]
