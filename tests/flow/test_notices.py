"""Notices: messages that ask nothing, on the same routes; replies to them decide nothing."""

import asyncio
import hashlib
from dataclasses import replace
from typing import Any

import httpx
import pytest

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.errors import Conflict, DoesNotFit, NotFound, TryLater, Undeliverable
from answerback.model import Address, Contact, InteractionStatus, MessageKind
from answerback.notices import LONGEST, Notice, NoticeRequest
from answerback.provider import Message, Sent
from answerback.render.notice import NOTICE_SHOWN
from answerback.settings import ApiKey, Route
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.flow.test_letters import letters, replay
from tests.flow.test_receipts import Service
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

BOTH = {"default": Route("default", ask=("ben",), providers=("memory", "other"))}
LIVE = "The release is live."


async def tell(g: Gateway, text: str = LIVE, **more: object) -> Notice:
    """What has become of a notice once nothing is under way any more."""
    notice, _ = await g.app.notices.send(NoticeRequest(text, **more))
    await g.app.idle()
    await g.app.context.store.settled()
    return await g.app.notices.get(notice.id)


def states(notice: Notice) -> list[tuple[str, str, str]]:
    return [(told.contact, told.provider, told.status) for told in notice.deliveries]


async def test_a_notice_is_sent_on_the_default_route_and_asks_nothing(database: Database) -> None:
    async with gateway(database) as g:
        notice = await tell(g, title="Research · release")
        (shown,) = g.memory.shown
        assert (shown.message.title, shown.message.heading) == (LIVE, "Research · release")
        assert (shown.message.kind, shown.message.buttons) == (MessageKind.NOTICE, ())
        assert (notice.status, states(notice)) == ("sent", [("alice", "memory", "sent")])
        assert (await g.app.reader.interactions()).items == ()


async def test_it_goes_to_whom_it_is_addressed(database: Database) -> None:
    async with gateway(database) as g:
        notice = await tell(g, ask=("alice", "ben"), agent="term_check")
        assert (g.memory.titles("1001"), g.memory.titles("2002")) == ([LIVE], [LIVE])
        assert {shown.message.heading for shown in g.memory.shown} == {"Term check"}
        assert notice.status == "sent"


async def test_the_same_key_tells_once_and_another_text_under_it_is_refused(database: Database) -> None:
    async with gateway(database) as g:
        request = NoticeRequest(LIVE, idempotency_key="release-1")
        results = await asyncio.gather(*(g.app.notices.send(request) for _ in range(3)))
        await g.app.idle()
        assert sorted(created for _, created in results) == [False, False, True]
        assert len({notice.id for notice, _ in results}) == 1
        assert g.memory.titles("1001") == [LIVE]
        with pytest.raises(Conflict, match="another notice"):
            await g.app.notices.send(NoticeRequest("Something else.", idempotency_key="release-1"))


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"ask": ("alice", "ben")}, "another notice: who is told differs"),
        ({"ask": ()}, "who is told differs"),
        ({"sensitive": True, "title": "Release"}, "its title and whether it is sensitive differ"),
        ({"user": "u-2"}, "its user differs"),
    ],
)
async def test_law_4_a_key_that_was_used_for_another_notice_tells_nobody(
    database: Database, other: dict[str, Any], why: str
) -> None:
    first = NoticeRequest(LIVE, ask=("alice",), idempotency_key="release-1")
    async with gateway(database) as g:
        await g.app.notices.send(first)
        with pytest.raises(Conflict, match=why):
            await g.app.notices.send(replace(first, **other))
        await g.app.idle()
        assert (g.memory.titles("1001"), g.memory.titles("2002")) == ([LIVE], [])


async def test_whoever_is_named_twice_is_told_once(database: Database) -> None:
    async with gateway(database) as g:
        notice = await tell(g, ask=("alice", "alice"))
        assert g.memory.titles("1001") == [LIVE]
        assert [told.contact for told in notice.deliveries] == ["alice"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"text": "  \n"}, "needs a text"),
        ({"text": "x" * (LONGEST + 1)}, "at most 10000 characters"),
        ({"text": LIVE, "title": "x" * 201}, "at most 200 characters"),
        ({"text": "a\0b"}, "cannot be stored"),
    ],
)
async def test_what_cannot_be_told_is_refused_with_its_reason(
    database: Database, wrong: dict[str, str], why: str
) -> None:
    async with gateway(database) as g:
        with pytest.raises(DoesNotFit, match=why):
            await g.app.notices.send(NoticeRequest(**wrong))


