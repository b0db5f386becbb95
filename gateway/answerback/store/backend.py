"""The two databases: how to connect, begin, commit, and tell what an error means."""

import contextlib
import fcntl
import logging
import os
import pathlib
import sqlite3
import time
from collections.abc import Callable
from typing import IO, Any, Protocol

from answerback.errors import ConfigurationError, StoreUnavailable
from answerback.sessions import begun
from answerback.store import disks, pooling
from answerback.store.silence import Silence
from answerback.tables import IN_USE

log = logging.getLogger("answerback.store")
# Primary result codes (https://sqlite.org/rescode.html) that speak of file or disk, not of a statement
_UNUSABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}
FROZEN = 20  # seconds in a transaction without a word: less than a lease, so that others can take over
STATEMENTS = 256  # that a connection keeps prepared; there are not as many
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
OPTIONS = (
    "database: behind the ? of this URL is an option that PostgreSQL's own library does not know, or a "
    "number that is none. A ? that is part of the password is written %3F. Its options: "
    "https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS"
)
CHANGED = (
    "PostgreSQL cannot be used: a newer version of answerback has brought this database up to date. Stop "
    "this gateway, and start that version."
)
Clock = Callable[[], int]  # microseconds since the epoch


class Backend(Protocol):
    dialect: str
    url: str  # as SQLAlchemy spells it, for the migrations
    snapshot: str  # begins a transaction that only reads, and sees one moment
    shape: str | None  # the revision of the tables that is written to, once it is known
    timer: Callable[[], int]  # microseconds that pass here, since some moment

    def connect(self, *, writer: bool) -> Any: ...
    def begin(self, connection: Any) -> int: ...  # the database's time
    def now(self, cursor: Any) -> int: ...
    def translate(self, error: Exception) -> Exception: ...
    def is_lost(self, connection: Any, error: Exception) -> bool: ...
    def retryable(self, error: Exception) -> bool: ...
    def lock(self) -> None: ...
    def unlock(self) -> None: ...


