"""Law 1: a resume goes to one interrupt by id, or nowhere."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from answerback.agent import Failed, Finished, Paused, State, Target
from answerback.errors import AgentUnavailable, Conflict, DoesNotFit, NotPending
from answerback.model import Answer
from answerback.read import validate
from answerback.values import DEPTH
from tests.flow.langgraph.harness import Harness, only, said, target, texts, until, waiting

Log = Callable[[], list[str]]


async def test_the_first_answer_delivered_again_never_reaches_the_second_question(harness: Harness) -> None:
    mine = await harness.open("two_questions")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("one")))
    with pytest.raises(NotPending):
        await mine.resume("t", target(first), said("one"))
    assert await mine.pending("t") == (second,)
    ended = await mine.resume("t", target(second), said("two"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["one", "two"]


async def test_a_duplicate_after_the_run_went_on_changes_nothing(harness: Harness, log: Log) -> None:
    mine = await harness.open("bare")
    question = only(await mine.start("t", harness.input()))
    await mine.resume("t", target(question), said("coding"))
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("costing"))
    assert log() == ["asked", "report"]


@pytest.mark.parametrize("order", [["left?", "right?"], ["right?", "left?"]])
async def test_parallel_interrupts_are_answered_in_any_order(harness: Harness, order: list[str]) -> None:
    mine = await harness.open("parallel")
    state = await mine.start("t", harness.input())
    asked = {pending.questions[0].text: pending for pending in waiting(state)}
    state = await mine.resume("t", target(asked[order[0]]), said(order[0]))
    assert texts(state) == [order[1]]
    ended = await mine.resume("t", target(only(state)), said(order[1]))
    assert isinstance(ended, Finished)
    assert ended.result["report"] == "[['left', 'left?'], ['right', 'right?']]"


async def test_a_sibling_whose_question_changed_under_the_same_id_is_not_answered(harness: Harness) -> None:
    mine = await harness.open("parallel")
    state = await mine.start("t", harness.input(topic="changing"))
    asked = {pending.questions[0].text: pending for pending in waiting(state)}
    old = asked["Delete 1 file(s)?"]
    new = only(await mine.resume("t", target(asked["left?"]), said("x")))
    assert new.questions[0].text == "Delete 2 file(s)?"
    assert new.interrupt_id == old.interrupt_id
    assert new.digest != old.digest
    with pytest.raises(NotPending):
        await mine.resume("t", target(old), said("yes"))
    assert await mine.pending("t") == (new,)
    assert isinstance(await mine.resume("t", target(new), said("yes")), Finished)


@pytest.mark.parametrize("again", [False, True])
async def test_unknown_ids_and_threads_are_refused(harness: Harness, again: bool) -> None:
    mine = await harness.open("bare")
    question = only(await mine.start("t", harness.input()))
    unknown = Target("0" * 32, question.digest, question.checkpoint)
    with pytest.raises(NotPending):
        await mine.resume("t", unknown, said("x"), again=again)
    with pytest.raises(NotPending):
        await mine.resume("elsewhere", target(question), said("x"), again=again)
    assert await mine.pending("elsewhere") == ()
    assert await mine.pending("t") == (question,)


async def once_free(work: Callable[[], Awaitable[State]]) -> State:
    """As the gateway does: a worker gives a thread's lock back a moment after it has answered."""
    async with asyncio.timeout(30):
        while True:
            try:
                return await work()
            except AgentUnavailable:
                await asyncio.sleep(0.001)


async def test_of_two_workers_at_once_one_wins_and_the_other_is_refused(harness: Harness, log: Log) -> None:
    one, two = await harness.open("two_questions"), await harness.open("two_questions")
    question = only(await one.start("t", harness.input()))
    results = await asyncio.gather(
        one.resume("t", target(question), said("from one")),
        two.resume("t", target(question), said("from two")),
        return_exceptions=True,
    )
    (won,) = [result for result in results if isinstance(result, Paused)]
    (lost,) = [result for result in results if isinstance(result, Exception)]
    assert isinstance(lost, NotPending | AgentUnavailable)
    winner = "from one" if results[0] is won else "from two"
    ended = await once_free(lambda: one.resume("t", target(only(won)), said("two")))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [winner, "two"]


