"""The kill sweeps' options, what their tests share, and the lines that say what they came to."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.faults.kill_tally import TALLIES

if TYPE_CHECKING:
    from tests.faults.kill_life import Zygote
    from tests.support.postgres import PostgresServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=0, help="how often to kill a gateway at random")
    parser.addoption("--seed", type=int, default=None, help="of the random kills: to repeat an earlier run")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name, tally in sorted(config.stash.get(TALLIES, {}).items()):
        terminalreporter.write_line(tally.line(name))


@pytest.fixture(scope="session")
def zygote() -> "Iterator[Zygote]":
    """The preloaded process that forks gateways."""
    from tests.faults.kill_life import Zygote

    started = Zygote()
    yield started
    started.close()


@pytest.fixture
def own_server() -> "Iterator[PostgresServer]":
    """A PostgreSQL server that this test may strike: the others keep theirs."""
    from tests.support.postgres import running_postgres

    with running_postgres() as running:
        yield running
