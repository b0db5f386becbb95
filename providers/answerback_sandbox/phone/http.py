"""What every request of the page has in common: headers, errors as sentences, a JSON object as the body."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from answerback_sandbox.bodies import MAX_BODY, json_object
from answerback_sandbox.errors import SandboxError

Json = dict[str, Any]
Handler = Callable[[Request], Awaitable[Json]]
Endpoint = Callable[[Request], Awaitable[Response]]
Act = Callable[[int, Json], Json]
"""What one action does: whose phone (0: nobody's), the body; what it answers."""

PLAIN = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
HEADERS = PLAIN | {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
}


def guarded(handler: Handler) -> Endpoint:
    """An endpoint that answers with JSON, and with a sentence for what cannot be done."""

    async def endpoint(request: Request) -> Response:
        try:
            return JSONResponse(await handler(request), headers=HEADERS)
        except SandboxError as error:
            return JSONResponse({"error": str(error)}, 400, headers=HEADERS)
        except (KeyError, TypeError, ValueError):
            return JSONResponse({"error": "the body does not fit this action"}, 422, headers=HEADERS)

    return endpoint


def action(act: Act, most: int = MAX_BODY) -> Endpoint:
    """An endpoint for what somebody does; its body is a JSON object of at most that many bytes."""

    async def handler(request: Request) -> Json:
        body = await json_object(request, most)
        return act(int(request.path_params.get("person", 0)), body)

    return guarded(handler)


def number(body: Json, name: str) -> int | None:
    """A whole number that may be missing. Raises TypeError or ValueError for anything else."""
    return None if body.get(name) is None else int(body[name])


def text(body: Json, name: str) -> str:
    """A text that is there, verbatim. Raises KeyError or TypeError for anything else."""
    found = body[name]
    if not isinstance(found, str):
        raise TypeError
    return found


def word(body: Json, name: str) -> str:
    """A text that says something, without spaces around it. Raises SandboxError if it is missing."""
    found = body.get(name)
    if not isinstance(found, str) or not found.strip():
        raise SandboxError(f"{name} is missing")
    return found.strip()
