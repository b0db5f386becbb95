"""Mutants: each removes one safeguard from a copy of the source, and one named test must fail there.

    python -m tests.conformance.mutants [WORD …]    only those whose name has one of the words

A mutant that survives is an error: nothing proves that its safeguard works.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conformance.safeguards import MUTANTS
from tests.conformance.safeguards.mutant import Mutant

ROOT = Path(__file__).parents[2]
SOURCES = ("gateway", "providers", "agents", "demo")
COPIED = (*SOURCES, "tests", "docs", "config", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")
FAILED = 1  # pytest's exit code when tests ran and some failed
LONGEST = 300.0  # seconds for one test, on however busy a machine


def copy_tree(to: Path) -> None:
    """The source tree as it stands, without what runs have left in it."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignore)
        elif source.exists():
            shutil.copy2(source, to / name)


def run(copy: Path, *tests: str) -> tuple[int, str]:
    """pytest's exit code (-1: it did not end) and the end of what it said, on the copy's own modules."""
    limit = LONGEST * max(1, len(tests) / 10)
    path = os.pathsep.join(str(copy / name) for name in SOURCES)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, "it did not end"
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def killed(copy: Path, mutant: Mutant) -> str:
    """ "killed", or what happened instead."""
    file = copy / mutant.file
    before = file.read_text()
    if before.count(mutant.old) != 1:
        return f"stale: its text stands in {mutant.file} {before.count(mutant.old)} times"
    file.write_text(before.replace(mutant.old, mutant.new))
    try:
        code, said = run(copy, mutant.test)
    finally:
        file.write_text(before)
    if code in (FAILED, -1):
        return "killed"
    return "SURVIVED" if code == 0 else f"error: pytest's exit code {code}\n{said}"


def say(line: str) -> None:
    """To whoever runs it, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """Print the table; 1 if a mutant survived or could not be tried, or a test fails without any mutant."""
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.safeguard for word in words)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        copy_tree(copy)
        code, said = run(copy, *sorted({mutant.test for mutant in chosen}))
        if code != 0:
            say(f"The tests fail without any mutant:\n{said}")
            return 1
        results = []
        for mutant in chosen:
            results.append(killed(copy, mutant))
            say(f"{mutant.safeguard:55} {results[-1]:10} {mutant.test.rpartition('::')[2]}")
    alive = sum(result != "killed" for result in results)
    say(f"{len(results)} mutants, {len(results) - alive} killed, {alive} not")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
