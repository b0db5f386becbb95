"""Tools that a model calls in one turn: each asks, is answered and does its work by itself (laws 1, 12)."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished, Paused, State
from answerback.errors import DoesNotFit
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph.harness import Harness, ids, only, said, target, texts

Log = Callable[[], list[str]]
ASKED = ["Pay 5?", "Pay 6?", "Pay 7?"]
PAID_ONCE = ["5:Pay5?", "6:Pay6?", "7:Pay7?", "mailed"]


async def answer_all(mine: LangGraph, state: State, which: int = -1) -> tuple[State, list[str]]:
    """Each with what was asked, so that the log shows which answer reached which call; and what was asked."""
    asked = []
    while isinstance(state, Paused):
        pending = state.pending[which]
        asked.append(pending.questions[0].text)
        state = await mine.resume("t", target(pending), said(asked[-1].replace(" ", "")))
    return state, asked


def results(state: State) -> list[str]:
    """What the model reads."""
    assert isinstance(state, Finished), state
    return [message["content"] for message in state.result["messages"] if message["type"] == "tool"]


@pytest.mark.parametrize(
    "graph",
    ["three", "in_threads", "inner", "invoking", "functional", "calling", "calling_in_threads"],
)
async def test_law_12_calls_of_one_turn_are_asked_at_once_and_each_is_done_once(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"tooled.py:{graph}")
    state = await mine.start("t", harness.input(messages=[]))
    assert sorted(texts(state)) == ASKED
    ended, asked = await answer_all(mine, state)
    assert isinstance(ended, Finished)
    assert sorted(asked) == ASKED
    assert sorted(log()) == PAID_ONCE


async def test_law_1_each_call_has_its_own_answer_and_the_model_reads_them_in_its_order(
    light: Harness,
) -> None:
    mine = await light.open("tooled.py:three")
    ended, _ = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert results(ended) == ["call1 Pay5?", "call2 Pay6?", "call3 Pay7?", "sent"]


async def test_law_3_and_so_it_is_when_each_answer_finds_another_process(harness: Harness, log: Log) -> None:
    """Whoever gave one and did not hear what became of it can give it again."""
    mine = await harness.open("tooled.py:three")
    state = await mine.start("t", harness.input(messages=[]))
    while isinstance(state, Paused):
        await mine.close()
        mine = await harness.open("tooled.py:three")
        pending = state.pending[-1]
        given = said(pending.questions[0].text.replace(" ", ""))
        state = await mine.resume("t", target(pending), given)
        again = await mine.resume("t", target(pending), given, again=True)
        assert type(again) is type(state)
    assert isinstance(state, Finished)
    assert sorted(log()) == PAID_ONCE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("graph", ["agents_as_tools", "agents_in_threads", "agents_by_hand"])
async def test_law_12_so_it_is_for_agents_that_are_tools_of_one_turn_in_whatever_order_they_are_answered(
    harness: Harness, log: Log, graph: str, seed: int
) -> None:
    """Two agents, each with three payments in a turn of its own; and every third answer is given again."""
    order, asked = random.Random(seed), list[str]()  # noqa: S311
    mine = await harness.open(f"tooled.py:{graph}")
    state = await mine.start("t", harness.input(messages=[]))
    while isinstance(state, Paused):
        pending = order.choice(state.pending)
        asked.append(pending.questions[0].text)
        given = said(asked[-1].replace(" ", ""))
        state = await mine.resume("t", target(pending), given)
        if len(asked) % 3 == 0:
            again = await mine.resume("t", target(pending), given, again=True)
            assert ids(again) == ids(state)
    assert isinstance(state, Finished)
    amounts = [11, 12, 13, 21, 22, 23]
    assert sorted(asked) == [f"Pay {amount}?" for amount in amounts]
    assert sorted(log()) == [*(f"{amount}:Pay{amount}?" for amount in amounts), *["mailed"] * 3]


async def test_law_12_equal_calls_are_each_asked_about(light: Harness, log: Log) -> None:
    mine = await light.open("tooled.py:equal")
    state = await mine.start("t", light.input(messages=[]))
    assert texts(state) == ["Pay 5?", "Pay 5?"]
    state = await mine.resume("t", target(state.pending[0]), said("yes"))
    assert isinstance(await mine.resume("t", target(only(state)), said("no")), Finished)
    assert Counter(log()) == Counter(["mailed", "5:yes", "5:no"])


async def test_the_only_call_of_a_turn_is_its_step_as_langgraph_has_it(light: Harness, log: Log) -> None:
    mine = await light.open("tooled.py:one")
    state = await mine.start("t", light.input(messages=[]))
    ended, asked = await answer_all(mine, state)
    assert results(ended) == ["call1 Pay5?"]
    assert (asked, log()) == (["Pay 5?"], ["5:Pay5?"])


async def test_where_one_may_run_at_a_time_calls_run_as_langgraph_has_it(light: Harness) -> None:
    mine = await light.open("tooled.py:one_at_a_time")
    state = await mine.start("t", light.input(messages=[]))
    assert len(texts(state)) == 1


@pytest.mark.parametrize(
    "graph", ["calling_in_a_loop", "calling_in_its_own_loop", "calling_in_loops_in_threads"]
)
async def test_a_step_with_the_wrong_event_loop_for_tasks_runs_its_calls_as_langgraph_has_it(
    light: Harness, log: Log, graph: str
) -> None:
    """It holds up the one of its run, or runs one by itself."""
    mine = await light.open(f"tooled.py:{graph}")
    ended, asked = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert isinstance(ended, Finished)
    assert asked == ["Pay 5?"]
    assert Counter(log())["5:Pay5?"] == 1


async def test_law_12_a_call_that_asked_as_langgraph_has_it_is_asked_about_again_and_done_once(
    light: Harness, log: Log
) -> None:
    """As those did that an older version has asked about: the answer to one would be for all of its step."""
    mine = await light.open("tooled.py:one_at_a_time")
    state = await mine.start("t", light.input(messages=[]))
    await mine.close()
    mine = await light.open("tooled.py:three")
    mine.patience = 0.05
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(only(state)), said("yes"))
    ended, asked = await answer_all(mine, Paused(await mine.pending("t")))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ASKED
    assert Counter(log()) == Counter([*PAID_ONCE, "mailed"])


async def test_where_two_may_run_at_a_time_a_step_still_finds_a_place_for_its_calls(light: Harness) -> None:
    mine = await light.open("tooled.py:two_at_a_time")
    ended, asked = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert isinstance(ended, Finished)
    assert sorted(asked) == ["Pay 5?", "Pay 7?"]


async def test_what_cannot_be_kept_is_made_again_and_the_others_are_not(light: Harness, log: Log) -> None:
    mine = await light.open("tooled.py:with_unkept")
    state = await mine.start("t", light.input(messages=[]))
    ended, _ = await answer_all(mine, state)
    assert results(ended) == ["call1 Pay5?", "opened"]
    assert Counter(log()) == Counter(["5:Pay5?", "opened", "opened"])


async def test_a_call_that_failed_is_tried_again_without_those_that_have_ended(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tooled.py:failing")
    failed = await mine.start("t", light.input(messages=[]))
    assert isinstance(failed, Failed) and "no route" in failed.error
    ended, asked = await answer_all(mine, await mine.retry("t"))
    assert isinstance(ended, Finished)
    assert asked == ["Pay 5?"]
    assert Counter(log()) == Counter(["5:Pay5?", "fails", "fails"])


async def test_what_a_tool_raises_is_told_to_the_model_where_the_node_says_so(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tooled.py:unhandled")
    ended, _ = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert results(ended)[1:] == ["call2 Pay5?"]
    assert Counter(log()) == Counter(["5:Pay5?", "fails"])


async def test_a_step_that_tries_again_by_itself_does_nothing_twice_that_had_ended(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tooled.py:retried")
    ended, asked = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert isinstance(ended, Finished)
    assert asked == ["Pay 5?"]
    assert Counter(log()) == Counter(["5:Pay5?", "fails", "fails", "fails"])


async def test_law_1_a_call_that_asks_something_else_by_then_is_asked_about_again(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tooled.py:changing")
    state = await mine.start("t", light.input(messages=[]))
    first = next(pending for pending in state.pending if "Time" in pending.questions[0].text)
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(first), said("now"))
    assert sorted(pending.questions[0].text for pending in await mine.pending("t")) == ["Pay 5?", "Time 2?"]


@pytest.mark.parametrize("graph", ["crowded", "crowded_by_hand"])
async def test_more_steps_in_threads_than_a_pool_has_all_end(light: Harness, log: Log, graph: str) -> None:
    mine = await light.open(f"tooled.py:{graph}")
    assert isinstance(await mine.start("t", light.input(messages=[])), Finished)
    assert log() == ["mailed"] * 80


async def test_law_12_steps_of_one_graph_in_threads_take_no_places_from_those_of_another(
    light: Harness, log: Log
) -> None:
    mine = await light.open("tooled.py:several_pools")
    ended, asked = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert isinstance(ended, Finished)
    amounts = [tens * 10 + more for tens in (1, 2, 3) for more in (1, 2)]
    assert sorted(asked) == [f"Pay {amount}?" for amount in amounts]
    assert Counter(log()) == Counter({"met": 6, **{f"{amount}:Pay{amount}?": 1 for amount in amounts}})


async def test_a_call_that_hands_over_does_so_once_the_others_have_ended(light: Harness, log: Log) -> None:
    mine = await light.open("tooled.py:handing_over")
    ended, _ = await answer_all(mine, await mine.start("t", light.input(messages=[])))
    assert isinstance(ended, Finished)
    assert log() == ["handed-over", "5:Pay5?", "report"]


@pytest.mark.parametrize("graph", ["leaving_early", "leaving_early_in_thread"])
async def test_a_graph_in_a_tool_may_go_on_in_the_graph_around(light: Harness, log: Log, graph: str) -> None:
    mine = await light.open(f"tooled.py:{graph}")
    assert isinstance(await mine.start("t", light.input(messages=[])), Finished)
    assert sorted(log()) == ["left", "mailed", "report"]


async def test_a_graph_that_remembers_does_so_whatever_else_is_called_in_the_turn(light: Harness) -> None:
    mine = await light.open("tooled.py:recalling")
    ended = await mine.start("t", light.input(messages=[]))
    assert [said for said in results(ended) if said != "sent"] == ["1 nothing", "3 nothing", "5 nothing"]


async def test_law_1_two_calls_of_it_in_one_turn_have_an_answer_each(light: Harness) -> None:
    mine = await light.open("tooled.py:recalling_twice")
    state = await mine.start("t", light.input(messages=[]))
    ended, asked = await answer_all(mine, state)
    assert sorted(asked) == ["Pay 1?", "Pay 3?"]
    first, *both, last = (said for said in results(ended) if said != "sent")
    assert (first, sorted(both), last) == ("1 nothing", ["1 Pay1?", "3 Pay3?"], "5 nothing")


@pytest.mark.parametrize("graph", ["in_two_tries", "both_in_two_tries"])
async def test_law_1_a_tool_that_is_tried_again_keeps_its_answer_and_asks_the_next_question(
    harness: Harness, log: Log, graph: str
) -> None:
    mine = await harness.open(f"tooled.py:{graph}")
    ended, asked = await answer_all(mine, await mine.start("t", harness.input(messages=[])))
    assert isinstance(ended, Finished)
    amounts = [5] if graph == "in_two_tries" else [5, 6]
    assert sorted(asked) == sorted(f"{what} {each}?" for what in ("Pay", "A receipt for") for each in amounts)
    paid = [line for line in log() if line.count(":") == 2]
    assert sorted(paid) == [f"{each}:Pay{each}?:Areceiptfor{each}?" for each in amounts]
