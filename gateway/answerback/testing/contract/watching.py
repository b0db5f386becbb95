"""What a provider must not do unseen: log a secret, name one in an error, or reach out while it parses."""

import contextlib
import logging
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, SecretStr

SHORTEST = 8  # characters: what is shorter may stand anywhere by chance
# https://docs.python.org/3/library/audit_events.html
IO = ("open", "socket.", "subprocess.", "os.system", "os.posix_spawn")
_reached: list[tuple[int, list[str]]] = []  # thread, and what it reached for
_hooked: list[bool] = []


class Log(logging.Handler):
    """Everything that is logged in the meantime, at every level, as text, but by the loggers `without`."""

    def __init__(self, without: Sequence[str] = ()) -> None:
        super().__init__(logging.DEBUG)
        self._without = tuple(without)
        self.lines: list[str] = []
        self._level = logging.NOTSET
        self._text = logging.Formatter("%(name)s: %(message)s")

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(self._without):
            self.lines.append(self._text.format(record))

    def __enter__(self) -> "Log":
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(logging.DEBUG)
        root.addHandler(self)
        return self

    def __exit__(self, *exception: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._level)


def secrets_of(settings: Any) -> set[str]:
    """Every `SecretStr` in a provider's settings, at any depth."""
    if isinstance(settings, SecretStr):
        return {settings.get_secret_value()}
    if isinstance(settings, BaseModel):
        return secrets_of([getattr(settings, name) for name in type(settings).model_fields])
    if isinstance(settings, dict):
        return secrets_of(list(settings.values()))
    if isinstance(settings, list | tuple | set | frozenset):
        return {secret for each in settings for secret in secrets_of(each)}
    return set()


def shown_in(texts: Iterable[str], secrets: Iterable[str]) -> bool:
    """Whether one of the texts holds one of the secrets."""
    long = [secret for secret in secrets if len(secret) >= SHORTEST]
    return any(secret in text for text in texts for secret in long)


def told_by(error: BaseException) -> list[str]:
    """What an error says, and those that a traceback would show above it."""
    said: list[str] = []
    current: BaseException | None = error
    while current is not None:
        said += [str(current), repr(current)]
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return said


@contextlib.contextmanager
def reaching_out() -> Iterator[list[str]]:
    """The files and connections that are opened in the meantime, by the interpreter's own account."""
    if not _hooked:
        sys.addaudithook(_audited)
        _hooked.append(True)
    seen: list[str] = []
    watched = (threading.get_ident(), seen)
    _reached.append(watched)
    try:
        yield seen
    finally:
        _reached.remove(watched)


def _audited(event: str, arguments: tuple[Any, ...]) -> None:
    if _reached and event.startswith(IO):
        for thread, seen in _reached:
            if thread == threading.get_ident():
                seen.append(event)
