"""kill -9 at each step between an answer and its callback_url: it is posted once the next life begins."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from tests.faults.caller import SECRET
from tests.flow.test_callbacks import asker
from tests.support.programs import Program

POINTS = [
    "receive.before-commit",
    "receive.after-commit",
    "deliver.before-send",
    "deliver.after-send",
    "deliver.after-commit",
]
ROOT = Path(__file__).parents[2]


async def life(folder: Path, url: str, point: str) -> int:
    """A gateway from its start to its end; how it ended."""
    now = str(round(time.time() * 1e6))
    process = Program("tests.faults.caller", str(folder), url, now, point, env=os.environ, cwd=ROOT)
    await asyncio.to_thread(process.communicate)
    assert process.returncode is not None
    return process.returncode


@pytest.mark.parametrize("point", POINTS)
async def test_an_answer_that_was_accepted_is_posted_under_one_id(tmp_path: Path, point: str) -> None:
    async with asker() as there:
        there.secret = SECRET
        assert await life(tmp_path, there.url, point) == -signal.SIGKILL
        heard = len(there.got)
        assert heard == (1 if point in POINTS[3:] else 0)
        assert await life(tmp_path, there.url, "") == 0
        again = 1 if point != "deliver.after-commit" else 0  # what was sent and written is not sent again
        assert len(there.got) == heard + again
        assert [event["data"]["answer"]["value"] for event in there.got] == ["this one"] * len(there.got)
        assert len(set(there.ids)) == 1
