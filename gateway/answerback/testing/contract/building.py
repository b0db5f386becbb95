"""The class, its settings, and its life: opened and closed at any time, without a trace of its secrets."""

import asyncio
import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest

from answerback.discovery import PROVIDER
from answerback.errors import ConfigurationError
from answerback.model import Json
from answerback.provider import (
    CONTRACT_VERSION,
    Attachment,
    Pace,
    Provider,
    ProviderError,
    SecretStr,
    Settings,
)
from answerback.registry import make
from answerback.settings import Plugin
from answerback.testing.contract.case import SECONDS, Case, alive
from answerback.testing.contract.hooks import NAME, Hooks
from answerback.testing.contract.watching import shown_in

SECRET = re.compile(r"token|secret|password|passwd|api_?key|credential", re.IGNORECASE)
UNKNOWN = "a_key_that_nobody_has"


class Building(Hooks):
    """What can be said without sending anything."""

    def test_the_class_is_a_complete_provider_of_this_version(self) -> None:
        found = self.provider_class
        assert issubclass(found, Provider), f"{found.__name__} must be a subclass of Provider"
        assert not inspect.isabstract(found), f"{found.__name__} does not implement send()"
        assert found.contract_version == CONTRACT_VERSION, (
            f"{found.__name__} is for version {found.contract_version} of the contract, and this suite for "
            f"version {CONTRACT_VERSION}"
        )

    def test_its_limits_are_numbers_that_mean_something(self) -> None:
        found = self.provider_class
        for name in ("max_length", "max_choices", "max_label"):
            value = getattr(found, name)
            assert isinstance(value, int) and value >= 0, f"{name} must be a whole number, 0 or more"
        assert isinstance(found.pace, Pace), "pace must be a Pace"
        assert min(found.pace.account, found.pace.place) >= 0, "pace: messages a second; 0 means no limit"

    def test_its_settings_refuse_what_they_do_not_know(self) -> None:
        model = self.provider_class.Settings
        assert issubclass(model, Settings), "Settings must be a subclass of answerback.provider.Settings"

        async def refused() -> None:
            async with self.far_side() as there:
                context = self.context_for(there)
                options = {**self.options_for(there), UNKNOWN: "1"}
                with pytest.raises(ConfigurationError, match=UNKNOWN):
                    make(PROVIDER, Plugin(NAME, NAME, options), self.provider_class, context)
                await context.http.close()

        _run(refused())

    def test_its_secrets_are_declared_as_secrets(self) -> None:
        for field, annotation in _fields(self.provider_class.Settings):
            if SECRET.search(field) and not field.endswith("_file"):
                assert SecretStr.__name__ in str(annotation), (
                    f"the setting {field} looks like a secret: declare it as SecretStr, so that no error and "
                    f"no repr shows it"
                )

    @alive
    async def test_it_has_the_name_of_the_configuration_and_its_repr_no_secret(self, case: Case) -> None:
        assert case.provider.name == NAME, "pass name, settings and context on to super().__init__"
        shown = [repr(case.provider), str(case.provider), repr(case.provider.settings), repr(vars_of(case))]
        assert not shown_in(shown, case.secrets), "a secret stands in a repr of the provider or its settings"

    @alive
    async def test_it_can_be_closed_twice_and_unopened(self, case: Case) -> None:
        for _ in range(2):
            assert await case.does(case.provider.close()) is None, "close() must not fail"
        never_opened = self.make(case.there)
        assert await case.does(never_opened.close()) is None, "close() must not fail"
        await never_opened.context.http.close()

    @alive
    async def test_it_can_be_opened_again(self, case: Case) -> None:
        await case.provider.close()
        assert await case.does(case.provider.open()) is None, "open() after close() must work"

    @alive
    async def test_its_probe_is_a_sentence_without_secrets(self, case: Case) -> None:
        self.needs("probe")
        said = await case.does(case.provider.probe())
        assert isinstance(said, str) and said.strip(), f"probe() must return a sentence: {said!r}"
        assert not shown_in([said], case.secrets - {case.to.external_id, case.to.place}), (
            "probe() shows a secret"
        )

    @alive
    async def test_a_file_that_is_not_there_is_an_error_of_the_contract(self, case: Case) -> None:
        self.needs("fetch")
        for id in ("no-such-file", "../../etc/passwd", "http://169.254.169.254/latest"):
            found = await case.does(case.provider.fetch(Attachment(id)))
            assert isinstance(found, ProviderError), f"fetch({id!r}) brings something that is no attachment"


def vars_of(case: Case) -> Mapping[str, Any]:
    """What a debugger or an error report would show of it: the attributes' own reprs."""
    found = getattr(case.provider, "__dict__", {})
    return {name: value for name, value in found.items() if isinstance(value, str | SecretStr | Settings)}


def _fields(model: type[Settings]) -> list[tuple[str, Json]]:
    return [(name, field.annotation) for name, field in model.model_fields.items()]


def _run(work: Any) -> None:
    async def limited() -> None:
        async with asyncio.timeout(SECONDS):
            await work

    asyncio.run(limited())
