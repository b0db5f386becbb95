"""One of several gateways is killed, or stopped past its leases and continued: the others do what it did."""

import contextlib
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from answerback.gates import AT_ONCE
from tests.replicas.fleet import Fleet, Replica, until
from tests.replicas.scenario import RUNS, Delivery, deliveries, expected, journals, play

pytestmark = pytest.mark.needs_extra("telegram", "langgraph", "postgres")
# The run's first answer is handed over once more: a lease taken by the other one has another fence.
LOST = "SELECT 1 FROM interaction WHERE resume_attempts > 1"


async def reader(fleet: Fleet) -> Replica:
    found = await fleet.reader()
    assert found is not None
    return found


def copies(found: Counter[Delivery], wanted: Counter[Delivery]) -> Counter[Delivery]:
    """What was sent a second time: questions, and to each copy how it ended."""
    twice = found - wanted
    asked, told = ({each[1:] for each in twice if each[0] == kind} for kind in ("question", "outcome"))
    assert asked == told
    assert {*twice.values()} <= {1}
    return twice


async def test_one_killed_in_the_middle_changes_no_delivery_and_loses_no_answer(replicas: Fleet) -> None:
    await replicas.start(3)

    async def kill_the_reader() -> None:
        killed = await reader(replicas)
        replicas.kill(killed)
        await replicas.unread(killed)

    await play(replicas, kill_the_reader)
    found = await deliveries(replicas)
    # What was sent as its sender died, and answered before anybody sent it again, is known to nobody as sent.
    unheard = [each for each in found if each[0] == "question" and each[-1] == "failed"]
    lost = Counter((kind, *each[1:4], "sent") for each in unheard for kind in ("question", "outcome"))
    # What was sent again before that, and answered where it had been sent first, is two copies (law 12).
    twice = copies(found - Counter(unheard), expected() - lost)
    assert found == expected() - lost + Counter(unheard) + twice
    assert len(unheard) + twice.total() // 2 <= AT_ONCE
    # A step that its process died in runs again, with the same answer (law 12).
    told = {run: sorted({*replicas.journal(run)}) for run in RUNS}
    assert told == journals()
    assert replicas.conflicts == []


async def test_one_stopped_in_the_middle_and_continued_changes_no_delivery_and_no_answer(
    replicas: Fleet,
) -> None:
    await replicas.start(3)
    tokens: set[str] = set()

    async def stop_the_reader() -> None:
        stopped = await reader(replicas)
        tokens.add(stopped.token)
        stopped.stop()
        await replicas.unread(stopped)
        await replicas.age(70)
        stopped.go_on()

    await play(replicas, stop_the_reader)
    found = await deliveries(replicas)
    # What it was just sending as it was stopped, and another has sent meanwhile, is two copies (law 12).
    twice = copies(found, expected())
    assert found == expected() + twice
    assert twice.total() // 2 <= AT_ONCE
    assert {run: replicas.journal(run) for run in RUNS} == journals()
    # The call that it had begun as it was stopped is all that may stand beside the next reader's.
    assert [poll for poll in replicas.conflicts if tokens.isdisjoint((poll.reader, *poll.beside))] == []
    assert len([poll for poll in replicas.conflicts if poll.reader in tokens]) <= 1
    assert replicas.end() == [0, 0, 0]


async def resuming(fleet: Fleet, replica: Replica) -> Any:
    """A run whose first answer was just given to its step, which this replica runs and a gate holds up."""
    (fleet.folder / "run.gate").touch()
    given = {"folder": str(fleet.folder), "run": "run"}
    run = await fleet.post(replica, "/v1/runs", agent="graph", input=given, ask=["p1"])
    await fleet.settle(lambda: fleet.box.received(2001))
    [interaction] = (await fleet.get(replica, f"/v1/runs/{run['id']}"))["interactions"]
    await fleet.post(replica, f"/v1/interactions/{interaction}/respond", response="Yes")
    await until(lambda: fleet.journal("run") == ["first Yes"])
    return run["id"]


async def ends_well(fleet: Fleet, replica: Replica, run: str) -> None:
    """The second question is asked once and answered at this replica, and then the run is done."""
    await fleet.settle(lambda: len(fleet.box.received(2001)) == 2)
    interaction = (await fleet.get(replica, f"/v1/runs/{run}"))["interactions"][-1]
    await fleet.post(replica, f"/v1/interactions/{interaction}/respond", response="No")
    await fleet.settle(lambda: fleet.all("SELECT 1 FROM run WHERE status = 'completed'"))
    found = await fleet.get(replica, f"/v1/runs/{run}")
    assert found["result"]["heard"] == ["Yes", "No"]
    assert (await deliveries(fleet)).most_common(1)[0][1] == 1


