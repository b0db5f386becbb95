"""Texts that stand for quantities and addresses: durations, sizes, where to listen, our own URL."""

import ipaddress
import re
from urllib.parse import urlsplit

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(ms|s|m|h|d|w)")
_DURATION = re.compile(rf"{_PART.pattern}(?: ?{_PART.pattern})*")
_SIZE = re.compile(r"([0-9]{1,12}) ?([KMG]i?B|B|)", re.IGNORECASE)
_LISTEN = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})")
_NETLOC = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|\w[\w.-]*)(?::([0-9]{1,5}))?")
LONGEST = 3660 * 86400  # ten years: beyond it a deadline is a typing error, and times may overflow


def duration(text: object) -> float:
    """Seconds in `90s`, `10m`, `24h`, `7d`, `2w`, `1h30m`; more than none, at most ten years."""
    if not isinstance(text, str) or not _DURATION.fullmatch(text):
        raise ValueError("this is not a duration, such as 90s, 10m, 24h or 7d.")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if not 0 < seconds <= LONGEST:
        raise ValueError("a duration must be more than nothing and at most ten years.")
    return seconds


def size(text: object) -> int:
    """Bytes in `65536`, `64 KiB`, `1 MiB`, `2 MB`; more than none."""
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError("this is not a size, such as 65536, 64 KiB or 1 MiB.")
    return int(match[1]) * _BYTES[match[2].lower()]


def listen(text: str) -> str:
    """A `HOST:PORT` that can be listened on; an IPv6 host stands in brackets."""
    match = _LISTEN.fullmatch(text)
    if match is None or int(match[2]) > 65535:
        raise ValueError("this is not HOST:PORT, such as 127.0.0.1:8700 or [::1]:8700.")
    if match[1].startswith("[") and not _address(match[1]):
        raise ValueError("what stands in the brackets is not an IPv6 address, such as [::1]:8700.")
    return text


def split_listen(text: str) -> tuple[str, int]:
    """Host (without brackets) and port of a valid `HOST:PORT`."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def base_url(text: str) -> str:
    """An http(s) URL of a host and nothing behind it, without the slash at its end."""
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc or not text.isprintable():
        raise ValueError("this is not an http or https address, such as https://ask.example.org.")
    match = _NETLOC.fullmatch(parts.netloc)
    if match is None or int(match[1] or 0) > 65535:
        raise ValueError("the host of this address cannot be read; it looks like https://ask.example.org.")
    if parts.path not in ("", "/") or "?" in text or "#" in text:
        raise ValueError("nothing may stand behind the host: answerback needs a host name of its own.")
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`, as far as its spelling tells."""
    address = _address(host)
    return address.is_loopback if address else host.rstrip(".").lower() == "localhost"


def only_here(listen: str, public_url: str) -> bool:
    """Whether only this machine is served: a public address in front (a reverse proxy) undoes loopback."""
    return is_loopback(split_listen(listen)[0]) and is_loopback(urlsplit(public_url).hostname or "")


def reachable(host: str) -> str:
    """`host` as it stands in a URL; one that means every interface becomes this machine."""
    address = _address(host)
    if address and address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return f"[{host}]" if address and address.version == 6 else host


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
