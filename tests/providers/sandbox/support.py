"""What the sandbox's tests share: a clock moved by hand, the real client, raw calls."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from telegram import Bot, TelegramObject
from telegram.request import HTTPXRequest

from answerback_sandbox import Sandbox

ANA = 1001
START = 1_790_000_000_000_000


class Clock:
    """Microseconds since the Unix epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += round(seconds * 1_000_000)


@asynccontextmanager
async def bot_at(box: Sandbox, token: str | None = None, read_timeout: float = 5.0) -> AsyncIterator[Bot]:
    """The real, unmodified client; not initialized, so that it makes no call of its own."""
    # No certificate is looked at here, and to read those of the system takes longer than most tests.
    plain = {"verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    request = HTTPXRequest(connection_pool_size=8, read_timeout=read_timeout, httpx_kwargs=plain)
    polling = HTTPXRequest(connection_pool_size=8, read_timeout=read_timeout, httpx_kwargs=plain)
    bot = Bot(
        token or box.token,
        base_url=box.bot_api_base,
        base_file_url=box.file_api_base,
        request=request,
        get_updates_request=polling,
    )
    async with request, polling:
        yield bot


async def call(box: Sandbox, method: str, **request: Any) -> tuple[int, dict[str, Any]]:
    """A Bot API call without a client: status and answer. `request` is aiohttp's; a body makes it POST."""
    verb = "POST" if {"json", "data"} & request.keys() else "GET"
    async with (
        aiohttp.ClientSession() as session,
        session.request(verb, f"{box.url}/bot{box.token}/{method}", **request) as response,
    ):
        return response.status, await response.json()


def unknown_fields(value: object) -> Iterator[str]:
    """Names of fields that the client did not know, anywhere within what it parsed."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from unknown_fields(item)
    if isinstance(value, TelegramObject):
        yield from (f"{type(value).__name__}.{name}" for name in value.api_kwargs)
        for inner in value.to_dict(recursive=False).values():
            yield from unknown_fields(inner)
