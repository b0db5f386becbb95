"""Dead letters as an operator meets them: through the HTTP API, on the command line, and in the readiness."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from click.testing import CliRunner, Result
from pydantic import SecretStr

from answerback.ask import AskRequest
from answerback.cli import root
from answerback.cli.site import site
from answerback.errors import Undeliverable
from answerback.settings import ApiKey
from answerback.testing import asks
from tests.flow.test_letters import Fails, events, spoil
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway
from tests.support.serving import served

pytestmark = pytest.mark.either_database

KEYS = (
    ApiKey("ops", SecretStr("all")),
    ApiKey("asker", SecretStr("asks"), scopes=frozenset({"ask", "read", "answer"})),
    ApiKey("other", SecretStr("other"), agents=frozenset({"other"})),
)


def client(g: Gateway, key: str = "all") -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return through(site(g.app), "http://here", headers=headers)


@contextlib.asynccontextmanager
async def unsent(database: Database) -> AsyncIterator[tuple[Gateway, str]]:
    """A gateway with a question that could not be sent, and the question's id."""
    async with gateway(database, Fails(asks("Which?")), api_keys=KEYS) as g:
        g.memory.failures.append(Undeliverable("the person blocked the bot"))
        asked = await g.app.asker.ask(AskRequest((asks("Where?"),)))
        await g.app.idle()
        yield g, asked.interaction.id


async def test_a_letter_is_listed_shown_and_replayed(database: Database) -> None:
    async with unsent(database) as (g, id), client(g) as http:
        page = (await http.get("/v1/dead-letters")).json()
        (letter,) = page["items"]
        assert page["next"] is None
        assert (letter["kind"], letter["interaction_id"], letter["contact"]) == ("delivery", id, "alice")
        assert letter["reason"] == "A question could not be sent on memory: the person blocked the bot."
        assert (await http.get(f"/v1/dead-letters/{letter['id']}")).json() == letter
        done = await http.post(f"/v1/dead-letters/{letter['id']}/replay")
        assert (done.status_code, done.json()["message"]) == (200, "It is being sent again.")
        await g.sweep()
        assert g.memory.titles("1001") == ["Where?"]
        assert (await http.get("/v1/dead-letters")).json()["items"] == []
        assert ("replayed", "ops") in await events(g, id)


async def test_a_letter_is_discarded_once(database: Database) -> None:
    async with unsent(database) as (g, _), client(g) as http:
        (letter,) = (await http.get("/v1/dead-letters")).json()["items"]
        first, second = [await http.post(f"/v1/dead-letters/{letter['id']}/discard") for _ in range(2)]
        assert (first.status_code, second.status_code) == (200, 404)
        assert second.json()["detail"] == "There is no dead letter with this id."


async def test_what_makes_no_sense_any_more_is_refused_with_a_sentence(database: Database) -> None:
    async with unsent(database) as (g, id), client(g) as http:
        (letter,) = (await http.get("/v1/dead-letters")).json()["items"]
        await http.post(f"/v1/interactions/{id}/cancel")
        refused = await http.post(f"/v1/dead-letters/{letter['id']}/replay")
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert refused.json()["detail"].startswith("Its question is cancelled meanwhile")


async def test_only_an_administrator_deals_with_letters(database: Database) -> None:
    async with unsent(database) as (g, _), client(g, "asks") as http:
        assert (await http.get("/v1/dead-letters")).status_code == 403
        for method, path in (("GET", "x"), ("POST", "x/replay"), ("POST", "x/discard")):
            assert (await http.request(method, f"/v1/dead-letters/{path}")).status_code == 403


async def test_a_key_for_one_agent_meets_no_letter_of_another(database: Database) -> None:
    async with unsent(database) as (g, _), client(g) as http, client(g, "other") as others:
        run = await g.run()
        await g.app.receiver.respond(run.interactions[0], "x", by="", via="api")
        await g.app.idle()
        assert len((await http.get("/v1/dead-letters")).json()["items"]) == 2
        assert (await others.get("/v1/dead-letters")).json()["items"] == []
        assert (await others.post(f"/v1/dead-letters/{run.id}/replay")).status_code == 404


