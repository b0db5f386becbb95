"""What an author says of their provider: its class, its settings, its far side, and what people do there."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from answerback.discovery import PROVIDER
from answerback.model import Json
from answerback.provider import Address, Allowed, Button, Inbound, Outgoing, Provider, ProviderContext, Sent
from answerback.registry import make
from answerback.settings import Plugin

NAME = "contract"  # what the provider is called in the configuration
PUBLIC_URL = "https://ask.example.org"
LOOPBACK = ("localhost", "127.0.0.0/8", "::1")


class Hooks:
    """Override what applies. `there` is whatever your `far_side` yields.

    `provider_class` is needed; `options` are what would stand in the configuration (text, mappings, lists).
    `place` is the address that is written to. `leaves_out` maps the name of a test to the reason why it does
    not apply: the test is then skipped, and says so. `far_side_logs` begin the names of the far side's own
    loggers, which may log what they like.
    """

    provider_class: ClassVar[type[Provider]]
    options: ClassVar[Mapping[str, Json]] = {}
    place: ClassVar[str] = "someone"
    leaves_out: ClassVar[Mapping[str, str]] = {}
    far_side_logs: ClassVar[Sequence[str]] = ("aiohttp.access", "uvicorn.access")

    @contextlib.asynccontextmanager
    async def far_side(self) -> AsyncIterator[Any]:
        """Start what behaves like the service, and stop it in the end."""
        yield None

    def options_for(self, there: Any) -> Mapping[str, Json]:
        """The options with which the provider reaches the far side."""
        return self.options

    def address_for(self, there: Any) -> Address:
        """Whom the messages of the suite go to, and who replies."""
        return Address(NAME, self.place, self.place)

    def context_for(self, there: Any) -> ProviderContext:
        """What the gateway gives the provider. Loopback may be called."""
        return ProviderContext(public_url=PUBLIC_URL, http=Outgoing(Allowed(LOOPBACK)))

    def make(self, there: Any) -> Provider:
        """The provider as the gateway makes it: its options checked by its own Settings."""
        plugin = Plugin(NAME, NAME, dict(self.options_for(there)))
        provider: Provider = make(PROVIDER, plugin, self.provider_class, self.context_for(there))
        return provider

    async def reply(self, there: Any, sent: Sent, text: str) -> Inbound | None:
        """A person answers the message with a text.

        Returns the request with which the service tells us, or None if the provider will find it by polling.
        """
        raise NotImplementedError

    async def tap(self, there: Any, sent: Sent, button: Button) -> Inbound | None:
        """A person taps a button of the message; returns the same as `reply`."""
        raise NotImplementedError

    async def sees(self, there: Any) -> Sequence[str]:
        """The texts of the messages that stand before the person now, oldest first."""
        raise NotImplementedError

    # -- for the tests of the suite

    @pytest.fixture(autouse=True)
    def _left_out(self, request: pytest.FixtureRequest) -> None:
        self.check_leaves_out()
        if reason := self.leaves_out.get(getattr(request.node, "originalname", request.node.name)):
            pytest.skip(reason)

    def check_leaves_out(self) -> None:
        """Fail if a name in `leaves_out` is misspelt: the test that was meant would run, or be forgotten."""
        for name in self.leaves_out:
            assert hasattr(self, name), f"leaves_out names a test that is not there: {name}"

    def given(self, hook: str) -> bool:
        """Whether the author overrides a hook."""
        return getattr(type(self), hook) is not getattr(Hooks, hook)

    def needs(self, *capabilities: str) -> None:
        """Skip the test unless the provider overrides one of these."""
        if not any(self.provider_class.can(each) for each in capabilities):
            name = self.provider_class.__name__
            pytest.skip(f"{name} does not override {' or '.join(capabilities)}, so this is left out")

    def needs_hook(self, hook: str) -> None:
        """Skip the test unless the author said how the far side does this."""
        if not self.given(hook):
            pytest.skip(f"{type(self).__name__} does not override {hook}(), so this is left out")
