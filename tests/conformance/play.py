"""Plays one hazard on one system, and judges by the journal alone."""

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.conformance.driver import Asked, Event, NotApplicable, NotDriven, Refused
from tests.conformance.graphs import Journal
from tests.conformance.hazards import Again, Answer, Do, Hazard, Join, Respond, Restart, Start, Together
from tests.conformance.host import LONGEST_LINE

ROOT = Path(__file__).parents[2]
LONGEST = 60.0  # seconds for one order, on however busy a machine
LIVES = 4  # of a process, for one step
THREAD = "thread-1"


class Result(StrEnum):
    HELD = "held"
    BROKEN = "broken"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`journal`: what the nodes heard. `how`: in what way it is broken. `notes`: what else was seen."""

    hazard: str
    result: Result
    how: str = ""
    journal: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Gone(Exception):
    """The process has died."""


class Failed(Exception):
    """The driver raised."""


class Host:
    """A started host.py, in the environment of `python`."""

    def __init__(self, driver: str, python: str, folder: Path, *, quiet: bool) -> None:
        self.socket = folder / "host"
        self._process = subprocess.Popen(
            [python, "-m", "tests.conformance.host", driver, str(self.socket)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if quiet else None,
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    async def connect(self) -> "Remote":
        async with asyncio.timeout(LONGEST):
            while self._process.poll() is None:
                with contextlib.suppress(OSError):
                    return Remote(*await asyncio.open_unix_connection(self.socket, limit=LONGEST_LINE))
                await asyncio.sleep(0.05)
        raise Failed("the driver's host does not start")


@contextlib.contextmanager
def hosted(driver: str, python: str = sys.executable, *, quiet: bool = False) -> Iterator[Host]:
    """A host for `MODULE:CLASS`; `quiet` hides its tracebacks. A socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        host = Host(driver, python, Path(folder), quiet=quiet)
        try:
            yield host
        finally:
            host.close()


