"""Law 1, in the step itself: an answer is given to nothing but what was asked, whatever it asks by now."""

from collections.abc import Callable

import pytest

from answerback.agent import Failed, Finished, Paused
from answerback.errors import DoesNotFit
from answerback.model import CHANGED, RunStatus
from tests.flow.langgraph.harness import Harness, only, said, target, texts
from tests.support.databases import Database
from tests.support.gateway import gateway

Log = Callable[[], list[str]]
ALONE = ("sync", "asynchronous", "inside", "called", "paying_task")


def costs(harness: Harness, price: str) -> None:
    (harness.data_dir / "price").write_text(price)


@pytest.mark.parametrize("graph", ALONE)
async def test_law_1_a_yes_to_one_price_pays_no_other(harness: Harness, log: Log, graph: str) -> None:
    costs(harness, "5")
    mine = await harness.open(f"moving.py:{graph}")
    question = only(await mine.start("t", harness.input()))
    costs(harness, "50")
    with pytest.raises(DoesNotFit, match="changed since it was answered"):
        await mine.resume("t", target(question), said("yes"))
    (now,) = await mine.pending("t")
    assert (now.questions[0].text, now.digest == question.digest) == ("Pay 50?", False)
    assert log() == []
    assert isinstance(await mine.resume("t", target(now), said("yes")), Finished)
    assert log() == ["paid:50"]


@pytest.mark.parametrize("graph", ALONE)
async def test_what_has_not_changed_is_answered_at_once(harness: Harness, log: Log, graph: str) -> None:
    costs(harness, "5")
    mine = await harness.open(f"moving.py:{graph}")
    question = only(await mine.start("t", harness.input()))
    assert isinstance(await mine.resume("t", target(question), said("yes")), Finished)
    assert log() == ["paid:5"]


@pytest.mark.parametrize("graph", ["account", "account_inside"])
async def test_law_1_an_answer_is_not_used_again_where_an_earlier_question_has_changed(
    harness: Harness, log: Log, graph: str
) -> None:
    """The step has been told yes to 5 and would now hear it for 50, as it is told the account."""
    costs(harness, "5")
    mine = await harness.open(f"moving.py:{graph}")
    price = only(await mine.start("t", harness.input()))
    account = only(await mine.resume("t", target(price), said("yes")))
    costs(harness, "50")
    with pytest.raises(DoesNotFit, match="changed since it was answered"):
        await mine.resume("t", target(account), said("savings"))
    price = only(Paused(await mine.pending("t")))
    assert price.questions[0].text == "Pay 50?"
    account = only(await mine.resume("t", target(price), said("yes")))
    assert account.questions[0].text == "From which account?"
    assert isinstance(await mine.resume("t", target(account), said("current")), Finished)
    assert log() == ["paid:50:current"]


@pytest.mark.parametrize("graph", ["account", "account_inside"])
async def test_the_same_by_another_process(harness: Harness, log: Log, graph: str) -> None:
    costs(harness, "5")
    mine = await harness.open(f"moving.py:{graph}")
    price = only(await mine.start("t", harness.input()))
    account = only(await mine.resume("t", target(price), said("yes")))
    await mine.close()
    other = await harness.open(f"moving.py:{graph}")
    assert isinstance(await other.resume("t", target(account), said("savings")), Finished)
    assert log() == ["paid:5:savings"]


async def test_law_1_the_answer_to_a_step_that_failed_is_not_used_again_for_what_it_asks_now(
    harness: Harness, log: Log
) -> None:
    costs(harness, "5")
    mine = await harness.open("moving.py:failing")
    question = only(await mine.start("t", harness.input()))
    assert isinstance(await mine.resume("t", target(question), said("yes")), Failed)
    costs(harness, "50")
    now = only(await mine.retry("t"))
    assert (now.questions[0].text, log()) == ("Pay 50?", ["failed"])
    assert isinstance(await mine.resume("t", target(now), said("no")), Finished)
    assert log() == ["failed", "no:50"]


async def test_a_step_that_is_tried_again_at_once_keeps_its_answer(light: Harness, log: Log) -> None:
    costs(light, "5")
    mine = await light.open("moving.py:tried_again")
    question = only(await mine.start("t", light.input()))
    assert isinstance(await mine.resume("t", target(question), said("yes")), Finished)
    assert log() == ["failed", "yes:5"]


async def test_law_1_another_version_of_the_graph_does_not_get_the_answer_to_what_it_does_not_ask(
    harness: Harness,
) -> None:
    before = await harness.open("moving.py:version_one")
    question = only(await before.start("t", harness.input()))
    await before.close()
    after = await harness.open("moving.py:version_two")
    with pytest.raises(DoesNotFit, match="changed since it was answered"):
        await after.resume("t", target(question), said("yes"))
    assert texts(Paused(await after.pending("t"))) == ["Delete the original?"]


