"""A provider that is open at the sandbox. Imports late: the bare core reads this too."""

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