class Sqlite:
    """WAL and synchronous=FULL; one process, one writing connection (SQLite before 3.51.3 needs that)."""

    dialect = "sqlite"
    shape: str | None = None  # nobody else can change it
    snapshot = "BEGIN"  # with a write-ahead log: from its first look on (https://sqlite.org/isolation.html)

    def __init__(self, data_dir: str, clock: Clock | None = None) -> None:
        self.path = pathlib.Path(data_dir) / "answerback.db"
        self.url = f"sqlite:///{self.path}"
        self._clock, self.timer = clock or (lambda: time.time_ns() // 1000), clock or elapsed
        self._lock: IO[str] | None = None

    def connect(self, *, writer: bool) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path,
                isolation_level=None,
                check_same_thread=False,
                timeout=10,
                cached_statements=STATEMENTS,
            )
            self._prepare(connection, writer)
        except sqlite3.Error as error:
            raise self.translate(error) from error
        return connection

    def _prepare(self, connection: sqlite3.Connection, writer: bool) -> None:
        if writer:
            self.path.chmod(0o600)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        else:
            connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA mmap_size=0")

    def begin(self, connection: Any) -> int:
        connection.execute("BEGIN IMMEDIATE")
        return self._clock()

    def now(self, cursor: Any) -> int:
        return self._clock()  # the database lives in this process: its time is ours

    def translate(self, error: Exception) -> Exception:
        if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNUSABLE:
            return StoreUnavailable(f"The database {self.path.name} cannot be used: {error}.")
        return error

    def is_lost(self, connection: Any, error: Exception) -> bool:
        return False

    def retryable(self, error: Exception) -> bool:
        return False

    def lock(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if kind := disks.another_machines(self.path.parent):
            log.warning(disks.NOT_HERE.format(kind=kind))
        handle = open(self.path.parent / "lock", "a+", opener=private)  # noqa: SIM115 - held until unlock
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.close()
            raise ConfigurationError(
                f"Another answerback is using {self.path.parent}. Stop it, or give this one another data_dir."
            ) from None
        self._lock = handle

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def elapsed() -> int:
    """Microseconds by a clock that nobody puts forward or back."""
    return time.monotonic_ns() // 1000


def private(path: str, flags: int) -> int:
    """For `open`: a new file that its owner alone may read."""
    return os.open(path, flags, 0o600)


class Postgresql:
    """psycopg 3, one writing connection a process; the server's clock decides.

    Raises `ConfigurationError` for options in the URL that no connection can be made with.
    """

    dialect = "postgresql"
    shape: str | None = None
    snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"

    def __init__(self, url: str, clock: Clock | None = None, silence: Silence | None = None) -> None:
        import psycopg

        self._silence = given = silence or Silence()

        class Watched(psycopg.RawCursor[Any]):
            """Is not waited for without end."""

            def execute(self, *arguments: Any, **more: Any) -> "Watched":
                given.asked(self.connection)
                try:
                    return super().execute(*arguments, **more)
                finally:
                    given.heard(self.connection)

        try:
            int(psycopg.conninfo.conninfo_to_dict(url).get("connect_timeout") or 0)
        except (psycopg.ProgrammingError, ValueError):  # their words may have a piece of a password (law 11)
            raise ConfigurationError(OPTIONS) from None
        self._psycopg, self._dsn, self._clock, self._cursor = psycopg, url, clock, Watched
        self.timer = clock or elapsed
        # What a server says that has become a standby, or that has ended our session.
        errors = psycopg.errors
        self._moved = (errors.ReadOnlySqlTransaction, errors.IdleInTransactionSessionTimeout)
        self.url = url.replace("postgresql://", "postgresql+psycopg://", 1)

    def connect(self, *, writer: bool) -> Any:
        connection = self._connected()
        try:
            connection.execute(_session(connection, writer), prepare=False)
            if writer and self.shape is not None:
                self._join(connection, self.shape)
        except StoreUnavailable:
            connection.close()
            raise
        except self._psycopg.Error as error:
            connection.close()
            raise self.translate(error) from error
        return connection

    def _join(self, connection: Any, shape: str) -> None:
        """From now on the tables stay as they are for as long as this connection lasts. Raises

        `StoreUnavailable` if they were changed while it was lost.
        """
        connection.execute("SELECT pg_advisory_lock_shared($1)", (IN_USE,))
        if connection.execute("SELECT version_num FROM alembic_version").fetchone() != (shape,):
            raise StoreUnavailable(CHANGED)

    def _connected(self) -> Any:
        try:
            return self._psycopg.connect(
                self._dsn, autocommit=True, connect_timeout=10, cursor_factory=self._cursor
            )
        except self._psycopg.Error as error:
            raise self.translate(error) from error

    def begin(self, connection: Any) -> int:
        if self._clock is not None:
            connection.execute("BEGIN")
            return self._clock()
        # In one round trip: the second result is the time. (Several statements cannot be prepared.)
        cursor = connection.execute(f"BEGIN; {_NOW}", prepare=False)
        cursor.nextset()
        return int(cursor.fetchone()[0])

    def now(self, cursor: Any) -> int:
        if self._clock is not None:
            return self._clock()
        cursor.execute(_NOW)
        return int(cursor.fetchone()[0])

    def translate(self, error: Exception) -> Exception:
        if isinstance(error, (self._psycopg.OperationalError, self._psycopg.InterfaceError, *self._moved)):
            return StoreUnavailable(
                "PostgreSQL cannot be used: " + (str(error).strip() or "it does not say why").splitlines()[0]
            )
        return error

    def is_lost(self, connection: Any, error: Exception) -> bool:
        return bool(connection.closed) or isinstance(error, self._moved)

    def retryable(self, error: Exception) -> bool:
        errors = self._psycopg.errors
        # A unique index refuses who was second: the next look finds what the first one wrote.
        again = errors.SerializationFailure | errors.DeadlockDetected | errors.UniqueViolation
        return isinstance(error, again)

    def lock(self) -> None:
        """Several processes may share a PostgreSQL. From now on nobody waits for it without end.

        Raises `ConfigurationError` for one that cannot do what is needed, before anything is changed there.
        """
        self._silence.start()
        try:
            with self._connected() as connection:
                _refuse_encoding(connection)
                pooling.refuse(connection, self._connected)
        except BaseException as error:
            self._silence.stop()
            if isinstance(error, self._psycopg.Error):
                raise self.translate(error) from error
            raise

    def unlock(self) -> None:
        """Nothing was locked."""
        self._silence.stop()


def _refuse_encoding(connection: Any) -> None:
    """Raises `ConfigurationError` where not every text can be kept as it is."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ConfigurationError(
            f"database: its encoding is {encoding}, in which not every text can be kept. Make another one: "
            "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
        )


def _session(connection: Any, writer: bool) -> str:
    """What holds for each session, in one statement, which cannot be prepared."""
    only = "" if writer else "SET default_transaction_read_only = on; "
    return (
        f"SET idle_in_transaction_session_timeout = '{FROZEN}s'; SET lock_timeout = '10s'; {only}"
        f"{begun(connection.info.get_parameters())}"
    )


def hang_up(connection: Any) -> None:
    """Close a connection, whatever has become of it."""
    with contextlib.suppress(Exception):
        connection.close()


def choose(database: str, data_dir: str, clock: Clock | None = None) -> Backend:
    """The backend for a configured `database`: "sqlite", or a postgresql:// URL."""
    if database == "sqlite":
        return Sqlite(data_dir, clock)
    with contextlib.suppress(ImportError):
        return Postgresql(database, clock)
    raise ConfigurationError("PostgreSQL needs the package psycopg: pip install 'answerback[postgres]'.")
