"""Plays one hazard on one system, and judges by the journal alone."""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.conformance.driver import Asked, Event, NotApplicable, NotDriven, Refused
from tests.conformance.journal import Journal
from tests.conformance.remote import Failed, Gone, Host, Remote
from tests.conformance.steps import (
    Again,
    Answer,
    Decide,
    Do,
    Hazard,
    Join,
    Respond,
    Restart,
    Start,
    Together,
)

LONGEST_SHOWN = 200  # characters of a journal's line
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


def brief(line: str) -> str:
    """A journal's line as evidence: what is very long is cut."""
    return line if len(line) <= LONGEST_SHOWN else f"{line[:60]}… ({len(line)} characters)"


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
        return Verdict(self.hazard.name, result, how, tuple(map(brief, journal)), tuple(self.notes))

    async def _open(self, *, again: bool) -> Remote:
        process = await self.host.connect()
        try:
            hazard = self.hazard
            declined = await process.call("declines", args=(hazard.name, hazard.per_node, hazard.foreign))
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
            elif isinstance(step, Decide):
                found = self._find(Answer(step.question, ""))
                if found:
                    await process.call("decide", asked=found.id, decisions=step.decisions)
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
            if step.question in ("", asked.text) and who in ("", asked.who) and step.via in ("", asked.via)
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
