"""For agents with a model: two tools, and what to say of them in the system prompt.

What a tool returns is the message's content, for the model. The message's artifact is the answer as the
graph was resumed with it, for code: `{"content"}`, with choices `choice`, of a confirmation `confirmed`,
`attachments` if there were files, `answered_by` if that was no person, and `"timed_out": true` only if
nobody answered. So somebody who really
writes what our sentence for silence says is still told apart from silence.
"""

from collections.abc import Sequence
from typing import Annotated

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import interrupt
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from answerback_agents.toolkit import payloads
from answerback_agents.toolkit.answers import Heard, decided, heard, told

INSTRUCTIONS = """\
You can ask a person. They are busy and read you on a phone, so ask only what you need in order to go on, \
and what neither the data nor your other tools tell you.
- `ask_human`: one specific question at a time, with the reason in `context`. If you can name the likely \
answers, give them as `choices`; they may still answer in words of their own. Ask again only if the answer \
raises a new question.
- `confirm_action`: before anything that cannot be undone, costs money or reaches other people. Do it only \
if the result begins with "Confirmed." Do exactly what was confirmed.
What they answer is meant as they wrote it. If nobody answered in time, that is neither a yes nor a no: do \
not make an answer up, and do not ask the same again."""


Deadline = Annotated[
    str,
    BeforeValidator(payloads.a_duration),
    Field(description="How long an answer is of use, such as “30m” or “2h”. Leave it empty if for long."),
]


class Question(BaseModel):
    """The arguments of `ask_human`. A model that gives bad ones is told so, and can call again."""

    question: Annotated[str, AfterValidator(payloads.a_question)] = Field(
        description="One specific question, clear to somebody who has not seen what you see."
    )
    context: str = Field(
        default="", description="Why you ask: what you found and what the answer decides, in two lines."
    )
    choices: Annotated[list[str], AfterValidator(payloads.distinct)] = Field(
        default_factory=list,
        description="The likely answers, a few words each. Leave it empty if you cannot name them.",
    )
    expires_in: Deadline = ""


class Confirmation(BaseModel):
    """The arguments of `confirm_action`."""

    action: Annotated[str, AfterValidator(payloads.an_action)] = Field(
        description="What you are going to do if they say yes, in a few words: “Delete 3 files”."
    )
    details: str = Field(
        default="", description="What they must know to decide: names, amounts, and what cannot be undone."
    )
    expires_in: Deadline = ""


def _ask(
    question: str, context: str = "", choices: Sequence[str] = (), expires_in: str = ""
) -> tuple[str, Heard]:
    answer = heard(interrupt(payloads.question(question, context, choices, expires_in=expires_in)))
    return told(answer), answer


def _confirm(action: str, details: str = "", expires_in: str = "") -> tuple[str, Heard]:
    answer = heard(interrupt(payloads.confirmation(action, details, expires_in=expires_in)))
    return decided(answer), answer


# Beside each function stands a coroutine: LangGraph counts the interrupts of a task as they come. Calls of
# one task that run in threads, as those of a tool without a coroutine do, can come in another order the
# second time, and get each other's answers.


async def _ask_async(
    question: str, context: str = "", choices: Sequence[str] = (), expires_in: str = ""
) -> tuple[str, Heard]:
    return _ask(question, context, choices, expires_in)


async def _confirm_async(action: str, details: str = "", expires_in: str = "") -> tuple[str, Heard]:
    return _confirm(action, details, expires_in)


ask_human: BaseTool = StructuredTool.from_function(
    _ask,
    _ask_async,
    name="ask_human",
    description=(
        "Ask a person one question and wait for the answer. Use it when you need something that only they "
        "know or may decide; not for what the data already says. Returns their own words or the choice they "
        "took, or says that nobody answered in time."
    ),
    args_schema=Question,
    response_format="content_and_artifact",
)
confirm_action: BaseTool = StructuredTool.from_function(
    _confirm,
    _confirm_async,
    name="confirm_action",
    description=(
        "Ask a person to confirm an action before you do it, and wait for their yes or no. Returns "
        "“Confirmed.” or “Not confirmed”, with their own words if they wrote more, or says that nobody "
        "answered in time, which confirms nothing."
    ),
    args_schema=Confirmation,
    response_format="content_and_artifact",
)


def tools(enabled: bool = True) -> list[BaseTool]:
    """The tools to give to an agent; none if it is to run without people."""
    return [ask_human, confirm_action] if enabled else []
