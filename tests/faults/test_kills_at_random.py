"""SIGKILL from outside at random times and points, many times in one journey: `--slow --kills 1000`."""

import contextlib
import random
import secrets
import shutil
from collections.abc import Iterator

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.kill_journey import INTAKES, OUTCOMES, STAGES, journey
from tests.faults.kill_life import Zygote
from tests.faults.kill_random import Reaper
from tests.faults.kill_tally import dice, tally
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("langgraph", "telegram")
FEW = 50


async def one(zygote: Zygote, database: Database, chance: random.Random) -> tuple[Findings, int]:
    """A journey with kills; what the audit found, and how many kills there were."""
    intake, outcome = chance.choice(INTAKES), chance.choice(OUTCOMES)
    reaper = Reaper(chance)
    async with journey(zygote, database, intake, outcome, begun=reaper.begun) as trip:
        try:
            for stage in STAGES:
                await trip.stage(stage)
        finally:
            reaper.rest()
        await trip.gateway.ask("arm", point="", kind="")
        kills = reaper.kills
        return await trip.finish(), kills


@contextlib.contextmanager
def fresh(database: Database, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database and a folder for one journey, gone after it."""
    folder = database.data_dir / secrets.token_hex(4)
    folder.mkdir()
    if database.dialect == "sqlite":
        yield Database("sqlite", folder)
    else:
        with request.getfixturevalue("postgres").database() as url:
            yield Database(url, folder)
    shutil.rmtree(folder)


@pytest.mark.slow
async def test_a_gateway_killed_at_random_loses_nothing_and_ends_what_it_began(
    zygote: Zygote, database: Database, request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("--kills", default=0) or FEW
    seed, chance = dice(request.config)
    sweep = tally(request.config, f"at random on {database.dialect} (--seed {seed})")
    while sweep.kills < wanted:
        with fresh(database, request) as place:
            found, kills = await one(zygote, place, chance)
        sweep.add(found, kills)
        assert not found, f"--seed {seed}, after {sweep.kills} kills: {found}"
