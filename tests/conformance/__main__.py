"""Prints the conformance table: hazards down, systems across, the journals as evidence below.

    python -m tests.conformance [--only SYSTEM] [--hazard WORDS] [--json FILE] [--docs]

Every system here is driven as its own documents say; what its interface cannot express is "not applicable",
and what could not be run is "not run", with the reason. Exit code 1 if one of ours is not held.
"""

import argparse
import asyncio
import contextlib
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.conformance import page
from tests.conformance.hazards import HAZARDS
from tests.conformance.play import Result, Verdict, brief, play
from tests.conformance.remote import ROOT, Host, hosted
from tests.conformance.steps import Hazard, Together

PEERS = ROOT / "var" / "peers"
SHORT = {
    Result.HELD: "held",
    Result.BROKEN: "BROKEN",
    Result.NOT_APPLICABLE: "n/a",
    Result.NOT_RUN: "not run",
}
OURS, DOCUMENT = "answerback", ROOT / "docs" / "why.md"
ROUNDS = 10  # of a race


@dataclass(frozen=True, slots=True)
class System:
    """`peer`: its folder under var/peers, whose Python it runs in; "" for ours."""

    name: str
    driver: str
    peer: str = ""
    database: str = "sqlite"

    @property
    def python(self) -> str:
        return str(PEERS / self.peer / "bin" / "python") if self.peer else sys.executable

    @property
    def key(self) -> str:
        """Names it in the table: ours once for each database."""
        return self.name if self.peer else f"{self.name} ({self.database})"


SYSTEMS = (
    System(OURS, "tests.conformance.ours:Ours"),
    System(OURS, "tests.conformance.ours:Ours", database="postgresql"),
    System("awaithumans", "tests.conformance.peers.awaithumans:AwaitHumans", "awaithumans"),
    System("agent-wait", "tests.conformance.peers.agent_wait:AgentWait", "agent-wait"),
    System(
        "langgraph-external-hitl",
        "tests.conformance.peers.external_hitl:ExternalHitl",
        "langgraph-external-hitl",
    ),
)


async def run(system: System, hazards: tuple[Hazard, ...]) -> list[Verdict]:
    """These hazards on one system."""
    if not Path(system.python).exists():
        reason = f"var/peers/{system.peer} is not there: sh scripts/conformance.sh makes it"
        return [Verdict(hazard.name, Result.NOT_RUN, notes=(reason,)) for hazard in hazards]
    with hosted(system.driver, system.python, quiet=bool(system.peer)) as host, databases(system) as server:
        return [await _one(host, hazard, server) for hazard in hazards]


@contextlib.contextmanager
def databases(system: System) -> Iterator[Any]:
    """A PostgreSQL server if the system is to run on one, else None."""
    if system.database == "sqlite":
        yield None
        return
    from tests.support.postgres import running_postgres

    with running_postgres() as server:
        yield server


async def _one(host: Host, hazard: Hazard, server: Any) -> Verdict:
    """The verdict; of a race, which one round may win by luck, the first that is not held."""
    rounds = ROUNDS if any(isinstance(step, Together) for step in hazard.steps) else 1
    verdict = await _round(host, hazard, server)
    while verdict.result is Result.HELD and (rounds := rounds - 1):
        verdict = await _round(host, hazard, server)
    return verdict


async def _round(host: Host, hazard: Hazard, server: Any) -> Verdict:
    with (
        tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder,
        server.database() if server else contextlib.nullcontext("sqlite") as database,
    ):
        try:
            return await play(host, hazard, Path(folder), database)
        except Exception as error:  # a driver that does not get through proves nothing about the system
            return Verdict(hazard.name, Result.NOT_RUN, notes=(f"{type(error).__name__}: {error}",))


def versions(system: System) -> dict[str, str]:
    """Of the system, LangGraph and Python, as they ran."""
    if not Path(system.python).exists():
        return {}
    if not system.peer:
        return {
            "version": version(system.name),
            "langgraph": version("langgraph"),
            "python": platform.python_version(),
        }
    code = (
        "import platform, sys; from importlib.metadata import version;"
        "print(version(sys.argv[1]), version('langgraph'), platform.python_version())"
    )
    done = subprocess.run(
        [system.python, "-c", code, system.name], capture_output=True, text=True, check=True
    )
    return dict(zip(("version", "langgraph", "python"), done.stdout.split(), strict=True))


