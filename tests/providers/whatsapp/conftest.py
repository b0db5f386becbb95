"""A provider open at the sandbox, its calls held against Twilio's description.

Imports late: the bare core reads this too.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from answerback_providers.whatsapp import WhatsApp
    from answerback_sandbox import Sandbox


@pytest.fixture
async def whatsapp(box: "Sandbox") -> "AsyncIterator[WhatsApp]":
    from tests.providers.whatsapp.support import connected

    async with connected(box) as provider:
        yield provider


@pytest.fixture
async def box() -> "AsyncIterator[Sandbox]":
    """Whatever a test has our provider send, Twilio must describe."""
    from answerback_sandbox import Sandbox
    from tests.providers.whatsapp.described import misfits

    async with Sandbox.start() as sandbox:
        yield sandbox
        assert [misfit for call in sandbox.twilio.calls for misfit in misfits(call)] == []
