"""What an asker has kept with its question, deleted by itself once it has gone on."""

import contextlib
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.errors import Conflict
from answerback.settings import ApiKey
from answerback.testing import asks
from tests.flow.test_callbacks import HERE, asker, today
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

KEYS = {"api_keys": (ApiKey("ops", SecretStr("a-key")),)}


async def ask(g: Gateway, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks("Which?"),), state={"step": 3}, **more))
    await g.app.idle()
    return asked.interaction.id


@contextlib.asynccontextmanager
async def caller(g: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": "Bearer a-key"}
    async with through(site(g.app), "http://here", headers=headers) as client:
        yield client


async def test_who_waited_for_the_answer_deletes_it_and_may_do_so_twice(database: Database) -> None:
    async with gateway(database, **KEYS) as g, caller(g) as client:
        id, other = await ask(g), await ask(g)
        await g.app.receiver.respond(id, "this one", by="alice", via="api")
        for _ in range(2):
            dropped = await client.delete(f"/v1/interactions/{id}/state")
            assert (dropped.status_code, dropped.json()) == (200, {"state": None})
        assert (await client.get(f"/v1/interactions/{id}/state")).json() == {"state": None}
        assert (await client.get(f"/v1/interactions/{id}")).json()["answer"]["value"] == "this one"
        assert await g.app.reader.state(other) == {"step": 3}


async def test_it_is_kept_while_the_question_is_open(database: Database) -> None:
    async with gateway(database, **KEYS) as g, caller(g) as client:
        id = await ask(g)
        refused = await client.delete(f"/v1/interactions/{id}/state")
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert refused.json()["detail"] == (
            "This question is still open: its state is kept until it has ended. Cancel it first."
        )
        assert await g.app.reader.state(id) == {"step": 3}
        await g.app.asker.cancel(id)
        assert (await client.delete(f"/v1/interactions/{id}/state")).is_success
        assert await g.app.reader.state(id) is None


async def test_it_can_be_deleted_once_nobody_has_answered(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g, expires_in=60.0, on_expire="no-response")
        await g.later(61)
        await g.app.asker.drop_state(id)
        assert await g.app.reader.state(id) is None


async def test_it_is_kept_for_a_callback_that_has_still_to_be_posted(database: Database) -> None:
    async with asker() as there, gateway(database, clock=today(), **HERE) as g:
        there.statuses = [500]
        id = await ask(g, callback_url=there.url)
        await g.types("1001", "this one")
        with pytest.raises(Conflict, match="has still to be posted to its callback_url"):
            await g.app.asker.drop_state(id)
        await g.later(60)
        assert [event["data"]["state"] for event in there.got] == [{"step": 3}] * 2
        await g.app.asker.drop_state(id)  # it is gone, and that is as good


async def test_what_is_asked_again_under_its_key_is_still_the_same_question(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g, idempotency_key="once")
        await g.app.receiver.respond(id, "this one", by="alice", via="api")
        await g.app.asker.drop_state(id)
        assert await ask(g, idempotency_key="once") == id
        assert await g.app.reader.state(id) is None
