"""A PostgreSQL whose standby takes over without what was committed last, as where it is not waited for."""

import contextlib
from collections.abc import Iterator
from typing import LiteralString

import psycopg

TRIES = 20
ENDED = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datid = %s"
ENDED_OF = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = ANY(%s)"


class Replicated:
    """A database whose standby has got everything up to some moment, and takes over later."""

    def __init__(self, url: str) -> None:
        self._admin = psycopg.connect(psycopg.conninfo.make_conninfo(url, dbname="postgres"), autocommit=True)
        self._name = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
        self._behind = f"{self._name}_behind"

    def falls_behind(self) -> None:
        self._drop()
        with self._alone(self._name):
            self._do("CREATE DATABASE {} TEMPLATE {}", self._behind, self._name)

    def takes_over(self) -> None:
        """Whoever connects from now on is where it fell behind."""
        with self._alone(self._name):
            self._do("ALTER DATABASE {} RENAME TO {}", self._name, f"{self._name}_lost")
            self._do("ALTER DATABASE {} RENAME TO {}", self._behind, self._name)
            self._do("ALTER DATABASE {} RENAME TO {}", f"{self._name}_lost", self._behind)

    def close(self) -> None:
        self._drop()
        self._admin.close()

    def _drop(self) -> None:
        self._do("DROP DATABASE IF EXISTS {} WITH (FORCE)", self._behind)

    @contextlib.contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        oid = self._admin.execute("SELECT oid FROM pg_database WHERE datname = %s", [name]).fetchone()
        allow = "UPDATE pg_database SET datallowconn = %s WHERE datname = ANY(%s)"
        self._admin.execute(allow, [False, [name]])
        try:
            while self._admin.execute(ENDED, oid).fetchall():
                pass
            yield
        finally:
            self._admin.execute(allow, [True, [name, self._behind]])

    def _do(self, statement: LiteralString, *names: str) -> None:
        """A session that was just beginning when it was forbidden is not seen at first: it ends later."""
        order = psycopg.sql.SQL(statement).format(*map(psycopg.sql.Identifier, names))
        for _ in range(TRIES):
            with contextlib.suppress(psycopg.errors.ObjectInUse):
                self._admin.execute(order)
                return
            self._admin.execute(ENDED_OF, [list(names)])
        self._admin.execute(order)
