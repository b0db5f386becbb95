"""SIGKILL at each system call of one answer on SQLite, from the first to the last of every thread.

strace kills the gateway as a thread enters its nth call that writes, syncs, sends or opens something, while
an answer is taken and all that follows from it is done: n goes from 1 up until the answer passes. The same
for a deadline, and for the first start, when there is nothing yet. The normal run takes a few of these,
`--slow` all.
What lies between two such calls leaves the same behind, but for SQLite's shared memory, which the next
connection rebuilds.
"""

import contextlib
import itertools
import secrets
import shutil
from pathlib import Path

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.kill_journey import STAGES, journey
from tests.faults.kill_life import Life, Zygote
from tests.faults.kill_strace import killing
from tests.faults.kill_tally import tally
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("langgraph", "telegram")
WRITER, LOOP = "store-write", "MainThread"
# Stage, intake and outcome of what is swept, and what it is.
SWEPT = {
    ("answer", "api", "answered"): "an answer by API that leads to the next question",
    ("answer", "telegram", "answered"): "an answer by Telegram that leads to the next question",
    ("answer", "form", "answered"): "an answer by form that leads to the next question",
    ("end", "api", "answered"): "the last answers, by API",
    ("end", "form", "expired"): "a deadline, and answers that come too late",
}


async def in_a_stage(
    zygote: Zygote, folder: Path, stage: str, intake: str, outcome: str, thread: str, nth: int
) -> tuple[bool, Findings]:
    """Whether the stage was killed at the thread's nth call, and what the audit found."""
    killed = False
    async with journey(zygote, Database("sqlite", folder), intake, outcome) as trip:
        for name in STAGES:
            life = trip.gateway.life
            threads = await life.order("threads")
            here = name == stage and thread in threads  # pools differ in size
            async with killing(threads[thread], nth) if here else contextlib.nullcontext():
                await trip.stage(name)
            if name == stage:
                killed = life.over.is_set()
        return killed, await trip.finish()


async def threads_of(zygote: Zygote, folder: Path) -> list[str]:
    """The threads that live when answers come."""
    async with journey(zygote, Database("sqlite", folder), "api", "answered") as trip:
        await trip.stage("open")
        await trip.stage("answer")
        return list(await trip.gateway.ask("threads"))


async def in_a_start(zygote: Zygote, folder: Path, nth: int) -> tuple[bool, Findings]:
    """The same for the main thread of the first start: the next one finds what it left."""
    lives: list[Life] = []
    async with contextlib.AsyncExitStack() as attached:

        async def begun(life: Life) -> None:
            lives.append(life)
            if len(lives) == 1:
                await attached.enter_async_context(killing(life.pid, nth))

        async with journey(zygote, Database("sqlite", folder), "api", "answered", begun) as trip:
            await attached.aclose()
            for stage in STAGES:
                await trip.stage(stage)
            return len(lives) > 1, await trip.finish()


@pytest.mark.parametrize(("thread", "nth"), [(WRITER, 2), (WRITER, 5), (LOOP, 3)])
async def test_an_answer_killed_at_one_of_its_system_calls_is_whole_afterwards(
    zygote: Zygote, tmp_path: Path, thread: str, nth: int
) -> None:
    killed, found = await in_a_stage(zygote, tmp_path, "answer", "api", "answered", thread, nth)
    assert killed
    assert not found, found


@pytest.mark.parametrize("nth", [3, 80])
async def test_a_first_start_killed_at_one_of_its_system_calls_is_made_up_for_by_the_next(
    zygote: Zygote, tmp_path: Path, nth: int
) -> None:
    killed, found = await in_a_start(zygote, tmp_path, nth)
    assert killed
    assert not found, found


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "intake", "outcome"), SWEPT)
async def test_an_answer_is_killed_at_every_system_call_of_every_thread(
    zygote: Zygote, tmp_path: Path, request: pytest.FixtureRequest, stage: str, intake: str, outcome: str
) -> None:
    sweep = tally(request.config, f"at every system call, {SWEPT[stage, intake, outcome]}")
    for thread in await threads_of(zygote, folder_in(tmp_path)):
        for nth in itertools.count(1):
            folder = folder_in(tmp_path)
            killed, found = await in_a_stage(zygote, folder, stage, intake, outcome, thread, nth)
            assert not found, f"{thread}, call {nth}: {found}"
            shutil.rmtree(folder)
            if not killed:
                break
            sweep.add(found)


@pytest.mark.slow
async def test_a_first_start_is_killed_at_every_system_call(
    zygote: Zygote, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    sweep = tally(request.config, "at every system call of the first start")
    for nth in itertools.count(1):
        folder = folder_in(tmp_path)
        killed, found = await in_a_start(zygote, folder, nth)
        assert not found, f"call {nth}: {found}"
        shutil.rmtree(folder)
        if not killed:
            break
        sweep.add(found)


def folder_in(parent: Path) -> Path:
    """A new one."""
    folder = parent / secrets.token_hex(4)
    folder.mkdir()
    return folder
