"""A process that has imported the product, and forks a program of it for each order: imports are paid once.

An order comes as JSON over a Unix socket with four file descriptors: the program's standard streams, and the
socket that hears its process id, then how it ended. `Server.serve` returns in each program that is begun,
which goes on as an interpreter would have started it.
"""

import atexit
import contextlib
import fcntl
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import struct
import sys
import termios
import threading
import traceback
from pathlib import Path
from typing import Any

STATUS = struct.Struct("=i")
# What programs import only when they run, as far as it is installed; of packages all that stands in them.
LATE = ("answerback.app", "answerback.client", "answerback.migrations", "uvicorn.lifespan.off")
PACKAGES = ("answerback.cli", "answerback_providers")


class Server:
    """The parent: one program for each order, and how each ended."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._running: dict[int, socket.socket] = {}
        self._ended, wakes = socket.socketpair()
        for end in (self._ended, wakes):
            end.setblocking(False)
        self._wakes = wakes
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno())

    def serve(self) -> dict[str, Any] | None:
        """The order, in each program that is begun; None in the parent, once there are no more orders."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._orders, selectors.EVENT_READ)
            ready.register(self._ended, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is self._ended:
                        self._reap()
                        continue
                    text, descriptors, *_ = socket.recv_fds(self._orders, 1 << 20, 4)
                    if not text:
                        self._end()
                        return None
                    if self._begin(descriptors) == 0:
                        ready.close()
                        return json.loads(text)

    def _begin(self, descriptors: list[int]) -> int:
        *streams, told = descriptors
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for opened in (self._orders, self._ended, self._wakes, *self._running.values()):
                opened.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for descriptor in descriptors:
                os.close(descriptor)
            return 0
        for stream in streams:
            os.close(stream)
        self._running[pid] = socket.socket(fileno=told)
        self._running[pid].send(STATUS.pack(pid))
        return pid

    def _reap(self) -> None:
        self._ended.recv(4096)
        for pid in list(self._running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with self._running.pop(pid) as told, contextlib.suppress(OSError):  # nobody may wait any more
                    told.send(STATUS.pack(os.waitstatus_to_exitcode(status)))

    def _end(self) -> None:
        for pid in self._running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def be(order: dict[str, Any]) -> None:
    """Take the program's place: its folder, environment, streams, terminal, path and words."""
    if order["terminal"]:  # it sends Ctrl-C only to those whose controlling terminal it is
        os.setsid()
        fcntl.ioctl(next(filter(os.isatty, range(3))), termios.TIOCSCTTY, 0)
    own = str(Path.cwd())
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))
    more = filter(None, order["env"].get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = [order["cwd"], *more, *(each for each in sys.path if each != own)]
    sys.argv[1:] = order["words"]
    importlib.invalidate_caches()


def _stream(number: int) -> io.TextIOWrapper:
    """As the interpreter opens it."""
    raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        raw, "utf-8", "backslashreplace" if number == 2 else None, line_buffering=number == 2 or raw.isatty()
    )


def run(module: str) -> int:
    """Its exit code, as the interpreter would have it."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return exit_.code or 0
        print(exit_.code, file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        return -signal.SIGINT
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> None:
    """Do what an interpreter does at its end, but for taking all modules apart, which took over a second."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def load(also: list[str]) -> None:
    """Import what programs import, as far as it is installed; and these."""
    names = [*LATE, *also]
    for package in PACKAGES:
        with contextlib.suppress(ImportError):
            found = importlib.import_module(package).__path__
            names += [each.name for each in pkgutil.iter_modules(found, f"{package}.")]
    for name in names:
        if not name.endswith(".__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


if __name__ == "__main__":
    load(sys.argv[2:])
    begun = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if begun is not None:
        be(begun)
        end(run(begun["module"]))
