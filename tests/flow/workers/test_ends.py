"""How a worker ends, what its calls hear of it, and that it is started again; nothing of it stays behind."""

import asyncio
import logging
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from answerback.agent import Finished
from answerback.errors import AgentUnavailable, ConfigurationError
from answerback.settings import Plugin
from answerback.workers import Patience, WorkerAgent
from tests.flow.workers.support import gone, plain, until

ROOT = Path(__file__).parents[3]


def starts(folder: Path) -> list[int]:
    """The process ids of all workers that have begun to open the agent, in their order."""
    file = folder / "starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


async def works(agent: WorkerAgent) -> None:
    """The agent takes calls again."""
    await until(lambda: agent.state == "")
    assert await agent.start("t", ["echo", 1]) == Finished(1)


async def test_every_call_under_way_hears_how_the_worker_ended_and_it_starts_again(tmp_path: Path) -> None:
    agent = plain(tmp_path)
    await agent.open()
    waiting = [asyncio.create_task(agent.start(name, ["wait", None])) for name in ("a", "b")]
    await until(lambda: len([*tmp_path.glob("waiting-*")]) == 2)
    with pytest.raises(AgentUnavailable, match=r"^The worker of the agent plain ended with exit code 3\.$"):
        await agent.start("t", ["end", 3])
    for call in waiting:
        with pytest.raises(AgentUnavailable, match="exit code 3"):
            await call
    assert gone(starts(tmp_path)[0])
    await works(agent)
    assert len(starts(tmp_path)) == 2
    await agent.close()


async def test_calls_fail_only_when_the_process_is_gone(tmp_path: Path) -> None:
    agent = plain(tmp_path)
    await agent.open()
    [pid] = starts(tmp_path)
    with pytest.raises(AgentUnavailable, match=r"sent a frame of .* bytes, which is not understood"):
        await agent.start("t", ["garbage", None])
    assert gone(pid)
    await works(agent)
    os.kill(starts(tmp_path)[-1], signal.SIGKILL)
    await until(lambda: agent.state != "")
    assert agent.state.startswith("Its worker was killed (SIGKILL, as when memory runs out).")
    await works(agent)
    await agent.close()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("crash", "ended with exit code 4"),
        ("hang", "was not ready within 8 s"),
        ("away", "Its server does not answer."),
        ("odd", "The agent's adapter raised KeyError."),
    ],
)
async def test_one_that_fails_to_start_is_started_again(
    tmp_path: Path, how: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "answerback.workers")
    agent = plain(tmp_path, Patience(start=8), at_open=how, secret="correct-horse")

    def pause(_failures: int) -> float:
        agent._patience = Patience()  # only the first start is hurried
        return 0

    agent._pause = pause
    await agent.open()
    await works(agent)
    assert why in caplog.text
    assert "correct-horse" not in caplog.text
    assert gone(starts(tmp_path)[0])
    await agent.close()


async def test_one_that_hangs_at_its_start_does_not_hold_up_the_gateways_start(tmp_path: Path) -> None:
    agent = plain(tmp_path, Patience(open=0.01), at_open="hang")
    await agent.open()
    assert agent.state == "Its worker is starting."
    await until(lambda: bool(starts(tmp_path)))
    await agent.close()
    assert gone(starts(tmp_path)[0])


async def test_pauses_between_starts_grow_until_one_has_lived_for_a_while(tmp_path: Path) -> None:
    failures: list[int] = []

    def pause(failed: int) -> float:
        failures.append(failed)
        return 0

    agent = plain(tmp_path)
    agent._pause = pause
    await agent.open()
    for _ in range(3):
        with pytest.raises(AgentUnavailable):
            await agent.start("t", ["end", 3])
        await works(agent)
    assert failures == [0, 1, 2]
    agent._patience = Patience(steady=0)
    with pytest.raises(AgentUnavailable):
        await agent.start("t", ["end", 3])
    await works(agent)
    assert failures == [0, 1, 2, 0]
    await agent.close()


async def test_to_cancel_a_run_that_blocks_its_worker_ends_the_worker(tmp_path: Path) -> None:
    agent = plain(tmp_path, Patience(blocked=0.1, stop=0.1))
    await agent.open()
    [pid] = starts(tmp_path)
    blocked = asyncio.create_task(agent.start("t", ["block", 1000]))
    await asyncio.sleep(0)
    await agent.cancel("t")
    with pytest.raises(AgentUnavailable, match="was blocked by a run that was to be cancelled"):
        await blocked
    assert gone(pid)
    assert (tmp_path / "stopped-t").exists()
    await agent.close()


