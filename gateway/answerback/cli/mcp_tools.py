"""The tools of `answerback mcp`, as a model reads them."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from pydantic import Field

from answerback import __version__
from answerback.cli.desk import Asks, Desk, Heard
from answerback.errors import AnswerbackError

INSTRUCTIONS = (
    "These tools ask a person on their phone. They are busy: ask only what you need in order to go on and "
    "cannot find out yourself, one question at a time, and say why. Before anything that cannot be undone, "
    "costs money or reaches other people, call confirm_action, and do it only if `confirmed` is true. "
    "An answer can take hours: while `status` is waiting, call wait_for_answer, or do something else first. "
    "`nobody answered` is neither a yes nor a no. A call that failed, or whose result was lost, may be made "
    "again: within two minutes the same call finds the same question, and with an `idempotency_key` always."
)
P = ParamSpec("P")
R = TypeVar("R")
NONE: list[str] = []
FILLED: dict[str, Any] = {"minLength": 1}  # what is empty is refused in a sentence of ours
To = Annotated[
    list[str],
    Field(description="Whom, by the names that the gateway knows. Empty: whoever is meant for this."),
]
Text = Annotated[str, Field(json_schema_extra=FILLED, description="What to tell them, in a few lines.")]
Question = Annotated[
    str, Field(json_schema_extra=FILLED, description="One specific question, clear on its own.")
]
Why = Annotated[
    str, Field(description="Why you ask: what you found, and what the answer decides. Two lines.")
]
Choices = Annotated[
    list[str], Field(description="Likely answers, a few words each; they may write words of their own.")
]
Action = Annotated[
    str, Field(json_schema_extra=FILLED, description="What you will do on a yes: “Delete 3 files”.")
]
Details = Annotated[str, Field(description="What they must know to decide: names, amounts, what is final.")]
Id = Annotated[str, Field(description="The id that the question was given.")]
Key = Annotated[
    str,
    Field(
        description="Any text of your own for this one call, new for each. The same call with the same key "
        "never asks or tells twice, however late it is repeated; it gives the first one's result."
    ),
]
Reason = Annotated[str, Field(description="Why it is not needed any more.")]


def server(desk: Desk) -> Any:
    """An `MCPServer` with the tools of a desk, for any transport. Raises `ImportError` without the extra."""
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.types import ToolAnnotations

    asks = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
    looks = ToolAnnotations(read_only_hint=True)
    found: MCPServer[Any] = MCPServer(
        "answerback", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR"
    )

    @found.tool(annotations=asks)
    @_told
    async def ask_human(
        call: Context[Any, Any],
        question: Question,
        context: Why = "",
        choices: Choices = NONE,
        to: To = NONE,
        idempotency_key: Key = "",
    ) -> Heard:
        """Ask a person one question, and wait for the answer: what they wrote or chose, unmodified.

        With the status "waiting" nobody has answered yet: go on with wait_for_answer. A call that failed may
        be repeated as it was: nobody is asked twice.
        """
        return await desk.ask(question, context, choices, Asks(to, call.request_id, idempotency_key))

    @found.tool(annotations=asks)
    @_told
    async def confirm_action(
        call: Context[Any, Any],
        action: Action,
        details: Details = "",
        to: To = NONE,
        idempotency_key: Key = "",
    ) -> Heard:
        """Ask a person for a yes or a no before you do something. Do it only if `confirmed` is true.

        A call that failed may be repeated as it was: nobody is asked twice.
        """
        return await desk.confirm(action, details, Asks(to, call.request_id, idempotency_key))

    @found.tool(annotations=looks)
    @_told
    async def wait_for_answer(id: Id) -> Heard:
        """Go on waiting for a question that was asked. It stays open meanwhile."""
        return await desk.wait(id)

    @found.tool(annotations=asks)
    @_told
    async def withdraw_question(id: Id, reason: Reason = "") -> Heard:
        """Take back a question that you do not need answered any more. Whoever was asked is told."""
        return await desk.withdraw(id, reason)

    @found.tool(annotations=asks)
    @_told
    async def notify(call: Context[Any, Any], text: Text, to: To = NONE, idempotency_key: Key = "") -> str:
        """Tell a person something that asks nothing; says whom it reached.

        A call that failed may be repeated as it was: nobody is told twice.
        """
        return await desk.tell(text, Asks(to, call.request_id, idempotency_key))

    return found


def _told(tool: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """What the gateway refuses is a sentence that says what to do: the model reads it."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    async def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            return await tool(*given, **named)
        except AnswerbackError as error:
            raise ToolError(str(error)) from None

    return call
