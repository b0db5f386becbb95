"""What a process wrote, synced and replied, in order, read from strace's record of its system calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# -y: descriptors with their paths; -xx: every string in hexadecimal, whole, however long.
RECORDING = (
    "-f", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e",
    "trace=openat,write,pwrite64,fsync,fdatasync,ftruncate,unlink,rename,link,linkat,sendto,writev,pwritev,sendmsg",
)  # fmt: skip
_LINE = re.compile(r"(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))")
_PATH = re.compile(r"<([^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_UNFINISHED = " <unfinished ...>"
_REPLY = re.compile(rb"HTTP/1\.1 (\d\d\d) ")


@dataclass(frozen=True, slots=True)
class Event:
    """One step. `kind`: create, write, truncate, sync, unlink, rename, link, or reply (of an HTTP server).

    `at`: an offset, None to append; a size; or a status. `data`: the bytes written, or a new name.
    """

    kind: str
    path: str = ""
    at: int | None = None
    data: bytes = b""


def events(record: Path) -> Iterator[Event]:
    """A sync counts from when it returned, all else from when it was called."""
    begun: dict[str, str] = {}
    with record.open() as lines:
        for line in lines:
            if (found := _LINE.match(line)) is None:
                continue
            process, resumed, rest, name, arguments = found.groups()
            if resumed:
                arguments = begun.pop(process) + rest
                if _is_sync(resumed):
                    yield from _event(resumed, arguments)
            elif arguments.endswith(_UNFINISHED):
                begun[process] = arguments.removesuffix(_UNFINISHED)
                if not _is_sync(name):
                    yield from _event(name, begun[process])
            else:
                yield from _event(name, arguments)


def _is_sync(name: str) -> bool:
    return name in ("fsync", "fdatasync")


def _event(name: str, arguments: str) -> Iterator[Event]:
    texts = [_bytes(text) for text in _TEXT.findall(arguments)]
    path = _bytes(found[1]).decode(errors="replace") if (found := _PATH.search(arguments)) else ""
    if _is_sync(name):
        yield Event("sync", path)
    elif name == "openat" and "O_CREAT" in arguments:
        yield Event("create", texts[0].decode())
        if "O_TRUNC" in arguments:
            yield Event("truncate", texts[0].decode(), 0)
    elif name in ("unlink", "rename", "link", "linkat"):
        yield Event(name.removesuffix("at"), texts[0].decode(), data=texts[-1])
    elif name == "ftruncate":
        yield Event("truncate", path, _last_number(arguments))
    elif name in ("pwrite64", "pwritev"):
        yield Event("write", path, _last_number(arguments), b"".join(texts))
    elif name in ("write", "writev", "sendto", "sendmsg"):
        if reply := _REPLY.match(b"".join(texts)):
            yield Event("reply", at=int(reply[1]))
        elif name in ("write", "writev"):
            yield Event("write", path, None, b"".join(texts))


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _last_number(arguments: str) -> int:
    """The last argument: before the result, if that is known already."""
    found = re.search(r"(\d+)(?:\) += .*)?$", arguments)
    assert found is not None, arguments[-80:]
    return int(found[1])
