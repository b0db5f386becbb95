"""The metrics listener: `GET /metrics` and nothing else, on an address of its own."""

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from answerback.metrics import CONTENT_TYPE, Metrics


def expose(metrics: Metrics) -> ASGIApp:
    """The application behind the address that `metrics.listen` names."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _answer(metrics, scope)(scope, receive, send)

    return app


def _answer(metrics: Metrics, scope: Scope) -> Response:
    if scope["path"] != "/metrics":
        return PlainTextResponse("Metrics are at /metrics.\n", 404)
    if scope["method"] not in ("GET", "HEAD"):
        return PlainTextResponse("Metrics are read with GET.\n", 405, {"Allow": "GET, HEAD"})
    return Response(metrics.exposition(), 200, {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})
