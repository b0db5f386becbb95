"""A sandbox on a free port, and the real python-telegram-bot client pointed at it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from answerback_sandbox import Sandbox

if TYPE_CHECKING:
    from playwright.async_api import Browser
    from telegram import Bot

    from tests.providers.sandbox.support import Clock


@pytest.fixture
def clock() -> "Clock":
    from tests.providers.sandbox.support import Clock

    return Clock()


@asynccontextmanager
async def checked(clock: "Clock") -> AsyncIterator[Sandbox]:
    """Whatever a test has the sandbox send, the real client must know."""
    async with Sandbox.start(clock=clock, retry_seconds=0.01) as sandbox:
        yield sandbox
        if find_spec("telegram"):  # not in the bare core
            from tests.providers.sandbox.fields import misfits

            assert misfits(sandbox) == []


@pytest.fixture
async def box_alone(clock: "Clock") -> AsyncIterator[Sandbox]:
    async with checked(clock) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(loop_scope="session")
async def box_beside_chromium(chromium: "Browser", clock: "Clock") -> AsyncIterator[Sandbox]:
    async with checked(clock) as sandbox:
        yield sandbox


@pytest.fixture
def box(request: pytest.FixtureRequest) -> Sandbox:
    sandbox: Sandbox = request.getfixturevalue(f"box_{_where(request)}")
    return sandbox


@pytest.fixture
async def bot_alone(box: Sandbox) -> "AsyncIterator[Bot]":
    from tests.providers.sandbox.support import bot_at

    async with bot_at(box) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def bot_beside_chromium(box: Sandbox) -> "AsyncIterator[Bot]":
    from tests.providers.sandbox.support import bot_at

    async with bot_at(box) as client:
        yield client


@pytest.fixture
def bot(request: pytest.FixtureRequest) -> "Bot":
    client: Bot = request.getfixturevalue(f"bot_{_where(request)}")
    return client


def _where(request: pytest.FixtureRequest) -> str:
    """In which loop: the test's own, or the one of the browser that it has beside it."""
    return "beside_chromium" if "chromium" in request.fixturenames else "alone"
