"""The event loop of a process of ours, with room: what hangs in a thread of it keeps nothing else waiting.

As it comes, libuv looks up two host names at a time for all of a process, and asyncio has as many threads for
plain functions as there are processors, and four.
"""

import asyncio
import contextlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import uvloop

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
    os.environ[_SIZE] = str(2 * LOOK_UPS)
    try:
        with contextlib.suppress(OSError):  # no number, so that is all: libuv has its threads now
            await loop.getaddrinfo("localhost", 0, flags=socket.AI_NUMERICHOST)
    finally:
        del os.environ[_SIZE]  # it is not for what is started from here
