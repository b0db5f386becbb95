"""The table that is printed, and the file that is written."""

import importlib.metadata
import json
import os
import platform
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.bench.measure import Figure
from tests.bench.targets import TARGETS

PACKAGES = (
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "psycopg",
    "aiosqlite",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "uvloop",
    "httptools",
    "aiohttp",
    "click",
)


def machine() -> dict[str, Any]:
    """What it ran on. `load`: how many other processes were busy when it began; they make figures noisy."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load": round(os.getloadavg()[0], 2),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def table(figures: Iterable[Figure]) -> str:
    """One row a figure: value, lowest and highest alternation, what was divided, target, if it is met."""
    rows: list[tuple[str, ...]] = [("figure", "value", "from", "to", "ours", "theirs", "target", "")]
    for each in figures:
        target = TARGETS.get(each.key)
        low, high = each.spread
        verdict = "" if target is None else "met" if target.met(each.value) else "MISSED"
        numbers = (each.value, low, high, *(each.absolute or ("", "")))
        shown = [f"{number:.3g}" if isinstance(number, float) else number for number in numbers]
        rows.append((each.key, *shown, str(target or ""), verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def write(path: Path, figures: Iterable[Figure], about: Mapping[str, Any]) -> None:
    """As JSON: `figures` are the values by key; beside them, by key, what they were made of."""
    found = list(figures)
    content = {
        **about,
        "figures": {each.key: round(each.value, 4) for each in found},
        "spread": {each.key: [round(end, 4) for end in each.spread] for each in found},
        "absolute": {each.key: [round(n, 6) for n in each.absolute] for each in found if each.absolute},
        "alternations": {each.key: len(each.samples) for each in found},
        "missed": [
            each.key for each in found if each.key in TARGETS and not TARGETS[each.key].met(each.value)
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def line(about: Mapping[str, Any]) -> str:
    """The machine in one line."""
    versions = about["versions"]
    return (
        f"{about['cpu']}, {about['cores']} cores, load {about['load']} at the start, {about['system']}, "
        f"Python {about['python']}, SQLite {about['sqlite']}, langgraph {versions['langgraph']}"
    )
