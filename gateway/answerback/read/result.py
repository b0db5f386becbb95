"""What reading comes to: a value, or what is not clear about it."""

from dataclasses import dataclass, field

from answerback.model import Json


@dataclass(frozen=True, slots=True)
class Value:
    """A canonical value, and beside it what the person wrote, unmodified (law 9)."""

    value: Json = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unclear:
    """No value: the key of the sentence that says why, and what fills its gaps."""

    key: str
    args: dict[str, str] = field(default_factory=dict, repr=False)


Read = Value | Unclear
