"""Many pending interactions, written straight into SQLite: copies of one that was really asked."""
# ruff: noqa: S608 - statements are made of names that stand here

import asyncio
import contextlib
import sqlite3
import uuid
from dataclasses import dataclass
from pathlib import Path

from answerback import app as composition
from answerback.ask import AskRequest
from answerback.match import new_code
from answerback.model import Choice, Question, QuestionKind
from answerback.tokens import Tokens, hashed
from tests.bench.gateway import PROVIDER, loopback, settings_of
from tests.bench.kept import Kept
from tests.bench.processes import FarSide

OPEN_EACH = 5  # pending questions of one person, however many there are in all
PERSONS = 50  # of the configuration; those who answer copies come on top
QUESTION = Question("q1", "Shall I go on?", QuestionKind.CHOICE, (Choice("yes", "Yes"), Choice("no", "No")))
YES = "0.0"  # what a tap on the first choice carries after the token
_HOUR = 3_600_000_000
_LATER = 1000 * 24 * _HOUR  # what is kept for the next run must not be due then
_SECRET = "the same for every filled folder, so that what is kept can be answered"
_GOLDEN = 0x9E3779B97F4A7C15
# What the wall clock says in the ids of copies: time-ordered, as those of real ones are.
_ID_MS = 1_790_000_000_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A data folder with `count` pending copies, and what a reply to one of them carries.

    Copies with an even number were asked by a caller of the API, the others by an agent's thread.
    """

    folder: Path
    count: int
    tokens: Tokens

    def sender(self, number: int) -> str:
        return _person(number)

    def data(self, number: int) -> str:
        """What the button of the first choice carries."""
        return f"{self.tokens.of(self.delivery(number))}:{YES}"

    def delivery(self, number: int) -> str:
        return _id(number, 2)

    def interaction(self, number: int) -> str:
        return _id(number, 0)


async def fill(folder: Path, far: FarSide, count: int, kept: Kept | None = None) -> Filled:
    """A folder in which `count` copies are pending, their questions sent, none due.

    With `kept` a folder that was filled like this before is copied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret").write_text(_SECRET)
    settings = settings_of(folder, "sqlite", PERSONS)
    app = composition.build(settings, providers={PROVIDER: loopback(far)}, agents={})
    await app.start(clock=False)
    try:
        asked = await app.asker.ask(AskRequest((QUESTION,), ask=("p0",), title="Bench · growth"))
        await app.idle()
    finally:
        await app.stop()
    tokens = app.context.tokens

    def copies() -> None:
        with contextlib.closing(sqlite3.connect(folder / "answerback.db", isolation_level=None)) as database:
            _copy(database, asked.interaction.id, tokens, count)

    if kept is None:
        copies()
    else:
        record = asked.interaction
        made_of = (Path(__file__).read_text(), repr(record.questions), repr(record.route))
        await asyncio.to_thread(kept.folder, folder, count, made_of, copies)
    return Filled(folder, count, tokens)


def _copy(database: sqlite3.Connection, template: str, tokens: Tokens, count: int) -> None:
    database.execute("PRAGMA synchronous=OFF")
    database.execute("PRAGMA cache_size=-200000")
    database.create_function("id_of", 2, _id, deterministic=True)
    database.create_function("code_of", 1, _code, deterministic=True)
    database.create_function("person_of", 1, _person, deterministic=True)
    database.create_function("hash_of", 2, lambda n, kind: hashed(tokens.of(_id(n, kind))))
    found = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    indexes = database.execute(found).fetchall()
    database.execute("BEGIN")
    for name, _ in indexes:
        database.execute(f"DROP INDEX {name}")
    numbers = f"SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count}"
    database.execute(f"CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS ({numbers}) SELECT i FROM n")
    _people(database, count)
    _interactions(database, template)
    _deliveries(database, template)
    _audit(database, template)
    for _, statement in indexes:
        database.execute(statement)
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _people(database: sqlite3.Connection, count: int) -> None:
    some = f"n WHERE i < {max(1, count // OPEN_EACH)}"
    who = "'q' || i"
    linked = {"source": "'link'"}  # what came from the configuration and is not there is removed at a start
    _insert(database, "contact", "id = 'p0'", some, {"id": who, "name": who, **linked})
    place = {"contact_id": who, "external_id": who, "place": who, **linked}
    _insert(database, "address", "contact_id = 'p0'", some, {"id": f"'{PROVIDER}:q' || i", **place})


def _interactions(database: sqlite3.Connection, template: str) -> None:
    of_agent = {
        name: f"CASE i % 2 WHEN 0 THEN '' ELSE '{name}-' || i END"
        for name in ("run_id", "thread_id", "interrupt_id", "digest")
    }
    at = {"created_at": f"created_at - {_HOUR} + i", "expires_at": f"expires_at + {_LATER} + i"}
    due = {"closes_at": f"closes_at + {_LATER} + i", "next_action_at": f"next_action_at + {_LATER} + i"}
    own = {"id": "id_of(i, 0)", "code": "code_of(i)", "agent": "CASE i % 2 WHEN 0 THEN '' ELSE 'bench' END"}
    _insert(database, "interaction", f"id = '{template}'", "n", {**own, **of_agent, **at, **due})


def _deliveries(database: sqlite3.Connection, template: str) -> None:
    of_copy = {"interaction_id": "id_of(i, 0)"}
    for kind, which in ((1, "provider = 'form'"), (2, "provider <> 'form'")):
        own = {"id": f"id_of(i, {kind})", "token_hash": f"hash_of(i, {kind})", **of_copy}
        who = dict.fromkeys(("contact_id", "external_id", "place"), "person_of(i)")
        sent = {"address_id": f"'{PROVIDER}:' || person_of(i)", "message_ids": "'[\"c' || i || '\"]'", **who}
        template_row = f"interaction_id = '{template}' AND {which}"
        _insert(database, "delivery", template_row, "n", {**own, **(sent if kind == 2 else {})})
    message = {"message_id": "'c' || i", "delivery_id": "id_of(i, 2)"}
    one = f"delivery_id IN (SELECT id FROM delivery WHERE interaction_id = '{template}')"
    _insert(database, "message", one, "n", message)


def _audit(database: sqlite3.Connection, template: str) -> None:
    for seq in (1, 2):
        own = {"id": f"id_of(i, {2 + seq})", "interaction_id": "id_of(i, 0)"}
        _insert(database, "audit", f"interaction_id = '{template}' AND seq = {seq}", "n", own)


def _insert(database: sqlite3.Connection, table: str, template: str, some: str, own: dict[str, str]) -> None:
    """Copy the row that `template` finds once for each row of `some`; `own` are the copies' own columns."""
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    shown = ", ".join(own.get(column, f"t.{column}") for column in columns)
    row = f"(SELECT * FROM {table} WHERE {template} LIMIT 1) AS t"
    database.execute(f"INSERT INTO {table} SELECT {shown} FROM {row}, (SELECT i FROM {some} ORDER BY i)")


def _id(number: int, kind: int) -> str:
    """A UUIDv7 (RFC 9562) of its own for each copy and kind of row."""
    return str(uuid.UUID(int=(_ID_MS + number) << 80 | 7 << 76 | 2 << 62 | kind << 32 | number & 0xFFFFFFFF))


def _code(number: int) -> str:
    return new_code(number * _GOLDEN & (1 << 64) - 1)


def _person(number: int) -> str:
    return f"q{number // OPEN_EACH}"
