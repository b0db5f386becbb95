"""The copilot through a whole gateway: with a real MCP server, whose tools run only as somebody allowed."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from answerback.agent import AgentContext
from answerback.errors import AgentUnavailable, ConfigurationError
from answerback.model import RunStatus
from answerback.settings import Plugin, Route
from answerback.workers import WorkerAgent
from answerback_agents.langgraph import LangGraph
from tests.flow.langgraph import browsing
from tests.flow.langgraph.harness import HERE, Harness
from tests.flow.workers.support import gone, until
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

TASK = {"task": "Order me a bike."}
DEADLINE = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=3600.0)}
UNASKED = {"unasked": ["choose", "order"]}


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """The file in which the browser writes what it does."""
    return tmp_path / "browser-log"


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    """SQLite only, for what has nothing to do with the database."""
    return Database("sqlite", tmp_path)


def lines(done: Path) -> list[str]:
    return done.read_text().splitlines()


@contextlib.asynccontextmanager
async def browsing_for(
    database: Database, done: Path, graph: str = "ordering", options: Any = None, **more: Any
) -> AsyncIterator[Gateway]:
    options = {"env": {"BROWSER_LOG": str(done)}, **(options or {})}
    context = AgentContext(str(database.data_dir), database.url, str(HERE))
    settings = LangGraph.Settings(graph=f"tests.flow.langgraph.browsing:{graph}", options=options)
    async with gateway(database, LangGraph("copilot", settings, context), **more) as g:
        yield g


async def test_it_asks_for_the_colour_and_orders_what_was_confirmed(database: Database, done: Path) -> None:
    async with browsing_for(database, done) as g:
        run = await g.run("copilot", input=TASK)
        assert g.memory.shown[-1].message.title == "What colour?"
        await g.types("1001", "blue")
        choosing = g.memory.shown[-1].message
        assert (choosing.title, choosing.fields, choosing.body) == ("choose", (("colour", "blue"),), "")
        assert lines(done) == ["started"]
        await g.taps("1001", "Approve")
        assert lines(done) == ["started", "choose blue"]
        assert "Order a blue bike" in g.memory.shown[-1].message.title
        await g.types("1001", "yes")
        ordering = g.memory.shown[-1].message
        assert (ordering.title, ordering.fields) == ("order", (("item", "bike"),))
        assert ordering.body == "The agent says: “It is the last one they have.”"
        await g.taps("1001", "Approve")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert ended.result["answer"].splitlines() == [
            "A shop. Colour: not chosen.",
            "blue",
            "The colour is blue.",
            "Confirmed.",
            "Ordered: a blue bike.",
        ]
        assert lines(done) == ["started", "choose blue", "order bike"]


async def test_a_no_means_not_done_and_the_model_reads_it(sqlite: Database, done: Path) -> None:
    async with browsing_for(sqlite, done, "failing") as g:
        run = await g.run("copilot", input=TASK)
        await g.taps("1001", "Reject")
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert "rejected" in ended.result["answer"]
        assert lines(done) == ["started"]


async def test_silence_means_not_done(database: Database, done: Path) -> None:
    async with browsing_for(database, done, "failing", routes=DEADLINE) as g:
        run = await g.run("copilot", input=TASK)
        await g.later(3601)
        ended = await g.settled(run.id)
        assert ended.status is RunStatus.COMPLETED
        assert "Nobody answered in time." in ended.result["answer"]
        assert lines(done) == ["started"]


async def test_of_two_actions_at_once_only_the_one_that_was_allowed_is_done(
    sqlite: Database, done: Path
) -> None:
    async with browsing_for(sqlite, done, "two_at_once") as g:
        run = await g.run("copilot", input=TASK)
        [id] = run.interactions
        decisions = {"q1": {"decision": "reject", "message": "not that"}, "q2": {"decision": "approve"}}
        await g.app.receiver.respond(id, decisions, by="ops", via="api")
        ended = await g.settled(run.id)
        assert lines(done) == ["started", "order bell"]
        assert "not that" in ended.result["answer"]
        assert "A shop. Colour: not chosen." in ended.result["answer"]


async def test_a_tool_that_says_nothing_of_itself_is_confirmed_too(sqlite: Database, done: Path) -> None:
    async with browsing_for(sqlite, done, "unlabelled") as g:
        run = await g.run("copilot", input=TASK)
        assert run.status is RunStatus.WAITING
        assert lines(done) == ["started"]


async def test_what_the_configuration_lists_runs_without_being_confirmed(
    sqlite: Database, done: Path
) -> None:
    async with browsing_for(sqlite, done, "failing", UNASKED) as g:
        ended = await g.run("copilot", input=TASK)
        assert (ended.status, ended.interactions) == (RunStatus.COMPLETED, ())
        assert lines(done) == ["started", "order nothing"]
        assert "Error executing tool order" in ended.result["answer"]


async def test_without_people_it_has_no_tool_for_them_and_confirms_nothing(
    sqlite: Database, done: Path
) -> None:
    model = browsing.reporting(
        [browsing.calls("choose", colour="red")], [browsing.calls("order", item="bike")]
    )
    browsing.alone = browsing.agent(model)  # type: ignore[attr-defined]
    async with browsing_for(sqlite, done, "alone", {"hitl_enabled": "no"}) as g:
        ended = await g.run("copilot", input=TASK)
        assert ended.result["answer"] == "The colour is red.\nOrdered: a red bike."
    assert {name for bound in model.bound for name in bound} == {"look", "choose", "order", "untold"}
    assert not any("ask_human" in prompt or "confirm" in prompt for prompt in model.prompts)


async def test_with_people_it_has_both_tools_and_is_told_of_them(sqlite: Database, done: Path) -> None:
    model = browsing.reporting()
    browsing.beside = browsing.agent(model)  # type: ignore[attr-defined]
    async with browsing_for(sqlite, done, "beside") as g:
        await g.run("copilot", input=TASK)
    assert {"ask_human", "confirm_action"} <= set(model.bound[0])
    assert "ask_human" in model.prompts[0]


async def test_after_a_restart_while_a_question_is_open_the_server_is_started_again(
    database: Database, done: Path
) -> None:
    async with browsing_for(database, done) as g:
        run = await g.run("copilot", input=TASK)
        memory, clock = g.memory, g.clock
    async with browsing_for(database, done, providers={"memory": memory}, clock=clock) as g:
        await g.types("1001", "blue")
        await g.taps("1001", "Approve")
        await g.types("1001", "yes")
        await g.taps("1001", "Approve")
        ended = await g.settled(run.id)
        assert ended.result["answer"].endswith("Ordered: a blue bike.")
    assert lines(done) == ["started", "started", "choose blue", "order bike"]


async def test_a_server_that_dies_while_it_looks_is_started_again_and_looks(
    sqlite: Database, done: Path
) -> None:
    async with browsing_for(sqlite, done, "looking") as g:
        run = await g.run("copilot", input=TASK)
        done.with_name("die").touch()
        await g.types("1001", "go on")
        assert (await g.settled(run.id)).result["answer"] == "go on\nA shop. Colour: not chosen."
    assert lines(done) == ["started", "started"]


async def test_what_was_confirmed_is_done_at_most_once_though_the_server_dies_in_it(
    sqlite: Database, done: Path
) -> None:
    async with browsing_for(sqlite, done, "failing") as g:
        run = await g.run("copilot", input=TASK)
        done.with_name("die").touch()
        await g.taps("1001", "Approve")
        ended = await g.settled(run.id)
        assert "it is not known whether this was done" in ended.result["answer"]
    assert lines(done) == ["started", "order nothing"]


async def test_a_server_that_died_while_a_confirmation_was_open_is_started_before_it_acts(
    sqlite: Database, done: Path
) -> None:
    async with browsing_for(sqlite, done, "two_at_once") as g:
        run = await g.run("copilot", input=TASK)
        [id] = run.interactions
        os.kill(int(done.with_name("pid").read_text()), signal.SIGKILL)
        decisions = {"q1": {"decision": "reject"}, "q2": {"decision": "approve"}}
        await g.app.receiver.respond(id, decisions, by="ops", via="api")
        await g.settled(run.id)
    assert lines(done).count("order bell") == 1
    assert lines(done).count("started") == 2


@contextlib.asynccontextmanager
async def on_a_port(done: Path, port: int) -> AsyncIterator[None]:
    """The browser as a server that runs by itself, until it takes connections no more."""
    program = await asyncio.create_subprocess_exec(
        *browsing.COMMAND, str(port), env={**os.environ, "BROWSER_LOG": str(done)}
    )
    try:
        await until(lambda: _listens(port))
        yield
    finally:
        program.kill()
        await program.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_over_http_too_a_server_that_was_started_anew_acts_once(sqlite: Database, done: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"url": f"http://127.0.0.1:{port}/mcp", "command": []}
    async with contextlib.AsyncExitStack() as stack:
        before = await stack.enter_async_context(contextlib.AsyncExitStack())
        await before.enter_async_context(on_a_port(done, port))
        g = await stack.enter_async_context(browsing_for(sqlite, done, options=options))
        run = await g.run("copilot", input=TASK)
        await g.types("1001", "blue")
        await before.aclose()
        await stack.enter_async_context(on_a_port(done, port))
        await g.taps("1001", "Approve")
        await g.types("1001", "yes")
        await g.taps("1001", "Approve")
        assert (await g.settled(run.id)).result["answer"].endswith("Ordered: a blue bike.")
    assert lines(done) == ["started", "started", "choose blue", "order bike"]


async def test_over_http_an_act_without_a_server_is_not_done_and_the_model_reads_that(
    sqlite: Database, done: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"url": f"http://127.0.0.1:{port}/mcp", "command": []}
    async with contextlib.AsyncExitStack() as stack:
        before = await stack.enter_async_context(contextlib.AsyncExitStack())
        await before.enter_async_context(on_a_port(done, port))
        g = await stack.enter_async_context(browsing_for(sqlite, done, "failing", options))
        run = await g.run("copilot", input=TASK)
        await before.aclose()
        await g.taps("1001", "Approve")
        assert "so this was not done" in (await g.settled(run.id)).result["answer"]
    assert lines(done) == ["started"]


async def test_in_a_worker_it_works_the_same_and_its_server_ends_with_it(
    sqlite: Database, done: Path
) -> None:
    env = {"BROWSER_LOG": str(done)}
    options = {"graph": "tests.flow.langgraph.browsing:ordering", "options": {"env": env}}
    context = AgentContext(str(sqlite.data_dir / "var"), sqlite.url, str(HERE))
    async with gateway(sqlite, WorkerAgent(Plugin("copilot", "langgraph", options), context)) as g:
        await g.run("copilot", input=TASK)
        await g.types("1001", "blue")
        await g.taps("1001", "Approve")
        assert lines(done) == ["started", "choose blue"]
        pid = int(done.with_name("pid").read_text())
        assert not gone(pid)
    await until(lambda: gone(pid))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"command": ""}, "name the MCP server, either by its command or by its url"),
        ({"url": "http://127.0.0.1:1/mcp"}, "name the MCP server, either by its command or by its url"),
        ({"command": "no-such-program here"}, "options.command: no-such-program cannot be started"),
        ({"unasked": ["ordr"]}, "options: unasked: there is no tool ordr; there are ask_human, choose"),
        ({"modle": "x"}, "options: there is no modle; there are model, command"),
    ],
)
async def test_settings_that_are_wrong_are_refused_with_what_to_do(
    light: Harness, done: Path, options: Any, said: str
) -> None:
    given = {"env": {"BROWSER_LOG": str(done)}, **options}
    with pytest.raises(ConfigurationError) as refused:
        await light.open("tests.flow.langgraph.browsing:ordering", options=given)
    assert said in str(refused.value)


@pytest.mark.parametrize("where", [{"url": "http://127.0.0.1:1/mcp", "command": []}, {"command": ["true"]}])
async def test_a_server_that_is_away_may_come_back(light: Harness, where: Any) -> None:
    with pytest.raises(AgentUnavailable, match="The MCP server cannot be reached"):
        await light.open("tests.flow.langgraph.browsing:ordering", options=where)


async def test_a_run_without_a_task_says_what_it_needs(sqlite: Database, done: Path) -> None:
    async with browsing_for(sqlite, done) as g:
        failed = await g.run("copilot", input={})
        assert failed.status is RunStatus.FAILED
        assert "say what to do" in failed.error
