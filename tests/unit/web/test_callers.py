"""Who may come in without a key: whom the operator's own function knows, and only where keys count."""

from collections.abc import AsyncIterator

import pytest

from answerback.caller import Request
from answerback.errors import NotAllowed, StoreUnavailable
from answerback.feed import Begin, Happened, Step
from answerback.identify import Identified, Unidentified
from answerback.settings import ApiKey
from answerback.store.feed import Place
from answerback.web.events import LONGEST, _lines
from tests.unit.web.fakes import KEY, NOW, PUBLIC, TOKEN, World, interaction

ANA = Identified("ana@example.org", frozenset({"answer", "read"}), frozenset(), "ana")
ONE = "/v1/interactions/0193-a1"


class Function:
    """Knows whoever comes with `X-User: ana`; raises `error` where there is one."""

    form_key = b"k" * 32

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[Request] = []
        self.error = error
        self.person = ANA

    async def of(self, request: Request) -> Identified | None:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        return self.person if request.headers.get("x-user") == "ana" else None


@pytest.fixture
def who() -> Function:
    return Function()


@pytest.fixture
def world(who: Function) -> World:
    return World(identifier=who)


async def test_whom_the_function_knows_answers_as_their_contact(world, who):
    async with world.client("") as client:
        done = await client.post(f"{ONE}/respond", json={"response": "x"}, headers={"x-user": "ana"})
    assert (done.status_code, world.receiver.responses) == (200, [("x", "ana", "api")])
    (told,) = who.asked
    assert (told.method, told.path, told.client) == ("POST", f"{ONE}/respond", "127.0.0.1")
    assert told.headers["X-USER"] == "ana"


async def test_whom_it_does_not_know_is_where_they_were_without_it(world):
    async with world.client("") as client:
        for headers in ({}, {"x-user": "ben"}, {"authorization": "Bearer wrong"}):
            refused = await client.get("/v1/runs", headers=headers)
            assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Bearer")


async def test_a_token_of_somebody_else_s_making_comes_to_the_function(world, who):
    async with world.client("eyJhbGciOi.J9.x") as client:
        found = await client.get("/v1/runs", headers={"x-user": "ana"})
    assert found.status_code == 200 and who.asked[0].headers["authorization"] == "Bearer eyJhbGciOi.J9.x"


async def test_law_7_a_key_alone_decides_and_the_function_is_not_asked(world, who):
    """Whoever sends both has the powers of the key, and no others."""
    who.error = RuntimeError()
    async with world.client(KEY) as client:
        done = await client.post(f"{ONE}/respond", json={"response": "x"}, headers={"x-user": "ana"})
    assert done.is_success and world.receiver.responses == [("x", "ops", "api")] and who.asked == []


async def test_scopes_and_agents_limit_them_like_a_key(world, who):
    headers = {"x-user": "ana"}
    async with world.client("") as client:
        assert (await client.post(f"{ONE}/cancel", headers=headers)).status_code == 403
        who.person = Identified("ana", frozenset({"answer", "read"}), frozenset({"tutor"}), "ana")
        world.reader.record = interaction(agent="research")
        assert (await client.get(ONE, headers=headers)).status_code == 404
        assert (
            await client.post(f"{ONE}/respond", json={"response": "x"}, headers=headers)
        ).status_code == 404
    assert world.receiver.responses == []


@pytest.mark.parametrize(
    ("error", "status", "code", "sentence"),
    [
        (Unidentified(late=True), 503, "unavailable", "could not be found out in time. Try again."),
        (Unidentified(late=False), 500, "internal", "a mistake here, not in your request"),
        (NotAllowed("You may do nothing here."), 403, "not-allowed", "You may do nothing here."),
        (StoreUnavailable("the disk is full"), 503, "unavailable", "nothing was accepted"),
    ],
)
async def test_law_7_where_it_fails_nobody_comes_in(world, who, error, status, code, sentence):
    who.error = error
    async with world.client("") as client:
        for path in ("/v1/runs", ONE, "/v1/nothing"):
            refused = await client.get(path, headers={"x-user": "ana"})
            problem = refused.json()
            assert (refused.status_code, problem["code"]) == (status, code) and sentence in problem["detail"]
            assert ("retry-after" in refused.headers) == (status == 503)


async def test_it_is_asked_before_a_byte_of_the_body_is_read(world):
    async def body():
        raise AssertionError("the body was read")
        yield b""

    async with world.client("") as client:
        assert (await client.post("/v1/runs", content=body())).status_code == 401


@pytest.mark.parametrize(
    "path", ["/", f"/f/{TOKEN}", "/in/telegram", "/-/healthy", "/-/ready", "/openapi.json", "/docs"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_it_has_no_say_where_no_key_has(world, who, method, path):
    async with world.client("") as client:
        await client.request(method, path, headers={"x-user": "ana"})
    assert who.asked == []


FOREIGN = [
    {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
    {"sec-fetch-site": "same-site", "origin": "https://other.example.org"},
    {"sec-fetch-site": "none"},
    {"origin": "https://evil.example"},  # of a browser that says no more
    {"origin": "null"},  # of a page in a sandbox
]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_a_page_of_another_site_can_have_nothing_done_in_their_name(world, who, headers):
    """What a browser adds by itself (a session at the proxy) it adds to every page's requests."""
    who.person = Identified("ana", frozenset({"ask", "answer"}), frozenset(), "ana")
    async with world.client("") as client:
        headers = {"x-user": "ana", **headers}
        for path in (f"{ONE}/cancel", "/v1/runs/run-1/retry", f"{ONE}/respond"):
            refused = await client.post(path, headers=headers)
            assert refused.status_code == 403 and "another site" in refused.json()["detail"]
        assert (await client.get(ONE, headers=headers)).status_code == 200
    assert (world.asker.cancelled, world.runner.steered) == ([], [])


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin", "origin": PUBLIC}, {"origin": PUBLIC}]
)
async def test_programs_and_our_own_pages_can(world, who, headers):
    who.person = Identified("ana", frozenset({"ask"}), frozenset(), "ana")
    async with world.client("") as client:
        assert (await client.post(f"{ONE}/cancel", headers={"x-user": "ana", **headers})).is_success


async def test_a_key_is_never_added_by_a_browser_so_it_may_come_from_anywhere(world):
    async with world.client() as client:
        for headers in FOREIGN:
            assert (await client.post(f"{ONE}/cancel", headers=headers)).is_success


class Happening:
    """Three things, one after the other."""

    async def follow(self, place: Place) -> AsyncIterator[Step]:
        for number in range(3):
            yield Step((Happened("run.completed", str(number), "", "", "", "", "", NOW),), place)


@pytest.mark.parametrize(("caller", "told"), [(ANA, 0), (ApiKey("ops"), 3)])
async def test_a_stream_ends_in_time_for_who_has_no_key_so_that_they_are_asked_again_who_they_are(
    caller, told
):
    lines = [line async for line in _lines(caller, Happening(), Begin(Place(1, 1)), longest=0.0)]
    assert "".join(lines).count("event: run.completed") == told
    assert LONGEST <= 900
