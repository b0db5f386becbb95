"""The connection to an MCP server: held open by a task of its own, and opened again when it is lost."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Any, Self

from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT, CallToolResult, Tool

LOST = (CONNECTION_CLOSED, REQUEST_TIMEOUT, INVALID_REQUEST)  # the last: a session that the server has ended
log = logging.getLogger("answerback.agents.copilot")
SECONDS = 60.0  # for one request
CLOSING = 10.0  # seconds until a server that does not end is left to the system


class Away(Exception):
    """The server cannot be reached."""


class Uncertain(Exception):
    """The connection was lost, or the time was up, after a call had gone out: it may have been done."""


class Server:
    """An MCP server, given as `mcp.Client` takes it: how to start it, its URL, or a server in this process.

    `mcp` wants a connection closed by the task that opened it; agents are opened and called by any task.
    """

    def __init__(self, where: Any, *, seconds: float = SECONDS) -> None:
        self._where, self._seconds = where, seconds
        self._lock = asyncio.Lock()
        self._client: Client | None = None
        self._holder: asyncio.Task[None] | None = None
        self._done = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Connect. Raises `Away`, and OSError where its command cannot be started at all."""
        await self._connected()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def tools(self) -> list[Tool]:
        """All tools that it offers. Raises `Away`."""
        client, found, cursor = await self._connected(), list[Tool](), None
        while True:
            with _as_away():
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def call(self, name: str, arguments: dict[str, Any], *, repeatable: bool) -> CallToolResult:
        """What the tool gives back. Raises `Away`, `Uncertain`, and `MCPError` for what the server refuses.

        `repeatable`: it changes nothing, so it may be sent again on a new connection. Anything else is sent
        once, on a connection that has just been seen to work.
        """
        client = await (self._connected() if repeatable else self._proven())
        try:
            return await client.call_tool(name, arguments)
        except Exception as error:
            if not _is_lost(error):
                raise
            if not repeatable:
                raise Uncertain(name) from error
        client = await self._proven()
        with _as_away():
            return await client.call_tool(name, arguments)

    async def _proven(self) -> Client:
        """The connection if it answers, else a new one."""
        client = await self._connected()
        try:
            await client.list_tools(cache_mode="bypass")
        except Exception as error:
            if not _is_lost(error):
                raise
            log.warning("the connection to the MCP server was lost and is opened again")
            await self._close(client)
            return await self._connected()
        return client

    async def _connected(self) -> Client:
        async with self._lock:
            if self._client is None or self._holder is None or self._holder.done():
                self._client = await self._open()
            return self._client

    async def _open(self) -> Client:
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._done = asyncio.Event()
        self._holder = asyncio.create_task(self._hold(opened, self._done))
        try:
            with _as_away():
                return await opened
        except BaseException:
            self._holder.cancel()
            raise

    async def _hold(self, opened: asyncio.Future[Client], done: asyncio.Event) -> None:
        try:
            async with Client(self._where, read_timeout_seconds=self._seconds) as client:
                if not opened.done():
                    opened.set_result(client)
                await done.wait()
        except Exception as error:
            if not opened.done():
                opened.set_exception(_innermost(error))
        finally:
            opened.cancel()  # nothing, unless it ends before it is open

    async def _close(self, lost: Client | None = None) -> None:
        """Close the connection; where one was `lost`, only that: somebody else may have opened the next."""
        async with self._lock:
            if lost is not None and lost is not self._client:
                return
            holder, self._holder, self._client = self._holder, None, None
            if holder is None:
                return
            self._done.set()
            _, left = await asyncio.wait({holder}, timeout=CLOSING)
            for task in left:
                task.cancel()
            await asyncio.gather(holder, return_exceptions=True)


@contextlib.contextmanager
def _as_away() -> Iterator[None]:
    """What says that there is no connection becomes `Away`; what names the command stays an OSError."""
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        # The text of any other error may quote an address with a password in it.
        raise Away(error.message if isinstance(error, MCPError) else type(error).__name__) from error


def _is_lost(error: Exception) -> bool:
    """Whether an error leaves open what became of a request; otherwise the server has answered it."""
    return not isinstance(error, MCPError) or error.code in LOST


def _innermost(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