async def test_two_resumes_in_one_worker_are_taken_in_turn(harness: Harness) -> None:
    mine = await harness.open("two_questions")
    question = only(await mine.start("t", harness.input()))
    results = await asyncio.gather(
        *(mine.resume("t", target(question), said(value)) for value in ("a", "b")), return_exceptions=True
    )
    assert [type(result) for result in results] == [Paused, NotPending]


async def test_many_threads_run_at_once(harness: Harness) -> None:
    mine = await harness.open("bare")
    threads = [f"t{number}" for number in range(8)]
    states = await asyncio.gather(*(mine.start(thread, harness.input()) for thread in threads))
    ended = await asyncio.gather(
        *(
            mine.resume(thread, target(only(state)), said(thread))
            for thread, state in zip(threads, states, strict=True)
        )
    )
    assert [state.result["report"] for state in ended if isinstance(state, Finished)] == [
        f"about {thread}" for thread in threads
    ]


async def test_a_step_that_raises_after_the_answer_fails_and_a_retry_uses_the_same_answer(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("failing_once")
    question = only(await mine.start("t", harness.input()))
    failed = await mine.resume("t", target(question), said("12 eggs"))
    assert failed == Failed("ValueError: invalid literal: '…' from postgresql://…@db/x")
    assert await mine.pending("t") == ()
    with pytest.raises(NotPending):
        await mine.resume("t", target(question), said("13"))
    ended = await mine.retry("t")
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["12 eggs"]
    assert log() == ["tried", "tried", "report"]


@pytest.mark.parametrize("graph", ["two_questions", "outer"])
async def test_reask_forks_and_asks_again_under_a_new_id(harness: Harness, graph: str) -> None:
    mine = await harness.open(graph)
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("one")))
    assert await mine.resume("t", target(second), said("boom")) == Failed("ValueError: the answer … broke it")
    assert await mine.pending("t") == ()
    asked = only(await mine.reask("t"))
    assert asked.questions == first.questions
    assert asked.interrupt_id not in (first.interrupt_id, second.interrupt_id)
    for stale in (first, second):
        with pytest.raises(NotPending):
            await mine.resume("t", target(stale), said("stale"), again=True)
    second = only(await mine.resume("t", target(asked), said("uno")))
    ended = await mine.resume("t", target(second), said("due"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"][-2:] == ["uno", "due"]


async def test_reask_goes_back_to_the_question_before_the_step_that_failed(harness: Harness) -> None:
    mine = await harness.open("failing_later")
    question = only(await mine.start("t", harness.input()))
    assert await mine.resume("t", target(question), said("bad")) == Failed("RuntimeError: no documents")
    assert await mine.retry("t") == Failed("RuntimeError: no documents")
    asked = only(await mine.reask("t"))
    assert asked.interrupt_id != question.interrupt_id
    ended = await mine.resume("t", target(asked), said("good"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["good"]


async def test_reask_in_the_functional_api_asks_again(harness: Harness) -> None:
    mine = await harness.open("functional")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("coding")))
    assert await mine.resume("t", target(second), said("break")) == Failed("ValueError: cannot look that up")
    assert await mine.pending("t") == ()
    asked = only(await mine.reask("t"))
    assert asked.interrupt_id not in (first.interrupt_id, second.interrupt_id)


@pytest.mark.parametrize("value", [{}, None, False, 0, "", [], {"0" * 32: "x"}, "yes"])
async def test_every_value_arrives_as_it_is(harness: Harness, value: Any) -> None:
    mine = await harness.open("two_questions")
    first = only(await mine.start("t", harness.input()))
    state = await mine.resume("t", target(first), said(value))
    assert texts(state) == ["second?"]
    ended = await mine.resume("t", target(only(state)), said(value))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [value, value]


@pytest.mark.parametrize(
    "value",
    [2**70, float("nan"), "\ud83d", "nul \x00", {1: 2}, {"\ud83d": 1}, (1,), b"raw"],
    ids=["2**70", "NaN", "surrogate", "NUL", "key", "surrogate key", "tuple", "bytes"],
)
async def test_a_value_that_would_poison_the_thread_is_refused_and_the_question_stays(
    light: Harness, value: Any
) -> None:
    mine = await light.open("bare")
    question = only(await mine.start("t", light.input()))
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(question), said(value))
    assert await mine.pending("t") == (question,)


async def test_a_deeply_nested_value_is_refused(light: Harness) -> None:
    mine = await light.open("bare")
    question = only(await mine.start("t", light.input()))
    deep: Any = "x"
    for _ in range(600):
        deep = [deep]
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(question), said(deep))


