"""PostgreSQL connections on which nobody waits without end.

A server that hangs closes nothing. A worker has few connections for all its threads, so whoever waited for
one of them for ever would hold up every run of the agent.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.rows import DictRow, TupleRow

SECONDS = 20.0  # for one statement, and for each wait in a pipeline
INTERVAL = 0.1  # seconds between two looks at the time


class Impatient(psycopg.Connection[DictRow]):
    """Is closed, and raises `OperationalError`, when the server says nothing for `patience` seconds."""

    patience = SECONDS

    def wait(self, gen: Any, interval: float = INTERVAL, *more: Any, **options: Any) -> Any:
        return super().wait(_within(self, gen), interval, *more, **options)


class ImpatientAsync(psycopg.AsyncConnection[TupleRow]):
    """The same in a loop."""

    patience = SECONDS

    async def wait(self, gen: Any, interval: float = INTERVAL, *more: Any, **options: Any) -> Any:
        return await super().wait(_within(self, gen), interval, *more, **options)


def _within(connection: Impatient | ImpatientAsync, work: Any) -> Generator[Any, Any, Any]:
    """What psycopg waits for, step by step: it yields for what, and is sent what is ready; nothing, if the

    interval has passed.
    """
    since = time.monotonic()
    try:
        wanted = next(work)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() - since > connection.patience:
                connection.pgconn.finish()
                raise psycopg.OperationalError(f"the server has said nothing for {connection.patience:g} s")
            wanted = work.send(ready)
    except StopIteration as done:
        return done.value
