"""A preloaded process that forks a gateway for each order: imports are paid for once.

Orders come as JSON over a Unix socket, each with two file descriptors: the socket that the gateway listens
on, and the one that it is told over what to do. When this process ends, its gateways are killed.
"""

import ctypes
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.faults import victim

# What a gateway imports only when it starts.
LATE = ("answerback_providers.telegram", "langgraph.checkpoint.sqlite.aio", "uvicorn.protocols.http.auto")
PR_SET_PDEATHSIG, PR_SET_PTRACER, ANYBODY = 1, 0x59616D61, -1  # <linux/prctl.h>


def serve(orders: socket.socket) -> None:
    for module in LATE:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a gateway ended
    while True:
        order, descriptors, *_ = socket.recv_fds(orders, 1 << 16, 2)
        if not order:
            return
        if os.fork() == 0:
            orders.close()
            _live(json.loads(order), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _live(order: dict[str, Any], listener: int, control: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(ANYBODY))  # strace is no child's parent
    log = os.open(Path(order["folder"], "gateway.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, sys.stderr.fileno())
    code = 1
    try:
        victim.main(order, socket.socket(fileno=listener), socket.socket(fileno=control))
        code = 0
    except BaseException:  # nothing else would say why: this process ends without its interpreter's words
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
