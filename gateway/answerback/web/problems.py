"""Errors as answers: every error of the HTTP interface is a problem document (RFC 9457)."""

import http
import json
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from answerback.errors import AgentUnavailable, NotPending, Refused, StoreUnavailable, TryLater, Unverified

RETRY_SECONDS = 5
_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    406: "This address cannot answer in the form that was asked for.",
}


class Problem(Exception):
    """An error that is found in the web layer itself. `detail` is a sentence for the caller.

    `more` are further members of its document.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        self.status, self.code, self.detail = status, code, detail
        self.headers, self.errors, self.more = headers, errors, more or {}
        super().__init__(detail)

    def response(self) -> Response:
        """The problem document."""
        extra = {**self.more, **({"errors": self.errors} if self.errors else {})}
        return document(self.status, self.code, self.detail, self.headers, **extra)


def document(
    status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **extra: Any
) -> Response:
    """A problem document: type, title, status, detail, and `code`, which is stable for programs."""
    body = {
        "type": f"urn:answerback:problem:{code}",
        "title": phrase(status),
        "status": status,
        "code": code,
        "detail": detail,
        **extra,
    }
    content = json.dumps(body, ensure_ascii=True).encode()
    return Response(content, status, dict(headers or {}), media_type="application/problem+json")


def phrase(status: int) -> str:
    """The reason phrase of a status, `Error` for one that has none."""
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def unavailable(detail: str, seconds: float = RETRY_SECONDS) -> Problem:
    """503: nothing was accepted, the same request may be sent again."""
    return Problem(503, "unavailable", detail, {"Retry-After": str(max(1, round(seconds)))})


def from_error(error: Exception) -> Problem:
    """The problem that stands for an error of the layers below; 500 for one that nobody foresaw."""
    match error:
        case Problem():
            return error
        case Refused():
            return Problem(error.status, error.code, error.detail)
        case StoreUnavailable():
            return unavailable("Nothing can be stored right now, so nothing was accepted. Try again.")
        case AgentUnavailable():
            return unavailable("The agent cannot be reached right now. Try again.")
        case TryLater():
            return unavailable("This cannot be taken right now. Try again.", error.seconds)
        case NotPending():
            return Problem(409, "not-pending", "The agent does not wait for this any more.")
        case Unverified():
            return Problem(error.status, "unverified", "The request did not prove where it comes from.")
        case RequestValidationError():
            return _parameters(error)
        case ClientDisconnect():
            return Problem(400, "incomplete", "The request ended before its body was complete.")
        case HTTPException():
            return _http(error)
    return Problem(500, "internal", "Something went wrong here, not with your request. It has been logged.")


def _http(error: HTTPException) -> Problem:
    title = phrase(error.status_code)
    code = title.lower().replace(" ", "-")
    detail = _SENTENCES.get(error.status_code) or str(error.detail) or title
    return Problem(error.status_code, code, detail, error.headers)


def _parameters(error: RequestValidationError) -> Problem:
    """422 for parameters of the path or query; never repeats the value that was sent."""
    errors = [
        {"field": ".".join(str(part) for part in item["loc"][1:]), "message": str(item["msg"])}
        for item in error.errors()
    ]
    detail = "; ".join(f"{item['field']}: {item['message']}" for item in errors[:3])
    return Problem(422, "does-not-fit", detail or "The request cannot be read.", errors=errors)


async def handle(request: Request, error: Exception) -> Response:
    """The exception handler of all applications in this package."""
    problem = from_error(error)
    if problem.status == 405:
        named = {name.strip() for name in (problem.headers or {}).get("Allow", "").split(",")}
        problem.headers = {"Allow": ", ".join(sorted((named | _methods(request)) - {""}))}
    return problem.response()


def _methods(request: Request) -> set[str]:
    """The methods of all routes with this path: the framework names those of the first one only."""
    here = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in here for method in getattr(route, "methods", None) or ()}


_HANDLED = (
    Exception,
    HTTPException,
    Problem,
    Refused,
    StoreUnavailable,
    AgentUnavailable,
    NotPending,
    TryLater,
    Unverified,
    RequestValidationError,
    ClientDisconnect,
)
HANDLERS: dict[int | type[Exception], Any] = dict.fromkeys(_HANDLED, handle)
