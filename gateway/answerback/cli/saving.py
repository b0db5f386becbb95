"""Writes what strangers sent into a folder: under a name that can do no harm, over nothing."""

import itertools
import mimetypes
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from answerback.client import Attachment

LONGEST = 200  # octets of a name; file systems take 255
UNFIT = re.compile(r"[^\w.,+@()#=~ -]")  # letters of any script, and what no shell or file system minds


def safe_name(file: "Attachment", number: int) -> str:
    """The sender's name for it without folders, line ends and the like; or its number and type."""
    last = file["name"].replace("\\", "/").rpartition("/")[2]
    name = " ".join(UNFIT.sub("_", last).split()).strip(". ")
    stem, dot, suffix = name.rpartition(".")
    if not (stem if dot else name).strip("_"):
        suffix = mimetypes.guess_extension(file["content_type"], strict=False) or ""
        return f"file-{number}{suffix}"
    if len(name.encode()) <= LONGEST:
        return name
    end = f".{_cut(suffix, 15)}" if dot else ""
    return _cut(stem if dot else name, LONGEST - len(end.encode())) + end


def _cut(text: str, octets: int) -> str:
    return text.encode()[:octets].decode(errors="ignore")


def save(folder: Path, name: str, content: bytes) -> Path:
    """Where it was written: under this name, or one with a number if there is such a file."""
    wanted = Path(name)
    for number in itertools.count(1):
        path = folder / (name if number == 1 else f"{wanted.stem}-{number}{wanted.suffix}")
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable")
