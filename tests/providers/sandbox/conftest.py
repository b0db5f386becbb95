"""A sandbox on a free port, and the real python-telegram-bot client pointed at it."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from answerback_sandbox import Sandbox

if TYPE_CHECKING:
    from telegram import Bot

    from tests.providers.sandbox.support import Clock


@pytest.fixture
def clock() -> "Clock":
    from tests.providers.sandbox.support import Clock

    return Clock()


@pytest.fixture
async def box(clock: "Clock") -> AsyncIterator[Sandbox]:
    """Whatever a test has the sandbox send, the real client must know."""
    from tests.providers.sandbox.fields import misfits

    async with Sandbox.start(clock=clock, retry_seconds=0.01) as sandbox:
        yield sandbox
        assert misfits(sandbox) == []


@pytest.fixture
async def bot(box: Sandbox) -> "AsyncIterator[Bot]":
    from tests.providers.sandbox.support import bot_at

    async with bot_at(box) as client:
        yield client
