"""A gateway's HTTP interface on a real socket, for clients that are not in this process's memory."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator

import httpx
import uvicorn

from answerback.app import App
from answerback.cli.serving import server_config
from answerback.cli.site import site

# On loopback nothing is encrypted, and to read a machine's certificates takes 25 ms a client.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


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


def client_of(url: str, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client of what is served at `url`."""
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=30, verify=NO_CERTIFICATES)
