"""What a dialect is, and the words that all of them share."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Protocol

from answerback.model import Answer, Json, Question, StandsIn

NO_RESPONSE = "No response"
NOBODY = "Nobody answered in time."
QUESTION_ID = "q1"
# What an object that asks something says in these is read; whatever else it has is shown beside it.
READ = (
    "type", "question", "context", "title", "topic", "expires_in", "on_expire", "default", "human_only",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deadline:
    """What a payload says of its deadline, as it stands there; None for nothing. The gateway judges it."""

    expires_in: Json = None
    on_expire: Json = None
    default: Json = None

    @property
    def said(self) -> dict[str, Json]:
        """As the fields of a `Pending`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a payload asks. `expirable`: the dialect promises a value for silence (`on_expire: auto`).

    `unusable` and `impossible` are sentences about what it demands of answers, as in `Pending`.
    """

    questions: tuple[Question, ...]
    context: str = ""
    title: str = ""
    expirable: bool = False
    human_only: bool = False
    deadline: Deadline = Deadline()
    unusable: tuple[str, ...] = ()
    impossible: str = ""


class Dialect(Protocol):
    """One shape of payloads. All three are pure; payloads are plain JSON."""

    def matches(self, payload: Json) -> bool:
        """Whether the payload has this shape."""

    def read(self, payload: Json) -> Reading:
        """What the person is asked."""

    def write(self, payload: Json, answer: Answer) -> Json:
        """The value the agent is resumed with; raises `DoesNotFit` when there is none."""


def is_human_only(payload: Json, depth: int = 0) -> bool:
    """Whether a payload, or an object in it, has `human_only`: then no stand-in may answer (law 6).

    Anything but false counts, so that a marking that is spelled in an unusual way still marks.
    """
    if depth > 4 or not isinstance(payload, dict | list):
        return False
    if isinstance(payload, dict) and payload.get("human_only", False) not in (False, None, 0, "", "false"):
        return True
    inner = payload.values() if isinstance(payload, dict) else payload
    return any(is_human_only(each, depth + 1) for each in inner)


def deadline_of(payload: dict[str, Json]) -> Deadline:
    """What an object that asks something says of its deadline."""
    return Deadline(payload.get("expires_in"), payload.get("on_expire"), payload.get("default"))


Own = Callable[[Json], Dialect | None]


def silent(answer: Answer) -> bool:
    """Whether nobody answered, and no default stands in."""
    return answer.expired and not answer.default_used


def value_of(answer: Answer) -> Json:
    """The value of the one question; `None`, `False`, `0` and `""` are values too."""
    if answer.values:
        return answer.values.get(QUESTION_ID, next(iter(answer.values.values())))
    return answer.text


def beside(answer: Answer) -> dict[str, Json]:
    """What an object that is given to an agent has besides the answer itself; {} for most answers.

    `attachments`, if files came with it; `answered_by`, if that was no person.
    """
    found: dict[str, Json] = {}
    if answer.attachments:
        found["attachments"] = [asdict(each) for each in answer.attachments]
    if answer.default_used or answer.by.startswith(f"{StandsIn.PROGRAM}:"):
        found["answered_by"] = "default" if answer.default_used else answer.by
    return found


def as_text(payload: Json) -> str:
    """A payload for people: strings as they are, objects one line a key, the rest as JSON."""
    if payload is None:
        return ""
    if isinstance(payload, str):
        return payload.strip()
    if isinstance(payload, dict):
        return "\n".join(f"{key}: {inline(value)}" for key, value in payload.items())
    if isinstance(payload, list) and all(isinstance(item, str) for item in payload):
        return "\n".join(payload)
    return inline(payload)


def inline(value: Json) -> str:
    """A value in one line: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def line(value: Json) -> str:
    """A string without the spaces around it; "" for anything else."""
    return value.strip() if isinstance(value, str) else ""


def joined(parts: Iterable[str]) -> str:
    """The parts that are there, one below the other."""
    return "\n".join(part for part in parts if part)


def asks(payload: Json) -> bool:
    """Whether it is an object with a `question`."""
    return isinstance(payload, dict) and bool(line(payload.get("question")))


def context_of(payload: dict[str, Json], *read: str) -> str:
    """What an object says for people beside its question: its `context`, and all that no dialect reads.

    `read`: the further keys that this dialect reads. Whoever decides has to see what it is about, however
    the key is called: `details`, `llm_output`, or the choices that cannot be buttons.
    """
    shown = {key: value for key, value in payload.items() if key not in (*READ, *read)}
    rest = {key: value for key, value in shown.items() if value not in (None, "", [], {})}
    return joined((as_text(payload.get("context")), as_text(rest)))


def title_of(payload: Json) -> str:
    """What an object says that it is about."""
    return line(payload.get("title")) or line(payload.get("topic")) if isinstance(payload, dict) else ""
