"""Which addresses may be called that somebody else chose: by host, by domain, by network. Pure."""

import ipaddress
from collections.abc import Sequence

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# IPv6 addresses that carry an IPv4 address: RFC 6052 section 2.1, RFC 8215.
NAT64 = tuple(ipaddress.IPv6Network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48"))


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
        host = _encoded(host)
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

    def may_reach(self, host: str) -> bool:
        """What can be said before a name is resolved: whether any address of this host could be reached."""
        return self._any_public or self.names(host) or bool(self._networks)

    def plain(self, host: str) -> bool:
        """Whether it may be called without TLS: only what the operator named."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return self.names(host)
        return any(_within(address, network) for network in self._networks)


def _encoded(host: str) -> str:
    """A host as it is connected to: with its international names in ASCII (RFC 5891). Raises ValueError."""
    if host.isascii():
        return host
    from yarl import URL

    return URL.build(scheme="https", host=host).raw_host or host


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
