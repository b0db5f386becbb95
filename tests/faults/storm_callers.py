"""Programs that ask the people of a town over the API, each under a key; the answers are posted to them."""

import contextlib
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

from aiohttp import web

from answerback.ask import AskRequest
from answerback.model import Choice, Interaction, InteractionStatus, Question, QuestionKind
from tests.faults.storm_people import CHOICES, PERSONS, People

CALLERS = 3
WAYS = tuple(Choice(way, way) for way in CHOICES)


class Callers:
    """They ask again under the same key when they are not sure, and their server fails now and then."""

    def __init__(self, people: People, chance: random.Random) -> None:
        self._people, self._chance = people, chance
        self.url = ""
        self.asked: dict[str, set[str]] = {}  # key → ids that were given for it
        self.posted: dict[str, list[dict[str, Any]]] = {}  # interaction → what was posted of it

    async def one(self, number: int, is_over: Callable[[], bool]) -> None:
        """One question after the other."""
        count = 0
        while not is_over():
            count += 1
            await self._ask(f"c{number}-{count}")

    async def _ask(self, key: str) -> None:
        request = AskRequest(
            (Question("q1", f"Which of {key}?", QuestionKind.CHOICE, WAYS),),
            ask=(f"p{self._chance.randrange(PERSONS)}",),
            idempotency_key=key,
            callback_url=self.url,
            state={"key": key},
        )
        people, found = self._people, self.asked.setdefault(key, set())
        for _ in range(self._chance.choice((1, 1, 2))):
            asked = await people.insist(lambda: people.anyone().asker.ask(request))
            found.add(asked.interaction.id)
        [id] = found

        async def found_now() -> Interaction:
            return await people.anyone().reader.interaction(id)

        while (await people.insist(found_now)).status is InteractionStatus.PENDING:
            await people.wait()

    async def take(self, request: web.Request) -> web.Response:
        event = await request.json()
        id = event["data"]["id"]
        if self._chance.random() < 0.1:
            return web.Response(status=503)
        self.posted.setdefault(id, []).append({"id": request.headers["webhook-id"], **event["data"]})
        return web.Response()


@contextlib.asynccontextmanager
async def callers(people: People, chance: random.Random) -> AsyncIterator[Callers]:
    """Their server, and who they are."""
    made = Callers(people, chance)
    app = web.Application()
    app.router.add_post("/hook", made.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://localhost:{runner.addresses[0][1]}/hook"
    try:
        yield made
    finally:
        await runner.cleanup()
