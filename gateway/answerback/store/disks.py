"""Whose disk a path is on: SQLite needs one of this machine (https://sqlite.org/useovernet.html)."""

from pathlib import Path

ELSEWHERE = {
    *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gfs2"),
    *("fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.ceph-fuse", "davfs", "fuse.davfs2"),
}
NOT_HERE = (
    "data_dir is on a file system of another machine ({kind}), where SQLite's locks and syncs may not hold, "
    "and the database can be damaged: put it on a disk of this machine, or use PostgreSQL"
)
MOUNTS = Path("/proc/self/mountinfo")


def another_machines(path: Path, mounts: str | None = None) -> str:
    """The kind of the network file system that `path` is on, or would be; "" if it is on none.

    `mounts`: what the kernel says (https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html).
    """
    where, found = path.resolve(), ("", "")
    for line in (_mounts() if mounts is None else mounts).splitlines():
        before, _, after = line.partition(" - ")
        point = _unescaped(before.split()[4])
        if where.is_relative_to(point) and len(point) >= len(found[0]):
            found = point, after.split()[0]
    return found[1] if found[1] in ELSEWHERE else ""


def _mounts() -> str:
    return MOUNTS.read_text() if MOUNTS.exists() else ""


def _unescaped(point: str) -> str:
    for code in ("040", "011", "012", "134"):  # blank, tab, line feed, backslash
        point = point.replace(f"\\{code}", chr(int(code, 8)))
    return point
