"""A preloaded process that forks replicas: imports are paid for once. They end with it, and it with its test.

Reads orders as JSON lines. `{"start": …}` is answered with a process id, `{"reap": id}` with a wait status.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import traceback
from typing import Any

from tests.replicas import replica

_SET_DEATH_SIGNAL = 1  # prctl(2): PR_SET_PDEATHSIG


def start(order: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # the answers are the nest's
        replica.main(order)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            answer = start(order["start"])
        else:
            _, answer = os.waitpid(order["reap"], 0)
        print(answer, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve()
