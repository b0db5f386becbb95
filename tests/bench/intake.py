"""How many webhooks a second are accepted durably, beside a handler that only stores them.

All on one core, the sender's work included on both sides.
"""

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import text
from starlette.types import ASGIApp, Receive, Scope, Send

from answerback.store import Store, choose
from answerback.store.query import Query
from tests.bench.filling import Filled, fill
from tests.bench.gateway import PROVIDER, gateway, serving, settings_of, tell
from tests.bench.measure import Figure, alternate, figure
from tests.bench.options import Options
from tests.bench.processes import FarSide, far_side, one_core
from tests.bench.provider import Paced, event_id

EVENTS, CONNECTIONS = 1000, 64
MORE = 8  # the limit is so much faster that it needs more events for as long a look
INSERT = Query(text("INSERT INTO event (body) VALUES (:body)"))


async def run(options: Options) -> AsyncIterator[Figure]:
    """Each event is the right answer to a question of its own, so that each decides something."""
    events, folder = options.fewer(EVENTS), options.fresh("intake")
    with one_core(), far_side() as far:
        filled = await fill(folder / "ours", far, 2 * events * (options.rounds + 1))
        numbers = iter(range(0, filled.count, 2))
        async with (
            gateway(filled.folder, "sqlite", far, 1, Paced) as ours,
            limit(folder / "limit") as theirs,
        ):
            same = _bodies(filled, range(MORE * events), folder / "same")

            async def accepted() -> float:
                new = _bodies(filled, islice(numbers, events), folder / "new")
                return await rate(far, f"{ours.url}/in/{PROVIDER}", new, events)

            async def stored() -> float:
                return await rate(far, f"{theirs}/", same, MORE * events)

            pairs = await alternate(options.rounds, accepted, stored)
    yield figure("intake_vs_limit", pairs)


def _bodies(filled: Filled, numbers: Iterable[int], file: Path) -> Path:
    """Writes one event a line, each for the question of one number."""
    file.write_text("".join(json.dumps(_event(filled, number)) + "\n" for number in numbers))
    return file


def _event(filled: Filled, number: int) -> dict[str, Any]:
    who = filled.sender(number)
    return {
        "event_id": event_id(number),
        "sender": who,
        "place": who,
        "data": filled.data(number),
        "references": [f"c{number}"],
        "at": 0,
    }


async def rate(far: FarSide, url: str, file: Path, events: int) -> float:
    """Accepted a second, of a file's events sent over many connections."""
    took = await tell(far, "/burst", {"url": url, "file": str(file), "at_once": CONNECTIONS})
    if took["refused"]:
        raise RuntimeError(f"{took['refused']} of {events} events were refused")
    return float(events / took["seconds"])


@asynccontextmanager
async def limit(folder: Path) -> AsyncIterator[str]:
    """A raw ASGI handler with one group-committed insert, on the same kind of server and store."""
    folder.mkdir(parents=True)
    store = Store(choose("sqlite", str(folder)))
    store.open(lambda _: _table(folder / "answerback.db"))
    try:
        async with serving(_storing(store), settings_of(folder, "sqlite", 0), logs=False) as url:
            yield url
    finally:
        store.close()


def _table(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")


def _storing(store: Store) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        await store.write(lambda tx: tx.run(INSERT, body=body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    return app
