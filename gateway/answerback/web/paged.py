"""Whatever goes wrong behind a page is told on a page, in the reader's language: a person is reading it."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from answerback.errors import NotFound, StoreUnavailable
from answerback.web.pages import unknown_page
from answerback.web.problems import HANDLERS, RETRY_SECONDS, Problem, handle
from answerback.web.wording import preferred, word

TOLD = {413: "too_long", 503: "unavailable"}  # what is said of a problem; of others only that there is one
NOWHERE = {404: "unknown", 500: "broken"}  # what is said where no page of ours was reached, or it broke
Endpoint = Callable[[Request], Awaitable[Response]]


def in_a_page(endpoint: Endpoint) -> Endpoint:
    """The endpoint, with a page for every error that it may raise."""

    async def answer(request: Request) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        try:
            return await endpoint(request)
        except NotFound:
            return unknown_page(language, word("unknown", language))
        except StoreUnavailable:
            page = unknown_page(language, word("unavailable", language), 503)
            page.headers["retry-after"] = str(RETRY_SECONDS)
            return page
        except Problem as problem:
            key = TOLD.get(problem.status, "refused")
            page = unknown_page(language, word(key, language), problem.status)
            page.headers.update(problem.headers or {})
            return page

    return answer


async def _told(request: Request, error: Exception) -> Response:
    """A problem document, or, in a browser, a page: whoever opens half a link reads no JSON."""
    response = await handle(request, error)
    key = NOWHERE.get(response.status_code)
    if key is None or "text/html" not in request.headers.get("accept", ""):
        return response
    language = preferred(request.headers.get("accept-language", ""))
    return unknown_page(language, word(key, language), response.status_code)


IN_BROWSERS: dict[int | type[Exception], Any] = dict.fromkeys(HANDLERS, _told)
"""The exception handlers of a site that people open too."""