class Remote:
    """A driver in its own process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = itertools.count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._over = False
        self._task = asyncio.create_task(self._listen())

    async def call(self, what: str, **arguments: Any) -> Any:
        """The driver's result.

        Raises `NotApplicable`, `NotDriven`, `Refused`, `Failed`, `Gone` or `TimeoutError`.
        """
        if self._over:
            raise Gone
        id = next(self._ids)
        self._waiting[id] = asyncio.get_running_loop().create_future()
        with contextlib.suppress(ConnectionError):
            self._writer.write(json.dumps({"id": id, "do": what, "with": arguments}).encode() + b"\n")
            await self._writer.drain()
        async with asyncio.timeout(LONGEST):
            result = await self._waiting[id]
        for kind in (NotApplicable, NotDriven, Refused):
            if kind.__name__ in result:
                raise kind(result[kind.__name__])
        if "error" in result:
            raise Failed(result["error"])
        return result["ok"]

    async def close(self) -> None:
        """End it in good order."""
        with contextlib.suppress(OSError):
            self._writer.write_eof()
        async with asyncio.timeout(LONGEST):
            await self._task

    async def _listen(self) -> None:
        with contextlib.suppress(ConnectionError):
            async for line in self._reader:
                result = json.loads(line)
                self._waiting.pop(result.pop("id")).set_result(result)
        self._over = True
        self._writer.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Gone())


@dataclass(slots=True)
class Play:
    """One run of one hazard. `folder` is empty."""

    host: Host
    hazard: Hazard
    folder: Path
    database: str
    notes: list[str] = field(default_factory=list)
    _processes: list[Remote] = field(default_factory=list)
    _seen: dict[str, Asked] = field(default_factory=dict)
    _events: dict[str, Event] = field(default_factory=dict)
    _keys: Iterator[int] = field(default_factory=itertools.count)
    _must_die: bool = False

    async def run(self) -> Verdict:
        try:
            self._processes.append(await self._open(again=False))
            for step in self.hazard.steps:
                await self._one(step)
        except NotApplicable as reason:
            return Verdict(self.hazard.name, Result.NOT_APPLICABLE, notes=(str(reason),))
        except NotDriven as reason:
            return Verdict(self.hazard.name, Result.NOT_RUN, notes=(str(reason),))
        finally:
            await self._end()
        if self._must_die:
            raise Failed("the moment to be killed at did not come")
        return self._judged()

    def _judged(self) -> Verdict:
        journal = Journal(self.folder).lines()
        heard = frozenset(journal)
        once = self.hazard.ends_twice or journal.count("end") <= 1
        if heard in self.hazard.holds and once:
            how = ""
        elif not once:
            how = "the graph ran to its end more than once"
        elif any(heard < right for right in self.hazard.holds):
            how = "nothing wrong was heard, but the run is stuck"
        else:
            how = "a node heard what it must not"
        result = Result.BROKEN if how else Result.HELD
        return Verdict(self.hazard.name, result, how, tuple(journal), tuple(self.notes))

    async def _open(self, *, again: bool) -> Remote:
        process = await self.host.connect()
        try:
            declined = await process.call("declines", args=(self.hazard.name, self.hazard.per_node))
            if declined:
                raise NotApplicable(declined)
            arguments = {"folder": str(self.folder), "database": self.database, "graph": self.hazard.graph}
            await process.call("open", again=again, **arguments)
        except BaseException:
            await process.close()
            raise
        return process

    async def _one(self, step: Any) -> None:
        """One step, repeated after a death as whoever got no answer would; then all that is due."""
        for life in range(LIVES):
            try:
                await self._do(step)
                if step == Do("crash", getattr(step, "args", ())):
                    return  # the moment must not come before the next step
                for process in self._processes:
                    await process.call("settle")
                    self._look(await process.call("pending"))
            except Gone:
                self._must_die = False
                self.notes.append(f"died in life {life + 1}")
                await self._end()
                self._processes = [await self._open(again=True)]
            else:
                return
        raise Failed("it dies again and again")

    def _look(self, pending: list[dict[str, Any]]) -> None:
        for item in pending:
            self._seen.setdefault(item["id"], Asked(**item))

    async def _do(self, step: Any) -> None:
        if isinstance(step, Together):
            events = [self._prepared(one) for one in step.steps]
            results = await asyncio.gather(*(self._do(one) for one in events), return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
        elif isinstance(step, Restart):
            await self._restart()
        elif isinstance(step, Join):
            await self._join()
        else:
            await self._tell(self._prepared(step))

    def _prepared(self, step: Any) -> Any:
        """An answer's event is made once: what happens at the same moment has seen the same phone."""
        if not isinstance(step, Answer):
            return step
        key = step.key or f"event-{step.question}-{next(self._keys)}"
        if not (step.key and step.key in self._events):
            asked = self._find(step)
            if asked is None:
                self.notes.append(f"not asked: {step.question}")
                return None
            self._events[key] = Event(asked.id, step.answer, key, step.who)
        return Again(key, step.at)

    async def _tell(self, step: Any) -> None:
        if step is None:
            return
        process = self._processes[min(getattr(step, "at", 0), len(self._processes) - 1)]
        try:
            if isinstance(step, Start):
                await process.call("start", thread=THREAD, **step.how)
            elif isinstance(step, Again):
                if step.key in self._events:
                    await process.call("deliver", **asdict(self._events[step.key]))
            elif isinstance(step, Respond):
                found = self._find(Answer(step.question, ""))
                if found:
                    await process.call("respond", asked=found.id, response=step.response)
            elif isinstance(step, Do):
                await process.call(step.what, args=step.args)
                self._must_die = self._must_die or step.what == "crash"
        except Failed as error:  # the journal decides whether it mattered
            if isinstance(step, Start):
                raise
            self.notes.append(str(error))

    def _find(self, step: Answer) -> Asked | None:
        who = "" if step.stranger else step.who
        found = [
            asked
            for asked in self._seen.values()
            if asked.text == step.question and who in ("", asked.who) and step.via in ("", asked.via)
        ]
        return found[step.nth] if found else None

    async def _restart(self) -> None:
        await self._end()
        self._processes = [await self._open(again=True)]

    async def _end(self) -> None:
        for process in self._processes:
            await process.close()
        self._processes.clear()

    async def _join(self) -> None:
        try:
            self._processes.append(await self._open(again=False))
        except Refused as refusal:
            self.notes.append(f"a second process is refused: {refusal}")


async def play(host: Host, hazard: Hazard, folder: Path, database: str) -> Verdict:
    """Play `hazard` in the empty `folder`; `database` is what the driver is given."""
    return await Play(host, hazard, folder, database).run()
