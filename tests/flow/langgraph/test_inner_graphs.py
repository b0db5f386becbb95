"""Graphs that steps call: an answer lets one go on only for the call in which it was asked for (law 1)."""

import asyncio
import re
from collections.abc import Callable

import pytest
from langgraph.checkpoint.serde.types import INTERRUPT

from answerback.agent import Failed, Finished, Paused, Pending, State, Target
from answerback.errors import AgentUnavailable, DoesNotFit, NotPending
from answerback.model import CHANGED
from answerback_agents.langgraph import LangGraph, evidence
from tests.flow.langgraph.graphs import note
from tests.flow.langgraph.harness import Harness, only, said, target, texts, until, waiting

Log = Callable[[], list[str]]


async def answer(mine: LangGraph, state: State, text: str) -> State:
    return await mine.resume("t", target(only(state)), said(text))


async def answer_all(mine: LangGraph, state: State) -> State:
    """Each with what was asked, so that the log shows which answer reached which call."""
    while isinstance(state, Paused):
        first = state.pending[0]
        state = await mine.resume("t", target(first), said(first.questions[0].text.replace(" ", "")))
    return state


def reason(state: State) -> str:
    assert isinstance(state, Failed), state
    return state.error


async def test_an_answer_that_was_taken_unseen_is_found_where_it_is_stored(light: Harness) -> None:
    mine = await light.open("calling.py:asked_as_before")
    mine.patience = 0.0
    second = await answer(mine, await mine.start("t", light.input(heard=[])), "one")
    assert texts(second) == ["Second?"]
    assert isinstance(await answer(mine, second, "two"), Finished)


@pytest.mark.parametrize("graph", ["changed", "changed_whole", "changed_function"])
async def test_law_1_what_was_approved_is_not_the_result_of_a_call_with_something_else(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"calling.py:{graph}")
    asked = await mine.start("t", harness.input(heard=[]))
    assert texts(asked) == ["Pay 1?"]
    with pytest.raises(DoesNotFit, match=re.escape(CHANGED)):
        await answer(mine, asked, "yes")
    assert log() == ["tried", "tried"]
    assert [pending.questions[0].text for pending in await mine.pending("t")] == ["Pay 2?"]
    with pytest.raises((NotPending, DoesNotFit)):
        await answer(mine, asked, "yes")
    assert set(log()) == {"tried"}


