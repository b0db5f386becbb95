"""kill -9 while somebody is erased: the next life goes on where it was, and nothing of theirs is left."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from answerback.faults import POINTS
from tests.support.databases import Database
from tests.support.programs import Program

ERASING = [point for point in POINTS if point.startswith("erase.")]
STRUCK = [("erase.begun", 1), *(("erase.after-batch", nth) for nth in (1, 4, 7, 10, 13))]
ROOT = Path(__file__).parents[2]


async def life(here: Database, point: str, nth: int) -> tuple[int | None, Any]:
    """A gateway from its start to its end; how it ended, and what it said."""
    now = str(round(time.time() * 1e6))
    words = [str(here.data_dir), here.url, now, point, str(nth)]
    process = Program("tests.faults.eraser", *words, env=os.environ, cwd=ROOT)
    said, _ = await asyncio.to_thread(process.communicate)
    return process.returncode, json.loads(said) if said else None


@pytest.mark.parametrize(("point", "nth"), STRUCK)
async def test_who_was_being_erased_when_it_was_killed_is_erased_by_the_next_life(
    database: Database, point: str, nth: int
) -> None:
    assert await life(database, point, nth) == (-signal.SIGKILL, None)
    code, found = await life(database, "", 0)
    assert (code, found["done"], found["left"]) == (0, True, 0)
    assert (found["erased"]["questions"], found["erased"]["events"]) == (3, 3)


def test_every_point_of_an_erasure_is_struck() -> None:
    assert list(dict.fromkeys(point for point, _ in STRUCK)) == ERASING
