"""The contract of a function of yours that says who an HTTP request is from (`authenticate`).

    def who(request: Request) -> Caller | None: ...

It may be `async`; a plain one runs in a thread. None says that the request is from nobody that it knows: then
only an API key counts. Whatever it raises refuses the request.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["EVERY_AGENT", "Caller", "Headers", "Request"]
EVERY_AGENT = frozenset({"*"})


class Headers(Mapping[str, str]):
    """The headers of a request, by name in any case.

    One that came twice stands here once, joined by a comma (RFC 9110, section 5.3): what somebody added can
    never replace what a proxy has set.
    """

    __slots__ = ("_values",)

    def __init__(self, given: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        values: dict[str, str] = {}
        for name, value in given.items() if isinstance(given, Mapping) else given:
            key = name.lower()
            values[key] = f"{values[key]}, {value}" if key in values else value
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({', '.join(self)})"  # what stands in them may be a secret (law 11)


@dataclass(frozen=True, slots=True)
class Request:
    """What is told of a request. Its body is not: it has not been read yet.

    `client` is the address that the connection came from: the proxy's, when there is one in front; "" for a
    unix socket.
    """

    method: str
    path: str
    headers: Headers = field(default_factory=Headers)
    client: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who a request is from, and what they may do.

    `name` is what they are called in records: one line of at most 200 characters without a colon. It is no
    key's name, and the id of no contact but their own. `scopes`: of `ask`, `read`, `answer` and `admin`, one
    at least. `contact`: for whom their answers count. Only an `operator` may `answer` without one: in
    anybody's place. `agents`: those that they may have to do with, one at least.
    """

    name: str
    scopes: Collection[str]
    contact: str = ""
    agents: Collection[str] = EVERY_AGENT
    operator: bool = False
