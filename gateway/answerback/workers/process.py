"""One worker process, from its start to its end, as the gateway sees it."""

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

import answerback
from answerback.errors import AgentCrashed, AgentUnavailable
from answerback.model import Json
from answerback.workers import codec, frames
from answerback.workers.output import Printed

log = logging.getLogger("answerback.workers")
# They say where another Python finds its packages, and would lead one of another environment into ours.
_OF_OUR_PYTHON = ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__")
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE}


class UnusablePython(Exception):
    """The configured interpreter cannot run a worker, and why; nothing of the agent was looked at."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds something gets before it is ended or given up."""

    start: float = 120.0  # to import and open an agent (it may load a model), and to cancel what is left
    open: float = 30.0  # for which the gateway's own start waits for that
    stop: float = 2.0  # for a call to end that was cancelled
    blocked: float = 10.0  # for a blocked worker when one of its runs is to be cancelled
    close: float = 5.0  # to close in peace; after that SIGTERM
    terminate: float = 2.0  # after SIGTERM; then SIGKILL
    steady: float = 60.0  # a worker that lived this long starts its back-off anew


class Worker:
    """A process that serves one agent. `open` once, then `call`; `ended` is how it came to its end.

    It leads a process group of its own, so that what the agent starts ends with it.
    """

    def __init__(
        self, name: str, python: str, patience: Patience, masked: Callable[[str], str] = lambda line: line
    ) -> None:
        """`masked` takes configured secrets out of a line that the agent printed."""
        self.name, self._python, self._patience, self._masked = name, python, patience, masked
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[str] = loop.create_future()
        self._about: asyncio.Queue[Json | Exception] = asyncio.Queue()  # frames about the worker itself
        self._calls: dict[int, asyncio.Future[Json | Exception]] = {}
        self._numbers = itertools.count(1)
        self._printed = [Printed(self._shows(stream)) for stream in ("stdout", "stderr")]
        self._process: subprocess.Popen[bytes] | None = None
        self._line: frames.Line | None = None
        self._reaping = threading.Lock()
        self._why = ""
        self.notes: tuple[str, ...] = ()  # what its agent says of itself, once it is open

    # -- from its start

    async def open(self, configuration: Json) -> None:
        """Start it and wait until its agent is open. Whatever this raises, the process has ended then.

        Raises the agent's own errors, UnusablePython, and AgentUnavailable for what may pass.
        """
        try:
            await self._spawn()
            async with asyncio.timeout(self._patience.start):
                await self._agreed()
                self._send(0, configuration)
                ready = await self._next()
                self.notes = tuple(ready.get("notes", ()))
        except TimeoutError:
            await self.kill(f"was not ready within {self._patience.start:g} s")
            raise AgentUnavailable(self._said(self.ended.result())) from None
        except BaseException:
            await self.kill("")
            raise

    async def _agreed(self) -> None:
        """The first frame: a Python that cannot even say it has no answerback, or another one."""
        try:
            hello = await self._next()
        except AgentUnavailable:
            words = self._printed[1].last_words
            if self._python == sys.executable or not words:
                raise
            raise UnusablePython(f"{self._python} cannot be a worker: {words}") from None
        if hello.get("protocol") != frames.PROTOCOL:
            raise UnusablePython(
                f"{self._python} has answerback {hello.get('version')}, "
                f"and this is {answerback.__version__}: install the same version there."
            )

    async def _next(self) -> Json:
        message = await self._about.get()
        if isinstance(message, Exception):
            raise message
        if "error" in message:
            raise codec.error_in(message["error"])
        return message

    async def _spawn(self) -> None:
        ours, theirs = socket.socketpair()
        command = [self._python, "-P", "-m", "answerback.workers"]
        try:
            with theirs:
                # It starts from the loop's own thread: the kernel ends a worker with the thread that made it.
                self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - a millisecond; the Python configured
                    command,
                    bufsize=0,
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    env=self._environment(),
                )
        except OSError as error:
            ours.close()
            self.ended.set_result("could not be started")
            if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
                message = f"{self._python} cannot be started: {error.strerror}."
                raise UnusablePython(message) from error
            raise AgentUnavailable(f"No worker can be started now: {error.strerror}.") from error
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._wait, args=(self._process, loop), name=f"worker {self.name}", daemon=True
        ).start()
        for printed, pipe in zip(self._printed, (self._process.stdout, self._process.stderr), strict=True):
            await loop.connect_read_pipe(lambda printed=printed: printed, pipe)  # type: ignore[misc]
        self._line = await frames.connect(ours, self._arrived, self._over)

    def _environment(self) -> dict[str, str]:
        kept = dict(os.environ)
        for name in _OF_OUR_PYTHON if self._python != sys.executable else ():
            kept.pop(name, None)
        return kept

    def _shows(self, stream: str) -> Callable[[str], None]:
        more = {"agent": self.name, "stream": stream}
        return lambda line: log.info("%s", self._masked(line), extra=more)

    # -- at work

    async def call(self, method: str, arguments: Json) -> Json:
        """One call of the agent. Raises its errors, AgentUnavailable if the worker ends, frames.TooLarge."""
        number = next(self._numbers)
        request = frames.frame(number, {"call": method, "with": arguments})
        if self.ended.done():
            raise AgentUnavailable(self._said(self.ended.result()))
        assert self._line is not None
        self._line.send(request)
        reply = self._reply(number)
        try:
            return self._value(await reply)
        except asyncio.CancelledError:
            if reply.cancelled():  # else it has just come
                self._send(number, {"stop": True})
                await asyncio.wait({self._reply(number)}, timeout=self._patience.stop)
            raise
        finally:
            self._calls.pop(number, None)

    def _reply(self, number: int) -> "asyncio.Future[Json | Exception]":
        """What comes back for a call from now on."""
        reply: asyncio.Future[Json | Exception] = asyncio.get_running_loop().create_future()
        self._calls[number] = reply
        return reply

    def _value(self, message: Json | Exception) -> Json:
        if isinstance(message, Exception):
            raise message
        if "error" in message:
            raise codec.error_in(message["error"])
        if "value" not in message:
            raise AgentUnavailable(f"The worker of the agent {self.name} stopped this call.")
        return message["value"]

    def _send(self, number: int, body: Json) -> None:
        if self._line is not None and not self.ended.done():
            self._line.send(frames.frame(number, body))

    def _arrived(self, number: int, message: frames.Body | Exception) -> None:
        if isinstance(message, frames.Unreadable):
            message = AgentUnavailable("The agent's result cannot be read.")
        if number == 0:
            return self._about.put_nowait(message)
        reply = self._calls.get(number)
        if reply is not None and not reply.done():
            reply.set_result(message)

    def _over(self, garbage: frames.Garbage | None) -> None:
        """It has ended, or can never answer again."""
        if garbage is not None:
            self._why = f"sent {garbage}, which is not understood, and was ended"
        self._signal(signal.SIGKILL)

    # -- to its end

    async def close(self) -> None:
        """End it: in peace, then by SIGTERM, then by SIGKILL."""
        self._why = "was stopped"
        self._send(0, {"close": True})
        try:
            if not await self._within(self._patience.close):
                self._signal(signal.SIGTERM)
                await self._within(self._patience.terminate)
        finally:
            await self.kill("")

    async def kill(self, why: str) -> None:
        """End it at once; returns when it is gone. `why` completes “the worker …”."""
        self._why = self._why or why
        if self._process is not None:
            self._signal(signal.SIGKILL)
            await asyncio.wait({self.ended})
        await self.tidy()

    async def tidy(self) -> None:
        """After the end: read what it printed last, close what belongs to it."""
        if self._process is not None:
            await asyncio.wait([printed.over for printed in self._printed], timeout=1.0)
        for printed in self._printed:
            printed.close()
        if self._line is not None:
            self._line.close()
            await self._line.closed

    async def _within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait({self.ended}, timeout=seconds)
        return bool(done)

    def _signal(self, number: signal.Signals) -> None:
        """To the whole group; its number cannot have gone to another as long as its leader is not reaped."""
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if self._process is not None and self._process.returncode is None:
                os.killpg(self._process.pid, number)

    def _wait(self, process: "subprocess.Popen[bytes]", loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: see it end, end what it left behind, only then reap it."""
        if hasattr(os, "waitid"):  # macOS has it from Python 3.13
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            self._signal(signal.SIGKILL)
            with self._reaping:
                process.wait()
        code = process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._has_ended, code)

    def _has_ended(self, code: int) -> None:
        how = self._why or described(code)
        self.ended.set_result(how)
        for number in (0, *self._calls):
            self._arrived(number, AgentCrashed(self._said(how)))

    def _said(self, how: str) -> str:
        return f"The worker of the agent {self.name} {how}."


def described(code: int) -> str:
    """How a process ended, from its return code, to stand after “the worker”."""
    if code >= 0:
        return f"ended with exit code {code}" if code else "ended by itself"
    number = signal.Signals(-code) if -code in set(signal.Signals) else None
    name = number.name if number else f"signal {-code}"
    if number in _CRASHES:
        return f"crashed ({name})"
    return f"was killed ({name}{', as when memory runs out' if number == signal.SIGKILL else ''})"
