"""Calls a function that is not ours: in a time, a few at once, and so that it holds up nothing else."""

import asyncio
import contextlib
import inspect
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")


class TooLate(Exception):
    """It did not answer in its time. The text says so for the log."""


class Failed(Exception):
    """It raised. The text has the kind of error and its line, nothing of what it says (law 11)."""


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


class Calls:
    """A function, plain or async, that is given `seconds` for a call, its turn included.

    A plain one runs in a thread of its own. A thread cannot be stopped, only left alone: it counts as one of
    the `at_once` until it ends.
    """

    def __init__(self, function: Callable[..., Any], seconds: float, at_once: int) -> None:
        self._function, self._seconds, self._at_once = function, seconds, at_once
        self._slots = asyncio.Semaphore(at_once)
        self._calls: set[asyncio.Task[object]] = set()
        by_itself = inspect.iscoroutinefunction(function)
        self._is_async = by_itself or inspect.iscoroutinefunction(type(function).__call__)

    async def __call__(self, *given: object) -> object:
        """What it returns. Raises `TooLate` or `Failed`."""
        now = asyncio.get_running_loop().time
        until = now() + self._seconds
        try:
            async with asyncio.timeout_at(until):
                await self._slots.acquire()
        except TimeoutError:
            raise TooLate(f"{self._at_once} calls have not ended, so there is no room for another") from None
        call = asyncio.create_task(self._called(given, until))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        await asyncio.wait({call}, timeout=max(0.0, until - now()))
        if not call.done() or now() >= until:
            raise TooLate(f"the function did not answer within {self._seconds:g} s")
        if call.cancelled():  # by itself
            raise Failed("the function raised CancelledError")
        answer = call.result()
        if isinstance(answer, _Raised):
            raise Failed(f"the function raised {self._told(answer.error)}")
        return answer

    async def _called(self, given: tuple[object, ...], until: float) -> object:
        """Its end, however late that comes."""
        try:
            answer = self._function(*given) if self._is_async else await _threaded(self._function, given)
            if inspect.isawaitable(answer):
                async with asyncio.timeout_at(until):
                    answer = await answer
        except (Exception, SystemExit) as error:  # raised here, the latter would end the gateway
            return _Raised(error)
        else:
            return answer
        finally:
            self._slots.release()

    def _told(self, error: BaseException) -> str:
        """Its kind and its line, in the function's own file if that is known."""
        frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        own = getattr(getattr(self._function, "__code__", None), "co_filename", "")
        places = [place for place in frames if place[0] == own] or frames
        return f"{type(error).__name__} at {places[-1][0]}:{places[-1][1]}"


async def in_thread(function: Callable[..., T], *given: Any, over: Callable[[], object] | None = None) -> T:
    """What a function that blocks returns, called in a thread of its own. Raises what it raises.

    Whoever waits no longer leaves the thread alone; it keeps nothing else waiting then, not even the end of
    the process. `over` is called when the function has ended, however late that is.
    """
    answer = await _threaded(function, given, over or (lambda: None))
    if isinstance(answer, _Raised):
        raise answer.error
    return cast(T, answer)


async def _threaded(
    function: Callable[..., Any], given: tuple[object, ...], over: Callable[[], object] = lambda: None
) -> object:
    """What it returns, or `_Raised`."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[object] = loop.create_future()

    def settle(answer: object) -> None:
        over()
        if not ended.done():
            ended.set_result(answer)

    def work() -> None:
        try:
            answer = function(*given)
        except BaseException as error:  # else Python would print it where this thread ends
            answer = _Raised(error)
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, answer)

    threading.Thread(target=work, name="answerback-call", daemon=True).start()
    return await ended
