"""The JSON object that a POST brings."""

from typing import Any

from starlette.requests import Request

from answerback_sandbox import strict_json
from answerback_sandbox.errors import SandboxError

MAX_BODY = 1 << 16


async def json_object(request: Request, most: int = MAX_BODY) -> dict[str, Any]:
    """The body, at most so many bytes. No other site's form can send this content type without being asked.

    Raises SandboxError for another type, for one that is too long and for no object; ValueError for no JSON.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise SandboxError("the body must be application/json")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > most:
            raise SandboxError("the body is too long")
    body = strict_json.loads(bytes(raw) or b"{}")
    if not isinstance(body, dict):
        raise SandboxError("the body must be an object")
    return body
