"""Cutting a connection in the middle of a call, which the sandbox does on demand."""

from asyncio import Transport

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

TRANSPORT = "answerback_sandbox.transport"


class CuttableProtocol(H11Protocol):
    """uvicorn's HTTP, which lets the application see the connection's transport."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Put the transport into the scope of each request on this connection."""
        super().connection_made(transport)
        app = self.app

        async def with_transport(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, TRANSPORT: transport}, receive, send)

        self.app = with_transport


class NoResponse(Response):
    """Nothing at all: the connection is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            continue


async def cut(request: Request) -> Response:
    """Reset the connection of this request, and the response that therefore is never sent."""
    transport: Transport = request.scope[TRANSPORT]
    transport.abort()
    return NoResponse()
