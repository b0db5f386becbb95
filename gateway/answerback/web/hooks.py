"""The providers' webhooks: raw bytes in, counted; the answer goes out after what came in is stored."""

import logging
import re
import time
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from answerback.errors import NotFound
from answerback.provider import HttpAnswer, Inbound
from answerback.web.limits import read_body
from answerback.web.problems import from_error
from answerback.web.services import Services

log = logging.getLogger("answerback.web")
_PATH = re.compile(r"/in/([A-Za-z0-9_.-]{1,64})")


class Hooks:
    """`/in/{provider}`: POST for events, GET for handshakes, which store nothing.

    A bare ASGI application that answers its own errors: what people's taps come in by needs no framework.
    """

    def __init__(self, services: Services) -> None:
        self._receiver = services.receiver
        self._base = services.settings.public_url.rstrip("/")
        self._limit = services.settings.limits.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(scope, receive)
        except Exception as error:
            await _refusal(error)(scope, receive, send)
            return
        headers = [
            (b"content-type", answer.content_type.encode("latin-1")),
            (b"content-length", b"%d" % len(answer.body)),
        ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def _answer(self, scope: Scope, receive: Receive) -> HttpAnswer:
        provider, about = _provider(scope["path"]), about_of(scope, self._base)
        bare = Inbound(b"", **about)
        if scope["method"] != "POST":
            return await self._receiver.challenge(provider, bare)
        await self._receiver.screen(provider, bare)
        body = await read_body(Request(scope, receive), self._limit)
        return await self._receiver.webhook(provider, Inbound(body, **about))


def routes(services: Services) -> list[Route]:
    return [Route("/in/{provider}", Hooks(services), methods=["GET", "POST"], name="hook")]


def about_of(scope: Scope, base: str) -> dict[str, Any]:
    """All of an `Inbound` but its body; its url is the one that the service called, from `public_url`.

    A header that came twice is joined by a comma (RFC 9110, section 5.3), so that a second signature
    can never replace the first.
    """
    headers: dict[str, str] = {}
    for raw, content in scope["headers"]:
        name, value = raw.decode("latin-1"), content.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    query = (scope.get("query_string") or b"").decode("latin-1")
    return {
        "method": scope["method"],
        "url": base + target(scope),
        "headers": headers,
        "query": tuple(parse_qsl(query, keep_blank_values=True)) if query else (),
        "received_at": time.time_ns() // 1000,
    }


def target(scope: Scope) -> str:
    """Path and query exactly as they stood in the request line: signatures are made over these."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string") or b""
    path = raw.partition(b"?")[0]
    return (path + (b"?" + query if query else b"")).decode("latin-1")


def _provider(path: str) -> str:
    found = _PATH.fullmatch(path)
    if found is None:
        raise NotFound("There is no such provider.")
    return found[1]


def _refusal(error: Exception) -> Response:
    problem = from_error(error)
    if problem.status == 500:
        log.error("a webhook could not be taken", exc_info=error)
    return problem.response()
