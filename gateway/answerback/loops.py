"""The event loop of a process of ours, with room: what hangs in a thread of it keeps nothing else waiting.

As it comes, libuv looks up two host names at a time for all of a process, and asyncio has as many threads for
plain functions as there are processors, and four.
"""

import asyncio
import contextlib
import logging
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import uvloop

log = logging.getLogger("answerback.loops")
LOOK_UPS = 40  # host names at a time: more than two providers send messages at once
PLAIN = 128  # plain functions at a time: the steps of an agent, when all of its turns are taken
_SIZE = "UV_THREADPOOL_SIZE"  # docs.libuv.org/en/v1.x/threadpool.html; half of them look up names


def runner() -> asyncio.Runner:
    """Runs a loop as every process of ours does."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


async def make_room() -> None:
    """To be called before this process looks up any name. The threads for plain functions come as needed."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(PLAIN, thread_name_prefix="plain"))
    if _SIZE in os.environ:
        return
    if not _can_start(2 * LOOK_UPS):
        log.warning(
            "few threads can be started here (a limit of memory or tasks): two names are looked up at a time"
        )
        return
    os.environ[_SIZE] = str(2 * LOOK_UPS)
    try:
        with contextlib.suppress(OSError):  # no number, so that is all: libuv has its threads now
            await loop.getaddrinfo("localhost", 0, flags=socket.AI_NUMERICHOST)
    finally:
        del os.environ[_SIZE]  # it is not for what is started from here


def _can_start(number: int) -> bool:
    """Whether so many threads can be had, which memory or a container may limit.

    libuv tries no fewer where it cannot start all of them: it aborts the process.
    """
    end, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(number):
            thread = threading.Thread(target=end.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        end.set()
        for thread in started:
            thread.join()
    return True
