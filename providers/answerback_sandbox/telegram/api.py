"""The Bot API over HTTP: `/bot<token>/<method>`, its envelope, and the faults asked for."""

import re
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from answerback_sandbox.faults import Fault, FaultKind
from answerback_sandbox.telegram import params
from answerback_sandbox.telegram.errors import ApiError, too_many_requests
from answerback_sandbox.telegram.methods import METHODS, Far, Method
from answerback_sandbox.wire_cut import NoResponse, cut

KEPT = 1000  # results, so that they can be held against a description
TOKEN = re.compile(r"\d+:[A-Za-z0-9_-]{35}")


class BotApi:
    """The endpoint of one bot. `accepts` says whether a well-formed token is its own."""

    def __init__(self, far: Far, accepts: Callable[[str], bool]) -> None:
        self._far = far
        self._accepts = accepts
        self.told: deque[tuple[str, Any]] = deque(maxlen=KEPT)
        self.routes = [
            Route("/bot{token}/{method}", self._call, methods=["GET", "POST"]),
            Route("/file/bot{token}/{path:path}", self._file, methods=["GET"]),
        ]

    async def _call(self, request: Request) -> Response:
        """`{"ok": true, "result": …}` or the failure (https://core.telegram.org/bots/api#making-requests)."""
        name = request.path_params["method"].lower()
        try:
            self._require_token(request.path_params["token"])
            method = METHODS.get(name)
            if method is None:
                raise ApiError(404, "Not Found: method not found")
            return await self._carry_out(request, method, self._far.faults.take(name))
        except ApiError as error:
            return _failure(error)
        except ClientDisconnect:
            return NoResponse()

    async def _carry_out(self, request: Request, method: Method, fault: Fault | None) -> Response:
        kind = None if fault is None else fault.kind
        if kind is FaultKind.DOWN:
            raise ApiError(500, "Internal Server Error")
        if kind is FaultKind.REFUSED:
            return await cut(request)
        if fault is not None and kind is FaultKind.RATE_LIMITED:
            raise too_many_requests(max(1, round(fault.seconds)))
        arguments = await params.read(request)
        if fault is not None and kind is FaultKind.SLOW:
            await self._wait(fault.seconds)
        result = await method(self._far, arguments)
        self.told.append((request.path_params["method"].lower(), result))
        if kind is FaultKind.DROPPED:
            return await cut(request)
        return JSONResponse({"ok": True, "result": result})

    async def _file(self, request: Request) -> Response:
        """What people sent (https://core.telegram.org/bots/api#getfile)."""
        try:
            self._require_token(request.path_params["token"])
        except ApiError as error:
            return _failure(error)
        files = self._far.world.files.values()
        found = next((file for file in files if file.path == request.path_params["path"]), None)
        if found is None:
            return _failure(ApiError(404, "Not Found"))
        return Response(found.content, media_type="application/octet-stream")

    def _require_token(self, token: str) -> None:
        """Telegram says 404 to what does not look like a token and 401 to one that it does not know."""
        if TOKEN.fullmatch(token) is None:
            raise ApiError(404, "Not Found")
        if not self._accepts(token):
            raise ApiError(401, "Unauthorized")

    async def _wait(self, seconds: float) -> None:
        changes = self._far.world.changes
        try:
            await changes.wait_for(lambda: changes.closed, seconds)
        except TimeoutError:
            return


def _failure(error: ApiError) -> Response:
    body: dict[str, object] = {"ok": False, "error_code": error.status, "description": error.description}
    if error.parameters is not None:
        body["parameters"] = dict(error.parameters)
    return JSONResponse(body, error.status)
