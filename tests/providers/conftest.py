"""The far side of the services, on loopback. Imports late: the bare core reads this too."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from answerback_sandbox import Sandbox


@pytest.fixture
async def box() -> "AsyncIterator[Sandbox]":
    from answerback_sandbox import Sandbox

    async with Sandbox.start() as sandbox:
        yield sandbox
