"""A real server on a free loopback port, for as long as a test needs it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn

from answerback.forms import FormView
from tests.unit.web.fakes import TOKEN, World


@contextlib.asynccontextmanager
async def serving(page: FormView, **more: Any) -> AsyncIterator[tuple[World, str]]:
    """The world behind a form page, and the link of that page."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        world = World(page, public_url=base, **more)
        server = uvicorn.Server(uvicorn.Config(world.app, lifespan="off", log_config=None, ws="none"))
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield world, f"{base}/f/{TOKEN}"
        finally:
            server.should_exit = True
            await task
