"""The client: problems become answerback's errors, and a gateway that is away for a moment is waited for."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from answerback import errors
from answerback.client import Client, GatewayUnavailable

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


async def test_an_address_that_is_none_is_a_sentence() -> None:
    async with Client("nowhere", "k") as client:
        with pytest.raises(errors.ConfigurationError, match="looks like http"):
            await client.interaction("i")


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


@pytest.fixture
async def unused() -> str:
    """An address on loopback at which nothing listens."""
    async with served(answering(200, {})) as url:
        pass
    return url
