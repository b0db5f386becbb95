"""Things break at random around gateways that live on, while a town is busy: `--slow --kills 1000`."""

import logging
from collections.abc import Sequence

import pytest

from tests.faults.ailments import AILMENTS
from tests.faults.kill_tally import dice, tally
from tests.faults.sessions import made
from tests.faults.storm_audit import audit
from tests.faults.storm_strikes import Sessions, Strike, of, storm, worker_frozen, worker_killed
from tests.faults.storm_town import town
from tests.support.databases import Database
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")
FEW, MANY = 6, 60
LONG = pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])


class Watch(logging.Handler):
    """What the gateways log as an error: nothing here is one of theirs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(self.format(record))


async def weather(
    request: pytest.FixtureRequest, database: Database, gateways: int, strikes: Sequence[Strike], long: bool
) -> None:
    """A storm of these strikes, and everything that must be true after it."""
    count = (request.config.getoption("--kills", default=0) or MANY) if long else FEW
    seed, chance = dice(request.config)
    watch = Watch()
    logging.getLogger().addHandler(watch)
    try:
        async with town(database, gateways, chance) as here:
            await here.live(storm(here, strikes, count, chance))
            found = await audit(here)
            runs = len(here.runs)
    finally:
        logging.getLogger().removeHandler(watch)
    name = f"of storms around {gateways} on {database.dialect}, {runs} runs (--seed {seed})"
    tally(request.config, name).add(found, count)
    assert not found, f"--seed {seed}: {found}"
    assert not watch.errors, f"--seed {seed}: {watch.errors}"


@LONG
@pytest.mark.parametrize("gateways", [1, 2])
async def test_law_3_a_server_that_comes_and_goes_under_load_makes_no_gateway_forget(
    request: pytest.FixtureRequest, own_server: PostgresServer, tmp_path, gateways: int, long: bool
) -> None:
    place = Database(made(own_server, "town"), tmp_path)
    at = Sessions(own_server, "town")
    ill = [of(AILMENTS["postgresql"][name]) for name in ("gone", "read-only", "locked")]
    await weather(request, place, gateways, [at.ended, at.killed, at.frozen, *ill], long)


@LONG
async def test_law_3_a_disk_that_is_full_locked_or_read_only_now_and_then_makes_no_gateway_forget(
    request: pytest.FixtureRequest, tmp_path, long: bool
) -> None:
    strikes = [of(ailment) for ailment in AILMENTS["sqlite"].values()]
    await weather(request, Database("sqlite", tmp_path), 1, strikes, long)


@LONG
async def test_law_1_workers_that_are_killed_or_frozen_at_random_give_each_answer_to_its_own_step(
    request: pytest.FixtureRequest, database: Database, long: bool
) -> None:
    await weather(request, database, 1, [worker_killed, worker_frozen], long)
