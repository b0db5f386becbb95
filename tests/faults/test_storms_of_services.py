"""Telegram, WhatsApp and mail fail at random, and the gateway comes and goes: `--slow --kills 1000`."""

import logging

import pytest

from tests.faults.kill_tally import dice, tally
from tests.faults.storm import FEW, MANY, Watch
from tests.faults.storm_services import struck
from tests.faults.storm_services_audit import audit
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("telegram", ["webhook", "polling"])
async def test_law_2_services_that_fail_in_all_their_ways_lose_no_answer_and_mix_up_none(
    request: pytest.FixtureRequest, database: Database, telegram: str, long: bool
) -> None:
    count = (request.config.getoption("--kills", default=0) or MANY) if long else FEW
    seed, chance = dice(request.config)
    watch = Watch()
    logging.getLogger().addHandler(watch)
    try:
        async with struck(database, chance, telegram) as here:
            await here.live(count)
            found = await audit(here)
            runs = len(here.runs)
    finally:
        logging.getLogger().removeHandler(watch)
    name = f"of storms at services, Telegram by {telegram}, {database.dialect}, {runs} runs (--seed {seed})"
    tally(request.config, name).add(found, count)
    assert not found, f"--seed {seed}: {found}"
    assert not watch.errors, f"--seed {seed}: {watch.errors}"
