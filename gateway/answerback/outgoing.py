"""Outgoing HTTP to addresses that somebody else chose: checked, pinned, capped, never redirected.

What an agent, a person or a caller of the API names as an address must not open a door into the operator's
own network (server-side request forgery): every address that a name resolves to is looked at, and the
connection goes to one of those, not to what the name means a moment later.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from answerback.errors import TryLater, Undeliverable

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
SECONDS = 10.0
LIMIT = 1 << 20  # bytes of an answer
NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
CLOSED = "The address of this receiver may not be called from here (see outgoing.allow)."
# IPv6 addresses that carry an IPv4 address: RFC 6052 section 2.1, RFC 8215.
NAT64 = tuple(ipaddress.IPv6Network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48"))


class Barred(Undeliverable):
    """The address is not one that may be called. The sentence names no address."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What came back; `headers` by lower-case name."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)

    @property
    def retry_after(self) -> float:
        """Seconds that the other side asks to wait (RFC 9110, section 10.2.3); 0 if it does not say."""
        given = self.headers.get("retry-after", "")
        return float(given) if given.isascii() and given.isdecimal() and len(given) < 6 else 0.0


class Allowed:
    """Who may be called. Entries: `host`, `*.domain`, an address or a network such as `10.1.0.0/16`.

    Without entries: whatever has public addresses only, by https. With entries: those and nothing else;
    a host that is named may have private addresses and be called without TLS, but link-local ones
    (a cloud's metadata) only when their network is named. Raises ValueError for what is no entry.
    """

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._domains: list[str] = []
        self._networks: list[Network] = []
        for entry in entries:
            self._add(entry.strip().lower())
        self._any_public = not entries

    def _add(self, entry: str) -> None:
        try:
            self._networks.append(ipaddress.ip_network(entry, strict=False))
            return
        except ValueError:
            pass
        host = entry.removeprefix("*.")
        if not host or not all(part.replace("-", "").replace("_", "").isalnum() for part in host.split(".")):
            raise ValueError("a host name, *.domain, or a network such as 10.1.0.0/16")
        if entry.startswith("*."):
            self._domains.append("." + host)
        else:
            self._hosts.add(host)

    def names(self, host: str) -> bool:
        """Whether the host is an entry of its own."""
        host = host.lower().rstrip(".")
        return host in self._hosts or any(host.endswith(domain) for domain in self._domains)

    def reaches(self, host: str, address: IPAddress) -> bool:
        """Whether a connection to this host may go to that address."""
        inner = embedded(address)
        if any(_within(inner, network) or _within(address, network) for network in self._networks):
            return True
        if self.names(host):
            return not (inner.is_link_local or inner.is_multicast or inner.is_unspecified)
        return self._any_public and is_public(address)

    def plain(self, host: str) -> bool:
        """Whether it may be called without TLS: only what the operator named."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return self.names(host)
        return any(_within(address, network) for network in self._networks)


class Outgoing:
    """One connection pool for all such calls."""

    def __init__(self, allowed: Allowed | None = None) -> None:
        self._allowed = allowed or Allowed()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

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
        timeout = aiohttp.ClientTimeout(total=seconds)
        failure: Exception
        try:
            async with self._open().request(
                method, url, data=body or None, headers=headers, timeout=timeout, allow_redirects=False
            ) as answer:
                content = await answer.content.read(limit + 1)
                while len(content) <= limit and (more := await answer.content.read(limit)):
                    content += more
                found = {name.lower(): value for name, value in answer.headers.items()}
                return HttpReply(answer.status, found, content[:limit])
        except aiohttp.InvalidURL:
            failure = Barred("The address of this receiver cannot be read.")
        except NOT_SENT as error:
            closed = isinstance(error.__cause__, _Closed)
            away = TryLater(5, f"The receiver cannot be reached ({type(error).__name__}).")
            failure = Barred(CLOSED) if closed else away
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failure = TryLater(5, f"The receiver did not answer ({type(error).__name__}).", maybe_sent=True)
        raise failure  # out of the except block: what the library says holds the URL

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

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                resolver=_Resolver(self._allowed), use_dns_cache=False, ssl=ssl.create_default_context()
            )
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            )
        return self._session


class _Closed(OSError):
    """A name has an address that may not be called."""


class _Resolver(AbstractResolver):
    """Every address of a name, or none: the connection then goes to one of these."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        found: list[Any] = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        addresses = {str(entry[4][0]).partition("%")[0]: entry[0] for entry in found}
        if not all(self._allowed.reaches(host, ipaddress.ip_address(text)) for text in addresses):
            raise _Closed
        return [
            ResolveResult(
                hostname=host, host=text, port=port, family=family_, proto=0, flags=socket.AI_NUMERICHOST
            )
            for text, family_ in addresses.items()
        ]

    async def close(self) -> None:
        """Nothing is held."""


def embedded(address: IPAddress) -> IPAddress:
    """The IPv4 address that an IPv6 address stands for, if it does: mapped, 6to4, Teredo or NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: IPAddress) -> bool:
    """Whether the address, or the IPv4 address that it stands for, is of the public internet (RFC 6890)."""
    inner = embedded(address)
    return inner.is_global and not inner.is_multicast


def _within(address: IPAddress, network: Network) -> bool:
    return address.version == network.version and address in network
