"""Programs of ours as processes: forked from one that has imported everything, and used like a `Popen`."""

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from tests.support.preloaded import STATUS

ROOT = Path(__file__).parents[2]
STARTED = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # of the environment: what only a new interpreter reads
OURS = {name: os.environ.get(name) for name in STARTED}  # as it was before a test changed it


class Program:
    """`python -m module words`, with pipes or the given descriptors as its streams.

    It differs from one that was really started by what has been imported before: what programs of ours
    import, and the modules `also`. What happens while a program starts is for tests that start one.
    """

    def __init__(
        self,
        module: str,
        *words: str,
        env: Mapping[str, str],
        cwd: Path,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        terminal: bool = False,
        also: tuple[str, ...] = (),
    ) -> None:
        self.args = [module, *words]
        self.returncode: int | None = None
        self.stdin, in_ = _pipe(stdin, "w")
        self.stdout, out = _pipe(stdout, "r")
        self.stderr, err = _pipe(stderr, "r")
        self._told, theirs = socket.socketpair()
        order = {"module": module, "words": words, "env": dict(env), "cwd": str(cwd), "terminal": terminal}
        with theirs:
            _server(also).send(order, [in_, out, err, theirs.fileno()])
        for given, descriptor in ((stdin, in_), (stdout, out), (stderr, err)):
            if given != descriptor:
                os.close(descriptor)
        self.pid = self._hears()

    def poll(self) -> int | None:
        """Its exit code, negative for a signal, once it has ended."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Likewise, waiting for it. Raises `TimeoutExpired`."""
        if self.returncode is None and not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._ended()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended, and who forked it says so soon
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, typed: str = "", timeout: float | None = None) -> tuple[str, str]:
        """Write and close its stdin, read the others to their end. Raises `TimeoutExpired`."""
        until = None if timeout is None else time.monotonic() + timeout
        said = {stream: [""] for stream in (self.stdout, self.stderr) if stream and not stream.closed}
        readers = [threading.Thread(target=_read, args=each, daemon=True) for each in said.items()]
        for reader in readers:
            reader.start()
        if self.stdin and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self.stdin as stream:
                stream.write(typed)
        for reader in readers:
            reader.join(None if until is None else max(0, until - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(None if until is None else max(0, until - time.monotonic()))
        out, err = (said.get(stream, [""])[0] for stream in (self.stdout, self.stderr))
        return out, err

    def _ended(self) -> int:
        if self.returncode is None:
            self.returncode = self._hears()
            self._told.close()
        return self.returncode

    def _hears(self) -> int:
        (number,) = STATUS.unpack(self._told.recv(STATUS.size))
        return int(number)


def _pipe(wanted: int, mode: str) -> tuple[IO[str] | None, int]:
    """Our end, if it is a pipe, and the program's."""
    if wanted == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if wanted != subprocess.PIPE:
        return None, wanted
    reads, writes = os.pipe()
    ours, theirs = (writes, reads) if mode == "w" else (reads, writes)
    return os.fdopen(ours, mode, encoding="utf-8"), theirs


def _read(stream: IO[str], into: list[str]) -> None:
    into[0] = stream.read()
    stream.close()


class _Server:
    """The process that forks them."""

    def __init__(self, also: tuple[str, ...]) -> None:
        self._orders, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)  # an order is a packet
        env = {name: value for name, value in {**os.environ, **OURS}.items() if value is not None}
        with theirs:
            words = [sys.executable, "-m", "tests.support.preloaded", str(theirs.fileno()), *also]
            self._process = subprocess.Popen(
                words,
                cwd=ROOT,
                env=env,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # whoever interrupts the tests ends it by ending them
            )

    def send(self, order: dict[str, Any], descriptors: list[int]) -> None:
        text = json.dumps(order).encode()
        assert socket.send_fds(self._orders, [text], descriptors) == len(text)

    def close(self) -> None:
        self._orders.close()
        self._process.wait()


@functools.cache
def _server(also: tuple[str, ...]) -> _Server:
    """One for each process of the tests, and for what is imported, once it is wanted."""
    server = _Server(also)
    atexit.register(server.close)
    return server
