"""Things break at random around gateways that live on, while a town is busy: `--slow --kills 1000`."""

import pytest

from tests.faults.ailments import AILMENTS
from tests.faults.sessions import made
from tests.faults.storm import storm
from tests.faults.storm_strikes import Sessions, of, worker_frozen, worker_killed
from tests.support.databases import Database
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")
LONG = pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])


@LONG
@pytest.mark.parametrize("gateways", [1, 2])
async def test_law_3_a_server_that_comes_and_goes_under_load_makes_no_gateway_forget(
    request: pytest.FixtureRequest, own_server: PostgresServer, tmp_path, gateways: int, long: bool
) -> None:
    place = Database(made(own_server, "town"), tmp_path)
    at = Sessions(own_server, "town")
    ill = [of(AILMENTS["postgresql"][name]) for name in ("gone", "read-only", "locked")]
    await storm(request, place, gateways, [at.ended, at.killed, at.frozen, *ill], long)


@LONG
async def test_law_3_a_disk_that_is_full_locked_or_read_only_now_and_then_makes_no_gateway_forget(
    request: pytest.FixtureRequest, tmp_path, long: bool
) -> None:
    strikes = [of(ailment) for ailment in AILMENTS["sqlite"].values()]
    await storm(request, Database("sqlite", tmp_path), 1, strikes, long)


@LONG
async def test_law_1_workers_that_are_killed_or_frozen_at_random_give_each_answer_to_its_own_step(
    request: pytest.FixtureRequest, database: Database, long: bool
) -> None:
    await storm(request, database, 1, [worker_killed, worker_frozen], long)
