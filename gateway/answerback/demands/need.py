"""Needs: one demand each, as it is said: what a value must be, whether it is that or not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from answerback.demands import formats
from answerback.demands.shapes import Shape, figure, inline, listed
from answerback.model import Json

LONGEST_SHOWN = 60  # characters of a pattern that is told in advance
NAMES = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
}


@dataclass(frozen=True, slots=True)
class Need:
    """What is demanded; `at`: the place within the value, "" for all of it.

    By `key`, `args` are: characters, number, items, keys: `low`, `high`, `above`, `below`, of which those
    that are not set are None · step: `step` · like: `like` · kind: `kinds`, `like` · pattern: `pattern` ·
    key, no_key: `name` · one_of: `options` · once, less, json, day, clock: nothing.
    """

    key: str
    args: dict[str, Json] = field(default_factory=dict)
    at: str = ""

    @property
    def said(self) -> str:
        """For developers, as the end of a sentence."""
        return f"{self.at or 'it'} {_SAID[self.key](self.args)}"


def ranged(key: str, schema: dict[str, Json], low: str, high: str) -> Need | None:
    """A need with these limits; None where neither is set."""
    limits = {"low": Shape(schema).limit(low), "high": Shape(schema).limit(high)}
    return None if limits == {"low": None, "high": None} else Need(key, limits)


def number(schema: dict[str, Json]) -> Need | None:
    """What number is wanted; None for any."""
    limit = Shape(schema).limit
    found = {"low": limit("minimum"), "high": limit("maximum")}
    found |= {"above": limit("exclusiveMinimum"), "below": limit("exclusiveMaximum")}
    return Need("number", found) if any(each is not None for each in found.values()) else None


def written(schema: dict[str, Json]) -> Need:
    """How a text is to be written that has a pattern: like an example of the agent's, or by the pattern."""
    examples = [each for each in listed(schema, "examples") if isinstance(each, str)]
    return (
        Need("like", {"like": examples[0]}) if examples else Need("pattern", {"pattern": schema["pattern"]})
    )


def needs(schema: Json) -> tuple[Need, ...]:
    """What can be told in advance of a question's demands: what holds for all of its value."""
    return tuple(_told(schema)) if isinstance(schema, dict) else ()


def _told(schema: dict[str, Json]) -> Iterator[Need]:
    if (found := ranged("characters", schema, "minLength", "maxLength")) and _says_much(found):
        yield found
    if "pattern" in schema and len(str(schema["pattern"])) <= LONGEST_SHOWN:
        yield written(schema)
    elif like := formats.example(schema.get("format")):
        yield Need("like", {"like": like})
    if found := number(schema):
        yield found
    if (step := Shape(schema).limit("multipleOf")) is not None:
        yield Need("step", {"step": step})
    if (found := ranged("items", schema, "minItems", "maxItems")) and _says_much(found):
        yield found
    if schema.get("uniqueItems") is True:
        yield Need("once")


def _says_much(need: Need) -> bool:
    """Nobody needs to be told that an answer is not empty."""
    return need.args["high"] is not None or need.args["low"] > 1


def _range(args: dict[str, Json]) -> str:
    words = {"low": "at least", "above": "more than", "high": "at most", "below": "less than"}
    return " and ".join(
        f"{word} {figure(args[key])}" for key, word in words.items() if args.get(key) is not None
    )


_SAID: dict[str, Callable[[dict[str, Json]], str]] = {
    "characters": lambda args: f"needs {_range(args)} characters",
    "number": lambda args: f"is out of range: {_range(args)}",
    "items": lambda args: f"has too few or too many items: {_range(args)}",
    "keys": lambda args: f"has too few or too many keys: {_range(args)}",
    "step": lambda args: f"must be a multiple of {figure(args['step'])}",
    "like": lambda args: f"must be written like {args['like']}",
    "kind": lambda args: f"must be {' or '.join(NAMES.get(kind, kind) for kind in args['kinds'])}",
    "pattern": lambda args: f"must match {args['pattern']}",
    "key": lambda args: f"lacks “{args['name']}”",
    "no_key": lambda args: f"has “{args['name']}”, which is not asked for",
    "one_of": lambda args: f"must be one of {', '.join(map(inline, args['options']))}",
    "once": lambda args: "has the same item twice",
    "less": lambda args: "is too much to be checked",
    "json": lambda args: "must be JSON, with every text in straight quotation marks",
    "day": lambda args: "must be a day without a time",
    "clock": lambda args: "needs a time, with its offset",
}
