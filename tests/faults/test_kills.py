"""SIGKILL at every named fault point, then a restart: nothing accepted is lost, nothing is answered twice."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.faults import POINTS
from tests.support.databases import Database

UNREACHED = {
    # The scenario lets nothing expire and asks through an agent; these have scenarios of their own below.
    "ask.before-commit",
    "ask.after-commit",
    "elapse.after-commit",
}
LIVES = 4


class Zygote:
    """Speaks to the preloaded process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def live(self, **order: Any) -> int:
        """One life; the exit code, negative for a signal."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return os.waitstatus_to_exitcode(int(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    started = Zygote()
    yield started
    started.close()


def rows(folder: Path, name: str) -> list[Any]:
    file = folder / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", sorted(set(POINTS) - UNREACHED))
def test_a_gateway_killed_here_finishes_its_work_in_its_next_life(
    zygote: Zygote, database: Database, point: str, nth: int
) -> None:
    folder = database.data_dir
    order = {"folder": str(folder), "database": database.url, "point": point, "nth": nth}
    ends = [zygote.live(life=0, **order)]
    if nth == 1:
        assert ends == [-signal.SIGKILL], f"{point} was not reached"
    while ends[-1] != 0 and len(ends) < LIVES:
        ends.append(zygote.live(life=len(ends), **{**order, "point": ""}))
    assert ends[-1] == 0, ends

    told = {row["question"]: row["answer"]["choice"] for row in rows(folder, "journal")}
    journal = [(row["question"], row["answer"]["content"]) for row in rows(folder, "journal")]
    assert rows(folder, "result") == [{"answers": [told["First?"], told["Second?"]]}]
    assert set(journal) == {("First?", "Yes"), ("Second?", "No")}, "each answer reached its own question only"
    assert {row["title"] for row in rows(folder, "acknowledged")} >= {"First?", "Second?"}