def table(results: dict[str, list[Verdict]], hazards: tuple[Hazard, ...]) -> Iterator[str]:
    """Hazards down, systems across."""
    width = max((len(hazard.name) for hazard in hazards), default=0)
    keys = list(results)
    for number, key in enumerate(keys, 1):
        yield f"[{number}] {key}"
    yield ""
    yield f"{'':{width}}  " + "  ".join(f"[{number}]".ljust(7) for number in range(1, len(keys) + 1))
    for row, hazard in enumerate(hazards):
        cells = (SHORT[results[key][row].result].ljust(7) for key in keys)
        yield f"{hazard.name:{width}}  " + "  ".join(cells)
    counts = ({result: sum(v.result is result for v in results[key]) for result in Result} for key in keys)
    yield ""
    for key, count in zip(keys, counts, strict=True):
        yield f"{key}: " + ", ".join(f"{number} {result}" for result, number in count.items() if number)


def evidence(results: dict[str, list[Verdict]], hazards: tuple[Hazard, ...]) -> Iterator[str]:
    """What the journal said where it was not what it should have been, and why something was left out."""
    for key, verdicts in results.items():
        for hazard, verdict in zip(hazards, verdicts, strict=True):
            if verdict.result is Result.BROKEN:
                yield f"{key} · {hazard.name}: {verdict.how}"
                yield f"    why it matters: {hazard.why}"
                yield f"    journal: {' · '.join(verdict.journal) or '(empty)'}"
                if verdict.notes:
                    yield f"    notes:   {'; '.join(sorted(set(verdict.notes)))}"
                right = (" · ".join(sorted(map(brief, told))) or "(empty)" for told in hazard.holds)
                yield f"    right:   {'  or  '.join(right)}"
            if verdict.result is Result.NOT_RUN:
                yield f"{key} · {hazard.name}: not run: {'; '.join(verdict.notes)}"
    for key, verdicts in results.items():
        reasons = {verdict.notes[0] for verdict in verdicts if verdict.result is Result.NOT_APPLICABLE}
        for reason in sorted(reasons):
            yield f"{key} · not applicable: {reason}"


async def main(only: str, word: str, file: Path, document: Path | None) -> int:
    """Run, keep the report, print it. A run of some systems or hazards only renews those in the report."""
    hazards = tuple(hazard for hazard in HAZARDS if word in hazard.name)
    results: dict[str, list[Verdict]] = {}
    about: dict[str, dict[str, str]] = {}
    for system in SYSTEMS:
        if only in system.key:
            print(f"{system.key} …", file=sys.stderr, flush=True)
            results[system.key], about[system.key] = await run(system, hazards), versions(system)
    report: dict[str, Any] = {
        "systems": about,
        "hazards": [{"name": hazard.name, "why": hazard.why, "graph": hazard.graph} for hazard in hazards],
        "results": {key: [asdict(verdict) for verdict in verdicts] for key, verdicts in results.items()},
    }
    if (only or word) and file.exists():
        report = page.renewed(json.loads(file.read_text()), report)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=1) + "\n")
    if document is not None:
        page.write(document, report)
    for line in (*table(results, hazards), "", *evidence(results, hazards)):
        print(line.encode("utf-8", "backslashreplace").decode())
    ours = [verdict for key, verdicts in results.items() if key.startswith(OURS) for verdict in verdicts]
    return 1 if any(verdict.result is not Result.HELD for verdict in ours) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What each system's nodes heard, hazard by hazard.")
    parser.add_argument("--only", default="", help="systems whose name contains this")
    parser.add_argument("--hazard", default="", help="hazards whose name contains this")
    parser.add_argument("--json", type=Path, default=ROOT / "var" / "conformance.json")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/why.md too")
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.only, given.hazard, given.json, DOCUMENT if given.docs else None)))
