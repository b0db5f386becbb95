"""A gateway's HTTP interface on a real socket, for clients that are not in this process's memory."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import uvicorn

from answerback.app import App
from answerback.cli.serving import server_config
from answerback.cli.site import site


@contextlib.asynccontextmanager
async def served(app: App, listener: socket.socket | None = None) -> AsyncIterator[str]:
    """The address, on a free loopback port unless a listening socket is given."""
    with listener or socket.create_server(("127.0.0.1", 0)) as taken:
        server = uvicorn.Server(server_config(site(app)))
        task = asyncio.create_task(server.serve([taken]))
        try:
            yield f"http://127.0.0.1:{taken.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
