"""Law 1 through the whole gateway, with real LangGraph graphs: an answer reaches its own question only."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from textwrap import dedent
from typing import Any

import pytest

from answerback.agent import AgentContext, Target
from answerback.errors import AlreadyAnswered, Conflict
from answerback.model import NOT_YET, Answer, InteractionStatus, RunStatus
from answerback.run import RunRequest
from answerback.testing import ManualClock
from answerback.web.pages import outcome_page
from answerback_agents.langgraph import LangGraph
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

HEAD = dedent(
    """
    import operator
    import pathlib
    from typing import Annotated, Any, TypedDict
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send, interrupt

    HERE = pathlib.Path(__file__).parent

    class State(TypedDict, total=False):
        heard: Annotated[list[Any], operator.add]
        files: int

    def node(*steps, **options):
        builder = StateGraph(State)
        previous = START
        for step in steps:
            builder.add_node(step.__name__, step)
            builder.add_edge(previous, step.__name__)
            previous = step.__name__
        builder.add_edge(previous, END)
        return builder.compile(**options)
    """
)
TWO_IN_ONE_NODE = """
def both(state):
    return {"heard": [interrupt("First?"), interrupt("Second?")]}
graph = node(both)
"""
PARALLEL = """
def fan(state):
    return [Send("ask", {"heard": [name]}) for name in "abc"]
def ask(state):
    name = state["heard"][0]
    return {"heard": [f"{name}={interrupt(f'About {name}?')}"]}
def collect(state):
    return {}
builder = StateGraph(State)
builder.add_node(ask); builder.add_node(collect)
builder.add_conditional_edges(START, fan, ["ask"])
builder.add_edge("ask", "collect"); builder.add_edge("collect", END)
graph = builder.compile()
"""
CHANGING = """
def count(state):
    return [Send("delete", {}), Send("other", {})]
def delete(state):
    number = min(len(list(HERE.glob("file-*"))) + 1, 2)  # a new file at the second look
    (HERE / f"file-{number}").write_text("")
    return {"heard": [interrupt({"type": "confirm_action", "action": f"Delete {number} files"})["confirmed"]]}
def other(state):
    return {"heard": [interrupt("Anything else?")]}
builder = StateGraph(State)
builder.add_node(delete); builder.add_node(other)
builder.add_conditional_edges(START, count, ["delete", "other"])
builder.add_edge("delete", END); builder.add_edge("other", END)
graph = builder.compile()
"""
FRAGILE = """
def fragile(state):
    answer = interrupt("Which?")
    if (HERE / "broken").exists():
        raise ValueError("the disk is full")
    return {"heard": [answer]}
graph = node(fragile)
"""
GUARDED = """
def ask(state):
    return {"heard": [interrupt("Which?")]}
def danger(state):
    (HERE / "danger").write_text("ran")
    return {"heard": ["danger ran"]}
graph = node(ask, danger, interrupt_before=["danger"])
"""
GUARDED_BESIDE = """
def left(state):
    return {"heard": [interrupt("Left?")]}
def ask(state):
    return {"heard": [interrupt("Which?")]}
def danger(state):
    (HERE / "danger").write_text("ran")
    return {"heard": ["danger ran"]}
builder = StateGraph(State)
builder.add_node(left); builder.add_node("right", node(ask, danger, interrupt_before=["danger"]))
builder.add_edge(START, "left"); builder.add_edge(START, "right")
graph = builder.compile()
"""
TO_AND_FRO = """
def prices(state):
    looked = len(list(HERE.glob("look-*")))
    (HERE / f"look-{looked}").write_text("")
    return {"heard": [interrupt(f"Pay {6 if looked == 1 else 5}?")]}
def other(state):
    return {"heard": [interrupt("First?"), interrupt("Second?")]}
