"""After a crash or a lost answer of the server: what was begun is found again, and nothing is given twice."""

import asyncio
import uuid

import pytest

from answerback.agent import Failed, Finished, Paused
from answerback.errors import AgentUnavailable, NotPending
from answerback_agents.langgraph_server import marks
from tests.flow.langgraph_server.development import Rule
from tests.flow.langgraph_server.harness import Elsewhere, Harness, only, said, target

CREATE = r"^POST /threads/[^/]+/runs$"
JOIN = r"^GET /threads/[^/]+/runs/[^/]+/join$"


def thread() -> str:
    return str(uuid.uuid4())


async def test_a_start_is_the_same_start_however_often_it_is_repeated(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    first = await agent.start(t, harness.input(), "run-1")
    assert await agent.start(t, harness.input(), "run-1") == first
    await agent.resume(t, target(only(first)), said("yes"))
    assert isinstance(await agent.start(t, harness.input(), "run-1"), Finished)
    assert harness.log == ["ask:yes"]
    assert harness.front.count(CREATE) == 2


async def test_a_start_whose_acknowledgement_was_lost_is_not_made_again(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    harness.front.rules.append(Rule(CREATE, lost=True))
    with pytest.raises(AgentUnavailable):
        await agent.start(t, harness.input(), "run-1")
    only(await agent.start(t, harness.input(), "run-1"))
    assert harness.front.count(CREATE) == 1


async def test_an_answer_whose_acknowledgement_was_lost_is_not_given_again(harness: Harness) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, lost=True))
    with pytest.raises(AgentUnavailable):
        await agent.resume(t, target(first), said("one"))
    second = only(await agent.resume(t, target(first), said("one"), again=True))
    assert second.questions[0].text == "Second?"
    assert harness.front.count(CREATE) == 2


async def test_law_1_an_answer_that_arrives_while_it_is_tried_again_is_not_taken_for_somebody_elses(
    harness: Harness,
) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, status=504))
    with pytest.raises(AgentUnavailable, match="504"):
        await agent.resume(t, target(first), said("one"))

    async def arrives() -> None:
        """What a proxy before the server still had, and gave up too early."""
        given = {"resume": {first.interrupt_id: {"content": "one"}}}
        run = await agent._server.run(t, marks.of_answer(target(first), said("one")), command=given)
        await agent._server.ended(t, run)

    harness.front.rules.append(Rule("GET .*/state$", before=arrives))
    second = only(await agent.resume(t, target(first), said("one"), again=True))
    assert second.questions[0].text == "Second?"


async def test_law_1_of_two_attempts_that_both_arrived_the_one_that_was_taken_counts(
    harness: Harness,
) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, lost=True))
    with pytest.raises(AgentUnavailable):
        await agent.resume(t, target(first), said("one"))
    mark = marks.of_answer(target(first), said("one"))
    (taken,) = await agent._marked(t, mark)
    await agent._server.ended(t, taken["run_id"])
    late = await agent._server.run(t, mark, command={"resume": {first.interrupt_id: "one"}})
    assert (await agent._server.ended(t, late)).error["error"] == "UnknownInterruptError"
    second = only(await agent.resume(t, target(first), said("one"), again=True))
    assert second.questions[0].text == "Second?"


async def test_an_answer_that_never_arrived_is_given_when_it_is_tried_again(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, status=502))
    with pytest.raises(AgentUnavailable, match="502"):
        await agent.resume(t, target(asked), said("yes"))
    assert isinstance(await agent.resume(t, target(asked), said("yes"), again=True), Finished)
    assert harness.log == ["ask:yes"]


async def test_an_answer_that_is_still_being_worked_on_is_waited_for(harness: Harness) -> None:
    agent, t = await harness.open("laboring"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(JOIN, status=500))
    with pytest.raises(AgentUnavailable, match="500"):
        await agent.resume(t, target(asked), said("yes"))
    going_on = asyncio.create_task(agent.resume(t, target(asked), said("yes"), again=True))
    (harness.place / "gate").touch()
    assert isinstance(await going_on, Finished)
    assert harness.log == ["ask:yes", "slow"]


async def test_a_run_that_takes_longer_than_a_call_may_is_waited_for(harness: Harness) -> None:
    agent, t = await harness.open("working", timeout=1.0), thread()
    starting = asyncio.create_task(agent.start(t, harness.input(), "run-1"))
    async with asyncio.timeout(30):
        while harness.front.count(JOIN) < 2:  # noqa: ASYNC110 (the server's part is seen at the proxy)
            await asyncio.sleep(0.01)
    (harness.place / "gate").touch()
    only(await starting)
    assert harness.front.count(CREATE) == 1


async def test_an_answer_that_a_step_failed_with_is_known_to_be_locked_in(harness: Harness) -> None:
    agent, t = await harness.open("strict"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, lost=True))
    with pytest.raises(AgentUnavailable):
        await agent.resume(t, target(asked), said("seven"))
    assert isinstance(await agent.resume(t, target(asked), said("seven"), again=True), Failed)
    assert harness.log == ["picky:seven"]


async def test_an_answer_that_the_server_refused_is_known_to_have_been_refused(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))

    async def answered_there() -> None:
        await elsewhere.answer(t, "questions", {"content": "theirs"})

    harness.front.rules.append(Rule(CREATE, before=answered_there, lost=True))
    with pytest.raises(AgentUnavailable):
        await agent.resume(t, target(first), said("ours"))
    with pytest.raises(NotPending):
        await agent.resume(t, target(first), said("ours"), again=True)
    assert [each.questions[0].text for each in await agent.pending(t)] == ["Second?"]


async def test_an_answer_that_somebody_else_gave_meanwhile_is_not_taken_for_ours(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    harness.front.rules.append(Rule(CREATE, status=500))
    with pytest.raises(AgentUnavailable):
        await agent.resume(t, target(asked), said("ours"))
    await elsewhere.answer(t, "asking", "theirs")
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("ours"), again=True)
    assert harness.log == ["ask:theirs"]


async def test_what_is_left_of_a_run_that_was_stopped_from_outside_is_asked_about(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("working"), thread()
    starting = asyncio.create_task(agent.start(t, harness.input(), "run-1"))
    async with asyncio.timeout(30):
        while harness.log != ["slow"]:  # noqa: ASYNC110 (it is seen in a file)
            await asyncio.sleep(0.01)
    (run,) = await elsewhere.client.runs.list(t)
    await elsewhere.client.runs.cancel(t, run["run_id"], wait=True)
    (harness.place / "gate").touch()
    state = await starting
    assert isinstance(state, Paused)
    assert only(state).questions[0].text == "The next step is “slow”. Go on?"
