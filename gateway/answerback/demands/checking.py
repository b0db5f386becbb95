"""Checking: the first thing in a value that a schema demands otherwise."""

import decimal
import json
from collections.abc import Iterator

from answerback.demands import formats, patterns
from answerback.demands.need import Need, number, ranged, written
from answerback.demands.shapes import DEEPEST, Shape, is_number, listed, sample, target
from answerback.model import Json

MOST_STEPS = 20_000  # of one check: a schema can ask for many about each item that a stranger sends
AT_ONCE = 50  # names or options that are looked through in about the time of a step
DEEPEST_VALUE = 100  # values within each other that are looked at, as many as can be stored
# The arithmetic of steps: enough for all digits of what fits into 64 bits, and of the smallest step.
EXACT = decimal.Context(prec=400)


def first(value: Json, schema: Json, root: Json = None, *, parts: int = 1) -> Need | None:
    """What a value lacks to fit a schema; None if it fits. `root`: what its references lead into.

    `parts`: of how many values that were checked by themselves it is made, which all may take the most steps.
    """
    root = schema if root is None else root
    try:
        found = _Check(root, parts * MOST_STEPS).all(value, schema, "", 0, 0)
    except _TooMuch:
        return Need("less")
    return _with_sample(found, root) if found and found.key == "kind" else found


def _with_sample(need: Need, root: Json) -> Need:
    """What the kind of a value is to be, like the sample of its schema: made once, not at every refusal."""
    like = json.dumps(sample(need.args["like"], root), ensure_ascii=False)
    return Need(need.key, need.args | {"like": like}, need.at)


class _TooMuch(Exception):
    """A check that would take too long."""


