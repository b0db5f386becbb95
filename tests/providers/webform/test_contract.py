"""The form alone keeps the contract of every provider."""

import contextlib
import io
from collections.abc import AsyncIterator

from answerback.provider import ProviderContext
from answerback.testing import ProviderContract
from answerback_providers.webform import WebForm


class TestWebForm(ProviderContract):
    provider_class = WebForm

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[io.StringIO]:
        yield io.StringIO()

    def context_for(self, there: io.StringIO) -> ProviderContext:
        return ProviderContext(extra={"echo": there})

    async def sees(self, there: io.StringIO) -> list[str]:
        return there.getvalue().split("\n\n")
