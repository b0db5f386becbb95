"""Graphs that misbehave, as users write them: they block, crash, print, leak and leave processes behind."""

import ctypes
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


def joined(left: list[Any], right: list[Any]) -> list[Any]:
    return left + right


class State(TypedDict, total=False):
    folder: str
    how: str
    where: str
    heard: Annotated[list[Any], joined]


def note(state: State, line: str) -> int:
    """Write one line into the journal; how often it stands there."""
    journal = Path(state["folder"], "journal")
    with journal.open("a") as file:
        file.write(line + "\n")
    return journal.read_text().split("\n").count(line)


def line_of(*steps: Any) -> Any:
    builder = StateGraph(State)
    names = [step.__name__ for step in steps]
    for name, step in zip(names, steps, strict=True):
        builder.add_node(name, step)
    for first, second in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(first, second)
    return builder


def ask(state: State) -> State:
    answer = interrupt({"question": "Which term?", "choices": ["Coding", "Costing"]})
    crash_once(state, "asked")
    return {"heard": [answer["choice"]]}


def ask_again(state: State) -> State:
    answer = interrupt("And why?")
    return {"heard": [answer]}


def begin(state: State) -> State:
    note(state, "began")
    return {}


def wait(state: State) -> State:
    """A plain function that hangs, if the input says so, until a file is there."""
    note(state, "waits")
    while state.get("how") == "waits" and not Path(state["folder"], "goes on").exists():
        time.sleep(0.01)
    return {}


def report(state: State) -> State:
    crash_once(state, "reported")
    return {}


def crash_once(state: State, where: str) -> None:
    """End this process the first time, if the input says so here."""
    if note(state, where) == 1 and state.get("where") == where:
        CRASHES[state["how"]]()


def segfault() -> None:
    ctypes.string_at(0)


def exceed() -> None:
    """Use more processor time than it may, until the kernel kills this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass


def fill() -> None:
    """Use memory as a C library does that believes it was given some: the kernel ends that."""
    allocate = ctypes.CDLL(None).malloc
    allocate.argtypes, allocate.restype = [ctypes.c_size_t], ctypes.c_void_p
    ctypes.memset(allocate(8 << 30), 1, 1)


CRASHES = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "killed by the kernel": exceed,
    "out of memory": fill,
    "segfault": segfault,
    "exit": lambda: os._exit(3),
}


async def block(state: State) -> State:
    """Holds the loop of its process, without awaiting, until there is a file."""
    note(state, "blocking")
    while not Path(state["folder"], "go-on").exists():
        time.sleep(0.01)  # noqa: ASYNC251 - that is the point
    note(state, "went on")
    return {}


def shout(state: State) -> State:
    for _ in range(100):
        sys.stdout.write(("x" * 127 + "\n") * 8192)
    sys.stdout.write("y" * (8 << 20))
    return {}


def hoard(state: State) -> State:
    note(state, "hoarding")
    return {"heard": [len(bytearray(8 << 30))]}


KEPT: list[Any] = []


def leak(state: State) -> State:
    """Takes all the memory that it may have, the first time, and keeps it: only a new process has some."""
    if note(state, "leaking") == 1:
        keep_all(
            lambda size: mmap.mmap(-1, size), 64 << 20, 1 << 20
        )  # is never touched, and so takes no time
        keep_all(bytearray, 1 << 20, 2048)
    return {}


def keep_all(take: Callable[[int], Any], most: int, least: int) -> None:
    while most >= least:
        try:
            KEPT.append(take(most))
        except (MemoryError, OSError):
            most //= 2


def leave_behind(state: State) -> State:
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    note(state, str(started.pid))
    os._exit(1)


class Panic(BaseException):
    """As an extension in Rust raises it: no Exception."""


def quit_in_a_thread(state: State) -> State:
    """As a command line's parser does, called as a tool."""
    if state["how"] == "sys.exit":
        sys.exit(f"usage: {interrupt('Which file?')}")
    raise Panic("index out of bounds")


async def quit_in_the_loop(state: State) -> State:
    return quit_in_a_thread(state)


def with_options(options: dict[str, Any]) -> Any:
    def tell(state: State) -> State:
        return {"heard": [options]}

    return line_of(tell)


good = line_of(ask, ask_again, report)
crashing = line_of(ask, report)
crashing_start = line_of(begin, report)
blocking = line_of(block)
waiting = line_of(wait, ask)
shouting = line_of(shout, ask)
hoarding = line_of(hoard)
leaking = line_of(leak, report)
leaving = line_of(leave_behind)
quitting = line_of(quit_in_a_thread)
quitting_at_once = line_of(quit_in_the_loop)
