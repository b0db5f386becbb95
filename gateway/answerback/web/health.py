"""Health for whoever watches the process: alive, and ready with a sentence for each part."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answerback.web.problems import document
from answerback.web.records import Ascii
from answerback.web.services import Services


def routes(services: Services) -> list[Route]:
    """`/-/healthy` is always 200 while the process answers; `/-/ready` is 503 until every part works."""

    async def healthy(request: Request) -> Response:
        return Ascii({"status": "healthy"})

    async def ready(request: Request) -> Response:
        fine, parts = await services.health.ready()
        if fine:
            return Ascii({"status": "ready", "parts": dict(parts)})
        detail = "Not everything works yet; see parts."
        return document(503, "not-ready", detail, {"Retry-After": "5"}, parts=dict(parts))

    return [Route("/-/healthy", healthy, name="healthy"), Route("/-/ready", ready, name="ready")]
