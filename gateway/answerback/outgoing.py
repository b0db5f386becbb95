"""Outgoing HTTP to addresses that somebody else chose: checked, pinned, capped, never redirected.

What an agent, a person or a caller of the API names as an address must not open a door into the operator's
own network (server-side request forgery): every address that a name resolves to is looked at, and the
connection goes to one of those, not to what the name means a moment later.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from answerback.allowed import Allowed
from answerback.errors import TryLater, Undeliverable
from answerback.http import BadUrl, Http, HttpReply, NoAnswer, Unreachable

SECONDS = 10.0
LIMIT = 1 << 20  # bytes of an answer
CLOSED = "The address of this receiver may not be called from here (see outgoing.allow)."


class Barred(Undeliverable):
    """The address is not one that may be called. The sentence names no address."""


class Outgoing:
    """One connection pool for all such calls."""

    def __init__(self, allowed: Allowed | None = None) -> None:
        self._allowed = allowed or Allowed()
        self._http = Http(resolver=_Resolver(self._allowed))

    async def close(self) -> None:
        await self._http.close()

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
        try:
            address = urlsplit(url)
            host = address.hostname or ""
            address.port  # noqa: B018 - raises for a port that is none
        except ValueError:
            raise Barred("The address of this receiver cannot be read.") from None
        if address.scheme not in ("http", "https") or not host or address.username or address.password:
            raise Barred("The receiver needs an address like https://example.org/hook, without a password.")
        if address.scheme == "http" and not self._allowed.plain(host):
            raise Barred("The receiver needs https, unless outgoing.allow names its host.")
        try:
            literal = ipaddress.ip_address(host)
        except ValueError:
            return
        if not self._allowed.reaches(host, literal):
            raise Barred(CLOSED)


class _Closed(OSError):
    """A name has an address that may not be called."""


class _Resolver:
    """Every address of a name, or none: the connection then goes to one of these.

    What aiohttp.abc.AbstractResolver is; not its child, so that aiohttp is imported by the first call.
    """

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[dict[str, Any]]:
        loop = asyncio.get_running_loop()
        found: list[Any] = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
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
        """Nothing is held."""