async def test_a_call_that_differs_every_time_fails_the_run_in_the_end(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:changed")
    await mine.start("t", light.input(heard=[]))
    for _ in range(2):
        with pytest.raises(DoesNotFit):
            await answer(mine, Paused(await mine.pending("t")), "yes")
    assert "no answer reaches it" in reason(await answer(mine, Paused(await mine.pending("t")), "yes"))
    assert log() == ["tried"] * 4


async def test_it_may_where_that_is_allowed(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:changed", ask_again_if_changed=False)
    asked = await mine.start("t", light.input(heard=[]))
    assert isinstance(await answer(mine, asked, "yes"), Finished)
    assert log() == ["tried", "tried", "2:yes"]


@pytest.mark.parametrize("graph", ["raced", "raced_whole"])
async def test_law_1_calls_at_the_same_time_get_their_own_results_in_any_order(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"calling.py:{graph}")
    ended = await answer_all(mine, await mine.start("t", harness.input(heard=[])))
    assert isinstance(ended, Finished)
    assert {line for line in log() if line != "tried"} == {"5:Pay5?", "6:Pay6?"}


async def test_law_3_and_so_they_do_when_each_answer_finds_another_process(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:raced")
    state = await mine.start("t", light.input(heard=[]))
    while isinstance(state, Paused):
        await mine.close()
        mine = await light.open("calling.py:raced")
        first = state.pending[0]
        state = await mine.resume("t", target(first), said(first.questions[0].text.replace(" ", "")))
    assert isinstance(state, Finished)
    assert {line for line in log() if line != "tried"} == {"5:Pay5?", "6:Pay6?"}


async def test_law_12_equal_calls_in_another_order_are_each_asked_about(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:raced_equal")
    state = await mine.start("t", light.input(heard=[]))
    asked = []
    while isinstance(state, Paused):
        asked.append(state.pending[0].questions[0].text)
        state = await mine.resume("t", target(state.pending[0]), said(f"answer{len(asked)}"))
    assert isinstance(state, Finished)
    assert sorted(asked) == ["Pay 5?", "Pay 5?", "Pay 6?"]
    results = {line for line in log() if line != "tried"}
    assert {line.partition(":")[2] for line in results} == {"answer1", "answer2", "answer3"}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("graph", ["shuffled_tasks", "shuffled_threads"])
async def test_law_1_in_whatever_order_calls_come_each_gets_what_it_asked_for_once(
    light: Harness, graph: str, seed: int
) -> None:
    mine = await light.open(f"calling.py:{graph}")
    state = await mine.start("t", light.input(heard=[], topic=str(seed)))
    asked = []
    while isinstance(state, Paused):
        asked.append(state.pending[0].questions[0].text)
        state = await mine.resume("t", target(state.pending[0]), said(f"{len(asked)}: {asked[-1]}"))
    assert isinstance(state, Finished)
    answers = [answer for _, both in state.result["heard"] for answer in both]
    assert sorted(answers) == sorted(f"{number}: {text}" for number, text in enumerate(asked, 1))
    for amount, (agreed, when) in state.result["heard"]:
        assert agreed.endswith(f": Pay {amount}?") and when.endswith(f": When to pay {amount}?")


@pytest.mark.parametrize("graph", ["two_gathered", "two_batched", "two_threaded"])
async def test_all_that_calls_at_the_same_time_ask_is_asked_at_once_and_goes_on_being_asked(
    light: Harness, graph: str
) -> None:
    mine = await light.open(f"calling.py:{graph}")
    state = await mine.start("t", light.input(heard=[]))
    open_ = {f"{what} for {amount}?" for what in ("Money", "Time") for amount in (5, 6)}
    for asked in ("Time for 6?", "Money for 5?", "Money for 6?", "Time for 5?"):
        assert set(texts(state)) == open_
        (pending,) = (each for each in state.pending if each.questions[0].text == asked)
        state = await mine.resume("t", target(pending), said(f"{asked}!"))
        open_ -= {asked}
    assert isinstance(state, Finished)
    assert [sorted(each) for each in state.result["heard"]] == [
        [amount, f"Money for {amount}?!", f"Time for {amount}?!"] for amount in "56"
    ]


async def test_what_has_paused_waits_a_moment_for_what_is_at_work_beside_it(light: Harness) -> None:
    mine = await light.open("calling.py:looked_up_together")
    assert set(texts(await mine.start("t", light.input(heard=[])))) == {"Pay 5?", "Pay 6?"}


async def test_one_that_takes_long_does_not_keep_the_others_from_asking(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:left_at_work")
    mine._runs.beside = 0.05
    assert texts(await mine.start("t", light.input(heard=[]))) == ["Pay 5?"]
    note({"log": str(light.data_dir / "log")}, "on")


async def test_what_a_call_asks_stays_asked_while_one_beside_it_takes_longer(
    light: Harness, log: Log
) -> None:
    mine = await light.open("calling.py:raced_beside")
    mine._runs.beside = 0.0
    asked = waiting(await mine.start("t", light.input(heard=[])))
    (other,) = (each for each in asked if each.questions[0].text == "Other?")
    state = await mine.resume("t", target(other), said("yes"))  # 6 comes first now, and ends the step
    assert set(texts(state)) == {"Pay 5?", "Pay 6?"}
    assert isinstance(await answer_all(mine, state), Finished)
    assert {line for line in log() if line != "tried"} == {"5:Pay5?", "6:Pay6?"}


async def test_law_3_an_answer_counts_as_given_once_its_call_has_ended_or_asks_again(
    light: Harness, log: Log
) -> None:
    mine = await light.open("calling.py:slow_together")
    asked = waiting(await mine.start("t", light.input(heard=[])))
    mine._runs.beside = 0.0
    five, _ = sorted(asked, key=lambda each: each.questions[0].text)
    answering = asyncio.create_task(mine.resume("t", target(five), said("five")))
    await until(lambda: "told" in log())
    assert await asyncio.wait({answering}, timeout=0.1) == (set(), {answering})
    note({"log": str(light.data_dir / "log")}, "on")
    state = await answering
    assert texts(state) == ["Pay 6?"]
    assert isinstance(await answer(mine, state, "six"), Finished)
    assert {line for line in log() if ":" in line} == {"5:five", "6:six"}


async def test_one_that_is_cut_off_before_is_told_again(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:slow_together")
    asked = waiting(await mine.start("t", light.input(heard=[])))
    mine._runs.beside, mine._runs.patience = 0.0, 0.1
    five, _ = sorted(asked, key=lambda each: each.questions[0].text)
    answering = asyncio.create_task(mine.resume("t", target(five), said("five")))
    await until(lambda: "told" in log())
    await mine.close()
    with pytest.raises(asyncio.CancelledError):
        await answering
    note({"log": str(light.data_dir / "log")}, "on")
    mine = await light.open("calling.py:slow_together")
    state = await mine.resume("t", target(five), said("five"), again=True)
    assert isinstance(await answer(mine, state, "six"), Finished)
    assert {line for line in log() if ":" in line} == {"5:five", "6:six"}


@pytest.mark.either_database
@pytest.mark.parametrize("again", [False, True])
async def test_law_3_an_answer_finds_its_call_also_if_another_one_has_hidden_it_meanwhile(
    harness: Harness, log: Log, again: bool
) -> None:
    mine = await harness.open("calling.py:paid_together")
    five, six = waiting(await mine.start("t", harness.input(heard=[])))
    await name_only(mine, six)
    assert [each.questions[0].text for each in await mine.pending("t")] == ["Pay 6?"]
    with pytest.raises(NotPending):
        await mine.resume("t", Target(five.interrupt_id, "of something else"), said("five"), again=again)
    await name_only(mine, six)
    state = await mine.resume("t", target(five), said("five"), again=again)
    assert texts(state) == ["Pay 6?"]
    assert isinstance(await answer(mine, state, "six"), Finished)
    assert {"5:five", "6:six"} == set(log())


async def name_only(mine: LangGraph, asked: Pending) -> None:
    """As the step does that is killed once it has paused by this."""
    head = await mine._reader.known("t")
    (task,) = evidence.tasks(head)
    named = [each for each in task.interrupts if each.id == asked.interrupt_id]
    await mine._reader.saver.aput_writes(head.config, [(INTERRUPT, named)], task.id)


async def test_law_12_what_a_step_has_left_running_asks_nothing_once_the_thread_is_at_work_again(
    light: Harness, log: Log
) -> None:
    mine = await light.open("calling.py:left")
    ended = await answer_all(mine, await mine.start("t", light.input(heard=[])))
    assert isinstance(ended, Finished)
    assert sorted(set(log())) == ["5:Pay5?", "6:Pay6?", "Over", "tried"]
    assert log().count("5:Pay5?") == log().count("6:Pay6?") + 1  # paid again by the step, as it ran again


async def test_law_12_a_thread_goes_on_when_what_its_step_has_left_running_has_ended(
    light: Harness, log: Log
) -> None:
    mine = await light.open("calling.py:left_at_work")
    mine._runs.beside = 0.0
    asked = await mine.start("t", light.input(heard=[]))
    answering = asyncio.create_task(answer(mine, asked, "yes"))
    assert await asyncio.wait({answering}, timeout=0.05) == (set(), {answering})
    assert log() == ["tried", "began"]
    note({"log": str(light.data_dir / "log")}, "on")
    assert isinstance(await answering, Finished)
    assert log() == ["tried", "began", "on", "ended", "tried", "5:yes"]


async def test_an_answer_waits_outside_while_that_does_not_end(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:left_at_work")
    mine._runs.beside = 0.0
    asked = await mine.start("t", light.input(heard=[]))
    mine._runs.patience = 0.0
    with pytest.raises(AgentUnavailable, match="does not end"):
        await answer(mine, asked, "yes")
    note({"log": str(light.data_dir / "log")}, "on")
    mine._runs.patience = 30.0
    assert isinstance(await answer(mine, asked, "yes"), Finished)


@pytest.mark.parametrize(
    "graph",
    ["paid_together", "paid_together_whole", "one_by_one", "one_by_one_whole", "one_by_one_own"],
)
async def test_calls_in_the_same_order_each_get_their_own_result(
    light: Harness, log: Log, graph: str
) -> None:
    mine = await light.open(f"calling.py:{graph}")
    ended = await answer_all(mine, await mine.start("t", light.input(heard=[])))
    assert isinstance(ended, Finished)
    assert set(log()) == {"5:Pay5?", "6:Pay6?"}


@pytest.mark.parametrize("graph", ["bounded_called", "bounded_step"])
async def test_what_no_checkpoint_keeps_is_not_compared(light: Harness, graph: str) -> None:
    """How many steps remain: fewer each time that the graph runs."""
    mine = await light.open(f"calling.py:{graph}")
    assert isinstance(await answer(mine, await mine.start("t", light.input(heard=[])), "yes"), Finished)


async def test_a_graph_that_asked_nothing_may_be_called_with_anything(light: Harness) -> None:
    """It has ended, and does not run again."""
    mine = await light.open("calling.py:classified")
    ended = await answer(mine, await mine.start("t", light.input(heard=[])), "yes")
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [1, "yes"]


async def test_law_12_nor_does_it_start_again_where_it_is_half_done(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:half_done")
    assert "not now" in reason(await mine.start("t", light.input(heard=[])))
    assert isinstance(await mine.retry("t"), Finished)
    assert log() == ["tried", "charged", "fell", "tried"]


async def test_law_12_nor_does_what_has_ended_among_several(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:charged_twice")
    asked = await mine.start("t", light.input(heard=[]))
    assert isinstance(await answer(mine, asked, "yes"), Finished)
    assert log() == ["tried", "charged", "charged", "tried"]


@pytest.mark.parametrize("graph", ["sent_whole", "sent_around_whole"])
async def test_law_1_two_runs_with_one_history_are_not_both_answered(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"calling.py:{graph}")
    assert "with one history" in reason(await mine.start("t", harness.input(heard=[])))
    assert "with one history" in reason(await mine.retry("t"))
    assert log() == []


@pytest.mark.parametrize("graph", ["sent", "sent_silent_whole"])
async def test_two_runs_at_the_same_time_that_have_their_own_or_do_not_ask(
    light: Harness, log: Log, graph: str
) -> None:
    mine = await light.open(f"calling.py:{graph}")
    ended = await answer_all(mine, await mine.start("t", light.input(heard=[])))
    assert isinstance(ended, Finished)
    assert [line.partition(":")[0] for line in sorted(log())] == ["5", "6"]


async def test_law_1_a_step_that_failed_before_its_call_is_not_given_what_the_one_before_was_told(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("calling.py:again_whole")
    asked = await mine.start("t", harness.input(heard=[]))
    assert "not now" in reason(await answer(mine, asked, "yes"))
    asked = await mine.retry("t")
    assert texts(asked) == ["Pay 6?"]
    assert isinstance(await answer(mine, asked, "no"), Finished)
    assert log() == ["5:yes", "fell", "6:no"]


async def test_nor_is_it_given_what_came_out_there_if_nothing_was_asked(light: Harness, log: Log) -> None:
    mine = await light.open("calling.py:again_silent_whole")
    assert "not now" in reason(await mine.start("t", light.input(heard=[])))
    assert isinstance(await mine.retry("t"), Finished)
    assert log() == ["5:1", "fell", "6:3"]


@pytest.mark.parametrize("graph", ["kept_nowhere", "kept_nowhere_called"])
async def test_a_graph_that_keeps_nothing_is_not_asked_about(light: Harness, graph: str) -> None:
    """No answer would ever reach it: it asks anew each time that it runs."""
    mine = await light.open(f"calling.py:{graph}")
    assert "keeps nothing" in reason(await mine.start("t", light.input(heard=["5"])))


@pytest.mark.parametrize("graph", ["kept_nowhere_silent", "kept_nowhere_silent_called"])
async def test_a_graph_that_keeps_nothing_runs(light: Harness, graph: str) -> None:
    mine = await light.open(f"calling.py:{graph}")
    assert isinstance(await mine.start("t", light.input(heard=["5"])), Finished)


@pytest.mark.parametrize("graph", ["tried_as_node", "tried_in_step", "tried_deeper"])
async def test_law_1_a_graph_whose_step_tries_again_keeps_its_answer_and_asks_the_next_question(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"calling.py:{graph}")
    receipt = await answer(mine, await mine.start("t", harness.input(heard=[])), "yes")
    assert texts(receipt) == ["A receipt?"]
    assert isinstance(await answer(mine, receipt, "please"), Finished)
    assert log() == ["pay:yes", "pay:yes", "pay:yes", "receipt:please"]


async def test_law_12_a_graph_whose_step_tries_again_goes_on_and_asks_nobody_again(
    harness: Harness, log: Log
) -> None:
    mine = await harness.open("calling.py:agent_tried")
    ended = await answer(mine, await mine.start("t", harness.input(heard=[])), "yes")
    assert isinstance(ended, Finished)
    assert log() == ["calls", "calls"]
