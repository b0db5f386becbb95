"""Where a driver lives: a preloaded process that forks one driver a connection, so that one can be killed.

    python -m tests.conformance.host MODULE:CLASS SOCKET

Orders and results are JSON lines with an id; orders that come while others run are done at the same time.
"""

import asyncio
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from tests.conformance.driver import Driver, Event, NotApplicable, NotDriven, Refused

# An order's line may carry long answers.
LONGEST_LINE = 2**24


def main(name: str, path: str) -> None:
    module, _, kind = name.partition(":")
    make: Callable[[], Driver] = getattr(importlib.import_module(module), kind)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _live(make(), connection)
            connection.close()


def _live(driver: Driver, connection: socket.socket) -> None:
    code = 1
    try:
        asyncio.run(_serve(driver, connection))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


async def _serve(driver: Driver, connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
    tasks: set[asyncio.Task[None]] = set()
    async for line in reader:
        task = asyncio.create_task(_do(driver, json.loads(line), writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)
    await driver.close()


async def _do(driver: Driver, order: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    result: dict[str, Any]
    try:
        result = {"ok": _plain(await _call(driver, order["do"], order["with"]))}
    except (NotApplicable, NotDriven, Refused) as error:
        result = {type(error).__name__: str(error)}
    except Exception as error:
        traceback.print_exc()
        result = {"error": f"{type(error).__name__}: {error}"}
    writer.write(json.dumps({"id": order["id"], **result}).encode() + b"\n")
    await writer.drain()


async def _call(driver: Driver, what: str, arguments: dict[str, Any]) -> Any:
    if what == "open":
        arguments["folder"] = Path(arguments["folder"])
    if what == "deliver":
        return await driver.deliver(Event(**arguments))
    method: Callable[..., Awaitable[Any]] = getattr(driver, what)
    return await method(*arguments.pop("args", ()), **arguments)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


if __name__ == "__main__":
    main(*sys.argv[1:])
