"""The client: problems become answerback's errors, and a gateway that is away for a moment is waited for."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from answerback import errors
from answerback.client import Answered, Cancelled, Client, Expired, GatewayUnavailable, outcome_of

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[str]:
    """A server on loopback that answers everything with `handler`; its address."""
    runner = web.ServerRunner(web.Server(handler))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def answering(
    status: int, body: Any, kind: str = "application/json", seen: list[Any] | None = None
) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        if seen is not None:
            seen.append((request.method, request.path_qs, await request.text(), dict(request.headers)))
        return web.Response(
            status=status, text=body if isinstance(body, str) else json.dumps(body), content_type=kind
        )

    return handler


def problem(status: int, code: str) -> Handler:
    return answering(
        status, {"status": status, "code": code, "detail": "Why it is."}, "application/problem+json"
    )


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "not-found", errors.NotFound),
        (403, "not-allowed", errors.NotAllowed),
        (401, "unauthorized", errors.NotAllowed),
        (409, "conflict", errors.Conflict),
        (409, "already-answered", errors.AlreadyAnswered),
        (410, "closed", errors.Closed),
        (422, "does-not-fit", errors.DoesNotFit),
        (413, "too-large", errors.Refused),
        (500, "internal", errors.Refused),
        (503, "unavailable", GatewayUnavailable),
    ],
)
async def test_a_problem_is_raised_as_its_own_error_with_its_sentence(
    status: int, code: str, kind: type[Exception]
) -> None:
    async with served(problem(status, code)) as url, Client(url, "k") as client:
        with pytest.raises(kind, match=r"^Why it is\.$") as raised:
            await client.interaction("i")
    assert type(raised.value) is kind
    if isinstance(raised.value, errors.Refused):
        assert (raised.value.status, raised.value.code) == (status, code)


async def test_what_is_no_gateway_is_said() -> None:
    async with served(answering(200, "<html>", "text/html")) as url, Client(url, "k") as client:
        with pytest.raises(errors.Refused, match="not as answerback does"):
            await client.interaction("i")


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    seen: list[Any] = []
    async with served(answering(302, "", seen=seen)) as url, Client(url, "k") as client:
        with pytest.raises(errors.Refused):
            await client.interaction("i")
    assert len(seen) == 1


async def test_an_ask_sends_what_was_given_and_nothing_else() -> None:
    seen: list[Any] = []
    async with served(answering(201, {"id": "i"}, seen=seen)) as url, Client(url, " k\n") as client:
        await client.ask(
            {"text": "Q?", "kind": "confirm"}, ask=["alice"], default=False, idempotency_key="once"
        )
    method, path, body, headers = seen[0]
    assert (method, path) == ("POST", "/v1/interactions")
    question = {"text": "Q?", "kind": "confirm"}
    assert json.loads(body) == {"question": question, "ask": ["alice"], "default": False}
    assert (headers["Authorization"], headers["Idempotency-Key"]) == ("Bearer k", "once")


async def test_a_notice_sends_what_was_given_and_nothing_else() -> None:
    seen: list[Any] = []
    async with served(answering(201, {"id": "i"}, seen=seen)) as url, Client(url, "k") as client:
        await client.notify("It is live.", ask=["alice"], idempotency_key="once")
    method, path, body, headers = seen[0]
    assert (method, path, headers["Idempotency-Key"]) == ("POST", "/v1/notices", "once")
    assert json.loads(body) == {"text": "It is live.", "ask": ["alice"], "sensitive": False}


async def test_a_file_is_given_as_it_is_and_one_that_is_gone_is_said_to_be() -> None:
    seen: list[Any] = []
    async with served(answering(200, "no JSON", "image/jpeg", seen=seen)) as url, Client(url, "k") as client:
        assert await client.attachment("i", 2) == b"no JSON"
    assert seen[0][:2] == ("GET", "/v1/interactions/i/attachments/2")
    async with served(problem(410, "gone")) as url, Client(url, "k") as client:
        with pytest.raises(errors.Refused, match=r"^Why it is\.$"):
            await client.attachment("i", 0)


async def test_an_empty_default_is_sent() -> None:
    seen: list[Any] = []
    async with served(answering(201, {"id": "i"}, seen=seen)) as url, Client(url, "k") as client:
        await client.ask(["A?", "B?"], default="")
    assert json.loads(seen[0][2]) == {"questions": ["A?", "B?"], "default": ""}


@pytest.mark.parametrize("id", ["", "..", "a/b", "a?b", "ä", "a" * 65])
async def test_what_cannot_be_an_id_is_not_found_without_asking(id: str) -> None:
    async with Client("http://127.0.0.1:9", "k") as client:
        with pytest.raises(errors.NotFound):
            await client.interaction(id)


async def test_nothing_listening_is_a_sentence(unused: str) -> None:
    async with Client(unused, "k") as client:
        with pytest.raises(GatewayUnavailable, match="is `answerback serve` running"):
            await client.interaction("i")


@pytest.mark.parametrize("url", ["nowhere", "127.0.0.1:8700", "localhost:8700", "http://", "http://[::1"])
async def test_an_address_that_is_none_is_a_sentence_at_once(url: str) -> None:
    with pytest.raises(errors.ConfigurationError, match="looks like http"):
        async with Client(url, "k") as client:
            await client.ask("Which?")


async def test_waiting_goes_on_until_it_is_not_pending_any_more() -> None:
    states = ["pending", "pending", "completed"]

    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"status": states.pop(0)})

    async with served(handler) as url, Client(url, "k") as client:
        assert (await client.wait("i"))["status"] == "completed"
    assert states == []


async def test_waiting_ends_after_its_time() -> None:
    async with served(answering(200, {"status": "pending"})) as url, Client(url, "k") as client:
        assert (await client.wait("i", 0.001))["status"] == "pending"


async def test_waiting_bears_with_a_gateway_that_is_away_and_says_so_once() -> None:
    said: list[str] = []
    answers = [503, 502, 200]

    async def handler(request: web.Request) -> web.Response:
        status = answers.pop(0)
        return web.json_response({"status": "completed"}, status=status)

    async with served(handler) as url, Client(url, "k", on_away=said.append) as client:
        assert (await client.wait("i"))["status"] == "completed"
    assert len(said) == 1


async def test_patience_ends(unused: str) -> None:
    async with Client(unused, "k", patience=0.05) as client:
        with pytest.raises(GatewayUnavailable):
            await client.wait("i")


async def test_a_refusal_ends_the_waiting_at_once() -> None:
    async with served(problem(404, "not-found")) as url, Client(url, "k") as client:
        with pytest.raises(errors.NotFound):
            await client.wait("i")


async def test_an_answer_is_never_sent_twice_by_itself() -> None:
    seen: list[Any] = []
    async with served(answering(503, {"detail": "x"}, seen=seen)) as url, Client(url, "k") as client:
        with pytest.raises(GatewayUnavailable):
            await client.respond("i", "yes")
    assert len(seen) == 1


# -- follow_run


def run(status: str, *interactions: str) -> dict[str, Any]:
    return {"id": "r", "status": status, "interactions": list(interactions)}


class Runs:
    """A gateway whose run goes through these states; each question is pending as often as it says."""

    def __init__(self, *states: Any, **pending: int) -> None:
        self.states, self.pending = list(states), pending

    async def __call__(self, request: web.Request) -> web.Response:
        if request.path.endswith("/wait"):
            id = request.path.split("/")[3]
            self.pending[id] -= 1
            return web.json_response({"status": "pending" if self.pending[id] >= 0 else "completed"})
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return web.json_response(state, status=200 if isinstance(state, dict) else state)


async def test_a_run_is_followed_to_its_end_through_a_gateway_that_is_away() -> None:
    states = Runs(run("running"), 503, run("waiting", "i"), 502, run("completed", "i"), i=1)
    said: list[str] = []
    async with served(states) as url, Client(url, "k", on_away=said.append) as client:
        assert await client.follow_run("r") == run("completed", "i")
    assert len(said) == 2


@pytest.mark.parametrize("status", ["failed", "cancelled"])
async def test_how_it_ended_is_a_status_and_no_error(status: str) -> None:
    async with served(Runs(run(status))) as url, Client(url, "k") as client:
        assert (await client.follow_run("r"))["status"] == status


async def test_following_ends_after_its_time() -> None:
    async with served(Runs(run("running"))) as url, Client(url, "k") as client:
        assert (await client.follow_run("r", 0.1))["status"] == "running"
        assert (await client.follow_run("r", 0.0))["status"] == "running"
    async with served(Runs(run("waiting", "i"), i=10**6)) as url, Client(url, "k") as client:
        assert (await client.follow_run("r", 0.1))["status"] == "waiting"


async def test_a_run_is_told_again_only_when_something_has_changed() -> None:
    both = run("waiting", "i", "j")
    states = Runs(
        run("running"), run("running"), both, both, both, both, run("completed", "i", "j"), i=9, j=1
    )
    async with served(states) as url, Client(url, "k") as client:
        seen = [record["status"] async for record in client.run_changes("r")]
    assert seen == ["running", "waiting", "waiting", "completed"]  # the third: j was answered


async def test_a_refusal_ends_the_following_at_once_and_patience_ends(unused: str) -> None:
    async with served(problem(404, "not-found")) as url, Client(url, "k") as client:
        with pytest.raises(errors.NotFound):
            await client.follow_run("r")
    async with Client(unused, "k", patience=0.05) as client:
        with pytest.raises(GatewayUnavailable):
            await client.follow_run("r")


# -- ask_and_wait

RECORD = {"id": "i", "status": "completed", "questions": [{"id": "q"}], "erased_at": None, "reason": ""}
ANSWER = {
    "value": "eu", "values": {"q": "eu"}, "text": "EU", "by": "alice", "via": "telegram", "stand_in": False,
    "expired": False, "default_used": False,
}  # fmt: skip


async def test_a_request_to_ask_is_repeated_as_the_same_and_by_its_own_key() -> None:
    seen: list[Any] = []
    answers = [503, 0, 201]

    async def handler(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response(RECORD | {"answer": ANSWER})
        seen.append((await request.text(), request.headers["Idempotency-Key"]))
        status = answers.pop(0)
        if not status:  # it was asked, and the answer to that is lost
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({"id": "i", "status": "pending"}, status=status or 200)

    async with served(handler) as url, Client(url, "k") as client:
        for _ in range(2):
            found = await client.ask_and_wait("Which region?", ask=("alice",), user="u-1")
            assert isinstance(found, Answered)
            answers.append(201)
    assert {body for body, _ in seen} == {'{"ask": ["alice"], "user": "u-1", "question": "Which region?"}'}
    first, again, third, other = (key for _, key in seen)
    assert first == again == third != other


async def test_a_key_of_one_s_own_is_sent() -> None:
    seen: list[Any] = []
    async with (
        served(answering(200, RECORD | {"answer": ANSWER}, seen=seen)) as url,
        Client(url, "k") as client,
    ):
        await client.ask_and_wait("Which region?", idempotency_key="pay-17", state=0, expires_in=0)
    assert seen[0][3]["Idempotency-Key"] == "pay-17"
    assert json.loads(seen[0][2]) == {"question": "Which region?", "state": 0, "expires_in": 0}


async def test_a_refusal_to_ask_is_raised_at_once() -> None:
    async with served(problem(409, "conflict")) as url, Client(url, "k") as client:
        with pytest.raises(errors.Conflict):
            await client.ask_and_wait("Another?", idempotency_key="used")


def test_an_answer_is_told_with_who_gave_it() -> None:
    record: Any = RECORD | {"answer": ANSWER}
    found = outcome_of(record)
    assert found == Answered("eu", {"q": "eu"}, "EU", "alice", "telegram", stand_in=False, record=record)


@pytest.mark.parametrize("status", ["expired", "completed"])
def test_silence_is_no_answer_and_a_default_is_told_as_such(status: str) -> None:
    silent = ANSWER | {"value": None, "values": {}, "text": "No response", "expired": True}
    with_default = silent | {"value": False, "values": {"q": False}, "default_used": True}
    several = [{"id": "q"}, {"id": "r"}]
    records: list[Any] = [
        RECORD | {"status": status, "answer": silent},
        RECORD | {"status": status, "answer": with_default},
        RECORD | {"status": status, "answer": with_default | {"value": None}, "questions": several},
    ]
    assert [outcome_of(each) for each in records] == [
        Expired(None, records[0]),
        Expired(False, records[1]),
        Expired({"q": False}, records[2]),
    ]


def test_silence_that_left_nothing_is_silence_too() -> None:
    record: Any = RECORD | {"status": "expired", "answer": None}
    assert outcome_of(record) == Expired(None, record)


def test_what_was_withdrawn_is_told_with_its_reason() -> None:
    record: Any = RECORD | {"status": "cancelled", "answer": None, "reason": "not today"}
    assert outcome_of(record) == Cancelled("not today", record)


@pytest.mark.parametrize(
    "more", [{"answer": None}, {"answer": ANSWER | {"value": None}, "erased_at": "2026-03-01T12:00:00Z"}]
)
def test_an_answer_that_is_not_kept_any_more_is_no_answer(more: Any) -> None:
    record: Any = RECORD | more
    with pytest.raises(errors.Gone, match="not kept any more"):
        outcome_of(record)


async def test_the_environment_says_where_the_gateway_is() -> None:
    seen: list[Any] = []
    async with served(answering(200, {"status": "pending"}, seen=seen)) as url:
        environ = {"ANSWERBACK_URL": url, "ANSWERBACK_KEY": " k\n"}
        async with Client(environ=environ) as client:
            await client.interaction("i")
    assert seen[0][3]["Authorization"] == "Bearer k"
    assert Client("http://other", "k", environ=environ).url == "http://other"
    assert Client(environ={"ANSWERBACK_KEY": "k"}).url == "http://127.0.0.1:8700"


@pytest.mark.parametrize("key", ["two\nlines", "two words", "schlüssel", "a\0b", "a\x7fb", "\udcff"])
def test_a_key_that_no_header_can_carry_is_a_sentence_that_does_not_repeat_it(key: str) -> None:
    with pytest.raises(errors.ConfigurationError, match="printable ASCII without blanks") as refused:
        Client("http://127.0.0.1:1", key)
    assert key not in str(refused.value)


@pytest.mark.parametrize("key", ["two\nlines", " around ", " ", "a\0b", "\udcff"])
async def test_an_idempotency_key_that_would_arrive_otherwise_is_not_sent(unused: str, key: str) -> None:
    async with Client(unused, "k") as client:
        for asking in (client.ask, client.notify, client.ask_and_wait):
            with pytest.raises(errors.DoesNotFit, match="one line of printable characters"):
                await asking("Again?", idempotency_key=key)


def test_without_a_key_it_is_said_where_to_get_one() -> None:
    with pytest.raises(errors.ConfigurationError, match=r"set \$ANSWERBACK_KEY"):
        Client("http://127.0.0.1:8700", environ={})


@pytest.fixture
async def unused() -> str:
    """An address on loopback at which nothing listens."""
    async with served(answering(200, {})) as url:
        pass
    return url
