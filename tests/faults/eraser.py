"""One life of a gateway that erases somebody, and dies at a point on the way.

Arguments: the data directory, the database, the time in microseconds, the point ("" to stay alive), and at
which passing of it. Alive, it prints how much of each kind was erased, and in how many rows a word of theirs
is left.
"""

import asyncio
import json
import sys

from sqlalchemy import text

from answerback import app as composition
from answerback.ask import AskRequest
from answerback.erasure import Erasure
from answerback.model import Address, Contact, Question
from answerback.settings import Route, Settings
from answerback.store import Tx, contacts
from answerback.store.query import Query
from answerback.tables import metadata
from answerback.testing import ManualClock, MemoryProvider
from tests.faults.deadly import Deadly

PHONE = "1001-her-phone"
CAROL = Contact("carol", "Carol Quokka", addresses=(Address("memory", PHONE, PHONE),))
HERS = (PHONE, "Quokka", "numbat")
ROUTE = Route("default", ask=("carol",), providers=("memory",))
TABLES = [Query(text(f'SELECT * FROM "{name}"')) for name in metadata.tables]  # noqa: S608


def left(tx: Tx) -> int:
    rows = [row for query in TABLES for row in tx.all(query)]
    said = [" ".join(str(value) for value in row.values()) for row in rows]
    return sum(any(word in each for word in HERS) for each in said)


async def live(folder: str, database: str, now: int, point: str, nth: int) -> None:
    phone = MemoryProvider()
    app = composition.build(
        Settings(data_dir=folder, database=database, routes={"default": ROUTE}),
        time=ManualClock(now),
        faults=Deadly(point, nth),
        providers={"memory": phone},
        agents={},
    )
    await app.start(clock=False)
    if not (await app.reader.interactions()).items:
        await app.context.store.write(lambda tx: contacts.put(tx, CAROL, "api"))
        for _ in range(3):
            await app.asker.ask(AskRequest((Question("q", "Which?"),)))
            await app.idle()
            await app.receiver.webhook("memory", phone.typed(PHONE, "the numbat"))
            await app.idle()
        await app.remover.contact("carol")
        await app.idle()
        await Erasure(app.context, app.providers, app.eraser, pause=0, rows=2).contact("carol", "ops")
    await app.erasure.resume()
    found = await app.erasure.of("carol")
    assert found is not None
    rows = await app.context.store.read(left)
    sys.stdout.write(json.dumps({"done": found.done, "erased": dict(found.erased), "left": rows}))
    await app.stop()


if __name__ == "__main__":
    folder, database, now, point, nth = sys.argv[1:]
    asyncio.run(live(folder, database, int(now), point, int(nth)))
