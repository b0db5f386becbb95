"""The copilot with a model whose turns are written down, and a real MCP server in a process of its own."""

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from answerback_agents.copilot import Settings, opened
from answerback_agents.options import checked
from tests.flow.langgraph.asking import Turns

COMMAND = [sys.executable, str(Path(__file__).with_name("browser.py"))]


SAYING = {"says": "It is the last one they have."}


class Reporting(Turns):
    """In the end it says what its tools told it, a line each; a turn may say something beside its calls."""

    bound: Any = None  # a list of names for each time that tools were bound
    prompts: Any = None

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        self.bound.append([tool.name for tool in tools])
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.prompts.append(str(messages[0].content))
        taken = sum(message.type == "ai" for message in messages)
        turn = self.turns[taken] if taken < len(self.turns) else []
        heard = [str(message.text) for message in messages if isinstance(message, ToolMessage)]
        text = next((each["says"] for each in turn if "says" in each), "" if turn else "\n".join(heard))
        said = AIMessage(text, tool_calls=[each for each in turn if "says" not in each])
        return ChatResult(generations=[ChatGeneration(message=said)])


def calls(name: str, id: str = "1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id}


def reporting(*turns: list[dict[str, Any]]) -> Reporting:
    return Reporting(turns=list(turns), bound=[], prompts=[])


def agent(model: Reporting) -> Any:
    @contextlib.asynccontextmanager
    async def graph(options: Mapping[str, Any]) -> AsyncIterator[Any]:
        settings = checked(Settings, {"command": COMMAND, "model": "scripted", **options})
        async with opened(settings, model) as made:
            yield made

    return graph


blue = reporting(
    [calls("look")],
    [calls("ask_human", question="What colour?", context="The shop wants to know.")],
    [calls("choose", colour="blue")],
    [calls("confirm_action", action="Order a blue bike", details="It costs € 900.")],
    [SAYING, calls("order", item="bike")],
)
ordering = agent(blue)
both = [calls("order", "a", item="bike"), calls("order", "b", item="bell"), calls("look", "c")]
two_at_once = agent(reporting(both))
failing = agent(reporting([calls("order", item="nothing")]))
unlabelled = agent(reporting([calls("untold")]))
looking = agent(reporting([calls("ask_human", question="Look now?")], [calls("look")]))
