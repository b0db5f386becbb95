"""Law 1: a graph of ours whose step calls one on a server, which LangGraph resumes by its task alone."""

import uuid
from pathlib import Path

import pytest

from answerback.agent import AgentContext, Failed, Finished, State
from answerback_agents.langgraph import LangGraph

GRAPHS = """
from typing import Any, TypedDict
from langgraph.graph import StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client

class State(TypedDict, total=False):
    log: str
    answers: Any

async def call(state, config):
    async with get_client(url="{url}", api_key=None) as client:
        return await RemoteGraph("{name}", client=client).ainvoke(state, config)

def call_sync(state: State, config):
    with get_sync_client(url="{url}", api_key=None) as client:
        return RemoteGraph("{name}", sync_client=client).invoke(state, config)

def graph(step):
    builder = StateGraph(State)
    builder.add_node("call", step)
    builder.set_entry_point("call")
    return builder

in_a_loop, in_a_thread = graph(call), graph(call_sync)
inside = graph(graph(call).compile())
"""


async def ran(server: str, folder: Path, name: str, graph: str) -> State:
    (folder / "caller.py").write_text(GRAPHS.format(name=name, url=server))
    context = AgentContext(str(folder), "sqlite", str(folder))
    mine = LangGraph("mine", LangGraph.Settings(graph=f"caller.py:{graph}"), context)
    await mine.open()
    try:
        return await mine.start(str(uuid.uuid4()), {"log": str(folder / "log")})
    finally:
        await mine.close()


@pytest.mark.parametrize("graph", ["in_a_loop", "in_a_thread", "inside"])
async def test_law_1_what_it_asks_fails_the_step_and_says_what_to_do(
    server: str, tmp_path: Path, graph: str
) -> None:
    failed = await ran(server, tmp_path, "questions", graph)
    assert isinstance(failed, Failed)
    assert "the graph “questions”, which this step called, asks on a LangGraph server" in failed.error
    assert "use: langgraph-server" in failed.error


@pytest.mark.parametrize("graph", ["in_a_loop", "in_a_thread"])
async def test_one_that_does_not_ask_is_called(server: str, tmp_path: Path, graph: str) -> None:
    assert isinstance(await ran(server, tmp_path, "quiet", graph), Finished)
    assert (tmp_path / "log").read_text().split() == ["danger"]