async def test_law_8_the_deepest_answer_that_is_accepted_fits_its_graph_in_its_dialect(
    harness: Harness,
) -> None:
    mine = await harness.open("reviewed.py:inbox")
    question = only(await mine.start("t", harness.input()))
    deep: Any = 1
    for _ in range(DEPTH - 3):
        deep = [deep]
    edit = {"decision": "edit", "args": {"customer": "c_8812", "amount": [deep]}}
    validate(question.questions[0], edit)
    state = await mine.resume("t", target(question), said(edit))
    assert isinstance(state, Finished)
    assert state.result["heard"][0]["args"]["args"] == edit["args"]


async def test_an_answer_of_another_form_than_the_graph_demands_is_refused_and_nothing_is_stored(
    harness: Harness,
) -> None:
    mine = await harness.open("schemed")
    question = only(await mine.start("t", harness.input()))
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(question), said("not a proposal"))
    assert await mine.pending("t") == (question,)


@pytest.mark.parametrize("changed", ["two_questions", "asking_inside"])
async def test_law_1_an_answer_for_a_step_that_is_gone_since_is_not_said_to_be_taken(
    harness: Harness, changed: str
) -> None:
    before = await harness.open("bare")
    question = only(await before.start("t", harness.input()))
    await before.close()
    after = await harness.open(changed)
    failed = await after.resume("t", target(question), said("coding"))
    assert isinstance(failed, Failed)
    assert "not in the graph any more, so nothing took the answer" in failed.error
    await after.close()
    again = await harness.open("bare")
    assert await again.retry("t") == Paused((question,))
    ended = await again.resume("t", target(question), said("coding"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == ["coding"]


CACHED = (
    "cached",
    "cached_in_an_inner_graph",
    "cached_around_an_inner_graph",
    "cached_task",
    "cached_as_a_whole",
)


@pytest.mark.parametrize("graph", CACHED)
async def test_law_1_an_answer_is_not_kept_for_other_questions_of_steps_that_are_cached(
    light: Harness, graph: str
) -> None:
    """LangGraph gives it to whichever step comes with the same input, also to one that waits for its own."""
    mine = await light.open(graph)
    paid, unpaid = [only(await mine.start(thread, light.input())) for thread in ("paid", "unpaid")]
    for thread, question, answer in (("paid", paid, "yes"), ("unpaid", unpaid, "no")):
        ended = await mine.resume(thread, target(question), said(answer))
        assert isinstance(ended, Finished)
        assert ended.result["heard"] == [answer]
    assert texts(await mine.start("later", light.input())) == ["Which term?"]


async def test_law_1_nor_is_an_answer_whose_step_failed_and_was_tried_again(light: Harness, log: Log) -> None:
    mine = await light.open("cached_and_fails_once")
    question = only(await mine.start("first", light.input()))
    assert isinstance(await mine.resume("first", target(question), said("yes")), Failed)
    assert isinstance(await mine.retry("first"), Finished)
    assert texts(await mine.start("later", light.input())) == ["Which term?"]


async def test_what_a_cached_step_found_without_an_answer_is_kept(light: Harness, log: Log) -> None:
    mine = await light.open("cached")
    for thread in ("first", "second"):
        question = only(await mine.start(thread, light.input()))
        await mine.resume(thread, target(question), said("yes"))
    assert log() == ["measured", "asked", "asked"]


async def test_start_on_a_waiting_thread_is_a_conflict(harness: Harness) -> None:
    mine = await harness.open("bare")
    question = only(await mine.start("t", harness.input()))
    with pytest.raises(Conflict):
        await mine.start("t", harness.input(topic="another"))
    assert await mine.pending("t") == (question,)


@pytest.mark.parametrize("again", [False, True])
async def test_a_thread_that_got_new_input_meanwhile_does_not_take_the_old_answer(
    harness: Harness, again: bool
) -> None:
    mine = await harness.open("bare")
    old = only(await mine.start("t", harness.input()))
    config: Any = {"configurable": {"thread_id": "t"}}
    await mine._graph.ainvoke(harness.input(topic="from outside"), config, durability="sync")
    (new,) = await mine.pending("t")
    with pytest.raises(NotPending):
        await mine.resume("t", target(old), said("x"), again=again)
    assert await mine.pending("t") == (new,)


async def test_a_foreign_answer_is_not_taken_for_ours(harness: Harness) -> None:
    from langgraph.types import Command

    mine = await harness.open("two_questions")
    first = only(await mine.start("t", harness.input()))
    config: Any = {"configurable": {"thread_id": "t"}}
    await mine._graph.ainvoke(Command(resume={first.interrupt_id: "theirs"}), config, durability="sync")
    with pytest.raises(NotPending):
        await mine.resume("t", target(first), said("ours"), again=True)


async def test_cancel_stops_a_run_and_closes_what_waits(harness: Harness, log: Log) -> None:
    mine = await harness.open("never_ending")
    question = only(await mine.start("t", harness.input()))
    resuming = asyncio.create_task(mine.resume("t", target(question), said("x")))
    await until(lambda: "slow" in log())
    await mine.cancel("t")
    assert await resuming == Failed("Cancelled.", retryable=False)
    other = only(await mine.start("u", harness.input()))
    await mine.cancel("u")
    assert await mine.pending("u") == ()
    with pytest.raises(NotPending):
        await mine.resume("u", target(other), said("too late"))


async def test_cancel_gives_what_was_finished_until_then(harness: Harness) -> None:
    mine = await harness.open("two_questions")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("x")))
    assert await mine.cancel("t") == harness.input(heard=[])  # the step that asked twice has not ended
    with pytest.raises(NotPending):
        await mine.resume("t", target(second), said("too late"))
    assert await mine.cancel("never seen") is None


