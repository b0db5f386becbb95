"""Our checkpoints in a SQLite file: one connection that writes, and one that only reads."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver

from answerback_agents.langgraph.committer import Committer
from answerback_agents.langgraph.faces import Saver
from answerback_agents.langgraph.grouped import Grouped

WAIT = 30.0  # seconds for another process that has the file locked


class _Shared(sqlite3.Connection):
    """What LangGraph's saver commits after each call is committed with all that share the transaction."""

    def commit(self) -> None:
        """Left to `Sqlite.together`."""

    def commit_all(self) -> None:
        super().commit()


class Sqlite:
    """A file with a write-ahead log, every commit of which survives a power failure."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, timeout=WAIT, check_same_thread=False, factory=_Shared)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")

    def ready(self) -> None: ...

    def together(self, calls: Sequence[Callable[[], object]]) -> None:
        for call in calls:
            call()
        self.connection.commit_all()

    def alone(self, call: Callable[[], object]) -> None:
        self.together([call])

    def undo(self) -> bool:
        self.connection.rollback()
        return False

    def close(self) -> None:
        self.connection.close()


def open_saver(path: Path, stack: AsyncExitStack) -> Grouped:
    """Our saver, ready to use; its file is made if there is none."""
    _make_file(path)
    database = Sqlite(path)
    saver = SqliteSaver(database.connection)
    saver.setup()
    committer = Committer(database)
    stack.push_async_callback(committer.close)
    return Grouped(saver, committer)


def _make_file(path: Path) -> None:
    """An empty file that only its owner reads; SQLite gives the -wal and -shm files the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


class Direct:
    """Reads a thread's newest checkpoint where it is called, with a connection that only reads.

    Such a read takes a fraction of the time that handing it to another thread does.
    """

    def __init__(self, saver: Saver, path: Path, stack: AsyncExitStack) -> None:
        connection = sqlite3.connect(path, timeout=1)
        stack.callback(connection.close)
        connection.execute("PRAGMA query_only=ON")
        self._reader = SqliteSaver(connection, serde=saver.serde)
        self._reader.is_setup = True  # by the saver that writes

    async def look(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._reader.get_tuple(config)
