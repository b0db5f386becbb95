"""One process reads a polled provider at any time, and what one does wakes those who wait at the others."""

import asyncio
from itertools import groupby

import pytest

from tests.replicas.fleet import Fleet, Replica

pytestmark = pytest.mark.needs_extra("telegram", "langgraph", "postgres")


async def test_one_process_at_a_time_reads_and_another_begins_when_it_has_died(replicas: Fleet) -> None:
    await replicas.start(3)
    for _ in range(2):
        died = await reading(replicas)
        replicas.kill(died)
        await replicas.unread(died)
        await typed_and_heard(replicas)
    assert replicas.conflicts == []
    assert len([reader for reader, _ in groupby(poll.reader for poll in replicas.polls)]) == 3


async def reading(fleet: Fleet) -> Replica:
    """The replica that reads: its calls follow each other, and no other one's comes between."""
    await fleet.settle(lambda: any(fleet.is_reading(replica) for replica in fleet.running))
    seen = len(fleet.polls)
    await fleet.settle(lambda: len(fleet.polls) > seen)
    [reader] = {poll.reader for poll in fleet.polls[seen - 1 :]}
    return next(replica for replica in fleet.replicas if replica.token == reader)


async def typed_and_heard(fleet: Fleet) -> None:
    """What a person writes meanwhile is not lost: whoever reads next answers it."""
    before = len(fleet.box.received(2001))
    fleet.box.type(2001, "help")
    await fleet.settle(lambda: len(fleet.box.received(2001)) > before)


async def test_an_answer_taken_by_one_process_wakes_who_waits_at_the_others(replicas: Fleet) -> None:
    await replicas.start(3)
    first, *others = replicas.replicas
    asked = await replicas.post(first, "/v1/interactions", question="Which?", ask=["p1"])
    path = f"/v1/interactions/{asked['id']}"
    # Without a wake-up they would hear of it in an hour: see look_again of the replicas.
    waiting = [asyncio.create_task(replicas.get(other, f"{path}/wait?timeout=120")) for other in others]
    for _ in range(5):
        assert [(await replicas.get(other, path))["status"] for other in others] == ["pending"] * 2
    await replicas.post(first, f"{path}/respond", response="here")
    heard = await asyncio.wait_for(asyncio.gather(*waiting), 30)
    assert [(record["status"], record["answer"]["text"]) for record in heard] == [("completed", "here")] * 2