async def test_law_10_a_worker_that_cannot_cancel_what_the_one_before_left_is_ended_before_the_next(
    tmp_path: Path,
) -> None:
    agent = plain(tmp_path, Patience(blocked=0.1, stop=0.1, start=5), kind="Reluctant")
    await agent.open()
    blocked = asyncio.create_task(agent.start("t", ["block", 1000]))
    await asyncio.sleep(0)
    with pytest.raises(AgentUnavailable, match=r"starting again"):  # the second try never comes to an end
        await agent.cancel("t")
    await asyncio.gather(blocked, return_exceptions=True)
    await works(agent)
    await agent.cancel("t")
    assert (tmp_path / "stopped-t").exists()
    *before, last = starts(tmp_path)
    assert all(gone(pid) for pid in before) and not gone(last)
    await agent.close()


async def test_law_1_what_no_worker_heard_is_cancelled_no_sooner_than_the_next_one_is_told(
    tmp_path: Path,
) -> None:
    """By then the thread may belong to a later run, which another gateway began."""
    agent = plain(tmp_path)
    await agent.open()
    with pytest.raises(AgentUnavailable):
        await agent.start("t", ["end", 3])
    with pytest.raises(AgentUnavailable, match="exit code 3"):
        await agent.cancel("t")
    await until(lambda: agent.state == "")
    assert not (tmp_path / "stopped-t").exists()
    await agent.cancel("t")
    assert (tmp_path / "stopped-t").exists()
    await agent.close()


async def test_one_that_does_not_close_in_peace_is_ended(tmp_path: Path) -> None:
    agent = plain(tmp_path, Patience(close=0.1, terminate=30))
    await agent.open()
    blocked = asyncio.create_task(agent.start("t", ["block", 1000]))
    await asyncio.sleep(0)
    await agent.close()
    assert gone(starts(tmp_path)[0])
    with pytest.raises(AgentUnavailable, match="was stopped"):
        await blocked


@pytest.mark.parametrize("word", ["wait", "block"])
async def test_a_worker_ends_with_a_gateway_that_is_killed(tmp_path: Path, word: str) -> None:
    gateway = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.flow.workers.master", str(tmp_path), word, cwd=ROOT
    )
    await until(lambda: bool(starts(tmp_path)))
    [pid] = starts(tmp_path)
    gateway.kill()
    await gateway.wait()
    await until(lambda: gone(pid))


async def test_a_python_that_is_not_there_or_has_no_answerback_is_said_at_its_line(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    empty.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    empty.chmod(0o755)
    for python, why in ((str(tmp_path / "none"), "No such file"), (str(empty), "No module named")):
        plugin = Plugin("mine", "langgraph", file="a.yaml", line=1, lines={"python": 7}, python=python)
        agent = WorkerAgent(plugin, plain(tmp_path).context)
        with pytest.raises(ConfigurationError) as caught:
            await agent.open()
        assert str(caught.value).startswith(f"a.yaml:7: agents.mine.python: {python} cannot be ")
        assert why in str(caught.value)
        await agent.close()


async def test_it_is_nothing_to_start_by_hand_and_to_import_it_starts_nothing() -> None:
    by_hand = [sys.executable, "-m", "answerback.workers"]
    done = await asyncio.create_subprocess_exec(*by_hand, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, said = await done.communicate()
    assert (done.returncode, said.count(b"\n")) == (1, 1)
    runpy.run_module("answerback.workers.__main__", run_name="__mp_main__")


async def test_out_of_memory_the_kernel_takes_a_worker_before_the_gateway(tmp_path: Path) -> None:
    agent = plain(tmp_path)
    await agent.open()
    theirs, ours = (Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in (starts(tmp_path)[0], "self"))
    assert int(theirs) >= max(int(ours), 500)
    await agent.close()


async def test_what_a_worker_has_imported_is_not_collected_again_and_again(tmp_path: Path) -> None:
    agent = plain(tmp_path)
    await agent.open()
    frozen = await agent.start("t", ["frozen", None])
    assert isinstance(frozen, Finished) and frozen.result > 10_000
    await agent.close()


async def test_a_start_that_is_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    agent = plain(tmp_path, at_open="hang")
    opening = asyncio.create_task(agent.open())
    await until(lambda: bool(starts(tmp_path)))
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    assert gone(starts(tmp_path)[0])