async def test_law_1_of_things_that_a_step_asks_at_once_each_gets_its_own_answer(
    light: Harness, log: Log
) -> None:
    """LangGraph tells them apart by which of them comes first, and the other one does when it runs again."""
    mine = await light.open("moving.py:at_once")
    question = only(await mine.start("t", light.input()))
    assert question.questions[0].text == "Delete old?"
    with pytest.raises(DoesNotFit):
        await mine.resume("t", target(question), said("yes"))
    assert texts(Paused(await mine.pending("t"))) == ["Delete new?"]
    assert {*log()} == {"run"}


async def test_a_step_that_asks_something_else_each_time_fails_with_the_way_out(light: Harness) -> None:
    mine = await light.open("moving.py:restless")
    state = await mine.start("t", light.input())
    for _ in range(2):
        with pytest.raises(DoesNotFit):
            await mine.resume("t", target(only(state)), said("yes"))
        state = Paused(await mine.pending("t"))
    failed = await mine.resume("t", target(only(state)), said("yes"))
    assert isinstance(failed, Failed)
    assert "an earlier step has put into the state, or set ask_again_if_changed: false" in failed.error


async def test_whoever_says_so_has_it_answered_all_the_same(light: Harness) -> None:
    mine = await light.open("moving.py:restless", ask_again_if_changed=False)
    question = only(await mine.start("t", light.input()))
    ended = await mine.resume("t", target(question), said("yes"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == [{"content": "yes"}]


async def test_law_1_a_step_that_swallows_it_and_goes_on_has_failed(light: Harness, log: Log) -> None:
    costs(light, "5")
    mine = await light.open("moving.py:swallowing")
    question = only(await mine.start("t", light.input()))
    costs(light, "50")
    failed = await mine.resume("t", target(question), said("yes"))
    assert isinstance(failed, Failed)
    assert "went on without one" in failed.error
    assert log() == ["nobody:50"]


async def test_objects_that_are_made_anew_have_not_changed(harness: Harness) -> None:
    mine = await harness.open("moving.py:objects")
    question = only(await mine.start("t", harness.input()))
    assert isinstance(await mine.resume("t", target(question), said("yes")), Finished)


async def test_whoever_answered_reads_that_it_changed_and_is_asked_what_the_step_asks_now(
    database: Database, harness: Harness, log: Log
) -> None:
    costs(harness, "5")
    mine = await harness.open("moving.py:account")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        await g.types("1001", "yes")
        costs(harness, "50")
        await g.types("1001", "savings")
        assert [(shown.message.body, shown.message.title) for shown in g.memory.shown] == [
            ("Pay 5?", "✅ You wrote “yes” · 12:00. Going on."),
            (
                "From which account?",
                "↩️ You wrote “savings” · 12:00. The question changed. Please look again.",
            ),
            ("", "Pay 50?"),
        ]
        for text in ("yes", "current"):
            await g.types("1001", text)
        ended = await g.settled(run.id)
        assert (ended.status, log()) == (RunStatus.COMPLETED, ["paid:50:current"])
        records = (await g.app.reader.interactions()).items
        assert sorted(record.resume_error for record in records) == ["", "", "", CHANGED]


async def test_it_is_said_why_a_run_ends_that_asks_something_else_each_time(
    database: Database, harness: Harness
) -> None:
    mine = await harness.open("moving.py:restless")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        for _ in range(3):
            assert (await g.settled(run.id)).status is RunStatus.WAITING
            await g.types("1001", "yes")
        ended = await g.settled(run.id)
        assert (ended.status, ended.error[:51]) == (
            RunStatus.FAILED,
            "Each time this step runs it asks something else, or",
        )


@pytest.mark.parametrize("asks_again", [True, False])
async def test_check_names_the_line_that_asks_something_else_each_time(
    light: Harness, asks_again: bool
) -> None:
    (light.data_dir / "timed.py").write_text(
        """from datetime import datetime
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
def ask(state: dict):
    return {"heard": interrupt({"question": "Go on?", "asked": datetime.now().isoformat()})}
timed = StateGraph(dict)
timed.add_node(ask)
timed.add_edge(START, "ask")
"""
    )
    path = f"{light.data_dir / 'timed.py'}:timed"
    mine = await light.open(path, ask_again_if_changed=asks_again)
    found = [note for note in await mine.notes() if "timed.py" in note]
    assert [note.startswith(f"{light.data_dir / 'timed.py'}:5: this differs") for note in found] == (
        [True] if asks_again else []
    )
