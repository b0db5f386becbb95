"""`python -m tests.bench [--only loop,intake] [--quick] [--rounds N]`: prints a table, writes a file."""

import argparse
import contextlib
import importlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol, cast

# As `serve` does, before anything imports LangGraph: it reads this once.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

import uvloop

from answerback.cli import logs
from answerback.web import RedactTokens
from tests.bench import report
from tests.bench.measure import Figure
from tests.bench.options import Options
from tests.bench.targets import DATABASES, TARGETS

GROUPS = ("start", "intake", "loop", "growth", "memory", "idle")
ROUNDS, QUICK_ROUNDS = 10, 3


class Group(Protocol):
    """A module of figures."""

    def run(self, options: Options) -> AsyncIterator[Figure]: ...


def main() -> int:
    """0 when every target that was measured is met."""
    asked = _arguments()
    root = asked.out.parent
    root.mkdir(parents=True, exist_ok=True)
    about = {"machine": report.machine(), "quick": asked.quick}
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=root))
    try:
        with (root / "bench.log").open("w") as log, contextlib.redirect_stderr(log):
            logs.start(as_json=False, debug=False)  # a served gateway logs, so this one does
            logging.getLogger("uvicorn.access").addFilter(RedactTokens())
            options = Options(asked.rounds, asked.quick, folder, tuple(asked.databases))
            found = uvloop.run(_measure(asked.only, options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.write(asked.out, found, about)
    print(report.table(found))
    print(f"\n{report.line(about['machine'])}\nWritten to {asked.out}.")
    return int(any(each.key in TARGETS and not TARGETS[each.key].met(each.value) for each in found))


async def _measure(names: list[str], options: Options) -> list[Figure]:
    found = []
    for name in names:
        group = cast(Group, importlib.import_module(f"tests.bench.{name}"))
        async for each in group.run(options):
            found.append(each)
            print(f"{each.key}: {each.value:.3g}", file=sys.stdout, flush=True)
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    groups = ", ".join(GROUPS)
    parser.add_argument("--only", type=_names, default=list(GROUPS), metavar="GROUP,…", help=groups)
    parser.add_argument("--databases", type=_databases, default=list(DATABASES), metavar="NAME,…")
    parser.add_argument("--quick", action="store_true", help="less of everything: no figures to publish")
    parser.add_argument("--rounds", type=int, help=f"alternations of each ratio (default {ROUNDS})")
    parser.add_argument("--out", type=Path, default=Path("var", "bench.json"))
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (QUICK_ROUNDS if asked.quick else ROUNDS)
    return asked


def _names(text: str) -> list[str]:
    return _known(text, GROUPS)


def _databases(text: str) -> list[str]:
    return _known(text, DATABASES)


def _known(text: str, known: tuple[str, ...]) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]}, but {', '.join(known)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
