"""The server: Bot API, phone and guard in one application, served by uvicorn on loopback."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from answerback_sandbox.loopback import LoopbackGuard, require_loopback
from answerback_sandbox.wire_cut import CuttableProtocol


def compose(routes: list[BaseRoute]) -> Starlette:
    """One application of these routes, behind the guard."""
    return Starlette(routes=routes, middleware=[Middleware(LoopbackGuard)])


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes a free one. Raises NotLoopback, OSError if taken."""
    address = require_loopback(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family)


def url_of(listener: socket.socket) -> str:
    """The base URL of a listening socket, without a slash at its end."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """uvicorn inside someone else's program: signals stay theirs, and it says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.serving.set()

    async def main_loop(self) -> None:
        """Wait for the end, where uvicorn would look ten times a second whether it has come."""
        await self.stopping.wait()


@contextlib.asynccontextmanager
async def serve(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    """Serve while the body runs. No access log: the Bot API's URLs contain the token."""
    config = uvicorn.Config(
        app,
        http=CuttableProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        timeout_keep_alive=75,  # seconds, as real services do: a retry must not meet a closing connection
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
    )
    server = _Server(config)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[listener]))
        await server.serving.wait()
        try:
            yield
        finally:
            server.stopping.set()
