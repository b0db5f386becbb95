"""The PostgreSQL server is struck at random under a gateway that lives on: `--slow --kills 1000`.

A session that is killed takes all others with it: the server ends them and recovers what was committed.
"""

import asyncio
import contextlib
import os
import random
import signal
from pathlib import Path

import pytest

from tests.faults.kill_journey import INTAKES, OUTCOMES, STAGES, journey
from tests.faults.kill_life import Zygote
from tests.faults.kill_tally import dice, tally
from tests.faults.sessions import made, sessions
from tests.support.databases import Database
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.needs_extra("langgraph", "postgres", "telegram")
FEW, MANY = 6, 60
A_JOURNEY = 6  # strikes at most, so that journeys come to their end
PAUSE = 0.5  # seconds between two strikes at most: about as long as the way to the next answer takes


class Reaper:
    """Strikes sessions of a database: one of them is told to end, or killed, which ends all."""

    def __init__(self, server: PostgresServer, database: str, chance: random.Random) -> None:
        self._server, self._database, self._chance = server, database, chance
        self.strikes = 0

    async def work(self) -> None:
        while self.strikes < A_JOURNEY:
            await asyncio.sleep(self._chance.uniform(0, PAUSE))
            self.strikes += self._strike()

    def _strike(self) -> bool:
        found = sessions(self._server, self._database)
        if not found:
            return False
        with contextlib.suppress(ProcessLookupError):
            how = self._chance.choice([signal.SIGTERM, signal.SIGKILL])
            os.kill(self._chance.choice(found), how)
        return True


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_law_3_a_server_that_is_struck_at_random_loses_nothing_and_the_gateway_is_not_restarted(
    zygote: Zygote, own_server: PostgresServer, request: pytest.FixtureRequest, tmp_path: Path, long: bool
) -> None:
    wanted = (request.config.getoption("--kills", default=0) or MANY) if long else FEW
    seed, chance = dice(request.config)
    sweep = tally(request.config, f"of PostgreSQL's sessions (--seed {seed})")
    for number in range(wanted):
        name, folder = f"journey_{number}", tmp_path / f"{number}"
        folder.mkdir()
        place = Database(made(own_server, name), folder)
        async with journey(zygote, place, chance.choice(INTAKES), chance.choice(OUTCOMES)) as trip:
            reaper = Reaper(own_server, name, chance)
            working = asyncio.create_task(reaper.work())
            first = trip.gateway.life
            try:
                for stage in STAGES:
                    await trip.stage(stage)
            finally:
                working.cancel()
            await trip.gateway.settle()  # what it was struck with last is over
            assert trip.gateway.life is first, f"--seed {seed}: the gateway had to be started again"
            found = await trip.finish()
        sweep.add(found, reaper.strikes)
        assert not found, f"--seed {seed}, after {sweep.kills} strikes: {found}"
        if sweep.kills >= wanted:
            break
