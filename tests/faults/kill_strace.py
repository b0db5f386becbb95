"""strace on a gateway: SIGKILL at the nth call of a thread that others could notice, or a record of all."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from tests.faults.kill_life import PATIENCE
from tests.faults.power_trace import RECORDING
from tests.support import require

# What changes files or reaches other processes. Between two of these a kill leaves the same behind.
CALLS = (
    "write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,ftruncate,"
    "openat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir"
)

LONGEST_DETACHING = 10.0  # seconds


@contextlib.asynccontextmanager
async def killing(thread: int, nth: int) -> AsyncIterator[None]:
    """While the body runs, the thread's process is killed as the thread enters its nth such call."""
    inject = f"inject={CALLS}:signal=SIGKILL:when={nth}"
    async with _strace("-p", str(thread), "-e", f"trace={CALLS}", "-e", inject, "-o", "/dev/null"):
        yield


@contextlib.asynccontextmanager
async def recording(process: int, file: Path) -> AsyncIterator[None]:
    """While the body runs, all that a process writes, syncs and sends goes into the file."""
    async with _strace("-p", str(process), *RECORDING, "-o", str(file)):
        yield


@contextlib.asynccontextmanager
async def _strace(*arguments: str) -> AsyncIterator[None]:
    """strace, attached before the body begins and gone after it."""
    program = require(shutil.which("strace"), "strace is not installed (on Debian: apt-get install strace)")
    process = await asyncio.create_subprocess_exec(program, *arguments, stderr=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(PATIENCE):
            line = await process.stderr.readline()
        if b"attached" not in line:
            raise RuntimeError(f"strace cannot look on: {line.decode()}")
        yield
    finally:
        await _detached(process)


async def _detached(process: asyncio.subprocess.Process) -> None:
    """Some versions wait for good for a process that dies just then; each line is in the file by now."""
    end = asyncio.create_task(process.communicate())
    for signal in (process.terminate, process.kill):
        if end.done():
            break
        with contextlib.suppress(ProcessLookupError):
            signal()
        await asyncio.wait({end}, timeout=LONGEST_DETACHING)
    await end
