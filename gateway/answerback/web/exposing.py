"""The metrics listener: `GET /metrics` and nothing else, on an address of its own."""

import logging
from collections.abc import Awaitable, Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from answerback.errors import AnswerbackError
from answerback.metrics import CONTENT_TYPE, Gauge, Metrics

log = logging.getLogger("answerback.metrics")
Look = Callable[[], Awaitable[dict[Gauge, int]]]


def expose(metrics: Metrics, look: Look) -> ASGIApp:
    """The application behind the address that `metrics.listen` names; `look` looks up the gauges."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await (await _answer(metrics, look, scope))(scope, receive, send)

    return app


async def _answer(metrics: Metrics, look: Look, scope: Scope) -> Response:
    if scope["path"] != "/metrics":
        return PlainTextResponse("Metrics are at /metrics.\n", 404)
    if scope["method"] not in ("GET", "HEAD"):
        return PlainTextResponse("Metrics are read with GET.\n", 405, {"Allow": "GET, HEAD"})
    body = metrics.exposition(await _gauges(look))
    return Response(body, 200, {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})


async def _gauges(look: Look) -> dict[Gauge, int]:
    """None while the database is away: that is when the counters are wanted most."""
    try:
        return await look()
    except AnswerbackError as error:
        log.warning("gauges could not be looked up: %s", error)
        return {}
