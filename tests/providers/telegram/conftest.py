"""A provider that is open at the sandbox, which sends it only what Telegram describes.

Imports late: the bare core reads this too.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from answerback_providers.telegram import Telegram
    from answerback_sandbox import Sandbox


@pytest.fixture
async def telegram(box: "Sandbox") -> "AsyncIterator[Telegram]":
    from tests.providers.telegram.support import connected

    async with connected(box) as provider:
        yield provider


@pytest.fixture
async def box() -> "AsyncIterator[Sandbox]":
    from answerback_sandbox import Sandbox
    from tests.providers.sandbox.fields import misfits

    async with Sandbox.start() as sandbox:
        yield sandbox
        assert misfits(sandbox) == []
