"""Where the tests' files need no disk: a file system in memory, if the machine has one with room."""

import os
from pathlib import Path

IN_MEMORY = Path("/dev/shm")  # noqa: S108 - the kernel gives it, and whoever uses it makes a folder with a random name
ENOUGH = 4 << 30  # bytes: what every worker's server and files take at once is a quarter of it


def in_memory() -> Path | None:
    """The folder of such a file system, or None: then the tests use the disk, and take longer.

    A container's is often as small as 64 MB, which would fill up in the midst of a test.
    """
    try:
        system = os.statvfs(IN_MEMORY)
    except OSError:
        return None
    is_free = system.f_bavail * system.f_frsize >= ENOUGH
    return IN_MEMORY if is_free and os.access(IN_MEMORY, os.W_OK | os.X_OK) else None


if __name__ == "__main__":  # for scripts/test.sh; tests start programs in their folders, too
    found = in_memory()
    if found and not os.statvfs(found).f_flag & os.ST_NOEXEC:
        print(found)  # noqa: T201
