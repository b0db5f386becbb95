"""A storm from its first strike to what is found afterwards."""

import logging
import random
from collections.abc import Awaitable, Callable, Sequence

import pytest

from answerback.agent import Agent
from tests.faults.kill_audit import Findings
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


Weather = Callable[[random.Random, int], Awaitable[tuple[Findings, int]]]
"""Lets so many strikes fall by these dice: what is found afterwards, and how many runs there were."""


async def judged(request: pytest.FixtureRequest, name: str, long: bool, weather: Weather) -> None:
    """A storm, and that nothing is found after it and no gateway has logged an error."""
    count = (request.config.getoption("--kills", default=0) or MANY) if long else FEW
    seed, chance = dice(request.config)
    watch = Watch()
    logging.getLogger().addHandler(watch)
    try:
        found, runs = await weather(chance, count)
    finally:
        logging.getLogger().removeHandler(watch)
    tally(request.config, f"of storms {name}, {runs} runs (--seed {seed})").add(found, count)
    assert not found, f"--seed {seed}: {found}"
    assert not watch.errors, f"--seed {seed}: {watch.errors}"


async def storm(
    request: pytest.FixtureRequest,
    database: Database,
    gateways: int,
    strikes: Sequence[Strike],
    long: bool,
    agent: Callable[[Database], Agent] = on_langgraph,
) -> None:
    """A storm of these strikes over a town, and everything that must be true after it."""

    async def weather(chance: random.Random, count: int) -> tuple[Findings, int]:
        async with town(database, gateways, chance, agent) as here:
            await here.live(strike_all(here, strikes, count, chance))
            return await audit(here), len(here.runs)

    await judged(request, f"around {gateways} on {database.dialect}", long, weather)
