"""The whole HTTP interface as one ASGI application."""

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerback.errors import AnswerbackError
from answerback.metrics import Metrics
from answerback.web import assets, docs, form, health, hooks, inbox
from answerback.web.api import create_api
from answerback.web.callers import Callers
from answerback.web.paged import IN_BROWSERS
from answerback.web.parts import SCOPE
from answerback.web.problems import Problem, from_error
from answerback.web.refusals import refused
from answerback.web.services import Services

# For every answer that does not say otherwise: nothing is kept, sniffed, framed or passed on.
_DEFAULTS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


def create_app(services: Services) -> ASGIApp:
    """The application that a server runs; it starts and stops nothing itself."""
    api, callers = create_api(services), Callers(services)
    site = Starlette(
        routes=[
            *hooks.routes(services),
            *form.routes(services),
            *inbox.routes(services, callers),
            *health.routes(services),
            *assets.routes(),
            *docs.routes(api),
        ],
        exception_handlers=IN_BROWSERS,
    )
    site.router.redirect_slashes = False  # redirects would be built from the Host header
    return _Headers(_Door(services, callers, hooks.Hooks(services), site, api), services.metrics)


class _Door:
    """Everything under /v1 goes to the API, and only from known callers: before a byte of the body is read.

    Events of the providers go straight to `intake`: what every tap comes in by is the shortest way.
    """

    def __init__(
        self, services: Services, callers: Callers, intake: ASGIApp, site: ASGIApp, api: ASGIApp
    ) -> None:
        self._services, self._callers, self._intake = services, callers, intake
        self._site, self._api = site, api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith("/in/"):
            return await self._intake(scope, receive, send)
        if scope["type"] != "http" or not f"{scope['path']}/".startswith("/v1/"):
            return await self._site(scope, receive, send)
        try:
            caller = await self._callers.of(scope)
        except (Problem, AnswerbackError) as error:
            return await from_error(error).response()(scope, receive, send)
        await self._api({**scope, "answerback.caller": caller, SCOPE: self._services}, receive, send)


class _Headers:
    """Adds the default headers to every answer, errors included; errors are counted."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] >= 400:
                    refused(self._metrics, scope, message["status"])
                given = {name for name, _ in message["headers"]}
                missing = [pair for pair in _DEFAULTS if pair[0] not in given]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        await self._app(scope, receive, with_headers)
