"""Outgoing HTTP to addresses that somebody else chose: checked, pinned, capped, never redirected.

What an agent, a person or a caller of the API names as an address must not open a door into the operator's
own network (server-side request forgery): every address that a name resolves to is looked at, and the
connection goes to one of those, not to what the name means a moment later.
"""

import asyncio
import functools
import ipaddress
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from answerback.allowed import Allowed, IPAddress
from answerback.errors import TryLater, Undeliverable
from answerback.http import BadUrl, Http, HttpReply, NoAnswer, Unreachable

SECONDS = 10.0
LIMIT = 1 << 20  # bytes of an answer
# At a time, in threads of their own: names whose servers do not answer must not hold up everybody else's.
LOOK_UPS = 32
LookUp = Callable[..., list[Any]]  # socket.getaddrinfo, or what stands in for it
CLOSED = "The address of this receiver may not be called from here (see outgoing.allow)."


class Barred(Undeliverable):
    """The address is not one that may be called. The sentence names no address."""


class Outgoing:
    """One connection pool for all such calls."""

    def __init__(self, allowed: Allowed | None = None, look_up: LookUp = socket.getaddrinfo) -> None:
        self._allowed = allowed or Allowed()
        self._resolver = _Resolver(self._allowed, look_up)
        self._http = Http(resolver=self._resolver)

    async def close(self) -> None:
        await self._http.close()
        await self._resolver.close()

    async def call(
        self,
        method: str,
        url: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
        limit: int = LIMIT,
    ) -> HttpReply:
        """One request, whatever its status; a redirect is an answer like any other.

        Raises `Barred` for an address that may not be called, and `TryLater` when nothing came back:
        `maybe_sent` unless no connection was made.
        """
        self.check(url)
        try:
            return await self._http.call(
                method, url, seconds=seconds, limit=limit, data=body or None, headers=headers
            )
        except Unreachable as error:
            if isinstance(error.reason, _Closed):
                raise Barred(CLOSED) from None
            if isinstance(error, BadUrl):
                raise Barred("The address of this receiver cannot be read.") from None
            raise TryLater(5, f"The receiver cannot be reached ({error.what}).") from None
        except NoAnswer as error:
            raise TryLater(5, f"The receiver did not answer ({error.what}).", maybe_sent=True) from None

    def check(self, url: str) -> None:
        """What can be said of an address before anything is resolved. Raises `Barred`."""
        from yarl import URL  # as aiohttp reads it: digits and dots of any script are those of ASCII there

        try:
            address = urlsplit(url)
            address.port  # noqa: B018 - raises for a port that is none
            host = URL(url).raw_host or ""
        except ValueError:
            raise Barred("The address of this receiver cannot be read.") from None
        if address.scheme not in ("http", "https") or not host or address.username or address.password:
            raise Barred("The receiver needs an address like https://example.org/hook, without a password.")
        if address.scheme == "http" and not self._allowed.plain(host):
            raise Barred("The receiver needs https, unless outgoing.allow names its host.")
        literal = _literal(host.rstrip("."))
        if literal is not None and not self._allowed.reaches(host, literal):
            raise Barred(CLOSED)


def _literal(host: str) -> IPAddress | None:
    """The address that a host is, in any form that `connect` takes: 127.1 and 2130706433 too (inet_aton(3)).

    Some releases of aiohttp connect to these without asking the resolver.
    """
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


class _Closed(OSError):
    """A name has an address that may not be called."""


class _Resolver:
    """Every address of a name, or none: the connection then goes to one of these.

    What aiohttp.abc.AbstractResolver is; not its child, so that aiohttp is imported by the first call.
    """

    def __init__(self, allowed: Allowed, look_up: LookUp) -> None:
        self._allowed, self._look_up = allowed, look_up
        self._threads: ThreadPoolExecutor | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[dict[str, Any]]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(LOOK_UPS, thread_name_prefix="look-up")
        look_up = functools.partial(self._look_up, host, port, family=family, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        addresses = {str(entry[4][0]).partition("%")[0]: entry[0] for entry in found}
        if not all(self._allowed.reaches(host, ipaddress.ip_address(text)) for text in addresses):
            raise _Closed
        return [
            {
                "hostname": host,
                "host": text,
                "port": port,
                "family": family_,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for text, family_ in addresses.items()
        ]

    async def close(self) -> None:
        """Whoever still looks something up is not waited for."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
