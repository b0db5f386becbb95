"""The conversation: what the tutor said and what the person wrote, in order, as it is kept. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, NotRequired, TypedDict

from answerback_agents.tutor.ask import Heard

LONGEST_KEPT = 10_000  # characters of one text here; `feedback` has all of it


class Taken(StrEnum):
    """What an answer was taken as. It stands beside the words, never instead of them."""

    APPROVED = "approved"
    ANOTHER_PLAN = "another plan"
    PLAN_CHANGED = "plan changed"
    SATISFIED = "satisfied"
    MORE_COURSES = "more courses"
    OTHER_COURSES = "other courses"
    COURSES_ADJUSTED = "courses adjusted"
    STOPPED = "stopped"
    FOR_COURSES = "for the courses"
    LATER = "later"
    REMARK = "remark"
    UNCLEAR = "unclear"
    NOT_UNDERSTOOD = "not understood"
    NO_WORDS = "no words"
    NOT_A_PERSONS = "not a person's"


# General feedback, which wishes for nothing that is asked about and takes no round.
GENERAL = {Taken.FOR_COURSES, Taken.LATER, Taken.REMARK}


class Message(TypedDict):
    """One of them. An assistant's may have the labels of the `choices`; of a user's the rest may be there.

    `choice`: the id of what was tapped. `taken_as`: see `Taken`. `files`: their names. `answered_by`: who
    it was, if no person. `left_out`: how many characters of a very long text are not in `content`.
    """

    role: Literal["assistant", "user"]
    content: str
    choices: NotRequired[list[str]]
    choice: NotRequired[str]
    taken_as: NotRequired[str]
    files: NotRequired[list[str]]
    answered_by: NotRequired[str]
    left_out: NotRequired[int]


def asked(question: Mapping[str, Any]) -> Message:
    """A question as the person sees it."""
    labels = [choice["label"] for choice in question["choices"]]
    return Message(role="assistant", content=f"{question['question']}\n{question['context']}", choices=labels)


def told(text: str) -> Message:
    """What the tutor says without asking."""
    return Message(role="assistant", content=text)


def written(answer: Heard) -> Message:
    """An answer, word for word."""
    message = Message(role="user", content=answer["text"][:LONGEST_KEPT])
    if answer["choice"]:
        message["choice"] = answer["choice"]
    if answer["files"]:
        message["files"] = answer["files"]
    if answer["by"]:
        message["answered_by"] = answer["by"]
    if len(answer["text"]) > LONGEST_KEPT:
        message["left_out"] = len(answer["text"]) - LONGEST_KEPT
    return message


def understood(messages: list[Message], taken: Taken) -> list[Message]:
    """The same, with what the last answer was taken as."""
    last: Message = {**messages[-1], "taken_as": taken.value}
    return [*messages[:-1], last]