def was_refused(fleet: Fleet, replica: Replica) -> bool:
    """Whether it has noticed, when it wanted to write down the end of its step, that its lease was lost."""
    return "the lease of a thread was lost" in Path(fleet.folder, replica.name, "log").read_text()


async def test_the_late_write_of_one_that_was_stopped_in_a_resume_is_refused_and_nothing_is_resumed_twice(
    replicas: Fleet,
) -> None:
    await replicas.start(2)
    stopped = replicas[0]
    run = await resuming(replicas, stopped)
    stopped.stop()
    await replicas.age(40)
    await replicas.settle(lambda: replicas.all(LOST))
    assert replicas.journal("run") == ["first Yes"]  # it still holds PostgreSQL's lock: nobody runs beside it
    (replicas.folder / "run.gate").unlink()
    stopped.go_on()
    await until(lambda: was_refused(replicas, stopped))
    await ends_well(replicas, stopped, run)
    assert replicas.journal("run") == ["first Yes", "second No"]
    assert replicas.end() == [0, 0]


async def test_while_one_is_stopped_another_goes_on_with_what_its_worker_has_done(replicas: Fleet) -> None:
    await replicas.start(2, workers=True)
    stopped = replicas[0]
    run = await resuming(replicas, stopped)
    stopped.stop()
    (replicas.folder / "run.gate").unlink()  # the worker is a process of its own: it ends its step
    await replicas.age(40)
    await replicas.settle(lambda: len(replicas.box.received(2001)) == 2)
    stopped.go_on()
    await until(lambda: was_refused(replicas, stopped))
    await ends_well(replicas, stopped, run)
    assert replicas.journal("run") == ["first Yes", "second No"]
    assert replicas.end() == [0, 0]


async def test_what_one_that_was_killed_in_a_resume_had_begun_is_begun_again_with_the_same_answer(
    replicas: Fleet,
) -> None:
    await replicas.start(2)
    killed, other = replicas.replicas
    run = await resuming(replicas, killed)
    replicas.kill(killed)
    (replicas.folder / "run.gate").unlink()
    await ends_well(replicas, other, run)
    assert replicas.journal("run") == ["first Yes", "first Yes", "second No"]


SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


async def sessions(fleet: Fleet) -> set[int]:
    """Those that PostgreSQL has with replicas and their workers."""
    return {pid for (pid,) in await fleet.all(SESSIONS)}


@contextlib.asynccontextmanager
async def standing_still(fleet: Fleet, replica: Replica, its: set[int]) -> AsyncIterator[None]:
    """A machine that goes on later, when PostgreSQL has long given up its connections."""
    workers = [
        int(pid) for pid in Path(f"/proc/{replica.pid}/task/{replica.pid}/children").read_text().split()
    ]
    replica.stop()
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    await fleet.all("SELECT pg_terminate_backend(pid, 10000) FROM unnest(%s::int[]) AS pid", [*its])
    try:
        yield
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
        replica.go_on()


@pytest.mark.parametrize("workers", [False, True])
async def test_law_1_what_a_machine_that_stood_still_does_later_leads_nowhere_where_another_went_on(
    replicas: Fleet, workers: bool
) -> None:
    await replicas.start(1, workers=workers)
    first = await sessions(replicas)
    await replicas.start(1, workers=workers)
    others = await sessions(replicas) - first
    still, other = replicas.replicas
    run = await resuming(replicas, still)
    async with standing_still(replicas, still, await sessions(replicas) - others):
        (replicas.folder / "run.gate").unlink()
        await ends_well(replicas, other, run)
    assert replicas.journal("run") == ["first Yes", "first Yes", "second No"]
    # Now it ends its step as well; whoever uses the thread next finds it as the other one has left it.
    thread = (await replicas.get(still, f"/v1/runs/{run}"))["thread_id"]
    given = {"folder": str(replicas.folder), "run": "next"}
    await replicas.post(still, "/v1/runs", agent="graph", input=given, thread_id=thread, ask=["p1"])
    await replicas.settle(lambda: len(replicas.box.received(2001)) == 4)
    assert "First of next?" in replicas.box.received(2001)[-1].text
    assert replicas.end() == [0, 0]
