"""The providers' webhooks: raw bytes in, counted; the answer goes out after what came in is stored."""

import re
import time
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answerback.errors import NotFound
from answerback.provider import HttpAnswer, Inbound
from answerback.web.limits import read_body
from answerback.web.services import Services

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def routes(services: Services) -> list[Route]:
    """`/in/{provider}`: POST for events, GET for handshakes, which store nothing."""
    base = services.settings.public_url.rstrip("/")
    limit = services.settings.limits.body_bytes

    async def event(request: Request) -> Response:
        provider = _provider(request)
        bare = inbound_of(request, base, b"")
        await services.receiver.screen(provider, bare)
        inbound = replace(bare, body=await read_body(request, limit))
        return _response(await services.receiver.webhook(provider, inbound))

    async def handshake(request: Request) -> Response:
        provider = _provider(request)
        return _response(await services.receiver.challenge(provider, inbound_of(request, base, b"")))

    async def hook(request: Request) -> Response:
        return await (event if request.method == "POST" else handshake)(request)

    return [Route("/in/{provider}", hook, methods=["GET", "POST"], name="hook")]


def inbound_of(request: Request, base: str, body: bytes) -> Inbound:
    """The request as providers see it; its url is the one that the service called, from `public_url`.

    A header that came twice is joined by a comma (RFC 9110, section 5.3), so that a second signature
    can never replace the first.
    """
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Inbound(
        body=body,
        method=request.method,
        url=base + target(request),
        headers=headers,
        query=tuple(request.query_params.multi_items()),
        received_at=time.time_ns() // 1000,
    )


def target(request: Request) -> str:
    """Path and query exactly as they stood in the request line: signatures are made over these."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    query: bytes = request.scope.get("query_string") or b""
    path = raw.partition(b"?")[0]
    return (path + (b"?" + query if query else b"")).decode("latin-1")


def _provider(request: Request) -> str:
    name: str = request.path_params["provider"]
    if not _NAME.fullmatch(name):
        raise NotFound("There is no such provider.")
    return name


def _response(answer: HttpAnswer) -> Response:
    return Response(answer.body, answer.status, {"content-type": answer.content_type})
