"""`python -m tests.bench [--only loop,intake] [--quick] [--rounds N]`: prints a table, writes a file."""

import argparse
import contextlib
import importlib
import logging
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol, cast

# As `serve` does, before anything imports LangGraph: it reads this once.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

import uvloop

from answerback.cli import logs
from answerback.web import RedactTokens
from tests.bench import machine, peers, report
from tests.bench.kept import Kept
from tests.bench.measure import Figure
from tests.bench.options import Options
from tests.bench.targets import DATABASES, TARGETS
from tests.bench.workspace import workspace

# Minutes that each takes on two cores; the first run takes some more, to fill what is kept then.
GROUPS = {"start": 1, "intake": 1, "loop": 6, "least": 3, "peers": 5, "growth": 3, "memory": 2, "idle": 2}
ROUNDS, QUICK_ROUNDS = 10, 3
WHOLE, PART = Path("var", "bench.json"), Path("var", "bench-part.json")


class Group(Protocol):
    """A module of figures."""

    def run(self, options: Options) -> AsyncIterator[Figure]: ...


def main() -> int:
    """0 when every target that was measured is met, and nothing failed."""
    asked = _arguments()
    root, begun = WHOLE.parent / "bench", time.monotonic()
    root.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {"machine": machine.machine(root), "peers": peers.versions()}
    about |= {"quick": asked.quick, "failed": {}, "held_up": []}
    print(_beforehand(asked.only, about["machine"]["load"]), flush=True)
    with workspace(root) as folder, (root / "log").open("w") as log, contextlib.redirect_stderr(log):
        logs.start(as_json=False, debug=False)  # a served gateway logs, so this one does
        logging.getLogger("uvicorn.access").addFilter(RedactTokens())
        options = Options(asked.rounds, asked.quick, folder, Kept(root), log, tuple(asked.databases))
        found = uvloop.run(_measure(asked.only, options, about))
    about["minutes"] = round((time.monotonic() - begun) / 60, 1)
    report.write(asked.out, found, about)
    print(report.table(found, list(TARGETS) if asked.whole else []))
    print(f"\n{machine.line(about['machine'], about['held_up'])}")
    print(f"Written to {asked.out} after {about['minutes']} minutes.")
    return int(bool(about["failed"]) or any(report.missed(each) for each in found))


async def _measure(names: list[str], options: Options, about: dict[str, Any]) -> list[Figure]:
    """A group that fails costs its own figures only."""
    found = []
    for name in names:
        try:
            group = cast(Group, importlib.import_module(f"tests.bench.{name}"))
            async for each in group.run(options):
                found.append(each)
                about["held_up"].append(round(machine.held_up(), 2))
                print(f"{each.key}: {each.value:.3g}", flush=True)
        except Exception as error:
            about["failed"][name] = f"{type(error).__name__}: {error}"
            logging.getLogger(__name__).exception("The group %s failed.", name)
            print(f"{name} failed: {about['failed'][name]} (more in var/bench/log)", flush=True)
    return found


def _beforehand(names: list[str], load: float) -> str:
    minutes = sum(GROUPS[name] for name in names)
    said = f"This takes about {minutes} min on two cores that have nothing else to do."
    return said if load < 1 else f"{said} These have: the load is {load}, so figures will be noisy."


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    groups = ", ".join(GROUPS)
    parser.add_argument("--only", type=_names, default=list(GROUPS), metavar="GROUP,…", help=groups)
    parser.add_argument("--databases", type=_databases, default=list(DATABASES), metavar="NAME,…")
    parser.add_argument("--quick", action="store_true", help="less of everything: no figures to publish")
    parser.add_argument("--rounds", type=int, help=f"alternations of each ratio (default {ROUNDS})")
    parser.add_argument("--out", type=Path, help=f"default {WHOLE}, or {PART} if it is not all of it")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (QUICK_ROUNDS if asked.quick else ROUNDS)
    everything = len(asked.only) == len(GROUPS) and len(asked.databases) == len(DATABASES)
    asked.whole = everything and not asked.quick and asked.rounds >= ROUNDS
    asked.out = asked.out or (WHOLE if asked.whole else PART)
    return asked


def _names(text: str) -> list[str]:
    return _known(text, tuple(GROUPS))


def _databases(text: str) -> list[str]:
    return _known(text, DATABASES)


def _known(text: str, known: tuple[str, ...]) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]}, but {', '.join(known)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
