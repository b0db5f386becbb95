"""What `providers` lists: every installed provider, and what the configured ones do, or would."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from answerback import discovery, registry, settings
from answerback.cli import gateway
from answerback.cli.places import placed
from answerback.client import Client, GatewayUnavailable
from answerback.errors import ConfigurationError
from answerback.provider import Provider
from answerback.settings import Settings

SECONDS = 5.0  # for a gateway to say how its providers are
FINE = "settings are fine"
# Optional methods of the contract, and what they mean for whoever chooses a provider.
ABILITIES = {
    "verify": "takes webhooks",
    "poll": "is polled",
    "update": "edits",
    "acknowledge": "acknowledges",
    "fetch": "brings files",
    "challenge": "answers handshakes",
    "probe": "can be checked online",
}


@dataclass(frozen=True, slots=True)
class Installed:
    """A provider that a package announces. `problem`: why it cannot be used, "" if it can.

    `configured` are the names under which the configuration uses it.
    """

    name: str
    path: str
    package: str
    version: str
    capabilities: tuple[str, ...] = ()
    problem: str = ""
    configured: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return f"{self.package} {self.version}".strip() or self.path

    @property
    def about(self) -> str:
        used = f"; configured as {', '.join(self.configured)}" if self.configured else ""
        return (self.problem or ", ".join(["sends", *(ABILITIES[each] for each in self.capabilities)])) + used


@dataclass(frozen=True, slots=True)
class Configured:
    """A provider of the configuration, and its state in a sentence."""

    name: str
    use: str
    state: str


@dataclass(frozen=True, slots=True)
class Listed:
    """`gateway`: the address of the one that said how the providers are, "" if none did."""

    installed: tuple[Installed, ...]
    configured: tuple[Configured, ...]
    gateway: str = ""
    problems: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "items": [asdict(one) for one in self.configured],
            "installed": [asdict(one) for one in self.installed],
            "gateway": self.gateway,
            "problems": list(self.problems),
        }


def listed(config: str | None, url: str) -> Listed:
    """Everything; a gateway that was named must answer. Raises what a `Client` raises then."""
    with contextlib.redirect_stdout(sys.stderr):  # what a plugin prints when imported is no part of a list
        found = tuple(_installed(*each) for each in discovery.looked_at())
        try:
            place = gateway.find(config, url)
            said = asyncio.run(_ask(place))
        except (GatewayUnavailable, ConfigurationError):
            if url:
                raise
            return _without_gateway(found, config)
    return Listed(_used(found, said), said, place.url)


def _installed(about: discovery.Installed, loaded: type[Provider] | None, problem: str) -> Installed:
    able = tuple(name for name in ABILITIES if loaded is not None and loaded.can(name))
    return Installed(about.name, about.path, about.package, about.version, able, problem)


async def _ask(place: gateway.Place) -> tuple[Configured, ...]:
    async with Client(place.url, place.key, patience=0) as client:
        page = await client.call("GET", "/v1/providers", seconds=SECONDS)
    return tuple(Configured(item["name"], item["use"], item["state"]) for item in page["items"])


def _without_gateway(found: tuple[Installed, ...], config: str | None) -> Listed:
    """From the configuration alone: whether each could be used. One that is wrong is said beside the list."""
    try:
        loaded = settings.load(config, environ=os.environ)
    except ConfigurationError as error:
        named = _named(config)
        return Listed(_used(found, named), named, problems=(str(error),))
    checked = asyncio.run(_checked(loaded))
    return Listed(_used(found, checked), checked)


def _used(found: Iterable[Installed], configured: Iterable[Configured]) -> tuple[Installed, ...]:
    names: dict[str, list[str]] = {}
    for one in configured:
        names.setdefault(one.use, []).append(one.name)
    return tuple(
        replace(one, configured=(*names.get(one.name, ()), *names.get(one.path, ()))) for one in found
    )


def _named(config: str | None) -> tuple[Configured, ...]:
    """What is configured, as far as it can be read without the secrets."""
    try:
        loaded = gateway.read_settings(config, os.environ)
    except ConfigurationError:
        return ()
    return tuple(
        Configured(name, plugin.use, "not checked: the configuration has an error")
        for name, plugin in loaded.providers.items()
    )


async def _checked(loaded: Settings) -> tuple[Configured, ...]:
    with tempfile.TemporaryDirectory(prefix="answerback-providers-") as empty:
        offered = registry.offered(loaded, empty)
        made = registry.build(loaded, provider_context=offered, agent_context=None)
        for provider in made.providers.values():
            with contextlib.suppress(Exception):  # it was never opened: there is nothing to lose
                await provider.close()
        await offered.http.close()
    wrong = {one.name: placed(loaded, one.kind, one.name, one.error) for one in made.problems}
    return tuple(
        Configured(name, plugin.use, wrong.get(name, FINE)) for name, plugin in loaded.providers.items()
    )