async def test_a_list_can_be_narrowed_to_one_kind(database: Database) -> None:
    async with unsent(database) as (g, _), client(g) as http:
        assert (await http.get("/v1/dead-letters", params={"kind": "run"})).json()["items"] == []
        assert len((await http.get("/v1/dead-letters", params={"kind": "delivery"})).json()["items"]) == 1
        assert (await http.get("/v1/dead-letters", params={"kind": "parcel"})).status_code == 422


async def test_a_damaged_question_without_a_deadline_can_be_cancelled(database: Database) -> None:
    async with (
        gateway(database, api_keys=KEYS) as g,
        client(g, "asks") as http,
    ):
        id = (await http.post("/v1/interactions", json={"question": "Where?"})).json()["id"]
        await g.app.idle()
        await spoil(g, id)
        cancelled = await http.post(f"/v1/interactions/{id}/cancel")
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
        assert (await http.post(f"/v1/interactions/{id}/cancel")).status_code == 410


async def test_readiness_says_how_many_there_are_and_stays_green(database: Database) -> None:
    async with unsent(database) as (g, _), client(g) as http:
        ready = await http.get("/-/ready")
        assert ready.status_code == 200
        assert ready.json()["parts"]["dead-letters"] == "1 to look at: answerback dead-letters list"
        (letter,) = (await http.get("/v1/dead-letters")).json()["items"]
        await http.post(f"/v1/dead-letters/{letter['id']}/discard")
        assert "dead-letters" not in (await http.get("/-/ready")).json()["parts"]


async def command(url: str, *words: str) -> Result:
    environment = {"ANSWERBACK_URL": url, "ANSWERBACK_KEY": "all"}
    return await asyncio.to_thread(CliRunner().invoke, root, words, env=environment)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_command_line_lists_shows_replays_and_discards(database: Database) -> None:
    async with unsent(database) as (g, id), served(g.app) as url:
        listed = await command(url, "dead-letters", "list")
        letter = listed.stdout.split()[0]
        assert "A question could not be sent on memory: the person blocked the bot." in listed.stdout
        shown = await command(url, "dead-letters", "show", letter)
        assert shown.stdout == "A question could not be sent on memory: the person blocked the bot.\n"
        assert shown.stderr.splitlines() == [
            "Replayed, it is sent again.",
            "contact: alice",
            "provider: memory",
            f"Its question: answerback interactions show {id}",
        ]
        replayed = await command(url, "dead-letters", "replay", letter)
        assert (replayed.exit_code, replayed.stderr) == (0, "It is being sent again.\n")
        await g.sweep()
        assert g.memory.titles("1001") == ["Where?"]
        assert (await command(url, "dead-letters", "list")).stderr == "There is nothing.\n"

        run = await g.run()
        await g.app.receiver.respond(run.interactions[0], "x", by="", via="api")
        await g.app.idle()
        narrowed = await command(url, "dead-letters", "list", "--kind", "run", "--json")
        (as_json,) = json.loads(narrowed.stdout)["items"]
        assert as_json["id"] == run.id
        discarded = await command(url, "dead-letters", "discard", run.id)
        assert discarded.stderr.startswith("It is off the list, and its run")
        gone = await command(url, "dead-letters", "replay", run.id)
        assert (gone.exit_code, gone.stderr) == (1, "answerback: There is no dead letter with this id.\n")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_command_line_lists_a_damaged_question_among_the_others(database: Database) -> None:
    async with unsent(database) as (g, id), served(g.app) as url:
        await spoil(g, id)
        listed = await command(url, "interactions", "list", "--status", "pending")
        assert "damaged, see answerback dead-letters show" in listed.stdout
        assert (await command(url, "dead-letters", "show", id)).stdout.startswith(
            "The record of a question is"
        )
