"""A statement, declared once in SQLAlchemy Core, compiled once per dialect, run on the driver's cursor."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

_DIALECTS = {
    "sqlite": pysqlite.dialect(paramstyle="named"),
    "postgresql": psycopg.dialect(),  # type: ignore[no-untyped-call]
}


class Query:
    """`Query(select(...))`, then `tx.all(query, name=value)`; parameters are `bindparam("name")`."""

    __slots__ = ("_compiled", "_statement")

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, dict[str, Any]]] = {}

    def on(self, dialect: str) -> tuple[str, dict[str, Any]]:
        """The text for a dialect and the parameters that the statement itself carries."""
        found = self._compiled.get(dialect)
        if found is None:
            assert isinstance(self._statement, ClauseElement)
            compiled = self._statement.compile(dialect=_DIALECTS[dialect])
            assert isinstance(compiled, SQLCompiler)
            constants = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
            found = self._compiled[dialect] = (str(compiled), constants)
        return found


class Either:
    """Two statements for the rare case where the databases differ in more than spelling."""

    __slots__ = ("_by_dialect",)

    def __init__(self, *, sqlite: Executable, postgresql: Executable) -> None:
        self._by_dialect = {"sqlite": Query(sqlite), "postgresql": Query(postgresql)}

    def on(self, dialect: str) -> tuple[str, dict[str, Any]]:
        return self._by_dialect[dialect].on(dialect)


def both(build: Callable[[Any], Any]) -> Either:
    """One upsert for both: `build` is given the dialect's own `insert`, which knows ON CONFLICT."""
    return Either(sqlite=build(sqlite.insert), postgresql=build(postgresql.insert))
