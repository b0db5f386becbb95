"""Migrations keep what is there, one by one and back again, on both databases."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import BigInteger, Connection, Engine, Integer, LargeBinary, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from answerback import migrations
from answerback.errors import ConfigurationError
from answerback.store import choose
from answerback.tables import metadata
from tests.support.databases import Database, put_tables

SCRIPTS = str(Path(migrations.__file__).parent)
FIRST, *LATER = [one.revision for one in reversed([*ScriptDirectory(SCRIPTS).walk_revisions()])]
ROWS = 3
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    engine = create_engine(choose(database.url, str(database.data_dir)).url)
    yield engine
    engine.dispose()


def to(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", SCRIPTS)
        config.attributes["connection"] = connection
        down = revision < (migrations.revisions(engine.url.render_as_string(hide_password=False))[0] or "")
        (command.downgrade if down else command.upgrade)(config, revision)


def fill(engine: Engine) -> None:
    """Some rows in every table as it stands, all values different."""
    with engine.begin() as connection:
        for name in tables(connection):
            columns = inspect(connection).get_columns(name)
            names = ", ".join(f'"{column["name"]}"' for column in columns)
            places = ", ".join(f":{column['name']}" for column in columns)
            insert = text(f'INSERT INTO "{name}" ({names}) VALUES ({places})')  # noqa: S608 - the tables' names
            for number in range(ROWS):
                connection.execute(insert, {column["name"]: value(column, number) for column in columns})


def value(column: Any, number: int) -> object:
    if isinstance(column["type"], BigInteger | Integer):
        return 10 * len(column["name"]) + number
    if isinstance(column["type"], LargeBinary):
        return bytes([0, 255, number])
    return f"{column['name']} {ROWS - number}"


def rows(engine: Engine) -> Rows:
    with engine.begin() as connection:
        found = {
            name: connection.execute(text(f'SELECT * FROM "{name}"'))  # noqa: S608 - the tables' names
            for name in tables(connection)
        }
        return {name: in_order(map(dict, each.mappings())) for name, each in found.items()}


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whatever the order of rows and columns is."""
    return sorted(rows, key=lambda row: repr(sorted(row.items())))


def tables(connection: Connection) -> list[str]:
    return [name for name in inspect(connection).get_table_names() if name != "alembic_version"]


def shape(engine: Engine) -> dict[str, Any]:
    """Keys, indexes and columns of every table, in no order of theirs."""
    with engine.begin() as connection:
        found = inspect(connection)
        return {
            name: (
                found.get_pk_constraint(name)["constrained_columns"],
                sorted(
                    (index["name"] or "", index["column_names"], bool(index["unique"]))
                    for index in found.get_indexes(name)
                ),
                sorted((column["name"], str(column["type"])) for column in found.get_columns(name)),
            )
            for name in tables(connection)
        }


@pytest.mark.parametrize("revision", LATER)
def test_a_step_keeps_every_row_and_can_be_taken_back(engine: Engine, revision: str) -> None:
    before = f"{int(revision) - 1:04d}"
    to(engine, before)
    fill(engine)
    was, looked = rows(engine), shape(engine)
    to(engine, revision)
    now = rows(engine)
    for name, kept in was.items():
        assert in_order({column: row[column] for column in kept[0]} for row in now[name]) == kept
    to(engine, before)
    assert rows(engine) == was
    assert shape(engine) == looked


IN_THE_WAY = {"sqlite": 'CREATE TABLE "reply_new" (id TEXT)', "postgresql": 'DROP INDEX "reply_event"'}


def test_a_step_that_fails_half_way_leaves_the_database_as_it_was(database: Database, engine: Engine) -> None:
    to(engine, "0003")
    with engine.begin() as connection:
        connection.execute(text(IN_THE_WAY[database.dialect]))
    fill(engine)
    was, looked = rows(engine), shape(engine)
    with pytest.raises(DBAPIError):
        migrations.upgrade(choose(database.url, str(database.data_dir)).url)
    assert (rows(engine), shape(engine)) == (was, looked)


def test_a_database_of_a_newer_version_is_refused_in_words_and_left_as_it_is(
    database: Database, engine: Engine
) -> None:
    fill(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    was = rows(engine)
    with pytest.raises(ConfigurationError, match=r"newer version of answerback \(revision 9999; .*backup"):
        migrations.upgrade(choose(database.url, str(database.data_dir)).url)
    assert rows(engine) == was
    with engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"


WHILE_IT_IS_CHANGED = {
    "sqlite": "BEGIN IMMEDIATE",
    "postgresql": f"SELECT pg_advisory_xact_lock({migrations.LOCK})",
}


def test_where_nothing_is_to_be_done_nobody_is_waited_for(database: Database, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(WHILE_IT_IS_CHANGED[database.dialect])
        assert migrations.upgrade(choose(database.url, str(database.data_dir)).url) == LATER[-1]


def test_whatever_the_way_there_the_tables_look_the_same(engine: Engine) -> None:
    newest = shape(engine)
    to(engine, FIRST)
    to(engine, LATER[-1])
    assert shape(engine) == newest
    assert newest.keys() == metadata.tables.keys()


def test_sqlite_keeps_small_rows_in_the_tree_of_their_key(tmp_path: Path) -> None:
    put_tables(tmp_path)
    engine = create_engine(f"sqlite:///{tmp_path / 'answerback.db'}")
    with engine.connect() as connection:
        found = connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'"))
        assert {*found.scalars()} == {"answer", "audit", "message", "pace", "thread_lease"}
    engine.dispose()
