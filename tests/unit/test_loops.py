"""Loops: what hangs in some threads of a process keeps nothing else in it waiting."""

import subprocess
import sys
from subprocess import PIPE

from answerback.loops import LOOK_UPS, PLAIN
from answerback.turns import AT_ONCE

# A process of its own: libuv makes its threads once, when it needs the first one.
PROGRAM = """
import asyncio, os, socket, threading
from answerback import loops

async def main():
    await loops.make_room()
    threads = len(os.listdir("/proc/self/task"))
    assert os.environ.get("UV_THREADPOOL_SIZE", "6") == "6"  # ours is not for what is started from here
    all_there = threading.Barrier(loops.PLAIN, timeout=30)
    await asyncio.gather(*(asyncio.to_thread(all_there.wait) for _ in range(loops.PLAIN)))
    found = await asyncio.get_running_loop().getaddrinfo("localhost", 1, type=socket.SOCK_STREAM)
    print(threads, bool(found))

with loops.runner() as runner:
    runner.run(main())
"""


def run(**environment: str) -> list[str]:
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=environment, stdout=PIPE, text=True, check=True).stdout.split()


def test_law_10_there_is_room_for_many_look_ups_and_plain_functions_at_a_time() -> None:
    threads, found = run()
    assert (int(threads) >= 2 * LOOK_UPS, found) == (True, "True")
    assert PLAIN >= 2 * AT_ONCE  # runs and answers: an agent's steps may all be plain functions


def test_who_says_how_many_threads_libuv_has_gets_as_many() -> None:
    threads, _ = run(UV_THREADPOOL_SIZE="6")
    assert int(threads) < LOOK_UPS
