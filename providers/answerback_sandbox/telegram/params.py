"""The arguments of a Bot API call, however they came: query, form, multipart or JSON.

https://core.telegram.org/bots/api#making-requests. Objects and arrays come JSON-encoded in forms and as they
are in JSON bodies; numbers and booleans come as either.
"""

import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Scope

from answerback_sandbox import strict_json
from answerback_sandbox.telegram.errors import ApiError, bad_request

MAX_BODY = 1 << 20


class Params:
    """Arguments by name. What is absent, empty or of the wrong kind counts as not given, as on Telegram."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """A string; empty if not given."""
        value = self._values.get(name)
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number, brought between `low` and `high`."""
        return max(low, min(high, self.maybe_integer(name, default)))

    def maybe_integer(self, name: str, default: int) -> int:
        """A whole number, or `default` if it is none."""
        try:
            return int(self.text(name).strip())
        except ValueError:
            return default

    def flag(self, name: str) -> bool:
        """A boolean."""
        return self.text(name).strip().lower() in ("true", "yes", "1")

    def value(self, name: str) -> Any:
        """A JSON value, None if not given. Raises ApiError 400 for what is no JSON."""
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return strict_json.loads(value) if value else None
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None


async def read(request: Request) -> Params:
    """The arguments of a request; the body's win over the query's. Raises ApiError for a bad or long body."""
    values: dict[str, Any] = dict(request.query_params)
    return Params(values | await _body(request)) if request.method == "POST" else Params(values)


async def _body(request: Request) -> dict[str, Any]:
    raw = await _bytes(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _json(raw) if kind == "application/json" else await _form(request.scope, raw)


async def _bytes(request: Request) -> bytes:
    """The body, counted as it streams in."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_BODY:
            raise ApiError(413, "Request Entity Too Large")
    return bytes(raw)


def _json(raw: bytes) -> dict[str, Any]:
    try:
        values = strict_json.loads(raw)
    except ValueError:
        raise bad_request("can't parse request JSON object") from None
    if not isinstance(values, dict):
        raise bad_request("request JSON object must be an Object")
    return values


async def _form(scope: Scope, raw: bytes) -> dict[str, Any]:
    async def receive() -> Message:
        return {"type": "http.request", "body": raw, "more_body": False}

    try:
        async with Request(scope, receive).form() as form:
            return {
                name: "" if isinstance(value, UploadFile) else value for name, value in form.multi_items()
            }
    except HTTPException:
        raise bad_request("can't parse the request's form") from None
