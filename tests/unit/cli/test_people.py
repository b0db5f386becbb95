"""Contacts, providers and agents over HTTP, on a real store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from answerback.app import build
from answerback.cli.site import site
from answerback.model import Contact
from answerback.provider import TryLater
from answerback.settings import ApiKey, Plugin, Settings
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import put_tables
from tests.support.described import through

KEYS = (
    ApiKey("all", SecretStr("all")),
    ApiKey("reads", SecretStr("reads"), scopes=frozenset({"read"})),
    ApiKey("other", SecretStr("other"), agents=frozenset({"other"})),
)


class Bot(MemoryProvider):
    """Says who it is as Telegram does, unless it is away."""

    away = False

    def canonical(self, id: str) -> str:
        if not id.isdecimal():
            raise ValueError("this is no number")
        return id

    async def probe(self) -> str:
        if self.away:
            raise TryLater(1, "not now")
        return "@our_bot answers; mode polling"


@asynccontextmanager
async def api(folder: Path, key: str = "all", *, away: bool = False) -> AsyncIterator[httpx.AsyncClient]:
    bot = Bot("telegram")
    bot.away = away
    settings = Settings(
        data_dir=str(folder),
        api_keys=KEYS,
        contacts={"alice": Contact("alice", "Alice")},
        providers={name: Plugin(name, name) for name in ("telegram", "memory")},
        agents={"scripted": Plugin("scripted", "my.module:Scripted")},
    )
    providers = {"telegram": bot, "memory": MemoryProvider()}
    put_tables(folder)
    app = build(settings, providers=providers, agents={"scripted": ScriptedAgent(asks("Q?"))})
    await app.start(clock=False)
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with through(site(app), "http://here", headers=headers) as client:
            yield client
    finally:
        await app.stop()


async def test_a_contact_is_added_with_addresses_and_listed(tmp_path: Path) -> None:
    ben = {"id": "ben", "name": "Ben", "timezone": "Europe/Vienna", "addresses": {"telegram": "2002"}}
    async with api(tmp_path) as client:
        added = await client.post("/v1/contacts", json=ben)
        listed = (await client.get("/v1/contacts")).json()["items"]
    assert added.status_code == 201
    assert added.json()["addresses"] == [
        {"provider": "telegram", "id": "2002", "place": "2002", "reachable": True}
    ]
    assert [contact["id"] for contact in listed] == ["alice", "ben"]
    assert listed[1] == added.json()


async def test_an_address_belongs_to_one_contact(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        for name, status in (("ben", 201), ("eve", 409), ("ben", 201)):
            answer = await client.post("/v1/contacts", json={"id": name, "addresses": {"telegram": "2002"}})
            assert answer.status_code == status
        listed = (await client.get("/v1/contacts")).json()["items"]
    assert [contact["id"] for contact in listed] == ["alice", "ben"]


async def test_what_is_left_out_of_a_change_stays_as_it_is(tmp_path: Path) -> None:
    ben = {
        "id": "ben",
        "name": "Ben",
        "language": "de",
        "timezone": "Europe/Vienna",
        "quiet_hours": "22:00-07:00",
    }
    async with api(tmp_path) as client:
        first = (await client.post("/v1/contacts", json=ben)).json()
        address = {"telegram": "2002"}
        second = (await client.post("/v1/contacts", json={"id": "ben", "addresses": address})).json()
        third = (await client.post("/v1/contacts", json={"id": "ben", "quiet_hours": "", "name": "B"})).json()
    assert {**second, "addresses": []} == first
    assert third == second | {"quiet_hours": "", "name": "B"}


async def test_who_was_removed_comes_back_as_somebody_new(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        await client.post("/v1/contacts", json={"id": "ben", "name": "Ben", "language": "de"})
        await client.delete("/v1/contacts/ben")
        back = (await client.post("/v1/contacts", json={"id": "ben"})).json()
    assert (back["name"], back["language"]) == ("ben", "en")


async def test_who_stands_in_the_configuration_is_changed_there(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        answer = await client.post("/v1/contacts", json={"id": "alice", "name": "Eve"})
        listed = (await client.get("/v1/contacts")).json()["items"]
    assert (answer.status_code, listed[0]["name"]) == (409, "Alice")


async def test_what_is_no_contact_is_refused(tmp_path: Path) -> None:
    wrong = [
        ({}, 422),
        ({"id": "no blanks"}, 422),
        ({"id": "b", "timezone": "Europe/Viena"}, 422),
        ({"id": "b", "nmae": "B"}, 422),
        ({"id": "b", "quiet_hours": "late"}, 422),
        ({"id": "b", "addresses": {"signal": "1"}}, 404),
        ({"id": "b", "addresses": {"telegram": "@b"}}, 422),
    ]
    async with api(tmp_path) as client:
        answers = [await client.post("/v1/contacts", json=body) for body, _ in wrong]
        listed = (await client.get("/v1/contacts")).json()["items"]
    assert [answer.status_code for answer in answers] == [status for _, status in wrong]
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
    assert len(listed) == 1


async def test_a_link_says_exactly_what_to_send_and_opens_the_bot(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        made = (await client.post("/v1/contacts/alice/link", json={"provider": "telegram"})).json()
    code = made["text"].removeprefix("/start ")
    assert len(code) >= 22
    assert made["url"] == f"https://t.me/our_bot?start={code}"
    assert (made["name"], made["provider"]) == ("Alice", "telegram")


@pytest.mark.parametrize(("provider", "away"), [("telegram", True), ("memory", False)])
async def test_without_a_known_bot_there_is_a_code_and_no_address(
    tmp_path: Path, provider: str, away: bool
) -> None:
    async with api(tmp_path, away=away) as client:
        made = (await client.post("/v1/contacts/alice/link", json={"provider": provider})).json()
    assert made["url"] == ""
    assert made["text"].startswith("/start ")


async def test_a_link_for_nobody_or_through_nothing_is_not_found(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        for contact, provider in (("carol", "telegram"), ("alice", "signal"), ("a%00b", "telegram")):
            answer = await client.post(f"/v1/contacts/{contact}/link", json={"provider": provider})
            assert answer.status_code == 404


async def test_law_7_a_key_that_names_agents_gives_nobody_an_account(tmp_path: Path) -> None:
    async with api(tmp_path, "other") as client:
        added = await client.post("/v1/contacts", json={"id": "eve", "addresses": {"telegram": "2002"}})
        linked = await client.post("/v1/contacts/alice/link", json={"provider": "telegram"})
        listed = (await client.get("/v1/contacts")).json()["items"]
    assert (added.status_code, linked.status_code, len(listed)) == (403, 403, 1)
    assert "use a key that names none" in added.json()["detail"]


async def test_a_key_that_only_reads_changes_nobody(tmp_path: Path) -> None:
    async with api(tmp_path, "reads") as client:
        assert (await client.get("/v1/contacts")).status_code == 200
        assert (await client.post("/v1/contacts", json={"id": "eve"})).status_code == 403
        link = await client.post("/v1/contacts/alice/link", json={"provider": "telegram"})
    assert link.status_code == 403


async def test_providers_and_agents_say_how_they_are(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        providers = (await client.get("/v1/providers")).json()["items"]
        agents = (await client.get("/v1/agents")).json()["items"]
    assert {item["name"]: item["use"] for item in providers} == {"telegram": "telegram", "memory": "memory"}
    assert agents == [{"name": "scripted", "use": "my.module:Scripted", "state": "works"}]


async def test_a_key_for_one_agent_does_not_see_the_others(tmp_path: Path) -> None:
    async with api(tmp_path, "other") as client:
        assert (await client.get("/v1/agents")).json() == {"items": []}


async def test_readiness_names_every_part(tmp_path: Path) -> None:
    async with api(tmp_path) as client:
        ready = await client.get("/-/ready")
    assert ready.status_code == 200
    assert set(ready.json()["parts"]) == {"store", "provider:telegram", "provider:memory", "agent:scripted"}
