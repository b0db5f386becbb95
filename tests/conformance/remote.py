"""A driver in a process of its own, as whoever plays a hazard holds it."""

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.driver import NotApplicable, NotDriven, Refused
from tests.conformance.host import LONGEST_LINE

ROOT = Path(__file__).parents[2]
LONGEST = 120.0  # seconds for one order, on however busy a machine


class Gone(Exception):
    """The process has died."""


class Failed(Exception):
    """The driver raised."""


class Host:
    """A started host.py, in the environment of `python`."""

    def __init__(self, driver: str, python: str, folder: Path, *, quiet: bool) -> None:
        self.socket = folder / "host"
        self._process = subprocess.Popen(
            [python, "-m", "tests.conformance.host", driver, str(self.socket)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if quiet else None,
        )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    async def connect(self) -> "Remote":
        async with asyncio.timeout(LONGEST):
            while self._process.poll() is None:
                with contextlib.suppress(OSError):
                    return Remote(*await asyncio.open_unix_connection(self.socket, limit=LONGEST_LINE))
                await asyncio.sleep(0.05)
        raise Failed("the driver's host does not start")


@contextlib.contextmanager
def hosted(driver: str, python: str = sys.executable, *, quiet: bool = False) -> Iterator[Host]:
    """A host for `MODULE:CLASS`; `quiet` hides its tracebacks. A socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        host = Host(driver, python, Path(folder), quiet=quiet)
        try:
            yield host
        finally:
            host.close()


class Remote:
    """A driver in its own process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = itertools.count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._over = False
        self._task = asyncio.create_task(self._listen())

    async def call(self, what: str, **arguments: Any) -> Any:
        """The driver's result.

        Raises `NotApplicable`, `NotDriven`, `Refused`, `Failed`, `Gone` or `TimeoutError`.
        """
        if self._over:
            raise Gone
        id = next(self._ids)
        self._waiting[id] = asyncio.get_running_loop().create_future()
        with contextlib.suppress(ConnectionError):
            self._writer.write(json.dumps({"id": id, "do": what, "with": arguments}).encode() + b"\n")
            await self._writer.drain()
        async with asyncio.timeout(LONGEST):
            result = await self._waiting[id]
        for kind in (NotApplicable, NotDriven, Refused):
            if kind.__name__ in result:
                raise kind(result[kind.__name__])
        if "error" in result:
            raise Failed(result["error"])
        return result["ok"]

    async def close(self) -> None:
        """End it in good order."""
        with contextlib.suppress(OSError):
            self._writer.write_eof()
        async with asyncio.timeout(LONGEST):
            await self._task

    async def _listen(self) -> None:
        with contextlib.suppress(ConnectionError):
            async for line in self._reader:
                result = json.loads(line)
                future = self._waiting.pop(result.pop("id"))
                if not future.done():  # nobody waits for it any more: it took too long
                    future.set_result(result)
        self._over = True
        self._writer.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Gone())
