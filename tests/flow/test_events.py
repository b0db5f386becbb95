"""GET /v1/events: what happens, as it happens. Nothing is left out, whoever writes and wherever it is cut."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.feed import Feed, Happened
from answerback.model import Question, QuestionKind
from answerback.settings import ApiKey
from answerback.signals import Signals
from answerback.store import Tx
from answerback.store.feed import Place
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from answerback.web.events import AT_ONCE, AT_ONCE_EACH
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.serving import client_of, served

KEYS = (
    ApiKey("ops", SecretStr("all")),
    ApiKey("asker", SecretStr("asks"), scopes=frozenset({"ask"})),
    ApiKey("narrow", SecretStr("narrow"), agents=frozenset({"another"})),
    ApiKey("reader", SecretStr("reader"), scopes=frozenset({"read"})),
)
WIPE = Question("q1", "Wipe production?", QuestionKind.CONFIRM)


async def so_far(g: Gateway, place: Place, at_once: int = 200) -> tuple[list[Happened], Place]:
    """What has happened behind a place, and where that ends."""
    found: list[Happened] = []
    async with contextlib.aclosing(Feed(g.app.context, at_once=at_once).follow(place)) as steps:
        async for step in steps:
            if step is None:
                break
            found += step.events
            place = step.place
    return found, place


def names(found: list[Happened]) -> list[str]:
    """Without the receipts that a messenger sends of each message."""
    return [one.event for one in found if one.event != "interaction.delivered"]


async def ask(g: Gateway, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((WIPE,), **more))
    await g.app.idle()
    return asked.interaction.id


# -- what is told


async def test_it_tells_what_became_of_a_question_and_of_its_run(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        begin = (await g.app.feed.begin()).place
        run = await g.run()
        asked, place = await so_far(g, begin)
        assert "interaction.delivered" in {one.event for one in asked}
        assert names(asked) == ["interaction.asked", "run.waiting"]
        question = asked[0]
        assert (question.run_id, question.agent, question.status) == (run.id, run.agent, "pending")
        await g.types("1001", "this one")
        answered, _ = await so_far(g, place)
        assert names(answered) == ["interaction.answered", "interaction.resumed", "run.completed"]
        assert answered[0].by == "alice"
        assert {one.id for one in answered} == {question.id, run.id}


async def test_it_tells_what_silence_and_strangers_do(database: Database) -> None:
    async with gateway(database) as g:
        begin = (await g.app.feed.begin()).place
        await ask(g, expires_in=60.0)
        await g.receive(g.memory.tapped("1001", "Yes", by="6666"))
        await g.later(61)
        await g.app.asker.cancel(await ask(g))
        found, _ = await so_far(g, begin)
    happened = [name for name in names(found) if name != "interaction.not-allowed"]
    assert happened == [
        "interaction.asked",
        "interaction.expired",
        "interaction.asked",
        "interaction.cancelled",
    ]


# -- nothing is left out


async def test_wherever_a_page_ends_the_next_goes_on_behind_it(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        begin = (await g.app.feed.begin()).place
        await asyncio.gather(*(ask(g) for _ in range(7)))
        await g.run()
        whole, end = await so_far(g, begin)
        assert names(whole).count("interaction.asked") == 8
        for at_once in (1, 2, 3):
            paged, last = await so_far(g, begin, at_once)
            assert (sorted(map(str, paged)), last) == (sorted(map(str, whole)), end)


@pytest.mark.needs_extra("postgres")
async def test_who_began_earlier_and_commits_later_is_not_passed_over(
    postgres_url: str, tmp_path: Path
) -> None:
    """On PostgreSQL another gateway may still be writing what began before."""
    async with gateway(Database(postgres_url, tmp_path)) as g:
        g.tampers = True
        first = await ask(g)
        place = (await g.app.feed.begin()).place
        slow = psycopg.connect(postgres_url)
        try:
            slow.execute(
                "INSERT INTO audit"
                " (interaction_id, seq, id, at, event, actor, content_hash, previous, hash, position)"
                " SELECT interaction_id, 99, '', at, 'set aside', '', '', '', '',"
                " pg_current_xact_id()::text::bigint FROM audit WHERE interaction_id = %s AND seq = 1",
                [first],
            )
            await ask(g)  # begins later, and is there already
            before, place = await so_far(g, place)
            assert before == []
            slow.commit()
        finally:
            slow.close()
        after, _ = await so_far(g, place)
        assert names(after) == ["interaction.set-aside", "interaction.asked"]


AHEAD = 2_000
LATER = f"DO $$ BEGIN FOR n IN 0..{AHEAD} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"


@pytest.mark.needs_extra("postgres")
async def test_what_was_restored_from_another_server_neither_hides_nor_comes_back(
    postgres_url: str, tmp_path: Path
) -> None:
    """A server of its own counts its transactions from lower numbers than the restored rows carry."""
    place = Database(postgres_url, tmp_path)
    async with gateway(place) as g:
        await ask(g)
        last = (await g.app.feed.begin()).place
        for table in ("audit", "run"):
            raised = Query(text(f"UPDATE {table} SET position = position + {AHEAD}"))  # noqa: S608
            await g.app.context.store.write(partial(Tx.run, query=raised))
    async with gateway(place) as g:
        begin = await g.app.feed.begin(last.audit + AHEAD, last.runs + AHEAD)
        assert begin.elsewhere
        await ask(g)
        found, here = await so_far(g, begin.place)
        assert names(found) == ["interaction.asked"]
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(LATER)
        assert await so_far(g, here) == ([], here)


class Looks:
    """As much of a gateway as the feed needs, where nothing has happened."""

    def __init__(self) -> None:
        self.signals, self.store, self.count = Signals(), self, 0

    async def read(self, _: object) -> list[object]:
        self.count += 1
        return []


async def test_whoever_follows_does_not_look_at_every_single_thing_that_happens() -> None:
    looks = Looks()
    async with contextlib.aclosing(Feed(looks, look_again=3600, together=3600).follow(Place())) as steps:
        assert await anext(steps) is None
        following = asyncio.create_task(anext(steps))
        for _ in range(100):
            await asyncio.sleep(0)
            looks.signals.woken("a question")
        assert looks.count == 1
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


# -- over HTTP


@contextlib.asynccontextmanager
async def events(
    url: str, key: str = "all", last: str = "", **more: object
) -> AsyncIterator[AsyncIterator[tuple[str, str, dict[str, object]]]]:
    """A stream's events: id (of the last one that had one), name, data; without a messenger's receipts."""
    headers = {"Authorization": f"Bearer {key}"} | ({"Last-Event-ID": last} if last else {})
    async with (
        client_of(url, headers) as http,
        http.stream("GET", "/v1/events", **more) as response,
    ):
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield _parsed(response.aiter_lines())


async def _parsed(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, dict[str, object]]]:
    id = name = data = ""
    async for line in lines:
        field, _, value = line.partition(": ")
        match field:
            case "id":
                id = value
            case "event":
                name = value
            case "data":
                data = value
            case "" if not line:
                if name != "interaction.delivered":
                    yield id, name, json.loads(data or "{}")
                name = data = ""


async def test_a_stream_says_where_it_begins_and_then_what_happens(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url:
        async with events(url) as stream:
            id, name, _ = await anext(stream)
            assert id.count("-") == 1 and not name  # a client keeps the id, and is told nothing
            question = await ask(g)
            await g.taps("1001", "Yes")
            (_, first, asked), (_, second, answered) = await anext(stream), await anext(stream)
        assert (first, second) == ("interaction.asked", "interaction.answered")
        assert asked["id"] == answered["id"] == question
        assert answered["by"] == "alice" and str(answered["at"]).endswith("Z")
        assert answered["status"] == "completed"


async def test_whoever_is_cut_off_goes_on_behind_the_last_event(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url:
        async with events(url) as stream:
            begun, *_ = await anext(stream)
            await ask(g)
            last, *_ = await anext(stream)
        missed = [await ask(g) for _ in range(3)]
        async with events(url, last=last) as stream:
            await anext(stream)
            assert [(await anext(stream))[2]["id"] for _ in missed] == missed
        async with events(url, params={"after": begun}) as stream:  # cut before its first event
            await anext(stream)
            seen = [(await anext(stream))[2]["id"] for _ in range(4)]
            assert seen[1:] == missed


async def test_a_gateway_that_stops_ends_its_streams_at_once(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url, events(url) as stream:
        await anext(stream)
        g.app.context.signals.end()
        assert [event async for event in stream] == []


async def test_an_id_of_another_database_is_said_to_be_none_of_ours(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url:
        far = "9" * 17
        async with events(url, params={"after": f"{far}-{far}"}) as stream:
            id, *_ = await anext(stream)
            assert far not in id
            _, name, data = await anext(stream)
            assert name == "reset" and "read the lists again" in str(data["detail"])


@pytest.mark.parametrize("id", ["1", "1-", "-1-1", "x-y", "1-1-1", f"1-{10**18}", "١-١"])
async def test_what_is_no_id_is_refused(database: Database, id: str) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url:
        response = await refused(url, "all", {"after": id})
        assert response.status_code == 422 and "no event's id" in response.json()["detail"]


# -- who may follow (law 7), and what is said (law 11)


async def refused(url: str, key: str, params: dict[str, str] | None = None) -> httpx.Response:
    async with client_of(url) as http:
        return await http.get("/v1/events", headers={"Authorization": f"Bearer {key}"}, params=params)


async def test_law_7_only_a_key_that_may_read_follows_and_only_what_its_agents_do(database: Database) -> None:
    agents = ScriptedAgent(asks("Which?"), name="another"), ScriptedAgent(asks("Which?"))
    async with gateway(database, *agents, api_keys=KEYS) as g, served(g.app) as url:
        assert (await refused(url, "asks")).status_code == 403
        assert (await refused(url, "nobody")).status_code == 401
        async with events(url, "narrow") as stream:
            await anext(stream)
            await g.run("scripted")
            await g.run("another")
            told = [await anext(stream)]
            while told[-1][1] != "interaction.asked":  # its run may be seen before
                told.append(await anext(stream))
            assert {data["agent"] for _, _, data in told} == {"another"}


async def test_law_11_no_event_says_what_was_asked_or_answered(database: Database) -> None:
    agent = ScriptedAgent(asks("The code word?"))
    async with gateway(database, agent, api_keys=KEYS) as g, served(g.app) as url, events(url) as stream:
        await anext(stream)
        await g.run()
        await g.types("1001", "swordfish")
        told = [await anext(stream)]
        while told[-1][1] != "run.completed":
            told.append(await anext(stream))
    assert "swordfish" not in str(told) and "code word" not in str(told)


async def test_law_10_one_key_keeps_no_other_from_following_and_a_stream_that_ends_makes_room(
    database: Database,
) -> None:
    async with gateway(database, api_keys=KEYS) as g, served(g.app) as url:
        async with contextlib.AsyncExitStack() as stack:
            streams = [await stack.enter_async_context(events(url)) for _ in range(AT_ONCE_EACH)]
            for stream in streams:
                await anext(stream)
            full = await refused(url, "all")
            assert full.status_code == 503 and full.headers["Retry-After"]
            assert "50 programs follow the events with this key already." in full.text
            others = [
                await stack.enter_async_context(events(url, "narrow"))
                for _ in range(AT_ONCE - AT_ONCE_EACH - 1)
            ]
            for stream in others:  # law 10: one key never keeps the others out
                await anext(stream)
            async with events(url, "reader") as stream:
                await anext(stream)
                full = await refused(url, "reader")
                assert full.status_code == 503 and "100 programs follow the events here" in full.text
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(AssertionError):
                    async with events(url) as stream:
                        await anext(stream)
                        return