class _Check:
    """One check; `depth` counts values within each other, `hops` the schemas of one and the same value."""

    def __init__(self, root: Json, steps: int) -> None:
        self._root, self._left = root, steps

    def all(self, value: Json, schema: Json, at: str, depth: int, hops: int) -> Need | None:
        self._take(1)
        if schema is False:
            return Need("no_key", {"name": at})
        if not isinstance(schema, dict) or depth > DEEPEST_VALUE or hops > DEEPEST:
            return None
        return next(filter(None, self._parts(value, schema, at, depth, hops)), None)

    def _take(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _TooMuch

    def _parts(
        self, value: Json, schema: dict[str, Json], at: str, depth: int, hops: int
    ) -> Iterator[Need | None]:
        if "$ref" in schema:
            yield self.all(value, target(schema["$ref"], self._root), at, depth, hops + 1)
        for key in ("anyOf", "oneOf"):
            if parts := listed(schema, key):
                yield self._one_of(value, parts, at, depth, hops + 1)
        for part in listed(schema, "allOf"):
            yield self.all(value, part, at, depth, hops + 1)
        yield self._own(value, schema, at)
        if isinstance(value, list):
            yield from self._items(value, schema, at, depth + 1)
        elif isinstance(value, dict):
            yield from self._properties(value, schema, at, depth + 1)

    def _one_of(self, value: Json, parts: list[Json], at: str, depth: int, hops: int) -> Need | None:
        """Of a union's refusals the one that came furthest: the others are about other forms."""
        refusals = []
        for part in parts:
            found = self.all(value, part, at, depth, hops)
            if found is None:
                return None
            refusals.append(found)
        return max(refusals, key=lambda need: (len(need.at), need.key != "kind"), default=None)

    def _own(self, value: Json, schema: dict[str, Json], at: str) -> Need | None:
        """What it says of this value alone."""
        kind = schema.get("type")
        kinds = [each for each in listed(schema, "type") or [kind] if isinstance(each, str)]
        if kinds and not any(_is(value, kind) for kind in kinds):
            return Need("kind", {"kinds": kinds, "like": schema}, at)  # a sample of it once it is told
        options = Shape(schema).options
        self._take(len(options or ()) // AT_ONCE)
        if options is not None and not any(_equal(value, option) for option in options):
            return Need("one_of", {"options": options}, at)
        found: Need | None = None
        if isinstance(value, str):
            found = self._text(value, schema)
        elif is_number(value):
            found = _number(value, schema)
        elif isinstance(value, list):
            found = _count(len(value), ranged("items", schema, "minItems", "maxItems"))
        elif isinstance(value, dict):
            found = _count(len(value), ranged("keys", schema, "minProperties", "maxProperties"))
        return found and Need(found.key, found.args, at)

    def _text(self, value: str, schema: dict[str, Json]) -> Need | None:
        if found := _count(len(value), ranged("characters", schema, "minLength", "maxLength")):
            return found
        if isinstance(schema.get("pattern"), str):
            if len(value) > patterns.LONGEST_TEXT:
                return Need("less")
            self._take(len(value) // 100)
            if not patterns.matches(schema["pattern"], value):
                return written(schema)
        name = schema.get("format")
        return None if formats.fits(name, value) else Need("like", {"like": formats.example(name)})

    def _items(
        self, value: list[Json], schema: dict[str, Json], at: str, depth: int
    ) -> Iterator[Need | None]:
        if schema.get("uniqueItems") is True and _is_twice(value):
            yield Need("once", {}, at)
        before = listed(schema, "prefixItems")
        for place, each in enumerate(value):
            part = before[place] if place < len(before) else schema.get("items")
            yield self.all(each, part, f"{at}[{place}]", depth, 0)

    def _properties(
        self, value: dict[str, Json], schema: dict[str, Json], at: str, depth: int
    ) -> Iterator[Need | None]:
        shape = Shape(schema)
        self._take(len(shape.required) // AT_ONCE)
        for name in shape.required:
            if name not in value:
                yield Need("key", {"name": name}, at)
        others, by_pattern = schema.get("additionalProperties"), schema.get("patternProperties")
        for name, item in value.items():
            place = f"{at}.{name}" if at else name
            if self.all(name, schema.get("propertyNames"), place, depth, 0):
                yield Need("no_key", {"name": name}, at)
            mine = [shape.properties[name]] if name in shape.properties else []
            if isinstance(by_pattern, dict):
                self._take(len(by_pattern) * (1 + len(name) // 100))
                mine += [part for pattern, part in by_pattern.items() if _named(pattern, name)]
            if not mine and others is False:
                yield Need("no_key", {"name": name}, at)
            for part in mine or [others]:
                yield self.all(item, part, place, depth, 0)


def _named(pattern: str, name: str) -> bool:
    return len(name) <= patterns.LONGEST_TEXT and patterns.matches(pattern, name)


def _count(found: int, need: Need | None) -> Need | None:
    if need is None:
        return None
    low, high = need.args["low"], need.args["high"]
    return None if (low is None or found >= low) and (high is None or found <= high) else need


def _number(value: float, schema: dict[str, Json]) -> Need | None:
    limits = number(schema)
    if limits is not None:
        low, high, above, below = (limits.args[key] for key in ("low", "high", "above", "below"))
        within = (low is None or value >= low) and (high is None or value <= high)
        if not (within and (above is None or value > above) and (below is None or value < below)):
            return limits
    step = Shape(schema).limit("multipleOf")
    return None if step is None or is_multiple(value, step) else Need("step", {"step": step})


def is_multiple(value: float, step: float) -> bool:
    """As they are written: 0.3 is three times 0.1. No number is a multiple of a step that is none."""
    if step <= 0:
        return True
    try:
        return EXACT.remainder(decimal.Decimal(str(value)), decimal.Decimal(str(step))) == 0
    except decimal.DecimalException:  # infinite, or further apart than any number here is
        return True


def _is_twice(value: list[Json]) -> bool:
    return len({json.dumps(_alike(each), sort_keys=True) for each in value}) < len(value)


def _alike(value: Json) -> Json:
    """1.0 is 1, as JSON has it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is(value: Json, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return is_number(value) and (isinstance(value, int) or value.is_integer())
        case "number":
            return is_number(value)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "null":
            return value is None
    return True  # no kind of JSON's forbids nothing


def _equal(one: Json, other: Json) -> bool:
    """As JSON has it: true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
