"""Law 1 on a LangGraph server: each sentence of it that holds there, and what a second client can do."""

import uuid

import pytest

from answerback.agent import Failed, Finished, Paused, Target
from answerback.errors import AgentUnavailable, Conflict, DoesNotFit, NotPending
from tests.flow.langgraph_server.development import Rule
from tests.flow.langgraph_server.harness import Elsewhere, Harness, only, said, target, text

CREATE = r"^POST /threads/[^/]+/runs$"


def thread() -> str:
    return str(uuid.uuid4())


async def test_a_thread_is_started_asked_twice_and_finished(harness: Harness) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    assert (first.questions[0].text, first.expirable) == ("First?", True)
    second = only(await agent.resume(t, target(first), said("one")))
    assert second.questions[0].text == "Second?"
    end = await agent.resume(t, target(second), said("two"))
    assert isinstance(end, Finished)
    assert end.result["answers"] == ["one", "two"]
    assert harness.log == ["two:one,two"]


async def test_any_text_names_a_thread(harness: Harness) -> None:
    agent, name = await harness.open("asking"), f"customer {uuid.uuid4()}"
    assert text(await agent.start(name, harness.input(), "run-1")) == "Go on?"
    assert len(await agent.pending(name)) == 1


async def test_what_chooses_the_first_step_may_ask(harness: Harness) -> None:
    agent, t = await harness.open("chosen"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    assert asked.questions[0].text == "Which step?"
    end = await agent.resume(t, target(asked), said("danger"))
    assert isinstance(end, Finished)
    assert harness.log == ["danger"]


async def test_a_step_whose_way_on_failed_is_not_taken_for_one_that_has_ended(harness: Harness) -> None:
    """The server keeps what the step gave, so going on would leave out what comes next: it asks again."""
    agent, t = await harness.open("stuck"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    failed = await agent.resume(t, target(asked), said("yes"))
    assert failed == await agent.stands(t) == Failed("ValueError: there is no way yet")
    again = only(await agent.retry(t))
    assert text(Paused((again,))) == "Go on?"
    assert isinstance(await agent.resume(t, target(again), said("yes")), Finished)
    assert harness.log == ["ask:yes", "next", "ask:yes", "next", "danger"]


async def test_a_step_that_waits_for_others_to_end_is_asked(harness: Harness) -> None:
    """The server leaves it out of the thread's state."""
    agent, t = await harness.open("joined"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    assert asked.questions[0].text == "Go on?"
    assert Paused(await agent.pending(t)) == await agent.stands(t) == Paused((asked,))
    with pytest.raises(Conflict):
        await agent.start(t, harness.input(), "run-2")
    assert isinstance(await agent.resume(t, target(asked), said("yes")), Finished)
    assert harness.log[2:] == ["ask:yes"]
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("yes"))


async def test_several_of_them_are_each_asked_and_told(harness: Harness) -> None:
    agent, t = await harness.open("joined_both"), thread()
    state = await agent.start(t, harness.input(), "run-1")
    go_on, number = sorted(state.pending, key=lambda each: each.questions[0].text, reverse=True)
    other = only(await agent.resume(t, target(go_on), said("yes")))
    assert other == number
    assert isinstance(await agent.resume(t, target(number), said("7")), Finished)
    assert sorted(harness.log[2:]) == ["ask:yes", "picky:7"]


async def test_one_of_them_that_fails_has_failed_and_is_asked_again(harness: Harness) -> None:
    agent, t = await harness.open("joined_strict"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    failed = await agent.resume(t, target(asked), said("seven"))
    assert failed == Failed("ValueError: … is no number")
    assert isinstance(await agent.stands(t), Failed)
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("7"))
    again = only(await agent.retry(t))
    assert isinstance(await agent.resume(t, target(again), said("eight")), Failed)
    anew = only(await agent.reask(t))
    end = await agent.resume(t, target(anew), said("7"))
    assert isinstance(end, Finished)
    assert end.result["answers"][-1] == 7


async def test_what_one_of_them_asked_is_asked_anew_and_not_what_was_asked_before(harness: Harness) -> None:
    agent, t = await harness.open("joined_late"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    asked = only(await agent.resume(t, target(first), said("yes")))
    for wrong in ("seven", "eight"):
        assert isinstance(await agent.resume(t, target(asked), said(wrong)), Failed)
        asked = only(await agent.reask(t))
        assert asked.questions[0].text == "A number?"
    assert isinstance(await agent.resume(t, target(asked), said("7")), Finished)
    assert harness.log.count("ask:yes") == 1


async def test_one_of_them_that_a_breakpoint_holds_is_passed_only_by_a_yes(harness: Harness) -> None:
    agent, t = await harness.open("joined_guarded"), thread()
    held = only(await agent.start(t, harness.input(), "run-1"))
    assert held.questions[0].text == "Go on with the next step?"
    asked = only(await agent.resume(t, target(held), said(True)))
    assert isinstance(await agent.resume(t, target(asked), said("yes")), Finished)


async def test_one_of_them_that_is_cancelled_waits_no_more(harness: Harness) -> None:
    agent, t = await harness.open("joined"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    await agent.cancel(t)
    assert await agent.pending(t) == ()
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("yes"))
    assert len(harness.log) == 2


async def test_a_step_that_was_cut_off_by_the_failure_of_another_one_is_asked_when_it_is_tried_again(
    harness: Harness,
) -> None:
    """The server shows its question beside that it was cut off."""
    agent, t = await harness.open("cut_off"), thread()
    assert await agent.start(t, harness.input(), "run-1") == Failed("ValueError: not now")
    asked = only(await agent.retry(t))
    assert asked.questions[0].text == "Go on?"
    assert isinstance(await agent.resume(t, target(asked), said("yes")), Finished)
    assert harness.log[-1] == "ask:yes"


async def test_an_answer_goes_to_its_interrupt_and_never_to_the_next_of_the_same_step(
    harness: Harness,
) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    await agent.resume(t, target(first), said("one"))
    with pytest.raises(NotPending):
        await agent.resume(t, target(first), said("one"))
    assert text(Paused(await agent.pending(t))) == "Second?"


async def test_law_1_an_answer_is_not_kept_for_other_questions_of_a_step_that_is_cached(
    harness: Harness,
) -> None:
    agent = await harness.open("cached")
    paid, unpaid, later = thread(), thread(), thread()
    asked = {t: only(await agent.start(t, harness.input(), t)) for t in (paid, unpaid)}
    for t, answer in ((paid, "yes"), (unpaid, "no")):
        end = await agent.resume(t, target(asked[t]), said(answer))
        assert isinstance(end, Finished)
        assert end.result["answers"] == [answer]
    assert text(await agent.start(later, harness.input(), later)) == "Go on?"


async def test_a_changed_payload_is_not_answered(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    with pytest.raises(NotPending, match="changed"):
        await agent.resume(t, Target(asked.interrupt_id, "0" * 64, asked.checkpoint), said("yes"))
    assert harness.log == []


async def test_an_answer_from_another_checkpoint_is_not_given(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    with pytest.raises(NotPending):
        await agent.resume(t, Target(asked.interrupt_id, asked.digest, str(uuid.uuid4())), said("yes"))
    assert harness.log == []


async def test_a_sibling_whose_question_changed_under_the_same_id_is_seen_to_have_changed(
    harness: Harness,
) -> None:
    agent, t = await harness.open("parallel"), thread()
    state = await agent.start(t, harness.input(), "run-1")
    left, right = sorted(state.pending, key=lambda each: each.questions[0].text)
    (harness.place / "log").write_text("something\n")
    changed = only(await agent.resume(t, target(left), said("l")))
    assert (changed.interrupt_id, changed.digest == right.digest) == (right.interrupt_id, False)
    with pytest.raises(NotPending, match="changed"):
        await agent.resume(t, target(right), said("r"))


async def test_when_somebody_else_answers_between_our_look_and_our_answer_the_server_refuses_ours(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("questions"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))

    async def answered_there() -> None:
        await elsewhere.answer(t, "questions", {"content": "theirs"})

    harness.front.rules.append(Rule(CREATE, before=answered_there))
    with pytest.raises(NotPending):
        await agent.resume(t, target(first), said("ours"))
    second = only(Paused(await agent.pending(t)))  # the refusal left everything as it was
    assert second.questions[0].text == "Second?"
    await agent.resume(t, target(second), said("two"))
    assert harness.log == ["two:theirs,two"]


async def test_while_somebody_elses_run_works_on_the_thread_ours_has_to_wait(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("laboring"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    id = asked.interrupt_id

    async def begun_there() -> None:
        await elsewhere.client.runs.create(t, "laboring", command={"resume": {id: "theirs"}})

    harness.front.rules.append(Rule(CREATE, before=begun_there))
    with pytest.raises(AgentUnavailable, match="Somebody else"):
        await agent.resume(t, target(asked), said("ours"))
    (harness.place / "gate").touch()
    for run in await elsewhere.client.runs.list(t):
        await elsewhere.client.runs.join(t, run["run_id"])
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("ours"))
    assert harness.log == ["ask:theirs", "slow"]


async def test_an_answer_that_the_step_refused_is_locked_in_until_it_is_asked_again(harness: Harness) -> None:
    agent, t = await harness.open("strict"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    failed = await agent.resume(t, target(asked), said("seven"))
    assert failed == Failed("ValueError: … is no number")  # what somebody answered is in no error
    assert await agent.pending(t) == ()
    with pytest.raises(NotPending, match="locked in"):
        await agent.resume(t, target(asked), said("7"))
    assert isinstance(await agent.retry(t), Failed)
    assert harness.log == ["picky:seven", "picky:seven"]
    ids = {asked.interrupt_id}
    for wrong in ("eight", "nine"):
        anew = only(await agent.reask(t))
        ids.add(anew.interrupt_id)
        assert isinstance(await agent.resume(t, target(anew), said(wrong)), Failed)
    anew = only(await agent.reask(t))
    assert len({*ids, anew.interrupt_id}) == 4
    end = await agent.resume(t, target(anew), said("7"))
    assert isinstance(end, Finished)
    assert end.result["answers"] == [7]


async def test_an_answer_that_cannot_be_stored_is_refused_before_anything_is_sent(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    with pytest.raises(DoesNotFit):
        await agent.resume(t, target(asked), said("a\x00b"))
    assert harness.front.count(CREATE) == 1


async def test_a_breakpoint_is_asked_and_passed_only_by_a_yes(harness: Harness) -> None:
    agent, t = await harness.open("guarded"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert held.questions[0].text == "The next step is “danger”. Go on?"
    assert harness.log == ["ask:fine"]
    end = await agent.resume(t, target(held), said(True))
    assert isinstance(end, Finished)
    assert harness.log == ["ask:fine", "danger"]


async def test_a_no_at_a_breakpoint_ends_the_thread(harness: Harness) -> None:
    agent, t = await harness.open("guarded"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    held = only(await agent.resume(t, target(asked), said("fine")))
    assert isinstance(await agent.resume(t, target(held), said(False)), Failed)
    assert await agent.pending(t) == ()
    assert harness.log == ["ask:fine"]


async def test_a_waiting_thread_takes_no_new_input(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    await agent.start(t, harness.input(), "run-1")
    with pytest.raises(Conflict):
        await agent.start(t, harness.input(), "run-2")


async def test_cancelling_stops_what_runs_and_closes_what_waits_on_a_thread_of_ours(harness: Harness) -> None:
    agent, t = await harness.open("asking"), thread()
    asked = only(await agent.start(t, harness.input(), "run-1"))
    for _ in range(2):  # whoever told it may have died before that was written down
        await agent.cancel(t)
        assert await agent.pending(t) == ()
    with pytest.raises(NotPending):
        await agent.resume(t, target(asked), said("late"))
    await agent.forget(t)
    await agent.cancel(t)
    assert await agent.pending(t) == ()


async def test_a_thread_that_was_taken_up_again_since_it_was_looked_at_is_not_forgotten(
    harness: Harness,
) -> None:
    agent, t = await harness.open("asking"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    await agent.resume(t, target(first), said("x"))
    tip = await agent.tip(t)
    asked = only(await agent.start(t, harness.input(), "run-2"))
    for then in (tip, ""):
        with pytest.raises(Conflict, match="taken up again"):
            await agent.forget(t, then)
    assert await agent.pending(t) == (asked,)
    await agent.forget(t, await agent.tip(t))
    assert await agent.tip(t) == ""
    await agent.forget(t, "")


async def test_a_thread_on_which_a_run_begins_while_it_is_looked_at_is_not_forgotten(
    harness: Harness, elsewhere: Elsewhere
) -> None:
    agent, t = await harness.open("asking"), thread()
    first = only(await agent.start(t, harness.input(), "run-1"))
    await agent.resume(t, target(first), said("x"))
    tip = await agent.tip(t)

    async def one_begins_there() -> None:  # and has done nothing yet that would show in the thread's state
        await elsewhere.client.runs.create(t, "asking", input=harness.input(), after_seconds=3600)

    harness.front.rules.append(Rule(r"^GET /threads/[^/]+/state", before=one_begins_there))
    with pytest.raises(Conflict, match="taken up again"):
        await agent.forget(t, tip)
    assert await agent.tip(t) == tip


async def test_cancelling_leaves_somebody_elses_thread_alone(harness: Harness, elsewhere: Elsewhere) -> None:
    agent, t = await harness.open("asking", adopt=True), await elsewhere.start("asking")
    await agent.cancel(t)
    assert len(await agent.pending(t)) == 1
