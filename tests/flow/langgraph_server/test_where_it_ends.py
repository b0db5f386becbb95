"""What docs/langgraph-server.md says under "Where it ends": each of it can really happen."""

import uuid
from typing import Any

from answerback.agent import Failed, Finished, Paused
from tests.flow.langgraph_server.development import Rule
from tests.flow.langgraph_server.harness import Elsewhere, Harness, only, said, target

CREATE = r"^POST /threads/[^/]+/runs$"


def thread() -> str:
    return str(uuid.uuid4())


async def test_a_question_that_changes_under_its_id_at_that_very_moment_gets_the_answer_all_the_same(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("parallel"), thread()
    state = await agent.start(t, harness.input(), "run-1")
    assert isinstance(state, Paused)
    right = next(each for each in state.pending if each.questions[0].text.startswith("Right, with 0"))

    async def left_is_answered_there() -> None:
        (harness.place / "log").write_text("something\n")
        waiting = await elsewhere.interrupts(t)
        which = next(number for number, each in enumerate(waiting) if each["value"] == "Left?")
        await elsewhere.answer(t, "parallel", "theirs", which)
        assert (await elsewhere.interrupts(t))[0]["value"] == "Right, with 1 lines in the log?"

    harness.front.rules.append(Rule(CREATE, before=left_is_answered_there))
    end = await agent.resume(t, target(right), said("to the one with 0 lines"))
    assert isinstance(end, Finished)
    assert harness.log == ["something", "right:to the one with 0 lines"]


async def test_a_yes_passes_the_next_breakpoint_if_somebody_passes_this_one_at_that_very_moment(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("guarded_twice"), thread()
    held = only(await agent.start(t, harness.input(), "run-1"))

    async def passed_there() -> None:
        await elsewhere.client.runs.wait(t, "guarded_twice", input=None)
        assert harness.log == ["danger"]

    harness.front.rules.append(Rule(CREATE, before=passed_there))
    assert isinstance(await agent.resume(t, target(held), said(True)), Finished)
    assert harness.log == ["danger", "more_danger"]


async def test_a_refused_answer_leaves_a_waiting_thread_shown_as_failed_until_its_next_run(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    command: Any = {"resume": {"0" * 32: "to nothing"}}
    strict: Any = {"configurable": {"__pregel_strict_resume": True}}
    await elsewhere.client.runs.wait(t, "asking", command=command, config=strict, raise_error=False)
    assert (await elsewhere.client.threads.get(t))["status"] == "error"
    assert await agent.pending(t) == (asked,)
    assert isinstance(await agent.resume(t, target(asked), said("yes")), Finished)
    assert (await elsewhere.client.threads.get(t))["status"] == "idle"


async def test_a_thread_that_is_taken_up_as_it_is_deleted_is_deleted_with_its_new_run(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    await agent.resume(t, target(asked), said("x"))

    async def taken_up_there() -> None:
        await elsewhere.client.runs.wait(t, "asking", input=harness.input())

    harness.front.rules.append(Rule(r"^DELETE /threads/", before=taken_up_there))
    await agent.forget(t, await agent.tip(t))
    assert await agent.tip(t) == ""


async def test_what_an_error_handler_asks_reaches_nobody_and_the_run_fails_with_what_its_step_raised(
    harness: Harness,
) -> None:
    agent, t = await harness.open("mended"), thread()
    beside = only(await agent.start(t, harness.input(), "run-1"))
    assert beside.questions[0].text == "Go on?"
    failed = await agent.resume(t, target(beside), said("yes"))
    assert isinstance(failed, Failed)
    assert "the bank is closed" in failed.error
    assert await agent.pending(t) == ()
    assert not any(line.startswith("now:") for line in harness.log)


async def test_a_yes_right_before_a_graph_that_remembers_gives_what_that_gave_before(
    harness: Harness,
) -> None:
    agent, t = await harness.open("guarded_again"), thread()
    state = await agent.start(t, harness.input(), "run-1")
    for word in ("more", "enough"):
        held = only(await agent.resume(t, target(only(state)), said(word)))
        state = await agent.resume(t, target(held), said(True))
    assert isinstance(state, Finished)
    assert harness.log == ["ask:more", "danger", "ask:enough"]
    assert state.result["answers"].count("danger") == 2
