"""Two and three gateway processes on one PostgreSQL do what one does."""

import pytest

from tests.replicas.fleet import Fleet
from tests.replicas.scenario import RUNS, deliveries, expected, journals, play

pytestmark = pytest.mark.needs_extra("telegram", "langgraph", "postgres")


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_the_same_scenario_has_the_same_deliveries_with_any_number_of_processes(
    replicas: Fleet, count: int
) -> None:
    await replicas.start(count)
    await play(replicas)
    assert await deliveries(replicas) == expected()
    assert {run: replicas.journal(run) for run in RUNS} == journals()
    assert replicas.conflicts == []
    assert replicas.end() == [0] * count


async def test_three_may_start_at_the_same_moment_on_an_empty_database(beginners: Fleet) -> None:
    await beginners.start(3)
    for replica in beginners.replicas:
        assert await beginners.get(replica, "/v1/runs") == {"items": [], "next": None}
    assert beginners.end() == [0, 0, 0]
