"""What a transaction function is given: database time, and the ways to run a statement."""

from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol

from answerback.metrics import Happened, Metric, Time
from answerback.store.query import Statement, joined

Row = dict[str, Any]
HELD = 16  # statements at most that become one


class Compiled(Protocol):
    def on(self, dialect: str) -> Statement: ...


class Entry(NamedTuple):
    """One of the audit, by which it is known again: nothing of that is ever deleted."""

    chain: str
    seq: int
    hash: str
    at: int


class Tx:
    """One transaction. `now` is database time in microseconds, the same for all of its statements.

    `memo` is for what it has read and is asked for again; whoever changes that in a row changes it here.
    `happened` is counted, and `afterwards` called in the loop, once the transaction is committed. `entry` is
    the last that it has added to the audit. `moved_at`: since when this process writes where it writes now; 0
    from its start, later once a connection was lost, as another server may have taken over. `as_of`: when
    `now` was, or a moment before, by the timer of this process.
    """

    __slots__ = (
        *("_cursor", "_held", "afterwards", "as_of", "dialect", "entry", "happened", "memo", "moved_at"),
        "now",
    )

    def __init__(self, cursor: Any, dialect: str, now: int, as_of: int, moved_at: int = 0) -> None:
        self._cursor, self.dialect, self.now, self.as_of = cursor, dialect, now, as_of
        self.moved_at = moved_at
        self.memo: dict[tuple[str, str], Any] = {}
        self.happened: list[Happened] = []
        self.afterwards: list[Callable[[], None]] = []
        self.entry: Entry | None = None
        self._held: list[tuple[str, tuple[Any, ...]]] = []

    def count(self, metric: Metric, *labels: str) -> None:
        """Once more, if this is committed."""
        self.happened.append(Happened(metric, labels))

    def time(self, time: Time, microseconds: int, *labels: str) -> None:
        """One that took so long, if this is committed."""
        self.happened.append(Happened(time, labels, microseconds / 1e6))

    def log(self, write: Callable[..., None], text: str, *arguments: object, **about: object) -> None:
        """Have a logger `write` it if this is committed: nothing rolled back, and once what ran twice."""
        self.afterwards.append(partial(write, text, *arguments, extra=about))

    def run(self, query: Compiled, **values: Any) -> int:
        """Execute; the number of rows it changed."""
        self._execute(query, values)
        return int(self._cursor.rowcount)

    def one(self, query: Compiled, **values: Any) -> Row | None:
        """The first row, or None."""
        statement = self._execute(query, values)
        row = self._cursor.fetchone()
        return None if row is None else dict(zip(self._columns(statement), row, strict=True))

    def parts(self, query: Compiled, *columns: tuple[str, ...], **values: Any) -> tuple[Row, ...] | None:
        """The first row in parts, each with these names for its columns, in order; or None."""
        self._execute(query, values)
        found = self._cursor.fetchone()
        if found is None:
            return None
        rest = iter(found)
        return tuple(dict(zip(names, islice(rest, len(names)), strict=True)) for names in columns)

    def all(self, query: Compiled, **values: Any) -> list[Row]:
        """All rows."""
        statement = self._execute(query, values)
        columns = self._columns(statement)
        return [dict(zip(columns, row, strict=True)) for row in self._cursor.fetchall()]

    def later(self, query: Compiled, **values: Any) -> None:
        """Execute, at the latest before the next statement that is not a `later`; with those around it as one

        where that saves a way to the server. For what inserts a row, or changes one that no other `later`
        beside it touches, and of which nobody needs the result.
        """
        if self.dialect != "postgresql":
            self._execute(query, values)
            return
        statement = query.on(self.dialect)
        self._held.append((statement.text, statement.arguments(values)))
        if len(self._held) == HELD:
            self.flush()

    def flush(self) -> None:
        """Execute what is held back; the end of a transaction function does."""
        held, self._held = self._held, []
        if len(held) == 1:
            self._cursor.execute(*held[0])
        elif held:
            texts, arguments = zip(*held, strict=True)
            text = joined(texts, tuple(map(len, arguments)))
            self._cursor.execute(text, tuple(chain.from_iterable(arguments)))

    def _execute(self, query: Compiled, values: dict[str, Any]) -> Statement:
        if self._held:
            self.flush()
        statement = query.on(self.dialect)
        self._cursor.execute(statement.text, statement.arguments(values))
        return statement

    def _columns(self, statement: Statement) -> tuple[str, ...]:
        """The names of a statement's columns; asking the driver each time costs as much as the rows."""
        if statement.columns is None:
            statement.columns = tuple(column[0] for column in self._cursor.description)
        return statement.columns


Transaction = Callable[[Tx], Any]
