"""Refuses a pooler of connections that gives each transaction another session of PostgreSQL.

Locks, settings and LISTEN belong to a session. Where that changes from one transaction to the next, two
workers can have a thread at once, a lock is never given back, and one connection's settings reach another.
"""

import uuid
from collections.abc import Callable
from typing import Any

from answerback.errors import ConfigurationError

# One fails to show it if somebody else takes the session in that very moment: up to a third, in a busy pool.
TRIES = 20
POOLED = (
    "database: this URL leads to a pool that gives each transaction another session of PostgreSQL, where no "
    "lock lasts. Give the address of PostgreSQL itself, or that of a pool in session mode (PgBouncer: "
    "pool_mode = session)."
)
_MARK = "SELECT set_config('answerback.session', $1, false)"
_MARKED = "SELECT current_setting('answerback.session', true)"


def refuse(connection: Any, another: Callable[[], Any]) -> None:
    """Raises `ConfigurationError` for a psycopg connection that has no session of its own.

    It is outside of any transaction. `another` makes another connection to the same place.
    """
    if connection.execute("SELECT pg_backend_pid()").fetchone()[0] == connection.info.backend_pid:
        return  # a pooler makes up a number of its own when one connects
    for _ in range(TRIES):
        mark = uuid.uuid4().hex
        connection.execute(_MARK, (mark,))
        with another() as other:
            other.execute("BEGIN")  # takes whatever session is free
            theirs, ours = (each.execute(_MARKED).fetchone()[0] for each in (other, connection))
            other.execute("ROLLBACK")
        if theirs == mark or ours != mark:
            raise ConfigurationError(POOLED)
