"""Where the gateway is and with which key: from the environment, the configuration, or what `serve` made."""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from answerback.cli.terminal import note
from answerback.errors import ConfigurationError

if TYPE_CHECKING:
    from answerback.client import Client
    from answerback.settings import Settings

T = TypeVar("T")
KEY = "ANSWERBACK_KEY"  # transport.py reads it too; nothing of it is imported before it is needed
KEY_FILE = "api-key"  # in data_dir


@dataclass(frozen=True, slots=True)
class Place:
    """A gateway to speak to."""

    url: str
    key: str = field(repr=False)
    settings: "Settings | None" = None  # None: the configuration was not needed

    def asked(self, route: str) -> tuple[str, ...]:
        """The ids of those whom a route asks; nobody as long as the configuration is not known."""
        if self.settings is None:
            return ()
        return self.settings.routes.get(route or "default", self.settings.default_route).ask


def find(config: str | None, url: str, environ: Mapping[str, str] = os.environ) -> Place:
    """The gateway that is meant. Raises `ConfigurationError` when no key is found."""
    key = environ.get(KEY, "").strip()
    if url and key:
        return Place(url, key)
    settings = read_settings(config, environ)
    return Place(url or own_url(settings), key or _key(settings), settings)


def own_url(settings: "Settings") -> str:
    """Where `serve` listens, as it is reached on this machine; not `public_url`, which may be a proxy's."""
    from answerback.settings import units

    return f"http://{units.reachable(settings.host)}:{settings.port}"


def read_settings(config: str | None, environ: Mapping[str, str]) -> "Settings":
    """The configuration, without the secrets that only `serve` needs.

    A variable that is not set here is as good as any other text, unless it is where the gateway listens
    or what its key is: then the error says which it is.
    """
    from answerback import settings

    lenient = _Lenient(environ)
    try:
        found = settings.load(config, environ=lenient)
    except ConfigurationError:
        if lenient.missing:
            settings.load(config, environ=environ)
        raise
    used = [found.listen, found.data_dir, *(_plain(key) for key in found.api_keys)]
    if any(marker in value for marker in lenient.missing.values() for value in used):
        return settings.load(config, environ=environ)
    return found


class _Lenient(dict[str, str]):
    """An environment in which every variable has a value, its own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ)
        self.missing: dict[str, str] = {}

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return self.missing.setdefault(name, f"unset-variable-{name}")


def _plain(key: object) -> str:
    secret = getattr(key, "key", None)
    return secret.get_secret_value() if secret is not None else ""


def _key(settings: "Settings") -> str:
    """The configured key that may do most, or the one that `serve` made."""
    usable = [key for key in settings.api_keys if key.key is not None]
    usable.sort(key=lambda key: (bool(key.scopes), bool(key.agents)))
    if usable:
        return _plain(usable[0])
    if settings.api_keys:
        raise ConfigurationError(
            f"The configuration has its API keys as SHA-256 only: put one into ${KEY}.", file=settings.file
        )
    file = Path(settings.data_dir, KEY_FILE)
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        message = f"There is no API key yet: `answerback serve` makes one, at {file}. Or set ${KEY}."
        raise ConfigurationError(message) from None
    except OSError as error:
        raise ConfigurationError(f"The API key cannot be read: {error.strerror}.", file=str(file)) from None
    except UnicodeDecodeError:
        raise ConfigurationError("The API key cannot be read: this is no text.", file=str(file)) from None


def speak(
    place: Place,
    work: Callable[["Client"], Awaitable[T]],
    *,
    patience: float = 0.0,
    say: Callable[[str], None] = note,
) -> T:
    """The result of `work`, which is given a client of the gateway; `say` is told when that is away."""
    import asyncio

    from answerback.client import Client

    def away(why: str) -> None:
        say(f"{why} Waiting for it.")

    async def session() -> T:
        async with Client(place.url, place.key, patience=patience, on_away=away) as client:
            return await work(client)

    return asyncio.run(session())
