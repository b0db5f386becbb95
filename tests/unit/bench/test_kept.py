"""What the benchmark leaves on the disk: filled folders for the next run, and nothing of a run itself."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.bench.kept import Kept
from tests.bench.workspace import workspace


class Filling:
    """Folders with an empty database, and how often one was filled."""

    def __init__(self, root: Path) -> None:
        self.root, self.times, self.kept = root, 0, Kept(root / "kept", least=10)

    def make(self, name: str, count: int = 10, schema: str = "a", made_of: str = "") -> str:
        """What is in the folder afterwards."""
        folder = self.root / name
        folder.mkdir()
        with closing(sqlite3.connect(folder / "answerback.db")) as database:
            database.execute(f"CREATE TABLE {schema} (x)")

        def fill() -> None:
            self.times += 1
            (folder / "rows").write_text(f"filled {self.times}")

        self.kept.folder(folder, count, [made_of], fill)
        return (folder / "rows").read_text()


@pytest.fixture
def filling(tmp_path: Path) -> Filling:
    return Filling(tmp_path)


def test_the_second_run_gets_a_copy_of_what_the_first_one_filled(filling: Filling) -> None:
    filling.make("first")
    (filling.root / "first" / "rows").write_text("used up")
    assert filling.make("second") == "filled 1" and filling.times == 1


@pytest.mark.parametrize("other", [{"schema": "b"}, {"made_of": "other rows"}])
def test_what_would_be_filled_in_another_way_is_filled_again_and_replaces_it(
    filling: Filling, other: dict[str, str]
) -> None:
    filling.make("first")
    assert filling.make("second", **other) == "filled 2"
    assert len(list((filling.root / "kept").iterdir())) == 1


def test_few_rows_are_not_kept(filling: Filling) -> None:
    filling.make("first", count=9)
    assert not (filling.root / "kept").exists()


def test_what_does_not_fit_on_the_disk_is_said_before_it_is_tried(filling: Filling) -> None:
    with pytest.raises(OSError, match="of disk"):
        filling.make("first", count=10**18)
    assert filling.times == 0


def test_a_run_leaves_nothing_even_when_it_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with workspace(tmp_path) as folder:
            (folder / "rows").touch()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_goes_and_what_another_one_uses_stays(tmp_path: Path) -> None:
    nobody = 2**22 + 1  # no process has a number this high (proc(5), pid_max)
    left, used = tmp_path / f"run-{nobody}", tmp_path / f"run-{os.getppid()}"
    left.mkdir()
    used.mkdir()
    with workspace(tmp_path) as folder:
        assert folder.is_dir() and used.is_dir() and not left.exists()
