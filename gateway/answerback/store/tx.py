"""What a transaction function is given: database time, and the three ways to run a statement."""

from collections.abc import Callable
from typing import Any, Protocol

from answerback.store.query import Statement

Row = dict[str, Any]


class Compiled(Protocol):
    def on(self, dialect: str) -> Statement: ...


class Tx:
    """One transaction. `now` is database time in microseconds, the same for all of its statements.

    `memo` is for what it has read, is asked for again, and does not change by any statement of its own.
    """

    __slots__ = ("_cursor", "dialect", "memo", "now")

    def __init__(self, cursor: Any, dialect: str, now: int) -> None:
        self._cursor, self.dialect, self.now = cursor, dialect, now
        self.memo: dict[tuple[str, str], Any] = {}

    def run(self, query: Compiled, **values: Any) -> int:
        """Execute; the number of rows it changed."""
        self._execute(query, values)
        return int(self._cursor.rowcount)

    def one(self, query: Compiled, **values: Any) -> Row | None:
        """The first row, or None."""
        statement = self._execute(query, values)
        row = self._cursor.fetchone()
        return None if row is None else dict(zip(self._columns(statement), row, strict=True))

    def all(self, query: Compiled, **values: Any) -> list[Row]:
        """All rows."""
        statement = self._execute(query, values)
        columns = self._columns(statement)
        return [dict(zip(columns, row, strict=True)) for row in self._cursor.fetchall()]

    def _execute(self, query: Compiled, values: dict[str, Any]) -> Statement:
        statement = query.on(self.dialect)
        self._cursor.execute(statement.text, statement.arguments(values))
        return statement

    def _columns(self, statement: Statement) -> tuple[str, ...]:
        """The names of a statement's columns; asking the driver each time costs as much as the rows."""
        if statement.columns is None:
            statement.columns = tuple(column[0] for column in self._cursor.description)
        return statement.columns


Transaction = Callable[[Tx], Any]
