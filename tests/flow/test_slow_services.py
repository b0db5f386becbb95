"""A service that takes a message and is long in saying so: who answers meanwhile sees that it counts."""

import asyncio

import pytest

from answerback.errors import TryLater
from answerback.provider import Message, MessageKind, Sent
from answerback.run import RunRequest
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway

pytestmark = pytest.mark.either_database

NEWS = {"it took it": None, "nobody knows": TimeoutError(), "it is away": TryLater(5, "busy")}


class Slow(MemoryProvider):
    """A question is on the phone at once; what `send` hears of that, it hears when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.said: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        if message.kind is MessageKind.QUESTION:
            await self.said
        return sent


async def arrived(slow: Slow) -> None:
    async with asyncio.timeout(10):
        while not slow.shown:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("news", NEWS.values(), ids=NEWS)
async def test_law_12_a_message_that_is_tapped_before_its_service_has_said_that_it_took_it_is_edited_once(
    database: Database, news: Exception | None
) -> None:
    slow, agent = Slow(), ScriptedAgent(asks("Which?", "Yes", "No"))
    async with gateway(database, agent, providers={"memory": slow}) as g:
        run = await g.app.runner.start(RunRequest("scripted"))
        await arrived(slow)
        g.clock.advance(1)  # as long as it takes to see a question
        await g.app.receiver.webhook("memory", slow.tapped("1001", "Yes"))
        if news is None:
            slow.said.set_result(None)
        else:
            slow.said.set_exception(news)
        await g.app.idle()
        await g.later(61)
        assert (await g.settled(run.id)).result == ["yes"]
        assert [(each.message.title, each.edited) for each in slow.shown] == [
            ("✅ You chose “Yes” · 12:00. Going on.", True),
            ("📄 Scripted is done: yes", False),
        ]