async def test_to_cancel_what_was_cancelled_changes_nothing_and_gives_the_same(harness: Harness) -> None:
    mine = await harness.open("two_questions")
    await mine.start("t", harness.input())
    first = await mine.cancel("t")
    assert (await mine.cancel("t"), await mine.pending("t")) == (first, ())
    again = only(await mine.start("t", harness.input(), "another run"))
    assert await mine.pending("t") == (again,)


async def test_forget_deletes_the_thread_and_no_other(harness: Harness) -> None:
    mine = await harness.open("bare")
    await mine.start("t", harness.input())
    await mine.start("u", harness.input())
    await mine.forget("t")
    await mine.forget("never seen")
    assert await mine.pending("t") == ()
    only(await mine.start("u", harness.input()))


async def test_a_thread_that_was_taken_up_again_since_it_was_looked_at_is_not_forgotten(
    harness: Harness,
) -> None:
    mine = await harness.open("bare")
    first = only(await mine.start("t", harness.input(), "run-1"))
    await mine.resume("t", target(first), said("x"))
    tip = await mine.tip("t")
    asked = only(await mine.start("t", harness.input(), "run-2"))
    for then in (tip, ""):
        with pytest.raises(Conflict, match="taken up again"):
            await mine.forget("t", then)
    assert await mine.pending("t") == (asked,)
    await mine.resume("t", target(asked), said("y"))
    await mine.forget("t", await mine.tip("t"))
    assert (await mine.tip("t"), await mine.tip("never seen")) == ("", "")
    await mine.forget("t", "")


async def test_a_thread_can_be_used_again_after_its_end(harness: Harness) -> None:
    mine = await harness.open("bare")
    question = only(await mine.start("t", harness.input()))
    await mine.resume("t", target(question), said("x"))
    assert only(await mine.start("t", harness.input())).interrupt_id != question.interrupt_id


async def test_silence_reaches_the_graph_as_the_dialect_promises(light: Harness) -> None:
    mine = await light.open("agent")
    question = only(await mine.start("t", {"messages": [{"role": "user", "content": "Find it."}]}))
    assert question.expirable
    ended = await mine.resume("t", target(question), Answer({}, expired=True))
    assert isinstance(ended, Finished)
    assert ended.result["messages"][-1]["content"] == "It is No response"