builder = StateGraph(State)
builder.add_node(prices); builder.add_node(other)
builder.add_edge(START, "prices"); builder.add_edge(START, "other")
graph = builder.compile()
"""


@contextlib.asynccontextmanager
async def running(database: Database, code: str, clock: ManualClock | None = None) -> AsyncIterator[Gateway]:
    (database.data_dir / "graph.py").write_text(HEAD + code)
    context = AgentContext(str(database.data_dir), database.url, str(database.data_dir))
    agent = LangGraph("mine", LangGraph.Settings(graph="graph.py:graph"), context)
    async with gateway(database, agent, clock=clock) as g:
        yield g


async def heard(g: Gateway, run_id: str) -> Any:
    run = await g.settled(run_id)
    assert run.status is RunStatus.COMPLETED, run
    return run.result["heard"]


async def reply(g: Gateway, title: str, text: str) -> None:
    shown = next(shown for shown in reversed(g.memory.shown) if shown.message.title == title)
    await g.types("1001", text, references=[shown.id])


async def test_the_first_answer_delivered_again_does_not_answer_the_second_question_of_the_node(
    database: Database,
) -> None:
    async with running(database, TWO_IN_ONE_NODE) as g:
        run = await g.run("mine", input={"heard": []})
        first = g.memory.typed("1001", "one")
        await g.receive(first)
        await g.receive(first)
        (done, waiting) = (await g.app.reader.interactions()).items
        assert (done.status, waiting.status) == (InteractionStatus.COMPLETED, InteractionStatus.PENDING)
        with pytest.raises(AlreadyAnswered):
            await g.app.receiver.respond(done.id, "one", by="", via="api")
        await g.types("1001", "two")
        assert await heard(g, run.id) == ["one", "two"]


async def test_a_duplicate_after_the_run_went_on_changes_nothing(database: Database) -> None:
    async with running(database, TWO_IN_ONE_NODE) as g:
        run = await g.run("mine", input={"heard": []})
        events = [g.memory.typed("1001", "one")]
        await g.receive(events[0])
        events.append(g.memory.typed("1001", "two"))
        await g.receive(events[1])
        before = await g.settled(run.id)
        for event in events:
            await g.receive(event)
        assert await g.settled(run.id) == before


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
async def test_parallel_questions_take_their_own_answers_in_any_order(database: Database, order: str) -> None:
    async with running(database, PARALLEL) as g:
        run = await g.run("mine", input={"heard": []})
        for name in order:
            await reply(g, f"About {name}?", name.upper())
        assert sorted(await heard(g, run.id)) == ["a=A", "b=B", "c=C"]


async def test_parallel_questions_answered_at_the_same_moment(database: Database) -> None:
    async with running(database, PARALLEL) as g:
        run = await g.run("mine", input={"heard": []})
        records = (await g.app.reader.interactions()).items
        answers = {record.id: record.questions[0].text[6].upper() for record in records}
        await asyncio.gather(
            *(g.app.receiver.respond(id, text, by="", via="api") for id, text in answers.items())
        )
        assert sorted(await heard(g, run.id)) == ["a=A", "b=B", "c=C"]


async def test_a_sibling_whose_question_changed_under_the_same_id_is_asked_anew(database: Database) -> None:
    async with running(database, CHANGING) as g:
        run = await g.run("mine", input={"heard": []})
        old = g.memory.tapped("1001", "Yes")
        link = next(each.message for each in g.memory.shown if "Delete" in each.message.text)
        old_link = link.form_url.rpartition("/")[2]
        assert (await g.app.forms.view(old_link)).anew is None
        await reply(g, "Anything else?", "no")
        before = await g.app.forms.view(old_link)
        assert before.anew is not None and before.anew.via == "memory"
        page = outcome_page(before).body.decode()
        assert "It was asked again at " in page and " on memory." in page
        # Law 7: whoever else has the old link does not get into the new question by it
        assert not any(shown.message.token in page for shown in g.memory.shown if shown.message.token)
        superseded = [shown.message.title for shown in g.memory.shown if shown.edited]
        assert "↩️ The question changed. Please look again." in superseded
        await g.receive(old)  # yes to one file must not delete two
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.taps("1001", "Yes")
        assert True in await heard(g, run.id)
        statuses = [record.status for record in (await g.app.reader.interactions()).items]
    assert statuses.count(InteractionStatus.CANCELLED) == 1
    assert statuses.count(InteractionStatus.COMPLETED) == 2


async def test_a_node_that_raises_after_the_answer_is_retried_with_that_same_answer(
    database: Database,
) -> None:
    (database.data_dir / "broken").write_text("")
    async with running(database, FRAGILE) as g:
        run = await g.run("mine", input={"heard": []})
        await g.types("1001", "mine")
        failed = await g.settled(run.id)
        assert (failed.status, failed.error) == (RunStatus.FAILED, "ValueError: the disk is full")
        (database.data_dir / "broken").unlink()
        await g.app.runner.retry(run.id)
        assert await heard(g, run.id) == ["mine"]


async def test_reask_asks_the_same_question_under_a_new_id_for_another_answer(database: Database) -> None:
    (database.data_dir / "broken").write_text("")
    async with running(database, FRAGILE) as g:
        run = await g.run("mine", input={"heard": []})
        old = g.memory.typed("1001", "wrong")
        await g.receive(old)
        await g.settled(run.id)
        (database.data_dir / "broken").unlink()
        await g.app.runner.reask(run.id)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        first, second = (await g.app.reader.interactions()).items
        assert first.interrupt_id != second.interrupt_id
        await g.receive(old)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.types("1001", "right")
        assert await heard(g, run.id) == ["right"]


@pytest.mark.parametrize(("tap", "ran"), [("Yes", True), ("No", False)])
async def test_a_static_breakpoint_is_asked_and_never_passed_unasked(
    database: Database, tap: str, ran: bool
) -> None:
    async with running(database, GUARDED) as g:
        run = await g.run("mine", input={"heard": []})
        await g.types("1001", "go")
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert not (database.data_dir / "danger").exists()
        await g.taps("1001", tap)
        ended = await g.settled(run.id)
        assert ended.status is (RunStatus.COMPLETED if ran else RunStatus.FAILED)
    assert (database.data_dir / "danger").exists() is ran


async def answer_at_once(g: Gateway, *given: tuple[str, str]) -> None:
    """Both are accepted before the agent has gone on with either."""
    waiting = {each.questions[0].text: each.id for each in (await g.app.reader.interactions()).items}
    for question, text in given:
        await g.app.receiver.respond(waiting[question], text, by="", via="api")


@pytest.mark.parametrize(("tap", "ran"), [("Yes", True), ("No", False)])
async def test_law_3_an_answer_waits_while_a_breakpoint_that_came_meanwhile_is_asked_about(
    database: Database, tap: str, ran: bool
) -> None:
    async with running(database, GUARDED_BESIDE) as g:
        run = await g.run("mine", input={"heard": []})
        await answer_at_once(g, ("Which?", "this"), ("Left?", "that"))
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        held = next(each for each in (await g.app.reader.interactions()).items if each.resume_error)
        assert held.resume_error == NOT_YET and held.questions[0].text == "Left?"
        await g.later(1000)  # it is tried again now and then, and waits on
        assert (await g.app.reader.interaction(held.id)).resume_error == NOT_YET
        assert not (database.data_dir / "danger").exists()
        await g.taps("1001", tap)
        ended = await g.settled(run.id)
        assert ended.status is (RunStatus.COMPLETED if ran else RunStatus.FAILED), ended
        if ran:
            assert sorted(ended.result["heard"]) == ["danger ran", "that", "this"]
            assert len((await g.app.reader.interactions()).items) == 3  # nothing was asked twice
    assert (database.data_dir / "danger").exists() is ran


async def test_law_4_what_waits_again_is_asked_again_if_an_answer_to_it_has_come_to_nothing(
    database: Database,
) -> None:
    """“Pay 5?” is answered while the step comes to ask “Pay 6?”, and then asks the first once more."""
    async with running(database, TO_AND_FRO) as g:
        run = await g.run("mine", input={"heard": []})
        await answer_at_once(g, ("First?", "a"), ("Pay 5?", "yes"))
        await g.settled(run.id)
        assert g.memory.shown[-1].message.title != "Pay 5?"
        await reply(g, "Second?", "b")
        waiting = [each for each in (await g.app.reader.interactions()).items if not each.answered_at]
        assert [each.questions[0].text for each in waiting if each.status == "pending"] == ["Pay 5?"]
        await reply(g, "Pay 5?", "yes")
        assert sorted(await heard(g, run.id)) == ["a", "b", "yes"]


async def test_a_thread_that_waits_takes_no_new_input_unless_replaced(database: Database) -> None:
    async with running(database, TWO_IN_ONE_NODE) as g:
        first = await g.run("mine", input={"heard": []}, thread_id="t")
        with pytest.raises(Conflict):
            await g.app.runner.start(RunRequest("mine", {"heard": []}, "t"))
        old = g.memory.typed("1001", "for the first run", references=[g.memory.shown[0].id])
        second = await g.run("mine", input={"heard": []}, thread_id="t", replace=True)
        await g.receive(old)
        assert (await g.app.runner.get(first.id)).status is RunStatus.CANCELLED
        assert (await g.settled(second.id)).status is RunStatus.WAITING
        await g.types("1001", "one")
        await g.types("1001", "two")
        assert await heard(g, second.id) == ["one", "two"]


async def test_a_thread_that_moved_on_elsewhere_gets_no_answer_and_the_record_says_so(
    database: Database,
) -> None:
    async with running(database, FRAGILE) as g:
        run = await g.run("mine", input={"heard": []}, thread_id="t")
        agent: Any = g.app.runner._agents["mine"]
        await agent.cancel("t")  # somebody else ended the thread behind the gateway's back
        await g.types("1001", "too late")
        ended = await g.settled(run.id)
        (record,) = (await g.app.reader.interactions()).items
    assert ended.status is RunStatus.FAILED
    assert record.resumed_at is None and "moved on" in record.resume_error


async def test_who_answered_hears_that_the_agent_had_gone_on_without_it(database: Database) -> None:
    async with running(database, TWO_IN_ONE_NODE) as g:
        run = await g.run("mine", input={"heard": []})
        (waiting,) = await g.app.agents["mine"].pending(run.thread_id)
        target = Target(waiting.interrupt_id, waiting.digest, waiting.checkpoint)
        await g.app.agents["mine"].resume(run.thread_id, target, Answer({"q1": "theirs"}, text="theirs"))
        await g.types("1001", "mine")
        gone = "↩️ You wrote “mine” · 12:00. The agent had gone on without it."
        assert g.memory.titles("1001") == [gone, "Second?"]
        await g.types("1001", "two")
        assert await heard(g, run.id) == ["theirs", "two"]


async def test_two_gateways_resume_one_answer_once(postgres_url: str, tmp_path: Any) -> None:
    """Two processes' worth of gateways on one PostgreSQL: the lease lets one of them work."""
    database, clock = Database(postgres_url, tmp_path), ManualClock()
    (tmp_path / "secret").write_text("the same secret for both of them")
    async with (
        running(database, TWO_IN_ONE_NODE, clock) as first,
        running(database, TWO_IN_ONE_NODE, clock) as second,
    ):
        run = await first.run("mine", input={"heard": []})
        record = (await first.app.reader.interactions()).items[0]
        results = await asyncio.gather(
            first.app.receiver.respond(record.id, "from first", by="", via="api"),
            second.app.receiver.respond(record.id, "from second", by="", via="api"),
            return_exceptions=True,
        )
        await asyncio.gather(first.sweep(), second.sweep())
        await asyncio.gather(first.app.idle(), second.app.idle())
        assert sum(isinstance(result, AlreadyAnswered) for result in results) == 1
        pending = next(
            item
            for item in (await first.app.reader.interactions()).items
            if item.status is InteractionStatus.PENDING
        )
        await second.app.receiver.respond(pending.id, "two", by="", via="api")
        await second.app.idle()
        assert len(await heard(second, run.id)) == 2


async def test_only_the_owner_may_read_anything_that_is_kept(database: Database) -> None:
    async with running(database, TWO_IN_ONE_NODE) as g:
        await g.run("mine", input={"heard": []})
        await g.types("1001", "one")
        kept = [path for path in database.data_dir.rglob("*") if path.is_file()]
        others = {path.name: oct(path.stat().st_mode) for path in kept if path.stat().st_mode & 0o077}
    assert {name for name in others if not name.endswith((".py", ".pyc"))} == set()
    assert "secret" in {path.name for path in kept}
