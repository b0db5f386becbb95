"""What a transaction function is given: the driver's cursor, database time, and four verbs."""

from collections.abc import Callable
from typing import Any, Protocol

Row = dict[str, Any]


class Compiled(Protocol):
    def on(self, dialect: str) -> tuple[str, dict[str, Any]]: ...


class Tx:
    """One transaction. `now` is database time in microseconds, the same for all of its statements."""

    __slots__ = ("_cursor", "dialect", "now")

    def __init__(self, cursor: Any, dialect: str, now: int) -> None:
        self._cursor, self.dialect, self.now = cursor, dialect, now

    def run(self, query: Compiled, **values: Any) -> int:
        """Execute; the number of rows it changed."""
        self._execute(query, values)
        return int(self._cursor.rowcount)

    def one(self, query: Compiled, **values: Any) -> Row | None:
        """The first row, or None."""
        self._execute(query, values)
        row = self._cursor.fetchone()
        return None if row is None else self._row(row)

    def all(self, query: Compiled, **values: Any) -> list[Row]:
        """All rows."""
        self._execute(query, values)
        return [self._row(row) for row in self._cursor.fetchall()]

    def _execute(self, query: Compiled, values: dict[str, Any]) -> None:
        text, constants = query.on(self.dialect)
        self._cursor.execute(text, {**constants, **values} if constants else values)

    def _row(self, row: Any) -> Row:
        return {column[0]: value for column, value in zip(self._cursor.description, row, strict=True)}


Transaction = Callable[[Tx], Any]
