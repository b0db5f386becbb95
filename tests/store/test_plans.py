"""What SQLite reads for each statement of the store: no table from end to end, but where that is meant."""

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerback import migrations, store
from answerback.store.query import Either, Query
from tests.store.test_engine import Explained

SMALL = {"contact", "address", "link", "meta"}  # they grow with people, not with what is asked of them
SCAN = re.compile(r"SCAN (?P<name>\w+)(?: USING (?:COVERING )?INDEX (?P<index>\w+))?")
WHOLE = {
    "due.NEXT": "only the newest entry of the audit",
    "erasing.MESSAGES_OF": "somebody has one question erased",
    "erasing.EVENTS_OF": "somebody has one question erased",
    "leases.FREE_ALL": "once, at the start",
    "leases.LAST_UNTIL": "once, when the database's time was put back",
    "pace.BEGIN_ANEW": "once, when the database's time was put back",
    "personal.NEWER": "somebody is erased",
    "personal.OPEN[4]": "somebody is erased",
    "personal.OPEN[5]": "somebody is erased",
    "replies.ABOUT": "somebody looks at the history of one question",
    "restored.NEWEST": "only the newest entry",
    "runs.WORKING_FOR": "only the newest runs: the scan ends after `LOOKED_AT`",
    "waiting.LAST_ANSWER": "only the newest questions: the scan ends after `LOOKED_AT`",
}
ONLY_POSTGRESQL = {"feed.FOREIGN[0]", "feed.FOREIGN[1]"}


def _in(found: object, name: str) -> Iterator[tuple[str, Query | Either]]:
    if isinstance(found, Query | Either):
        yield name, found
    elif isinstance(found, dict | list | tuple):
        each = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in each:
            yield from _in(value, f"{name}[{key}]")


def statements() -> dict[str, Query | Either]:
    """All that the modules of the store declare, by where they stand first."""
    known: dict[int, tuple[str, Query | Either]] = {}
    for module in pkgutil.iter_modules(store.__path__):
        for name, value in vars(importlib.import_module(f"{store.__name__}.{module.name}")).items():
            for path, query in _in(value, f"{module.name}.{name}"):
                known.setdefault(id(query), (path, query))
    return {path: query for path, query in known.values() if path not in ONLY_POSTGRESQL}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "answerback.db"
    migrations.upgrade(f"sqlite:///{path}")
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def read_whole(database: sqlite3.Connection, query: Query | Either) -> set[str]:
    """The tables that a statement reads from end to end. An index of a part of a table is none of it."""
    indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'"
    partial = {name for (name,) in database.execute(indexes)}
    text = Explained(query).on("sqlite").text
    rows = database.execute(text, [1] * text.count("?")).fetchall()
    plan = [row[-1] for row in rows]
    derived = {step.split()[1] for step in plan if step.startswith(("CO-ROUTINE", "MATERIALIZE"))}
    scans = [found for step in plan if (found := SCAN.match(step)) and step != "SCAN CONSTANT ROW"]
    return {
        scan["name"] for scan in scans if scan["name"] not in derived | SMALL and scan["index"] not in partial
    }


def test_no_table_is_read_from_end_to_end_but_where_that_is_meant(database: sqlite3.Connection) -> None:
    known = statements()
    assert len(known) > 200, "the statements were not found"
    assert {name for name, query in known.items() if read_whole(database, query)} == set(WHOLE)
