"""A gateway in a process of its own, seen from the test: start it, give it orders, learn of its end."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds until a test gives up; nothing waits that long


class Zygote:
    """Speaks to the preloaded process."""

    def __init__(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.faults.zygote", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])

    async def fork(self, order: dict[str, Any], listener: socket.socket) -> "Life":
        """A new gateway, not started."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._orders, [json.dumps(order).encode()], [listener.fileno(), theirs.fileno()])
        life = Life(*await asyncio.open_connection(sock=ours, limit=1 << 24))
        if await life.meet(life.said("pid")) is None:
            raise RuntimeError("the preloaded process is gone")
        return life

    def close(self) -> None:
        self._orders.close()
        self._process.wait(PATIENCE)


class Life:
    """One process. It is over when its wire closes, however it died."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._said: dict[str, asyncio.Future[Any]] = {}
        self._number = 0
        self.over = asyncio.Event()
        self.hangs = asyncio.Event()
        self.aim: tuple[str, str, int] = ("", "", 0)  # point, kind and nth passing, armed from the start
        self.struck = ""  # the point where a fault struck
        self._listening = asyncio.create_task(self._listen())

    @property
    def pid(self) -> int:
        return int(self._said["pid"].result())

    async def _listen(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await self._reader.readline():
                for name, value in json.loads(line).items():
                    self._hear(name, value)
        self.over.set()

    def _hear(self, name: str, value: Any) -> None:
        if name == "struck":
            self.struck = value
        elif name == "kind" and value == "hang":
            self.hangs.set()
        elif name == "done":
            self._last = value
        elif name == "result":
            self._wish(f"order {self._last}").set_result(value)
        else:
            self._wish(name).set_result(value)

    def _wish(self, name: str) -> "asyncio.Future[Any]":
        return self._said.setdefault(name, asyncio.get_running_loop().create_future())

    async def said(self, name: str) -> Any:
        """What it said of this, once it has. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.shield(self._wish(name))

    async def order(self, do: str, **values: Any) -> Any:
        """Have it do something; the result."""
        self._number += 1
        number = self._number
        self.tell({"do": do, "number": number, "with": values})
        return await self.said(f"order {number}")

    def tell(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError):
            self._writer.write((json.dumps(order) + "\n").encode())

    async def meet(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The work's result, or None when the process dies or hangs over it."""
        task = asyncio.ensure_future(work)
        ends = [asyncio.ensure_future(event.wait()) for event in (self.over, self.hangs)]
        try:
            await asyncio.wait([task, *ends], return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
            if task.done():
                return task.result()
            if not (self.over.is_set() or self.hangs.is_set()):
                raise TimeoutError("neither done nor dead")
            return None
        finally:
            for left in (task, *ends):
                left.cancel()
            await asyncio.gather(task, *ends, return_exceptions=True)

    async def started(self) -> bool:
        """Start it. Whether it came up; otherwise it was struck, or refuses to."""
        self.tell({"aim": self.aim})
        return await self.meet(self.said("ready")) is not None

    @property
    def refusal(self) -> str:
        """Why it did not come up, if it said so."""
        said = self._said.get("refused")
        return str(said.result()) if said is not None and said.done() else ""

    async def kill(self) -> None:
        """As `kill -9` does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        await self.ended()

    async def stop(self) -> None:
        """End it in good order."""
        self.tell({"do": "stop"})
        await self.ended()

    async def ended(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.over.wait()
            await self._listening
            self._writer.close()
            with contextlib.suppress(ConnectionError):
                await self._writer.wait_closed()

    async def go_on(self) -> None:
        """Let one that hangs run again: not before the system has really stopped it."""
        status = Path(f"/proc/{self.pid}/stat")
        while status.read_text().rpartition(")")[2].split()[0] != "T":  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        self.hangs.clear()
        os.kill(self.pid, signal.SIGCONT)


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[tuple[socket.socket, str]]:
    """A socket that outlives the gateways on it, as a service manager keeps one, and its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        yield listener, f"http://127.0.0.1:{listener.getsockname()[1]}"
