"""A backup of a SQLite installation: whole, of one moment, and good to go on with."""

import asyncio
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from answerback.ask import AskRequest
from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.model import InteractionStatus
from answerback.store.copying import copy
from answerback.testing import asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, assert_audited, gateway


@pytest.fixture
def here(tmp_path: Path) -> Database:
    (tmp_path / "data").mkdir()
    return Database("sqlite", tmp_path / "data")


async def ask(g: Gateway, text: str) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text),)))
    return asked.interaction.id


async def test_a_gateway_goes_on_with_the_copy_as_with_the_original(here: Database, tmp_path: Path) -> None:
    async with gateway(here) as g:
        answered, open_ = await ask(g, "First?"), await ask(g, "Second?")
        await g.app.receiver.respond(answered, "one", by="alice", via="api")
        await g.app.idle()
        copied = await asyncio.to_thread(copy, str(here.data_dir), tmp_path / "backup")
        after = await ask(g, "Third?")
    assert copied[0] == "answerback.db" and "secret" in copied
    async with gateway(Database("sqlite", tmp_path / "backup")) as g:
        assert (await g.app.reader.interaction(answered)).answer.text == "one"
        assert (await g.app.receiver.respond(open_, "two", by="alice", via="api")).answer.text == "two"
        known = await g.app.reader.interactions()
        assert after not in {record.id for record in known.items}


async def test_while_answers_are_taken_a_copy_has_all_of_each_or_nothing(
    here: Database, tmp_path: Path
) -> None:
    async with gateway(here) as g:
        ids = [await ask(g, f"Question {number}?") for number in range(60)]

        async def answers() -> None:
            for id in ids:
                await g.app.receiver.respond(id, "yes", by="alice", via="api")

        answering = asyncio.create_task(answers())
        folders = [tmp_path / f"backup{number}" for number in range(5)]
        for folder in folders:
            await asyncio.to_thread(copy, str(here.data_dir), folder)
        await answering
        await g.app.idle()
    for folder in folders:
        async with gateway(Database("sqlite", folder)) as g:
            records = [await g.app.reader.interaction(id) for id in ids]
            done = [record.status is InteractionStatus.COMPLETED for record in records]
            assert done == sorted(done, reverse=True), "they were answered in this order"
            await assert_audited(g.app)


def database(file: Path, *values: int) -> sqlite3.Connection:
    """A database as LangGraph's saver has it: in WAL mode, and open."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (x)")
    connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    return connection


def values_in(file: Path) -> list[int]:
    with closing(sqlite3.connect(file)) as connection:
        return [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]


def test_every_database_is_copied_with_what_is_only_in_its_log_so_far(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "agents").mkdir(parents=True)
    (data / "lock").touch()
    with (
        closing(database(data / "answerback.db", 0, 1)),
        closing(database(data / "agents" / "mine.db", 2)),
    ):
        assert (data / "answerback.db-wal").stat().st_size > 0
        copied = copy(str(data), tmp_path / "backup")
    assert copied == ["answerback.db", "agents/mine.db"], "no log, no lock"
    assert [values_in(tmp_path / "backup" / name) for name in copied] == [[0, 1], [2]]


def test_the_copy_is_as_private_as_the_original(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "backup"
    data.mkdir()
    with closing(database(data / "answerback.db", 1)):
        for name in ("answerback.db", "secret"):
            (data / name).touch()
            (data / name).chmod(0o600)
        copy(str(data), folder)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes == {"backup": 0o700, "answerback.db": 0o600, "secret": 0o600}


def test_no_backup_is_overwritten(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "backup"
    data.mkdir()
    database(data / "answerback.db", 1).close()
    copy(str(data), folder)
    with pytest.raises(ConfigurationError, match="is not empty"):
        copy(str(data), folder)
    assert values_in(folder / "answerback.db") == [1]


def test_what_cannot_be_backed_up_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="There is no database in"):
        copy(str(tmp_path), tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    data = tmp_path / "data"
    data.mkdir()
    database(data / "answerback.db", 1).close()
    with pytest.raises(ConfigurationError, match="is in data_dir itself"):
        copy(str(data), data / "backup")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot be used"):
        copy(str(data), tmp_path / "file")


def test_a_damaged_database_gives_no_backup_that_looks_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = data / "answerback.db"
    database(file, *range(5000)).close()
    page = bytearray(file.read_bytes())
    page[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    file.write_bytes(page)
    with pytest.raises(StoreUnavailable, match="is not whole, delete it"):
        copy(str(data), tmp_path / "backup")
