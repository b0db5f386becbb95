"""The least that an intake of this shape does, beside a handler that only stores.

Each webhook is verified, and one transaction keeps it, finds its question, closes that, adds to its audit and
puts down what must be sent: five statements on small tables. Nothing is decided, and nobody's right is looked
at. All on one core, as in `intake`.
"""

import hashlib
import hmac
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from sqlalchemy import text
from starlette.types import Receive, Scope, Send

from answerback.store import Store, Tx, choose
from answerback.store.query import Query
from tests.bench.gateway import serving, settings_of
from tests.bench.intake import EVENTS, MORE, limit, rate
from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.processes import FarSide, far_side, one_core
from tests.bench.provider import SIGNATURE, event_id, sign

TABLES = """
CREATE TABLE event (id TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID;
CREATE TABLE question (id INTEGER PRIMARY KEY, token TEXT UNIQUE, status TEXT, record TEXT, answer TEXT);
CREATE TABLE audit (question INTEGER, seq INTEGER, hash TEXT, PRIMARY KEY (question, seq)) WITHOUT ROWID;
CREATE TABLE delivery (id TEXT PRIMARY KEY, question INTEGER);
"""
KEEP = Query(text("INSERT INTO event VALUES (:id, :body) ON CONFLICT DO NOTHING"))
FIND = Query(text("SELECT id, record FROM question WHERE token = :token"))
CLOSE = Query(
    text("UPDATE question SET status = 'done', answer = :answer WHERE id = :id AND status = 'open'")
)
RECORD = Query(text("INSERT INTO audit VALUES (:question, 2, :hash)"))
SEND = Query(text("INSERT INTO delivery VALUES (:id, :question)"))


async def run(options: Options) -> AsyncIterator[Figure]:
    """Each event answers a question of its own."""
    events, folder = options.fewer(EVENTS), options.fresh("least-intake")
    count = events * (options.rounds + 1)
    with one_core(), far_side() as far:
        async with least(folder / "least", far, count) as ours, limit(folder / "limit") as theirs:
            numbers = iter(range(count))
            same = _bodies(range(MORE * events), folder / "same")

            async def accepted() -> float:
                new = _bodies(itertools.islice(numbers, events), folder / "new")
                return await rate(far, f"{ours}/", new, events)

            async def stored() -> float:
                return await rate(far, f"{theirs}/", same, MORE * events)

            pairs = await alternate(options.rounds, accepted, stored)
    yield figure("least_intake_vs_limit", pairs)


@asynccontextmanager
async def least(folder: Path, far: FarSide, questions: int) -> AsyncIterator[str]:
    """Where it takes webhooks."""
    folder.mkdir(parents=True)
    store = Store(choose("sqlite", str(folder)))
    store.open(lambda _: _fill(folder / "answerback.db", questions))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        given = dict(scope["headers"]).get(SIGNATURE.encode(), b"").decode()
        assert hmac.compare_digest(given, sign(far.secret, body))
        await store.write(lambda tx: _take(tx, body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    try:
        async with serving(app, settings_of(folder, "sqlite", 0), logs=False) as url:
            yield url
    finally:
        store.close()


def _take(tx: Tx, body: bytes) -> None:
    event = json.loads(body)
    if not tx.run(KEEP, id=event["event_id"], body=body):
        return
    row = tx.one(FIND, token=event["data"])
    assert row is not None and tx.run(CLOSE, id=row["id"], answer="Yes")
    tx.run(RECORD, question=row["id"], hash=hashlib.sha256(body).hexdigest())
    tx.run(SEND, id=event["event_id"], question=row["id"])


def _fill(file: Path, questions: int) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.executescript(TABLES)
        rows = ((f"t{number}", "x" * 700) for number in range(questions))
        database.executemany("INSERT INTO question (token, status, record) VALUES (?, 'open', ?)", rows)
        database.commit()


def _bodies(numbers: Iterable[int], file: Path) -> Path:
    """One event a line, as the far side sends them."""
    who = {"sender": "p0", "place": "p0", "references": ["c0"], "at": 0}
    events = ({**who, "event_id": event_id(number), "data": f"t{number}"} for number in numbers)
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    return file
