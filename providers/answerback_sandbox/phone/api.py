"""The phone over HTTP: the page, its live events, and the control interface under /phone/api/."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from answerback_sandbox import strict_json
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import FaultKind
from answerback_sandbox.phone.view import Json, Phones, phone
from answerback_sandbox.telegram.state import Button, Chat, Message, Person

STATIC = {
    "phone.css": "text/css; charset=utf-8",
    "phone.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MAX_BODY = 1 << 16


class Controls(Phones, Protocol):
    """What people can do, as the sandbox offers it."""

    def add_person(self, person_id: int, first_name: str, username: str | None = None) -> Person: ...
    def add_group(self, title: str, members: Sequence[int]) -> Chat: ...
    def type(
        self, person: int, text: str, reply_to: int | None = None, chat: int | None = None
    ) -> Message: ...
    def tap(self, person: int, message_id: int, button: str | int, chat: int | None = None) -> Button: ...
    def press_start(self, person: int, payload: str = "") -> Message: ...
    def block(self, person: int) -> None: ...
    def unblock(self, person: int) -> None: ...
    def fail(
        self, kind: FaultKind, calls: int | None = 1, *, method: str | None = None, seconds: float = 1.0
    ) -> None: ...
    def heal(self) -> None: ...


Handler = Callable[[Request], Awaitable[Json]]
Endpoint = Callable[[Request], Awaitable[Response]]


class PhoneApi:
    """Routes of the page and its JSON. GET changes nothing; every POST is a JSON object."""

    def __init__(self, box: Controls) -> None:
        self._box = box
        person = "/phone/api/people/{person:int}"
        self.routes = [
            Route("/", _page, methods=["GET"]),
            Route("/phone", _page, methods=["GET"]),
            Route("/phone/static/{name}", _static, methods=["GET"]),
            Route("/phone/api/events", self._events, methods=["GET"]),
            Route(person, self._guarded(self._show), methods=["GET"]),
            Route("/phone/api/people", self._action(self._add_person), methods=["POST"]),
            Route("/phone/api/groups", self._action(self._add_group), methods=["POST"]),
            Route(person + "/type", self._action(self._type), methods=["POST"]),
            Route(person + "/tap", self._action(self._tap), methods=["POST"]),
            Route(person + "/start", self._action(self._start), methods=["POST"]),
            Route(person + "/block", self._action(self._block), methods=["POST"]),
            Route(person + "/unblock", self._action(self._unblock), methods=["POST"]),
            Route("/phone/api/faults", self._action(self._fail), methods=["POST"]),
            Route("/phone/api/faults/clear", self._action(self._heal), methods=["POST"]),
        ]

    def _guarded(self, handler: Handler) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                return JSONResponse(await handler(request), headers=HEADERS)
            except SandboxError as error:
                return JSONResponse({"error": str(error)}, 400, headers=HEADERS)
            except (KeyError, TypeError, ValueError):
                return JSONResponse({"error": "the body does not fit this action"}, 422, headers=HEADERS)

        return endpoint

    def _action(self, act: Callable[[int, Json], Json]) -> Endpoint:
        async def handler(request: Request) -> Json:
            body = await _json_object(request)
            return act(int(request.path_params.get("person", 0)), body)

        return self._guarded(handler)

    async def _show(self, request: Request) -> Json:
        return phone(self._box, request.path_params["person"])

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(_versions(self._box), headers=HEADERS, media_type="text/event-stream")

    def _add_person(self, _: int, body: Json) -> Json:
        taken = [item.id for item in self._box.people]
        wanted = int(body.get("id") or max(taken, default=1000) + 1)
        return {
            "id": self._box.add_person(
                wanted, _text(body, "first_name"), str(body.get("username") or "") or None
            ).id
        }

    def _add_group(self, _: int, body: Json) -> Json:
        return {"id": self._box.add_group(_text(body, "title"), [int(item) for item in body["members"]]).id}

    def _type(self, person: int, body: Json) -> Json:
        text, reply_to, chat = body["text"], _number(body, "reply_to"), _number(body, "chat")
        if not isinstance(text, str):
            raise TypeError
        return {"message_id": self._box.type(person, text, reply_to, chat).id}

    def _tap(self, person: int, body: Json) -> Json:
        message_id, chat = int(body["message_id"]), _number(body, "chat")
        return {"url": self._box.tap(person, message_id, body["button"], chat).url}

    def _start(self, person: int, body: Json) -> Json:
        return {"message_id": self._box.press_start(person, str(body.get("payload") or "")).id}

    def _block(self, person: int, body: Json) -> Json:
        self._box.block(person)
        return {}

    def _unblock(self, person: int, body: Json) -> Json:
        self._box.unblock(person)
        return {}

    def _fail(self, _: int, body: Json) -> Json:
        asked = body.get("calls", 1)
        calls = None if asked is None else int(asked)
        seconds = float(body.get("seconds", 1))
        self._box.fail(FaultKind(body["kind"]), calls, method=body.get("method"), seconds=seconds)
        return {}

    def _heal(self, _: int, body: Json) -> Json:
        self._box.heal()
        return {}


async def _versions(box: Phones) -> AsyncIterator[str]:
    """Server-sent events: the number of the latest change, now and whenever it grows."""
    seen = -1
    while not box.changes.closed:
        seen = box.changes.version
        yield f"retry: 1000\ndata: {seen}\n\n"
        await box.changes.after(seen)


async def _json_object(request: Request) -> dict[str, Any]:
    """The body. A form of another site cannot send this content type without being asked first."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise SandboxError("the body must be application/json")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_BODY:
            raise SandboxError("the body is too long")
    body = strict_json.loads(bytes(raw) or b"{}")
    if not isinstance(body, dict):
        raise SandboxError("the body must be an object")
    return body


def _number(body: Json, name: str) -> int | None:
    return None if body.get(name) is None else int(body[name])


def _text(body: Json, name: str) -> str:
    text = body.get(name)
    if not isinstance(text, str) or not text.strip():
        raise SandboxError(f"{name} is missing")
    return text.strip()


async def _page(request: Request) -> Response:
    return Response(_asset("index.html"), media_type="text/html; charset=utf-8", headers=HEADERS)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return Response(status_code=404, headers=HEADERS)
    return Response(_asset(name), media_type=STATIC[name], headers=HEADERS)


def _asset(name: str) -> bytes:
    return files("answerback_sandbox.phone").joinpath("static", name).read_bytes()
