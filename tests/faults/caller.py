"""One life of a gateway that posts an answer to a callback_url, and dies at a point on the way.

Arguments: the data directory, the URL, the time in microseconds, and the point ("" to stay alive).
"""

import asyncio
import sys

from pydantic import SecretStr

from answerback import app as composition
from answerback.ask import AskRequest
from answerback.model import InteractionStatus, Question
from answerback.settings import Settings
from answerback.testing import ManualClock, MemoryProvider
from tests.faults.deadly import Deadly

SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
LEASE = 61.0  # seconds after which a dead process's claim has lapsed


async def live(folder: str, url: str, now: int, point: str) -> None:
    clock, faults = ManualClock(now), Deadly(point, armed=False)
    settings = Settings(data_dir=folder, outgoing=("localhost",), signing_secret=SecretStr(SECRET))
    providers = {"memory": MemoryProvider()}
    app = composition.build(settings, time=clock, faults=faults, providers=providers, agents={})
    await app.start(clock=False)
    records = (await app.reader.interactions()).items
    if not records:
        asked = await app.asker.ask(AskRequest((Question("q", "Which?"),), callback_url=url))
        records = (asked.interaction,)
    await app.idle()
    faults.armed = True
    if records[0].status is InteractionStatus.PENDING:
        await app.receiver.respond(records[0].id, "this one", by="", via="api")
    await app.idle()
    clock.advance(LEASE)
    await app.deliverer.pump()
    await app.idle()
    await app.stop()


if __name__ == "__main__":
    asyncio.run(live(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
