"""The inside of a worker: opens the agent it is told, serves calls of it, ends with the gateway."""

import asyncio
import contextlib
import ctypes
import faulthandler
import gc
import logging
import os
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import answerback
from answerback import garbage, loops, registry
from answerback.agent import Agent, Failed
from answerback.errors import AnswerbackError, ConfigurationError, DoesNotFit
from answerback.model import Json
from answerback.tracebacks import Discreet, keep_discreet
from answerback.workers import codec, frames

log = logging.getLogger("answerback.workers")
_SET_DEATH_SIGNAL = 1  # prctl(2): PR_SET_PDEATHSIG
_FIRST_TO_GO = "500"  # proc(5): oom_score_adj; out of memory, a worker goes and the gateway stays
# What these say at INFO is of no use, or holds addresses with secrets in them.
_QUIET = ("aiosqlite", "asyncio", "httpcore", "httpx", "urllib3")


def main() -> None:
    """Serve over the socket that is standard input, until told to close."""
    ours = _take_over_input()
    _end_with_the_gateway(ours)
    _speak_up()
    # LangGraph reads it when it is first imported, by whichever plugin: checkpoints hold known types only.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    with loops.runner() as runner:
        _complete(runner.get_loop(), _serve(ours))


def _complete(loop: asyncio.AbstractEventLoop, serving: Coroutine[Any, Any, None]) -> None:
    """Serve to the end, though a step calls `sys.exit`: that is for its own run to hear of.

    asyncio hands it to whoever awaits the step, and then ends the loop, with all that others do in it.
    """
    served = loop.create_task(serving)
    while not served.done():
        with contextlib.suppress(SystemExit):
            loop.run_until_complete(served)
    served.result()


def _take_over_input() -> socket.socket:
    """The socket, out of the reach of what an agent runs; whoever reads the input finds it empty."""
    try:
        ours = socket.socket(fileno=os.dup(0))
    except OSError:
        sys.exit("A worker is started by `answerback serve`, not by hand.")
    with Path(os.devnull).open("rb") as empty:
        os.dup2(empty.fileno(), 0)
    return ours


def _end_with_the_gateway(ours: socket.socket) -> None:
    """By the kernel where it can (even while C code holds the interpreter), else when the socket ends."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    threading.Thread(target=_watch, args=(os.dup(ours.fileno()),), name="gateway", daemon=True).start()


def _watch(number: int) -> None:
    """In a thread, because an agent may block the loop: wait until the other end is closed."""
    poll = select.poll()
    poll.register(number, 0)  # a hang-up is always told
    poll.poll()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _speak_up() -> None:
    """What is printed or logged goes out at once; a crash says where it was."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    faulthandler.enable()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


async def _serve(ours: socket.socket) -> None:
    keep_discreet(asyncio.get_running_loop())
    await _Served(ours).serve()


class _Served:
    """One agent, and the calls of it that are under way."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._agent: Agent
        self._line: frames.Line
        loop = asyncio.get_running_loop()
        self._configured: asyncio.Future[Json] = loop.create_future()
        self._closing: asyncio.Future[None] = loop.create_future()

    async def serve(self) -> None:
        self._line = await frames.connect(self._socket, self._arrived, self._over)
        self._send(0, {"protocol": frames.PROTOCOL, "version": answerback.__version__})
        configuration = await self._configured
        try:
            self._agent = await _opened(configuration)
            notes = await self._agent.notes()
        except Exception as error:
            if not isinstance(error, AnswerbackError):
                log.exception("the agent could not be opened")
            self._send(0, {"error": codec.error_out(error)})
            await self._closing  # whoever is told ends this process
            return
        gc.collect()
        gc.freeze()  # what was imported stays: to look through it time and again took a tenth of the work
        self._send(0, {"ready": True, "notes": list(notes)})
        await self._closing
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._agent.close()

    def _arrived(self, number: int, body: frames.Body | frames.Unreadable) -> None:
        """First what to open, and once that is open: begin and stop calls, until told to close."""
        if isinstance(body, frames.Unreadable):
            error = DoesNotFit("The agent's worker cannot read this.")
            self._send(number, {"error": codec.error_out(error)})
        elif not self._configured.done():
            self._configured.set_result(body)
        elif "close" in body:
            self._over(None)
        elif "stop" in body:
            if task := self._tasks.get(number):
                task.cancel()
        else:
            task = asyncio.create_task(self._answer(number, body["call"], body["with"]))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))

    def _over(self, garbage: frames.Garbage | None) -> None:
        if not self._closing.done():
            self._closing.set_result(None)

    async def _answer(self, number: int, method: str, given: Json) -> None:
        try:
            reply = {"value": await self._called(method, given)}
        except asyncio.CancelledError:
            reply = {"stopped": True}
        except MemoryError:  # not a step's own, which fails the run: nothing is left, only an end frees it
            os.kill(os.getpid(), signal.SIGKILL)
            return
        except BaseException as error:
            # A Rust panic, for one, is no Exception, and no call stays without a reply.
            if not isinstance(error, AnswerbackError):
                log.exception("%s raised", method)
            reply = {"error": codec.error_out(error)}
        self._reply(number, method, reply)

    async def _called(self, method: str, given: Json) -> Json:
        if method == "ping":
            return None
        result = await getattr(self._agent, method)(**codec.arguments_in(given))
        return codec.RESULTS_OUT[method](result)

    def _reply(self, number: int, method: str, reply: Json) -> None:
        try:
            self._send(number, reply)
        except (TypeError, ValueError) as error:
            if isinstance(error, frames.TooLarge) and method == "cancel":
                return self._send(number, {"value": None})  # it is done; only what was finished is too much
            if isinstance(error, frames.TooLarge) and method in codec.GIVE_A_STATE:
                return self._send(number, {"value": codec.state_out(_too_much(error))})
            self._send(number, {"error": codec.error_out(error)})

    def _send(self, number: int, body: Json) -> None:
        self._line.send(frames.frame(number, body))


def _too_much(error: frames.TooLarge) -> Failed:
    advice = "Let it end with less, by an output schema for example."
    return Failed(f"What the agent gives does not get through: {error}. {advice}", retryable=False)


async def _opened(configuration: Json) -> Agent:
    """The agent that the gateway wants. Raises what it raises."""
    if limit := configuration["memory_limit"]:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        except ValueError:
            raise ConfigurationError("memory_limit is higher than the system's own limit here.") from None
    else:  # each thread takes address space, 8 MiB at least
        await loops.make_room()
    known = set(sys.path)
    sys.path.extend(entry for entry in configuration["path"] if entry not in known)
    plugin, context = codec.plugin_in(configuration["plugin"]), codec.context_in(configuration["context"])
    with garbage.Ignored():  # what is imported stays: to look through it takes a tenth of the time
        agent = registry.build_agent(plugin, context)
    await agent.open()
    return agent
