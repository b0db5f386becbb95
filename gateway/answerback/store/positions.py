"""Where a row stands in the order of commits; `feed` reads in this order.

SQLite has one writer at a time: a row stands behind the last one. PostgreSQL has many, so a row carries the
number of its transaction, and is read once no transaction with a lower number is under way: none of them can
still commit in front of it (PostgreSQL's manual, 9.28.8 "Transaction ID and Snapshot Information").
"""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, func, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler


def _number(expression: str) -> ColumnElement[int]:
    """A transaction's 64-bit number, which PostgreSQL casts to no number but by way of text."""
    return literal_column(f"CAST(CAST({expression} AS TEXT) AS BIGINT)", BigInteger)


OWN = "pg_current_xact_id()"
HORIZON = _number("pg_snapshot_xmin(pg_current_snapshot())")  # what is below is committed, or never will be
UNSEEN = _number("pg_snapshot_xmax(pg_current_snapshot())")  # from here on nobody has written anything


class Next(ColumnElement[int]):
    """The position of a row that is being written to `table`."""

    inherit_cache = False
    type = BigInteger()

    def __init__(self, table: Any) -> None:
        self.table = table


@compiles(Next, "postgresql")
def _own(element: Next, compiler: SQLCompiler, **_: Any) -> str:
    return str(compiler.process(_number(OWN)))


@compiles(Next, "sqlite")
def _behind_the_last(element: Next, compiler: SQLCompiler, **_: Any) -> str:
    behind = select(func.coalesce(func.max(element.table.c.position), 0) + literal_column("1"))
    return str(compiler.process(behind.scalar_subquery()))


def newest(table: Any) -> Any:
    """The last position of a table; null while there is none."""
    return select(func.max(table.c.position)).scalar_subquery()
