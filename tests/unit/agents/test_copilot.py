"""The copilot's parts: which tools change something, what a server's results become, and its patience."""

from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from mcp.server.mcpserver import Image, MCPServer
from mcp.types import ToolAnnotations

from answerback_agents.copilot.flow import MOST_TURNS, copilot
from answerback_agents.copilot.server import Server
from answerback_agents.copilot.tools import changes, tools_of
from tests.flow.langgraph.browsing import Reporting, calls, reporting

THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}


def tool(name: str, **hints: Any) -> BaseTool:
    return StructuredTool.from_function(lambda: "done", name=name, description="Does it.", metadata=hints)


@pytest.mark.parametrize(
    ("hints", "changing"),
    [
        ({}, True),
        ({"readOnlyHint": False}, True),
        ({"readOnlyHint": True}, False),
        ({"readOnlyHint": True, "destructiveHint": False}, False),
        ({"readOnlyHint": True, "destructiveHint": True}, True),
        ({"destructiveHint": False}, True),
        ({"readOnlyHint": "true"}, True),
    ],
)
def test_a_tool_changes_something_unless_it_says_that_it_only_reads(hints: Any, changing: bool) -> None:
    assert changes(tool("t", **hints)) is changing


def test_a_tool_without_metadata_changes_something() -> None:
    assert changes(StructuredTool.from_function(lambda: "done", name="t", description="Does it."))


def a_server() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("odd", log_level="CRITICAL")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, title="Eyes"), structured_output=False)
    async def see(what: str, often: int = 1) -> list[Any]:
        """See something."""
        return [f"{often} times {what}", Image(data=b"png", format="png")]

    @server.tool()
    async def fail() -> str:
        """Fails."""
        raise ValueError("a stack of details")

    return server


async def heard(made: BaseTool, **args: Any) -> ToolMessage:
    return await made.ainvoke({"type": "tool_call", "name": made.name, "args": args, "id": "1"})


async def test_a_tool_of_a_server_is_shown_to_the_model_as_the_server_describes_it() -> None:
    async with Server(a_server()) as server:
        see, fail = await tools_of(server)
    assert (see.name, see.description) == ("see", "See something.")
    assert see.metadata == {"readOnlyHint": True, "title": "Eyes"}
    assert (changes(see), changes(fail)) == (False, True)
    assert set(see.args) == {"what", "often"}


async def test_texts_and_pictures_come_through() -> None:
    async with Server(a_server()) as server:
        see, _ = await tools_of(server)
        result = await heard(see, what="it", often=2)
    assert result.content == [
        {"type": "text", "text": "2 times it"},
        {"type": "image", "base64": "cG5n", "mime_type": "image/png"},
    ]


async def test_what_fails_is_told_to_the_model_and_ends_nothing() -> None:
    async with Server(a_server()) as server:
        see, fail = await tools_of(server)
        failed, wrong = await heard(fail), await heard(see, often="x")
    assert (failed.status, failed.content) == ("error", "Error executing tool fail")
    assert wrong.status == "error"


async def test_of_two_calls_that_find_a_connection_lost_the_second_leaves_the_next_one_open() -> None:
    """A call of the first may be under way on it, and would be in doubt."""
    async with Server(a_server()) as server:
        lost = await server._connected()
        await server._close(lost)
        opened = await server._connected()
        await server._close(lost)
        assert await server._connected() is opened
        see, _ = await tools_of(server)
        assert (await heard(see, what="it")).status == "success"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are called ask_human"):
        copilot(reporting(), [tool("ask_human")])
    copilot(reporting(), [tool("ask_human")], people=False)


class Busy(Reporting):
    """Its service is busy the first times."""

    failures: Any = None

    def _generate(self, *args: Any, **options: Any) -> Any:
        if self.failures:
            raise self.failures.pop()
        return super()._generate(*args, **options)


async def test_a_service_that_is_busy_is_asked_again_later() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = Busy(turns=[], bound=[], prompts=[], failures=[TimeoutError(), ConnectionError()])
    graph = copilot(model, [], sleep=sleep).compile(checkpointer=InMemorySaver())
    assert (await graph.ainvoke({"task": "Look."}, THREAD))["answer"] == "It ended without a word."
    assert waits == [1.0, 2.0]


async def test_a_model_that_never_comes_to_an_end_is_stopped() -> None:
    turns = [[calls("look", id=str(turn))] for turn in range(MOST_TURNS + 1)]
    looking = tool("look", readOnlyHint=True)
    graph = copilot(reporting(*turns), [looking]).compile(checkpointer=InMemorySaver())
    with pytest.raises(Exception, match="limit"):
        await graph.ainvoke({"task": "Look."}, THREAD)
