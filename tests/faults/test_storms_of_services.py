"""Telegram, WhatsApp and mail fail at random, and the gateway comes and goes: `--slow --kills 1000`."""

import random
from pathlib import Path

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.storm import judged
from tests.faults.storm_services import struck
from tests.faults.storm_services_audit import audit
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email")


LONG = pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
TELEGRAM = pytest.mark.parametrize("telegram", ["webhook", "polling"])


@LONG
@TELEGRAM
async def test_law_2_services_that_fail_in_all_their_ways_lose_no_answer_and_mix_up_none(
    request: pytest.FixtureRequest, database: Database, telegram: str, long: bool
) -> None:
    await _storm(request, database, telegram, 1, long)


@LONG
@TELEGRAM
async def test_law_2_nor_do_they_before_two_gateways_on_one_database(
    request: pytest.FixtureRequest, postgres_url: str, tmp_path: Path, telegram: str, long: bool
) -> None:
    await _storm(request, Database(postgres_url, tmp_path), telegram, 2, long)


async def _storm(
    request: pytest.FixtureRequest, database: Database, telegram: str, gateways: int, long: bool
) -> None:
    async def weather(chance: random.Random, count: int) -> tuple[Findings, int]:
        async with struck(database, chance, telegram, gateways) as here:
            await here.live(count)
            return await audit(here), len(here.runs)

    name = f"at services of {gateways}, Telegram by {telegram}, {database.dialect}"
    await judged(request, name, long, weather)
