"""A storm from its first strike to what is found afterwards."""

import logging
from collections.abc import Callable, Sequence

import pytest

from answerback.agent import Agent
from tests.faults.kill_tally import dice, tally
from tests.faults.storm_audit import audit
from tests.faults.storm_strikes import Strike, strike_all
from tests.faults.storm_town import on_langgraph, town
from tests.support.databases import Database

FEW, MANY = 6, 60


class Watch(logging.Handler):
    """What the gateways log as an error: nothing here is one of theirs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(self.format(record))


async def storm(
    request: pytest.FixtureRequest,
    database: Database,
    gateways: int,
    strikes: Sequence[Strike],
    long: bool,
    agent: Callable[[Database], Agent] = on_langgraph,
) -> None:
    """A storm of these strikes, and everything that must be true after it."""
    count = (request.config.getoption("--kills", default=0) or MANY) if long else FEW
    seed, chance = dice(request.config)
    watch = Watch()
    logging.getLogger().addHandler(watch)
    try:
        async with town(database, gateways, chance, agent) as here:
            await here.live(strike_all(here, strikes, count, chance))
            found = await audit(here)
            runs = len(here.runs)
    finally:
        logging.getLogger().removeHandler(watch)
    name = f"of storms around {gateways} on {database.dialect}, {runs} runs (--seed {seed})"
    tally(request.config, name).add(found, count)
    assert not found, f"--seed {seed}: {found}"
    assert not watch.errors, f"--seed {seed}: {watch.errors}"
