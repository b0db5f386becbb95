"""A standby without the last transactions takes over again and again: `--slow --kills 300`."""

import random
from pathlib import Path

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.storm import judged
from tests.faults.storm_takeovers import audit, lagging
from tests.support.databases import Database
from tests.support.replicated import Replicated

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_law_1_what_a_takeover_loses_makes_nothing_else_wrong(
    request: pytest.FixtureRequest, replicated: Replicated, postgres_url: str, tmp_path: Path, long: bool
) -> None:
    async def weather(chance: random.Random, count: int) -> tuple[Findings, int]:
        async with lagging(Database(postgres_url, tmp_path), replicated, chance) as here:
            runs = await here.live(count)
            return await audit(here), runs

    await judged(request, "of takeovers", long, weather)
