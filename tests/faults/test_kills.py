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

pytestmark = pytest.mark.needs_extra("langgraph")
# Which points a scenario passes; together they are all of them (see the last test).
OF_EXPIRY = {
    "ask.before-commit",
    "ask.after-commit",
    "deliver.before-send",
    "deliver.after-send",
    "deliver.after-commit",
    "elapse.after-commit",
}
OF_FORM = {"receive.before-commit", "receive.after-commit"}
OF_RUN = set(POINTS) - {"ask.before-commit", "ask.after-commit", "elapse.after-commit"}
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


def live_through(zygote: Zygote, database: Database, scenario: str, point: str, nth: int = 1) -> None:
    """Kill at the point, then live again until the work is done."""
    order = {"folder": str(database.data_dir), "database": database.url, "scenario": scenario, "nth": nth}
    ends = [zygote.live(life=0, point=point, **order)]
    assert ends == [-signal.SIGKILL] or nth > 1, f"{point} was not reached"
    while ends[-1] != 0 and len(ends) < LIVES:
        ends.append(zygote.live(life=len(ends), point="", **order))
    assert ends[-1] == 0, ends


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", sorted(OF_RUN))
def test_a_gateway_killed_here_finishes_its_work_in_its_next_life(
    zygote: Zygote, database: Database, point: str, nth: int
) -> None:
    folder = database.data_dir
    live_through(zygote, database, "run", point, nth)
    told = {row["question"]: row["answer"]["choice"] for row in rows(folder, "journal")}
    journal = [(row["question"], row["answer"]["content"]) for row in rows(folder, "journal")]
    assert rows(folder, "result") == [{"answers": [told["First?"], told["Second?"]]}]
    assert set(journal) == {("First?", "Yes"), ("Second?", "No")}, "each answer reached its own question only"
    assert {row["title"] for row in rows(folder, "acknowledged")} >= {"First?", "Second?"}


@pytest.mark.parametrize("point", sorted(OF_EXPIRY))
def test_a_question_asked_and_expired_around_a_kill_is_one_question_with_one_outcome(
    zygote: Zygote, database: Database, point: str
) -> None:
    live_through(zygote, database, "expire", point)
    assert rows(database.data_dir, "result") == [[[True, "expired"]]]
    assert {row["title"] for row in rows(database.data_dir, "phone")} == {"First?"}


@pytest.mark.parametrize("point", sorted(OF_FORM))
def test_a_form_sent_around_a_kill_is_taken_once(zygote: Zygote, database: Database, point: str) -> None:
    live_through(zygote, database, "form", point)
    assert rows(database.data_dir, "result") == ["by form"]


def test_every_fault_point_has_a_scenario() -> None:
    assert set(POINTS) == OF_RUN | OF_EXPIRY | OF_FORM
