"""Whatever goes wrong behind a page is told on a page, in the reader's language: a person is reading it."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from answerback.errors import NotFound, StoreUnavailable
from answerback.web.pages import unknown_page
from answerback.web.problems import RETRY_SECONDS, Problem
from answerback.web.wording import preferred, word

TOLD = {413: "too_long", 503: "unavailable"}  # what is said of a problem; of others only that there is one
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
