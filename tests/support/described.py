"""What the API says of itself (OpenAPI), held against every answer of it that a test gets."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import jsonschema
from starlette.types import ASGIApp

JSON = ("application/json", "application/problem+json")
_known: dict[str, Any] = {}  # the description; that of a part of the API says what that of the whole does


def through(app: ASGIApp, base_url: str, *, raising: bool = True, **more: Any) -> httpx.AsyncClient:
    """A client of the app in this process, to whom nothing is said that the description does not have."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=raising)
    hooks = {"response": [_as_described(app)]}
    return httpx.AsyncClient(transport=transport, base_url=base_url, event_hooks=hooks, **more)


def _as_described(app: ASGIApp) -> Callable[[httpx.Response], Awaitable[None]]:
    async def check(response: httpx.Response) -> None:
        method, path = response.request.method.lower(), response.request.url.path
        if not path.startswith("/v1/"):
            return
        if (operation := _operation(method, path)) is None:
            await _learn(app)
            operation = _operation(method, path)
        if operation is None:
            refused = response.status_code >= 400  # who may not come in is not told what there is
            assert refused, f"{method} {path} is not described"
            return
        status, described = response.status_code, operation["responses"]
        rule = described.get(str(status)) or described.get(f"{status // 100}XX")
        assert rule, f"{method} {path} is not described to answer {status}"
        media = response.headers.get("content-type", "").partition(";")[0]
        assert media in rule["content"] or "*/*" in rule["content"], f"{method} {path} answers with {media}"
        if media in JSON:
            await response.aread()
            schema = rule["content"][media]["schema"] | {"components": _known["components"]}
            jsonschema.Draft202012Validator(schema).validate(response.json())

    return check


def _operation(method: str, path: str) -> Any:
    """What is said of it; a path without variables goes before one with."""
    fitting = [name for name in _known.get("paths", ()) if re.fullmatch(_pattern(name), path)]
    for name in sorted(fitting, key=lambda each: each.count("{")):
        return _known["paths"][name].get(method)
    return None


def _pattern(name: str) -> str:
    return "".join(
        "[^/]+" if part.startswith("{") else re.escape(part) for part in re.split(r"({\w+})", name)
    )


async def _learn(app: ASGIApp) -> None:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        _known.update((await client.get("/openapi.json")).raise_for_status().json())
