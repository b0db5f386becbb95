"""Files that come with an answer, through any provider: kept as metadata, fetched with care."""

import asyncio

import httpx
import pytest
from pydantic import SecretStr

from answerback.attachments import AT_ONCE, Attachments
from answerback.cli.site import site
from answerback.model import Answer, Interaction, InteractionStatus
from answerback.provider import Attachment, Inbound, Receipt, Reply, TryLater
from answerback.settings import ApiKey, Limits
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

KEY, OTHER = "a-key-of-the-tests", "a-key-for-another-agent"
KEYS = {
    "api_keys": (ApiKey("ops", SecretStr(KEY)), ApiKey("b", SecretStr(OTHER), agents=frozenset({"another"})))
}


class Filing(MemoryProvider):
    """Everything that is said to it comes with `files`, and each fetch gives `content`, or raises it."""

    def __init__(self, *files: Attachment, content: bytes | Exception = b"bytes") -> None:
        super().__init__()
        self.files, self.content = files, content

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        return [Reply("e1", "1001", "1001", text="see the file", attachments=self.files)]

    async def fetch(self, attachment: Attachment) -> bytes:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


async def answered(g: Gateway) -> str:
    """A question that was answered with the provider's files; its path in the API."""
    await g.run()
    await g.receive(Inbound(b"{}"))
    (record,) = (await g.app.reader.interactions("completed")).items
    return f"/v1/interactions/{record.id}"


async def get(g: Gateway, path: str, key: str = KEY) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    async with through(site(g.app), "http://test", headers=headers) as client:
        return await client.get(path)


async def test_the_record_tells_where_each_file_is_and_the_agent_gets_the_same(database: Database) -> None:
    agent, files = ScriptedAgent(asks("Which?")), Filing(Attachment("f1", "a.txt", "text/plain", 5))
    async with gateway(database, agent, providers={"memory": files}, **KEYS) as g:
        path = await answered(g)
        answer = (await get(g, path)).json()["answer"]
        told = {
            "id": "f1",
            "name": "a.txt",
            "content_type": "text/plain",
            "size": 5,
            "provider": "memory",
            "href": f"{path}/attachments/0",
        }
        assert (answer["text"], answer["attachments"]) == ("see the file", [told])
        assert (await get(g, f"{path}/attachments/0")).content == b"bytes"
    ((_, _, given),) = agent.journal
    assert given.attachments == (Attachment(**told),)


async def test_a_file_that_turns_out_larger_than_it_was_said_to_be_is_refused(database: Database) -> None:
    files = Filing(Attachment("f1", size=3), Attachment("f2"), content=b"x" * 11)
    limits = Limits(attachment_bytes=10)
    async with gateway(
        database, ScriptedAgent(asks("?")), providers={"memory": files}, limits=limits, **KEYS
    ) as g:
        path = await answered(g)
        codes = [(await get(g, f"{path}/attachments/{place}")).status_code for place in (0, 1)]
        assert codes == [413, 413]


@pytest.mark.parametrize("away", [TryLater(7, "the secret address"), OSError("gone"), TimeoutError()])
async def test_a_service_that_is_away_is_said_to_be_and_nothing_else_is_told(
    database: Database, away: Exception
) -> None:
    files = Filing(Attachment("f1"), content=away)
    async with gateway(database, ScriptedAgent(asks("?")), providers={"memory": files}, **KEYS) as g:
        response = await get(g, f"{await answered(g)}/attachments/0")
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 5
        assert "secret" not in response.text


async def test_a_key_for_another_agent_sees_no_file(database: Database) -> None:
    files = Filing(Attachment("f1"))
    async with gateway(database, ScriptedAgent(asks("?")), providers={"memory": files}, **KEYS) as g:
        assert (await get(g, f"{await answered(g)}/attachments/0", OTHER)).status_code == 404


async def test_a_file_cannot_choose_how_it_is_shown(database: Database) -> None:
    name, kind = 'a"\r\nSet-Cookie: x=1;\x00é\ud800.html', "text/html\r\nX-Evil: 1"
    async with gateway(
        database, ScriptedAgent(asks("?")), providers={"memory": Filing(Attachment("f1", name, kind))}, **KEYS
    ) as g:
        response = await get(g, f"{await answered(g)}/attachments/0")
        assert response.headers["content-type"] == "application/octet-stream"
        assert response.headers["content-disposition"].startswith("attachment; filename*=UTF-8''a%22%0D%0A")
        assert "set-cookie" not in response.headers and "x-evil" not in response.headers


async def test_of_very_many_files_the_first_are_kept_each_once(database: Database) -> None:
    many = (Attachment("f0"), Attachment(""), Attachment("\ud800"), Attachment("x" * 3000))
    files = Filing(*many, *(Attachment(f"f{number % 30}") for number in range(100)))
    async with gateway(database, ScriptedAgent(asks("?")), providers={"memory": files}, **KEYS) as g:
        told = (await get(g, await answered(g))).json()["answer"]["attachments"]
        assert [file["id"] for file in told] == [f"f{number}" for number in range(20)]


class Hanging(MemoryProvider):
    """A source that never gives anything."""

    called = 0

    async def fetch(self, attachment: Attachment) -> bytes:
        self.called += 1
        return await asyncio.get_running_loop().create_future()


async def test_law_10_a_source_that_hangs_keeps_no_file_of_another_waiting(database: Database) -> None:
    hanging, other = Hanging("hanging"), Filing()
    async with gateway(database, providers={"memory": other, "hanging": hanging}) as g:
        files = Attachments(g.app.context, {"memory": other, "hanging": hanging})

        def of(provider: str) -> Interaction:
            answer = Answer({}, attachments=(Attachment("f1", provider=provider),))
            return Interaction("i1", "K7Q2", InteractionStatus.COMPLETED, (), "", "", answer=answer)

        waiting = [asyncio.create_task(files.fetch(of("hanging"), 0)) for _ in range(AT_ONCE + 1)]
        async with asyncio.timeout(30):
            while hanging.called < AT_ONCE:  # noqa: ASYNC110 - tasks call it
                await asyncio.sleep(0)
            assert (await files.fetch(of("memory"), 0)).content == b"bytes"
        assert hanging.called == AT_ONCE
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
