"""Which calls of a tool are one: a program that gave up on a call, or lost its result, makes it again."""

import math
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

SOON = 120.0  # seconds: called again within these, and its outcome not given back, it is the same call


@dataclass(slots=True)
class Call:
    """What was called for, the key that makes it count once at the gateway, and the question's id."""

    said: str
    key: str
    id: str = ""
    waiting: int = 0
    left: float = -math.inf  # when the last one that waited went away


@dataclass(slots=True)
class Calls:
    """What was called for in one session, as long as its outcome was not given back."""

    clock: Callable[[], float] = time.monotonic
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    _open: dict[str, Call] = field(default_factory=dict)

    def find(self, said: str) -> Call | None:
        """The same call, made before."""
        return self._open.get(said)

    def is_soon(self, call: Call) -> bool:
        """Whether it is still waited for, or was until a moment ago."""
        return call.waiting > 0 or self.clock() - call.left <= SOON

    def begin(self, said: str, request: str) -> Call:
        """A call of its own; of `request`, its id, the same one when that request is sent again."""
        for old in [call for call in self._open.values() if not call.id and not self.is_soon(call)]:
            self.forget(old)
        known = self._open.get(said)
        if known is None or not self.is_soon(known):
            known = Call(said, _hashed("call", self.session, request or uuid.uuid4().hex, said))
            self._open[said] = known
        return known

    @contextmanager
    def waits(self, call: Call) -> Iterator[None]:
        """Somebody waits for the outcome of a call."""
        call.waiting += 1
        try:
            yield
        finally:
            call.waiting -= 1
            call.left = self.clock()

    def forget(self, call: Call) -> None:
        """Its outcome was given back: the same again is something new."""
        if self._open.get(call.said) is call:
            del self._open[call.said]

    def ended(self, id: str) -> None:
        """The same, for a question that was waited for by its id."""
        for call in [call for call in self._open.values() if call.id == id]:
            self.forget(call)


def keyed(key: str) -> Call:
    """A call that the caller has named: it is the same everywhere, and for good."""
    return Call("", _hashed("key", key))


def _hashed(*parts: str) -> str:
    """Whatever a caller's key is made of, a header can carry this."""
    return "mcp-" + sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
