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


LITTLE = """
import os, resource

pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + 200 * 2**20,) * 2)
"""
FEW = """
import asyncio
from answerback import loops

async def main():
    await loops.make_room()
    print(bool(await asyncio.get_running_loop().getaddrinfo("localhost", 1)))

with loops.runner() as runner:
    runner.run(main())
"""


def run(program: str = PROGRAM, /, **environment: str) -> list[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, stdout=PIPE, text=True, check=True).stdout.split()


def test_law_10_there_is_room_for_many_look_ups_and_plain_functions_at_a_time() -> None:
    threads, found = run()
    assert (int(threads) >= 2 * LOOK_UPS, found) == (True, "True")
    assert PLAIN >= 2 * AT_ONCE  # runs and answers: an agent's steps may all be plain functions


def test_who_says_how_many_threads_libuv_has_gets_as_many() -> None:
    threads, _ = run(UV_THREADPOOL_SIZE="6")
    assert int(threads) < LOOK_UPS


def test_where_so_many_threads_cannot_be_had_it_goes_on_with_fewer() -> None:
    """Each wants eight megabytes for its stack; libuv aborts the process when one cannot be started."""
    assert run(FEW.replace("async def main", f"{LITTLE}\nasync def main", 1)) == ["True"]