async def test_nobody_to_tell_is_an_error_and_somebody_without_an_address_is_named(
    database: Database,
) -> None:
    people = {
        "ana": Contact("ana", "Ana"),
        "ben": Contact("ben", "Ben", addresses=(Address("memory", "2", "2"),)),
    }
    async with gateway(database, contacts=people) as g:
        with pytest.raises(NotFound, match="no contact"):
            await g.app.notices.send(NoticeRequest(LIVE, ask=("nobody",)))
        with pytest.raises(NotFound, match="no route"):
            await g.app.notices.send(NoticeRequest(LIVE, route="nowhere"))
        with pytest.raises(Conflict, match="ana: no address"):
            await g.app.notices.send(NoticeRequest(LIVE, ask=("ana",)))
        notice = await tell(g, ask=("ana", "ben"))
        assert states(notice) == [("ben", "memory", "sent"), ("ana", "", "failed")]
        assert notice.status == "failed"


async def test_a_permanent_failure_tells_at_the_next_address_at_once(database: Database) -> None:
    other = MemoryProvider("other")
    async with gateway(database, providers={"other": other}, routes=BOTH) as g:
        g.memory.failures.append(Undeliverable("blocked"))
        notice = await tell(g)
        assert other.titles("b") == [LIVE]
        assert states(notice) == [("ben", "memory", "failed"), ("ben", "other", "sent")]
        assert notice.status == "sent"
        assert await letters(g) == []  # it was told in another way


async def test_what_arrived_elsewhere_meanwhile_is_not_told_twice(database: Database) -> None:
    other = MemoryProvider("other")
    async with gateway(database, providers={"other": other}, routes=BOTH) as g:
        g.memory.failures.extend([TryLater(1, "busy"), TryLater(1, "busy")])
        notice = await tell(g)
        assert notice.status == "queued"
        for _ in range(6):
            await g.later(60)
        assert (g.memory.titles("2002"), other.titles("b")) == ([], [LIVE])
        assert (await g.app.notices.get(notice.id)).status == "sent"


async def test_one_that_reaches_nobody_is_a_dead_letter_and_can_be_replayed(database: Database) -> None:
    async with gateway(database) as g:
        g.memory.failures.append(Undeliverable("blocked"))
        notice = await tell(g, agent="mine")
        assert notice.status == "failed"
        (letter,) = await letters(g)
        assert letter.reason == "A notice could not be sent on memory: blocked."
        assert letter.agent == "mine"
        await replay(g, letter.id)
        assert g.memory.titles("1001") == [LIVE]
        assert (await g.app.notices.get(notice.id)).status == "sent"


async def test_quiet_hours_are_kept(database: Database) -> None:
    night = {
        "nora": Contact("nora", "Nora", quiet_hours="11:00-13:00", addresses=(Address("memory", "9", "9"),))
    }
    async with gateway(database, contacts=night) as g:
        notice = await tell(g, ask=("nora",))  # it is noon
        assert (notice.status, g.memory.titles("9")) == ("queued", [])
        await g.later(3600)
        assert g.memory.titles("9") == [LIVE]


async def test_what_a_service_says_later_moves_it(database: Database) -> None:
    service = Service()
    ana = {"ana": Contact("ana", "Ana", addresses=(Address("service", "a", "a"),))}
    routes = {"default": Route("default", ask=("ana",), providers=("service",))}
    async with gateway(database, providers={"service": service}, contacts=ana, routes=routes) as g:
        service.g = g
        notice = await tell(g)
        await service.says("m1", "read")
        assert (await g.app.notices.get(notice.id)).status == "read"
        other = await tell(g, "And another one.")
        await service.says("m2", "failed")
        assert (await g.app.notices.get(other.id)).status == "failed"


async def test_a_reply_to_a_notice_decides_nothing_and_is_told_so(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Wipe production?", confirm=True))) as g:
        await g.run()
        await tell(g)
        notice = g.memory.shown[-1].id
        await g.types("1001", "yes", references=[notice])
        assert g.memory.titles("1001")[-1].startswith("That was only a notice, so nothing was decided.")
        (record,) = (await g.app.reader.interactions()).items
        assert record.status is InteractionStatus.PENDING


async def test_a_notice_s_own_token_answers_nothing(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Wipe production?", confirm=True))) as g:
        await g.run()
        await tell(g)
        token = g.memory.shown[-1].message.token
        await g.types("1001", "yes", token=token)
        await g.receive(g.memory._event(sender="1001", data=f"{token}:0.y"))
        assert [title.partition(",")[0] for title in g.memory.titles("1001")[-2:]] == [
            "That was only a notice",
            "That was only a notice",
        ]
        await g.types("2002", "yes", token=token)  # somebody else's
        with pytest.raises(NotFound):
            await g.app.forms.submit(token, {"q": True})
        (record,) = (await g.app.reader.interactions()).items
        assert record.status is InteractionStatus.PENDING


async def test_a_code_in_a_reply_to_a_notice_still_names_its_question(database: Database) -> None:
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((asks("Which?"),)))
        await tell(g)
        code = asked.interaction.code
        await g.types("1001", f"this one #{code}", references=[g.memory.shown[-1].id])
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.COMPLETED


async def test_commands_work_in_a_reply_to_a_notice(database: Database) -> None:
    async with gateway(database) as g:
        await tell(g)
        await g.types("1001", "pending", references=[g.memory.shown[-1].id])
        assert g.memory.titles("1001")[-1] == "Nothing is waiting for you."


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Das war nur eine Mitteilung"),
        ("fr", "Ce n’était qu’une information"),
        ("es", "Era solo un aviso"),
        ("zh", "那只是一条通知"),
    ],
)
async def test_the_sentence_is_in_the_person_s_language(database: Database, language: str, said: str) -> None:
    people = {"ana": Contact("ana", "Ana", language, addresses=(Address("memory", "7", "7"),))}
    async with gateway(database, contacts=people) as g:
        await tell(g, ask=("ana",))
        await g.types("7", "ok", references=[g.memory.shown[-1].id])
        assert g.memory.titles("7")[-1].startswith(said)


