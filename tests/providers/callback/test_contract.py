"""A function as a provider keeps the contract: one that waits, and one that is called with everything."""

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from answerback.model import Json
from answerback.provider import ProviderContext
from answerback.testing import ProviderContract
from answerback_providers.callback import Callback

MODULE = """
told = []

async def notify(interaction_id, agent_message, form_url, expiry_time):
    told.append(agent_message)

def everything(kind, **known):
    told.append(known["agent_message"])
"""


class TestCoroutine(ProviderContract):
    provider_class = Callback
    options: ClassVar[Mapping[str, Json]] = {"function": "told_by_the_contract:notify"}

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[None]:
        (self.folder / "told_by_the_contract.py").write_text(MODULE)
        yield
        sys.modules.pop("told_by_the_contract", None)
        sys.path[:] = [entry for entry in sys.path if entry != str(self.folder)]

    def context_for(self, there: None) -> ProviderContext:
        return ProviderContext(base_dir=str(self.folder))

    async def sees(self, there: None) -> list[str]:
        return list(sys.modules["told_by_the_contract"].told)


class TestFunction(TestCoroutine):
    options: ClassVar[Mapping[str, Json]] = {"function": "told_by_the_contract:everything"}
