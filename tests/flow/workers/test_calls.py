"""What goes through: every value, every error of the contract, calls at once, and nothing too large."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerback import errors
from answerback.agent import Failed, Finished, Paused, Target
from answerback.errors import AgentError, AgentUnavailable, ConfigurationError, DoesNotFit
from answerback.model import Answer
from answerback.workers import WorkerAgent
from tests.flow.workers.plain import EVERYTHING
from tests.flow.workers.support import plain, until


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[WorkerAgent]:
    made = plain(tmp_path)
    await made.open()
    yield made
    await made.close()


async def test_each_value_arrives_as_it_was(agent: WorkerAgent) -> None:
    assert agent.state == ""
    value = {"a": [None, True, 1, 1.0, 2**53 + 1, "é\ud83d\x00"], "": {}}
    assert await agent.start("t", ["echo", value]) == Finished(value)
    assert await agent.start("t", ["pause", None]) == Paused((EVERYTHING,))
    assert await agent.start("t", ["fail", "no"]) == Failed("no", retryable=False)
    assert await agent.pending("t") == (EVERYTHING,)
    target, answer = Target("i", "d", "c"), Answer({"q1": "\ud83d"}, "t", "by", "via", 7, True, True, True)
    gave = await agent.resume("t", target, answer, again=True)
    assert gave == Finished([repr(target), repr(answer), True])
    assert (await agent.retry("t"), await agent.reask("t")) == (Finished("retried"), Finished("asked anew"))
    assert await agent.tip("t") == "its tip"
    await agent.forget("t")
    with pytest.raises(errors.Conflict, match="not its tip"):
        await agent.forget("t", "not its tip")


@pytest.mark.parametrize(
    "kind", ["DoesNotFit", "NotPending", "Conflict", "AgentUnavailable", "StoreUnavailable"]
)
async def test_an_error_of_the_contract_passes_through(agent: WorkerAgent, kind: str) -> None:
    with pytest.raises(getattr(errors, kind)) as caught:
        await agent.start("t", ["raise", kind])
    assert type(caught.value).__name__ == kind
    assert str(caught.value) == f"it says {kind}"
    assert getattr(caught.value, "detail", str(caught.value)) == f"it says {kind}"


async def test_of_any_other_error_only_its_class_is_told(agent: WorkerAgent) -> None:
    with pytest.raises(AgentError, match="KeyError") as caught:
        await agent.start("t", ["raise odd", "hunter22"])
    assert "hunter22" not in str(caught.value)
    with pytest.raises(AgentError, match="TypeError"):
        await agent.start("t", ["not json", None])
    assert await agent.start("t", ["echo", 1]) == Finished(1)


async def test_a_call_that_raises_what_is_no_exception_gets_its_reply(agent: WorkerAgent) -> None:
    with pytest.raises(AgentError, match="raised GeneratorExit"):
        await agent.start("t", ["raise what is no Exception", "x"])
    assert await agent.start("t", ["echo", 1]) == Finished(1)


async def test_what_is_too_large_fails_alone(agent: WorkerAgent) -> None:
    state = await agent.start("t", ["large", 9 << 20])
    assert isinstance(state, Failed)
    assert "larger than 8 MiB" in state.error
    state = await agent.start("t", ["echo", "x" * (9 << 20)])
    assert isinstance(state, Failed)
    with pytest.raises(DoesNotFit, match="larger than 8 MiB"):
        await agent.resume("t", Target("i", "d"), Answer({"q1": "x" * (9 << 20)}))
    state = await agent.start("t", ["many", 60_000])
    assert isinstance(state, Failed)
    assert "over 50,000 values" in state.error
    assert await agent.start("t", ["large", 7 << 20]) == Finished("x" * (7 << 20))


async def test_a_look_that_is_too_large_is_told_as_what_it_is(agent: WorkerAgent) -> None:
    with pytest.raises(AgentError, match="TooLarge"):
        await agent.look("")


async def test_what_a_cancelled_run_had_finished_comes_through_unless_it_is_too_large(
    agent: WorkerAgent, tmp_path: Path
) -> None:
    assert await agent.cancel("t") == ["t"]
    assert await agent.cancel("large") is None
    assert (tmp_path / "stopped-large").exists()


async def test_a_call_that_is_cancelled_is_cancelled_in_the_worker_and_no_other(
    agent: WorkerAgent, tmp_path: Path
) -> None:
    one, two = (asyncio.create_task(agent.start(name, ["wait", None])) for name in ("one", "two"))
    await until(lambda: len([*tmp_path.glob("waiting-*")]) == 2)
    one.cancel()
    await asyncio.gather(one, return_exceptions=True)
    assert one.cancelled()
    assert (tmp_path / "cancelled-one").exists()
    assert not (tmp_path / "cancelled-two").exists()
    assert await agent.start("three", ["echo", 3]) == Finished(3)
    assert not two.done()
    await agent.close()
    assert (tmp_path / "cancelled-two").exists()
    assert (tmp_path / "closed").exists()
    with pytest.raises(AgentUnavailable):
        await two
    with pytest.raises(AgentUnavailable):
        await agent.start("t", ["echo", 1])


async def test_before_it_is_opened_an_agent_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable):
        await plain(tmp_path).pending("t")


async def test_options_are_checked_in_the_worker_and_refused_with_the_same_words(tmp_path: Path) -> None:
    agent = plain(tmp_path, colour="red")
    with pytest.raises(ConfigurationError) as caught:
        await agent.open()
    assert str(caught.value).startswith("a.yaml:3: Unknown key")
    assert agent.state == str(caught.value)
    await agent.close()


async def test_secrets_are_in_no_argument_and_no_environment(tmp_path: Path) -> None:
    agent = plain(tmp_path, secret="correct-horse-battery")
    await agent.open()
    state = await agent.start("t", ["pid", None])
    assert isinstance(state, Finished)
    for what in ("cmdline", "environ"):
        assert b"correct-horse-battery" not in Path(f"/proc/{state.result}/{what}").read_bytes()
    await agent.close()
