"""The control interface over HTTP, under /sandbox: what to connect to, who is there, what goes wrong.

    GET  /sandbox          what to put into a bot's settings, and the people (`endpoints.endpoints`)
    GET  /sandbox/faults   {"telegram": {"down": {"on": false, "seconds": 1.0}, …}, "whatsapp": …, "mail": …}
    POST /sandbox/faults   {"service", "fault", "on": true, "seconds": 1} or, instead of "on", "calls": 3
    POST /sandbox/heal     {}: everything works again
    POST /sandbox/webhook  {"url"}: where WhatsApp messages are posted, as set in Twilio's console

GET changes nothing; a POST is a JSON object. Errors are {"error": a sentence}, 400 or 422.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from answerback_sandbox.bodies import json_object
from answerback_sandbox.endpoints import Json, Served, endpoints
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import FaultKind, Faults, ServiceName, switches

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
MOST_CALLS = 1_000_000


class Switchable(Served, Protocol):
    """What is needed of a sandbox."""

    def faults_of(self, service: ServiceName) -> Faults: ...
    def switch(self, service: ServiceName, kind: FaultKind, on: bool, seconds: float = 1.0) -> None: ...
    def fail_next(self, service: ServiceName, kind: FaultKind, calls: int, seconds: float = 1.0) -> None: ...
    def heal_all(self) -> None: ...


class ControlApi:
    """The routes. The guard of the server lets in nothing that another site made a browser send."""

    def __init__(self, box: Switchable) -> None:
        self._box = box
        self.routes = [
            Route("/sandbox", self._answer(self._show), methods=["GET"]),
            Route("/sandbox/faults", self._answer(self._faults), methods=["GET"]),
            Route("/sandbox/faults", self._answer(self._switch), methods=["POST"]),
            Route("/sandbox/heal", self._answer(self._heal), methods=["POST"]),
            Route("/sandbox/webhook", self._answer(self._webhook), methods=["POST"]),
        ]

    def _answer(self, act: Callable[[Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                body = await json_object(request) if request.method == "POST" else {}
                return JSONResponse(act(body), headers=HEADERS)
            except SandboxError as error:
                return JSONResponse({"error": str(error)}, 400, headers=HEADERS)
            except (KeyError, TypeError, ValueError, OverflowError):
                return JSONResponse({"error": "the body does not fit this action"}, 422, headers=HEADERS)

        return endpoint

    def _show(self, _: Json) -> Json:
        return endpoints(self._box)

    def _faults(self, _: Json) -> Json:
        return shown(self._box)

    def _switch(self, body: Json) -> Json:
        service = _one_of(ServiceName, body, "service")
        kind, seconds = _one_of(FaultKind, body, "fault"), float(body.get("seconds", 1))
        if "calls" in body:
            calls = body["calls"]
            if not isinstance(calls, int) or isinstance(calls, bool) or not 1 <= calls <= MOST_CALLS:
                raise SandboxError(f"calls is a number from 1 to {MOST_CALLS}")
            self._box.fail_next(service, kind, calls, seconds)
        else:
            on = body.get("on", True)
            if not isinstance(on, bool):
                raise SandboxError("on is true or false")
            self._box.switch(service, kind, on, seconds)
        return shown(self._box)

    def _heal(self, _: Json) -> Json:
        self._box.heal_all()
        return shown(self._box)

    def _webhook(self, body: Json) -> Json:
        url = body["url"]
        if not isinstance(url, str):
            raise TypeError
        self._box.twilio.webhook(url)
        return {"url": url}


def shown(box: Switchable) -> Json:
    """Every switch of every service, and how it stands."""
    return {
        str(service): {str(kind): _shown(box.faults_of(service), kind) for kind in switches(service)}
        for service in ServiceName
    }


def _shown(faults: Faults, kind: FaultKind) -> Json:
    standing = [fault for fault in faults.ahead if fault.kind is kind]
    left = [fault.calls for fault in standing if fault.calls is not None]
    return {
        "on": faults.is_on(kind),
        "calls": sum(left),
        "seconds": standing[-1].seconds if standing else 1.0,
    }


def _one_of(kind: Any, body: Json, name: str) -> Any:
    try:
        return kind(body.get(name))
    except ValueError:
        raise SandboxError(f"{name} is one of {', '.join(kind)}") from None
