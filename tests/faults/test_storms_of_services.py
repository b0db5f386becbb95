"""Telegram, WhatsApp and mail fail at random, and the gateway comes and goes: `--slow --kills 1000`."""

import random

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.storm import judged
from tests.faults.storm_services import struck
from tests.faults.storm_services_audit import audit
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("telegram", "whatsapp", "email"), pytest.mark.either_database]


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("telegram", ["webhook", "polling"])
async def test_law_2_services_that_fail_in_all_their_ways_lose_no_answer_and_mix_up_none(
    request: pytest.FixtureRequest, database: Database, telegram: str, long: bool
) -> None:
    async def weather(chance: random.Random, count: int) -> tuple[Findings, int]:
        async with struck(database, chance, telegram) as here:
            await here.live(count)
            return await audit(here), len(here.runs)

    await judged(request, f"at services, Telegram by {telegram}, {database.dialect}", long, weather)
