"""The two-question job beside what else carries questions to people: jobs a second, and answer to node.

A peer is a process in its own environment under var/peers, made by scripts/peers.sh; one that is not there is
not measured.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import statistics
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.bursts import Burst, Bursts
from tests.bench.jobs import PEOPLE
from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.ours import our_jobs
from tests.bench.phones import Phones, phones
from tests.bench.processes import ROOT, far_side

ENVIRONMENTS = ROOT / "var" / "peers"
LINE = 2**24  # bytes: the answer to an order names every question


@dataclass(frozen=True, slots=True)
class Load:
    """Jobs of one burst on each side, `at_once` at a time; what is reported of it, by the key's last part."""

    at_once: int
    ours: int
    theirs: int
    rate: str = ""
    latency: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """`name`: of its package, and of its folder under var/peers."""

    name: str
    driver: str
    loads: tuple[Load, ...]

    @property
    def python(self) -> Path:
        return ENVIRONMENTS / self.name / "bin" / "python"

    def there(self) -> bool:
        return self.python.exists()

    def versions(self) -> dict[str, str]:
        (packages,) = (ENVIRONMENTS / self.name / "lib").glob("python*/site-packages")
        found = importlib.metadata.distributions(path=[str(packages)])
        wanted = {one.name: one.version for one in found if one.name in (self.name, "langgraph")}
        return {**wanted, "python": packages.parent.name.removeprefix("python")}


PEERS = (
    Peer(
        "langgraph-external-hitl",
        "tests.bench.hosts.external_hitl:ExternalHitl",
        (
            Load(1, 20, 20, latency="latency.c1"),
            Load(PEOPLE, 60, 60, rate="rate", latency="latency.c20"),
        ),
    ),
    # It takes seconds for each job, so twenty must do.
    Peer(
        "awaithumans",
        "tests.bench.hosts.awaithumans:AwaitHumans",
        (Load(PEOPLE, 60, 20, rate="rate", latency="latency"),),
    ),
)


class Theirs:
    """A peer's process, and the phones that its questions arrive on."""

    def __init__(self, process: asyncio.subprocess.Process, phones: Phones) -> None:
        self._process, self._phones = process, phones

    async def burst(self, jobs: int, at_once: int) -> Burst:
        """Raises `RuntimeError` when the process has died."""
        assert self._process.stdin
        self._phones.tapped.clear()
        self._process.stdin.write(json.dumps({"jobs": jobs, "at_once": at_once}).encode() + b"\n")
        done = json.loads(await self.line())
        tapped = self._phones.tapped
        latencies = [(heard - tapped[question]) / 1e9 for question, heard in done["heard"].items()]
        return Burst(jobs, done["seconds"], latencies)

    async def line(self) -> bytes:
        assert self._process.stdout
        if line := await self._process.stdout.readline():
            return line
        raise RuntimeError("a peer's process has ended; var/bench.log says why")


async def run(options: Options) -> AsyncIterator[Figure]:
    """One peer after the other, each beside a gateway of ours that it does not share with the next.

    Raises `RuntimeError` at the end when one of them is not there.
    """
    for peer in filter(Peer.there, PEERS):
        with far_side() as far:
            async with (
                our_jobs(options.fresh("ours"), far) as ours,
                their_jobs(peer, options.fresh(peer.name), options.log) as theirs,
            ):
                for load in peer.loads:
                    for found in await _compare(options, f"peers.{peer.name}", load, ours, theirs):
                        yield found
    if absent := [peer.name for peer in PEERS if not peer.there()]:
        raise RuntimeError(f"{' and '.join(absent)}: not installed in var/peers by scripts/peers.sh")


def versions() -> dict[str, dict[str, str]]:
    """Of each peer that is there: its own, LangGraph's, and Python's."""
    return {peer.name: peer.versions() for peer in PEERS if peer.there()}


@contextlib.asynccontextmanager
async def their_jobs(peer: Peer, folder: Path, log: Any) -> AsyncIterator[Theirs]:
    """A started peer with an empty folder."""
    async with phones() as (people, url):
        process = await asyncio.create_subprocess_exec(
            str(peer.python), "-m", "tests.bench.hosts.host", peer.driver, str(folder), url,
            cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, limit=LINE,
        )  # fmt: skip
        assert process.stdin
        try:
            theirs = Theirs(process, people)
            await theirs.line()
            yield theirs
        finally:
            process.stdin.close()
            await process.wait()


async def _compare(options: Options, key: str, load: Load, ours: Bursts, theirs: Theirs) -> list[Figure]:
    pairs = await alternate(
        options.rounds,
        lambda: ours(options.fewer(load.ours), load.at_once),
        lambda: theirs.burst(max(load.at_once, options.fewer(load.theirs)), load.at_once),
    )
    found = []
    if load.rate:
        found.append(figure(f"{key}.{load.rate}", [(a.rate, b.rate) for a, b in pairs]))
    if load.latency:
        waits = [(statistics.median(a.latencies), statistics.median(b.latencies)) for a, b in pairs]
        found.append(figure(f"{key}.{load.latency}", waits))
    return found