def page(g: Gateway) -> httpx.AsyncClient:
    return through(site(g.app), "http://127.0.0.1:8700")


async def test_a_long_text_is_cut_on_the_phone_and_whole_behind_its_link(database: Database) -> None:
    text = "All is well.\n" * 100 + "<b>The end.</b>"
    async with gateway(database) as g, page(g) as browser:
        await tell(g, text, agent="mine")
        message = g.memory.shown[-1].message
        assert len(message.title) <= NOTICE_SHOWN
        assert message.body == f"Read it here: {message.form_url}"
        shown = await browser.get(message.form_url)
        assert shown.status_code == 200
        assert "&lt;b&gt;The end.&lt;/b&gt;" in shown.text
        assert "no-store" in shown.headers["cache-control"]
        assert (await browser.get(f"{message.form_url[:-1]}x")).status_code == 404
        assert (await browser.post(message.form_url)).status_code in (404, 415)


def keys() -> tuple[ApiKey, ...]:
    """Two keys, each called as it is: one may ask for one agent, one may read."""

    def key(name: str, scope: str, *agents: str) -> ApiKey:
        digest = hashlib.sha256(name.encode()).hexdigest()
        return ApiKey(name, key_sha256=digest, scopes=frozenset({scope}), agents=frozenset(agents))

    return key("asks", "ask", "mine"), key("reads", "read")


async def test_over_http_it_takes_a_key_that_may_ask(database: Database) -> None:
    async with gateway(database, api_keys=keys()) as g, page(g) as caller:
        asks_, reads = ({"authorization": f"Bearer {name}"} for name in ("asks", "reads"))
        body = {"text": LIVE, "ask": "alice"}
        assert (await caller.post("/v1/notices", json=body)).status_code == 401
        assert (await caller.post("/v1/notices", json=body, headers=reads)).status_code == 403
        once = asks_ | {"idempotency-key": "k1"}
        first = await caller.post("/v1/notices", json=body, headers=once)
        again = await caller.post("/v1/notices", json=body, headers=once)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json().keys() == {"id", "status"}
        assert first.json()["id"] == again.json()["id"]
        await g.app.idle()
        await g.app.context.store.settled()
        shown = (await caller.get(first.headers["location"], headers=reads)).json()
        assert (shown["status"], shown["agent"], shown["text"]) == ("sent", "mine", LIVE)
        assert [told["provider"] for told in shown["deliveries"]] == ["memory"]
        waited = await caller.get(f"{first.headers['location']}/wait?timeout=1", headers=asks_)
        assert waited.json() == shown
        assert (await caller.get("/v1/notices/unknown", headers=reads)).status_code == 404
        other = await tell(g, agent="somebody_else")
        assert (await caller.get(f"/v1/notices/{other.id}", headers=asks_)).status_code == 404


async def test_openapi_describes_it(database: Database) -> None:
    async with gateway(database) as g, page(g) as caller:
        schema = (await caller.get("/openapi.json")).json()
    body = schema["paths"]["/v1/notices"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"] == {"$ref": "#/components/schemas/NoticeIn"}
    assert "NoticeIn" in schema["components"]["schemas"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "x" * (LONGEST + 1)}, "10000"),
        ({"text": "a", "question": "b"}, "question"),
        ({"text": "a", "sensitive": "yes"}, "sensitive"),
    ],
)
async def test_a_body_that_does_not_fit_is_explained(
    database: Database, body: dict[str, object], named: str
) -> None:
    async with gateway(database, api_keys=keys()) as g, page(g) as caller:
        refused = await caller.post("/v1/notices", json=body, headers={"authorization": "Bearer asks"})
        assert refused.status_code == 422
        assert named in refused.json()["detail"]


class Halting(MemoryProvider):
    """Takes a message, and the process dies before that is known."""

    async def send(self, message: Message) -> Sent:
        await super().send(message)
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_process_that_dies_while_it_is_sent_tells_it_at_the_next_start(database: Database) -> None:
    async with gateway(database, providers={"memory": Halting()}) as g:
        await g.app.notices.send(NoticeRequest(LIVE))
        clock = g.clock
    async with gateway(database, clock=clock) as g:
        await g.later(61)
        assert g.memory.titles("1001") == [LIVE]
