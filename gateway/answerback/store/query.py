"""A statement, declared once in SQLAlchemy Core, compiled once per dialect, run on the driver's cursor."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

# Arguments go by place: sqlite3 looks up each one that has a name, time and again; PostgreSQL numbers them.
_DIALECTS = {
    "sqlite": pysqlite.dialect(paramstyle="qmark"),
    "postgresql": psycopg.dialect(paramstyle="numeric_dollar"),  # type: ignore[no-untyped-call]
}
_ARGUMENT = re.compile(r"\$(\d+)")
Arguments = Callable[[Mapping[str, Any]], tuple[Any, ...]]


class Statement:
    """A compiled `Query`: its text, how its arguments are put in order, and the names of its columns."""

    __slots__ = ("arguments", "columns", "text")

    def __init__(self, text: str, arguments: Arguments) -> None:
        self.text, self.arguments = text, arguments
        self.columns: tuple[str, ...] | None = None  # known once it has been run


class Query:
    """`Query(select(...))`, then `tx.all(query, name=value)`; parameters are `bindparam("name")`."""

    __slots__ = ("_compiled", "_statement")

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, Statement] = {}

    def on(self, dialect: str) -> Statement:
        """The statement as a dialect has it."""
        return self._compiled.get(dialect) or self._compiled.setdefault(dialect, self._compile(dialect))

    def _compile(self, dialect: str) -> Statement:
        assert isinstance(self._statement, ClauseElement)
        compiled = self._statement.compile(dialect=_DIALECTS[dialect])
        assert isinstance(compiled, SQLCompiler)
        own = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        return Statement(str(compiled), _in_order(compiled.positiontup or [], own))


class Either:
    """Two statements for the rare case where the databases differ in more than spelling."""

    __slots__ = ("_by_dialect",)

    def __init__(self, *, sqlite: Executable, postgresql: Executable) -> None:
        self._by_dialect = {"sqlite": Query(sqlite), "postgresql": Query(postgresql)}

    def on(self, dialect: str) -> Statement:
        return self._by_dialect[dialect].on(dialect)


def both(build: Callable[[Any], Any]) -> Either:
    """One upsert for both: `build` is given the dialect's own `insert`, which knows ON CONFLICT."""
    return Either(sqlite=build(sqlite.insert), postgresql=build(postgresql.insert))


@lru_cache(maxsize=256)
def joined(texts: tuple[str, ...], counts: tuple[int, ...]) -> str:
    """PostgreSQL's statements as one, which saves a round trip each; `counts` are those of their arguments.

    All of them see the rows as they were before the first (PostgreSQL's manual, 7.8.4): none may touch what
    another one writes.
    """
    before, parts = 0, []
    for text, count in zip(texts, counts, strict=True):
        parts.append(_ARGUMENT.sub(lambda found, by=before: f"${int(found[1]) + by}", text))  # type: ignore[misc]
        before += count
    *first, last = parts
    return "WITH " + ", ".join(f"w{number} AS ({part})" for number, part in enumerate(first)) + " " + last


def _in_order(names: list[str], own: dict[str, Any]) -> Arguments:
    """Puts arguments by name into the order of the statement; `own` are those that it carries itself."""
    if len(names) < 2:  # itemgetter gives no tuple for one, and takes no none
        return lambda values: tuple([{**own, **values}[name] for name in names])
    pick: Callable[[Any], tuple[Any, ...]] = itemgetter(*names)
    return (lambda values: pick({**own, **values})) if own else pick
