"""A disk that may lose what was not synced: what can stand on it after the power failed."""

import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.power_trace import Event

SECTOR = 512  # bytes: less than this is written as a whole, or not at all


@dataclass(frozen=True, slots=True)
class _Change:
    """Bytes at an offset; or, without bytes, a new size."""

    at: int
    data: bytes = b""

    def apply(self, content: bytearray) -> None:
        if not self.data:
            del content[self.at :]
        content.extend(bytes(max(0, self.at - len(content))))
        content[self.at : self.at + len(self.data)] = self.data


@dataclass(slots=True)
class _File:
    safe: bytearray = field(default_factory=bytearray)
    pending: list[_Change] = field(default_factory=list)
    size: int = 0

    def change(self, change: _Change) -> None:
        self.pending.append(change)
        self.size = max(self.size, change.at + len(change.data)) if change.data else change.at

    def sync(self) -> None:
        for change in self.pending:
            change.apply(self.safe)
        self.pending.clear()

    def image(self, loss: "Loss") -> bytes:
        content = bytearray(self.safe)
        for change in loss.survivors(self.pending):
            change.apply(content)
        return bytes(content)


class Loss:
    """Everything that was not synced is gone, names included: the least that a disk may keep."""

    keeps_names = False

    def survivors(self, pending: list[_Change]) -> list[_Change]:
        return []


class Nothing(Loss):
    """Everything had reached the disk by chance, as after a kill of the process alone."""

    keeps_names = True

    def survivors(self, pending: list[_Change]) -> list[_Change]:
        return pending


class Torn(Loss):
    """Any of what was not synced is there, in part: disks write sector by sector, in any order."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.keeps_names = chance.random() < 0.5

    def survivors(self, pending: list[_Change]) -> list[_Change]:
        return [part for change in pending for part in self._parts(change)]

    def _parts(self, change: _Change) -> list[_Change]:
        starts = range(0, max(1, len(change.data)), SECTOR)
        parts = [_Change(change.at + start, change.data[start : start + SECTOR]) for start in starts]
        return [part for part in parts if self._chance.random() < 0.5]


class Disk:
    """One folder. `files` is what the living see, `named` which names a sync of the folder made safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.files: dict[str, _File] = {}
        self.named: dict[str, _File] = {}

    def do(self, event: Event) -> None:
        """Follow one step; what concerns other folders is passed over."""
        if event.path == self._folder and event.kind == "sync":
            self.named = dict(self.files)
        if not event.path.startswith(self._folder + "/") or event.path.endswith("-shm"):
            return  # SQLite's shared memory is no file to it: it is made anew by whoever comes first
        if event.kind == "unlink":
            self.files.pop(event.path, None)
            return
        if event.kind in ("rename", "link"):
            self.files[event.data.decode()] = self.files[event.path]
            if event.kind == "rename":
                del self.files[event.path]
            return
        file = self.files.setdefault(event.path, _File())
        if event.kind == "sync":
            file.sync()
        elif event.kind == "write":
            file.change(_Change(file.size if event.at is None else event.at, event.data))
        elif event.kind == "truncate":
            file.change(_Change(event.at or 0))

    def fail(self, loss: Loss, folder: Path) -> None:
        """Write into `folder` what is left when the power fails now."""
        folder.mkdir(mode=0o700)
        for path, file in (self.files if loss.keeps_names else self.named).items():
            (folder / Path(path).name).write_bytes(file.image(loss))
