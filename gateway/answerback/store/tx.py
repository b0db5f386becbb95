"""What a transaction function is given: the driver's cursor, database time, and four verbs."""

from collections.abc import Callable
from typing import Any, Protocol

Row = dict[str, Any]
_NAMES: dict[str, tuple[str, ...]] = {}  # by statement; there are as many as `Query` objects


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
        names = self._names(self._execute(query, values))
        row = self._cursor.fetchone()
        return None if row is None else dict(zip(names, row, strict=True))

    def all(self, query: Compiled, **values: Any) -> list[Row]:
        """All rows."""
        names = self._names(self._execute(query, values))
        return [dict(zip(names, row, strict=True)) for row in self._cursor.fetchall()]

    def _execute(self, query: Compiled, values: dict[str, Any]) -> str:
        text, constants = query.on(self.dialect)
        self._cursor.execute(text, {**constants, **values} if constants else values)
        return text

    def _names(self, text: str) -> tuple[str, ...]:
        """The columns of a statement's rows; asking the driver each time costs as much as the rows."""
        names = _NAMES.get(text)
        if names is None:
            names = _NAMES[text] = tuple(column[0] for column in self._cursor.description)
        return names


Transaction = Callable[[Tx], Any]
