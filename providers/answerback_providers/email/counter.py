"""Where mail is handed over: a unix socket or a port of this machine, and the conversations held there."""

import asyncio
import contextlib
import os
import socket
import stat
from asyncio import StreamReader, StreamWriter
from pathlib import Path

from answerback.provider import TryLater
from answerback_providers.email.addresses import Mailbox
from answerback_providers.email.lmtp import Conversation, Deliver
from answerback_providers.email.smtp import SOON

MOST_CONVERSATIONS = 20
BACKLOG = 64
GROUP = 0o660  # who may write to the socket: us, and the group of its folder


class Counter:
    """Opened, then served until it is closed. What is not committed by then stays with its mail server."""

    def __init__(self, listen: str, own: Mailbox) -> None:
        self._listen, self._own = listen, own
        self._server: asyncio.Server | None = None
        self._held: set[asyncio.Task[None]] = set()
        self._deliver: Deliver | None = None
        self._file: os.stat_result | None = None

    async def open(self) -> None:
        """Take the place; nobody is answered yet. Raises `TryLater`."""
        if self._server is not None:
            return
        try:
            taken = self._socket() if self._listen.startswith("/") else self._port()
        except OSError as error:
            raise TryLater(SOON, f"LMTP cannot listen at {self._listen}: {error.strerror}.") from None
        self._server = await asyncio.start_server(self._hold, sock=taken, start_serving=False)

    async def serve(self, deliver: Deliver) -> None:
        """Hold conversations until cancelled."""
        assert self._server is not None
        self._deliver = deliver
        await self._server.start_serving()
        await asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        """Leave the place, and everybody who talks there."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for task in self._held:
            task.cancel()
        await asyncio.gather(*self._held, return_exceptions=True)
        if self._file is not None and _same(self._listen, self._file):
            Path(self._listen).unlink()

    @property
    def port(self) -> int:
        """The port, where it listens on one."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def _port(self) -> socket.socket:
        host, _, port = self._listen.rpartition(":")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=BACKLOG)

    def _socket(self) -> socket.socket:
        """A socket file that only our group may write to from its first moment on."""
        _clear(self._listen)
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(self._listen)
            Path(self._listen).chmod(GROUP)  # before anybody can connect: it does not listen yet
            taken.listen(BACKLOG)
            self._file = Path(self._listen).stat()
        except BaseException:
            taken.close()
            raise
        return taken

    async def _hold(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None and self._deliver is not None
        self._held.add(task)
        try:
            if self._server is None:  # closed before this one had its turn
                return
            if len(self._held) > MOST_CONVERSATIONS:
                writer.write(b"421 4.3.2 Too many conversations, please come again\r\n")
            else:
                await Conversation(reader, writer, self._own, self._deliver).hold()
        finally:
            self._held.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


def _clear(path: str) -> None:
    """Take away the socket file of a process that is gone. OSError: somebody still listens there."""
    if not stat.S_ISSOCK(_mode(path)):
        return
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.settimeout(1)
        try:
            visitor.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink(missing_ok=True)
            return
    raise FileExistsError(None, "another process listens there")


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode
    except FileNotFoundError:
        return 0


def _same(path: str, known: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(Path(path).stat(), known)
    return False
