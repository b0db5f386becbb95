"""Shapes: reads JSON Schemas as they come with interrupts, mostly from Pydantic, and checks values by them.

Read are: types, enumerations, limits, required and additional properties, items, patterns, unions, and
references into the schema itself (JSON Schema 2020-12). What is not read forbids nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from answerback.model import Json
from answerback_agents.dialects.reading import inline

DEEPEST = 16  # of schemas within each other: one may refer to itself, even twice
LONGEST_MATCHED = 2000  # characters: a pattern of the agent's is tried on no longer text
KINDS: dict[str, Any] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
    "null": type(None),
}
NAMES = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "array": "a list",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema without its references and without the null beside it, which is said in `nullable`."""

    schema: dict[str, Json]
    nullable: bool = False

    @property
    def type(self) -> str:
        kind = self.schema.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def properties(self) -> dict[str, Json]:
        """The schemas of an object's fields; {} if none are named."""
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> list[Json]:
        """The names of the fields that must be there."""
        return _list(self.schema, "required")

    def limit(self, key: str) -> float | None:
        """A number that the schema sets; None if it does not."""
        found = self.schema.get(key)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    @property
    def options(self) -> list[Json] | None:
        """The values of an enumeration; None if it is none."""
        if "const" in self.schema:
            return [self.schema["const"]]
        return _list(self.schema, "enum") or None


def resolved(schema: Json, root: Json, depth: int = 0) -> Shape:
    """Follow references, and look through a union of one thing and null."""
    if not isinstance(schema, dict) or depth > DEEPEST:
        return Shape({})
    if "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        found = resolved(_target(schema["$ref"], root), root, depth + 1)
        return Shape({**found.schema, **beside}, found.nullable)
    if _list(schema, "allOf"):
        return _merged(schema, root, depth)
    parts = _list(schema, "anyOf") or _list(schema, "oneOf")
    if not parts:
        return _without_null(schema)
    real = [part for part in parts if part != {"type": "null"}]
    if len(real) != 1:
        return Shape(schema, len(real) < len(parts))
    beside = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
    found = resolved(real[0], root, depth + 1)
    return Shape({**found.schema, **beside}, found.nullable or len(real) < len(parts))


def _merged(schema: dict[str, Json], root: Json, depth: int) -> Shape:
    """All parts together; what stands beside them counts most."""
    whole: dict[str, Json] = {}
    for part in schema["allOf"]:
        whole |= resolved(part, root, depth + 1).schema
    return Shape(whole | {key: value for key, value in schema.items() if key != "allOf"})


def branches(schema: Json) -> Iterator[str]:
    """What the `type` of an answer may be, where that tells its forms apart."""
    whole = resolved(schema, schema).schema
    for form in _list(whole, "oneOf") or _list(whole, "anyOf") or [whole]:
        tag = resolved(form, schema).properties.get("type")
        yield from (each for each in resolved(tag, schema).options or () if isinstance(each, str))


def problem(value: Json, schema: Json, root: Json, at: str = "", depth: int = 0) -> str:
    """Why a value does not fit a schema, as a sentence's end with the place; "" if it does."""
    if not isinstance(schema, dict) or depth > DEEPEST:
        return ""
    if "$ref" in schema and (found := problem(value, _target(schema["$ref"], root), root, at, depth + 1)):
        return found
    for key in ("anyOf", "oneOf"):
        tried = [problem(value, part, root, at, depth + 1) for part in _list(schema, key)]
        if tried and all(tried):
            return _closest(tried)
    for part in _list(schema, "allOf"):
        if found := problem(value, part, root, at, depth + 1):
            return found
    return _own(value, schema, root, at, depth)


def sample(schema: Json, root: Json, depth: int = 0) -> Json:
    """A value of about this shape, to show what is meant."""
    shape = resolved(schema, root)
    if depth > 3 or shape.schema.get("default") is not None:
        return shape.schema.get("default", "…")
    if options := shape.options:
        return options[0]
    if shape.type == "object":
        return {name: sample(part, root, depth + 1) for name, part in shape.properties.items()}
    if shape.type == "array":
        return [sample(shape.schema.get("items"), root, depth + 1)]
    return {"boolean": True, "integer": 1, "number": 1.5}.get(shape.type, "…")


def _own(value: Json, schema: dict[str, Json], root: Json, at: str, depth: int) -> str:
    kind = schema.get("type")
    wanted = [each for each in _list(schema, "type") or [kind] if isinstance(each, str)]
    if wanted and not any(_is(value, kind) for kind in wanted):
        return _said(at, f"must be {' or '.join(_named(kind) for kind in wanted)}")
    options = Shape(schema).options
    if options is not None and not any(_equal(value, option) for option in options):
        return _said(at, f"must be one of {', '.join(map(inline, options))}")
    if isinstance(value, str):
        return _text(value, schema, at)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, schema, at)
    if isinstance(value, list):
        return _items(value, schema, root, at, depth)
    return _properties(value, schema, root, at, depth) if isinstance(value, dict) else ""


def _text(value: str, schema: dict[str, Json], at: str) -> str:
    low, high = Shape(schema).limit("minLength"), Shape(schema).limit("maxLength")
    if low is not None and len(value) < low:
        return _said(at, f"needs at least {low} characters")
    if high is not None and len(value) > high:
        return _said(at, f"takes at most {high} characters")
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return ""
    try:
        fits = len(value) <= LONGEST_MATCHED and re.search(pattern, value)
    except re.error:  # it is written for another engine
        return ""
    return "" if fits else _said(at, f"must match {pattern}")


def _number(value: float, schema: dict[str, Json], at: str) -> str:
    limit = Shape(schema).limit
    low, high, above, below = map(limit, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
    fits = (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    )
    return "" if fits else _said(at, "is out of range")


def _items(value: list[Json], schema: dict[str, Json], root: Json, at: str, depth: int) -> str:
    low, high = Shape(schema).limit("minItems"), Shape(schema).limit("maxItems")
    if (low is not None and len(value) < low) or (high is not None and len(value) > high):
        return _said(at, "has too few or too many items")
    items = schema.get("items")
    found = (problem(each, items, root, f"{at}[{place}]", depth + 1) for place, each in enumerate(value))
    return next(filter(None, found), "")


def _properties(value: dict[str, Json], schema: dict[str, Json], root: Json, at: str, depth: int) -> str:
    missing = [name for name in Shape(schema).required if isinstance(name, str) and name not in value]
    if missing:
        return _said(at, f"lacks “{missing[0]}”")
    known = Shape(schema).properties
    others = schema.get("additionalProperties")
    for name, item in value.items():
        if name not in known and others is False:
            return _said(at, f"has “{name}”, which is not asked for")
        if found := problem(item, known.get(name, others), root, f"{at}.{name}" if at else name, depth + 1):
            return found
    return ""


def _closest(tried: list[str]) -> str:
    """Of a union's refusals, the one that came furthest: the others are about other forms."""
    return max(tried, key=lambda said: len(said.partition(" ")[0]))


def _said(at: str, what: str) -> str:
    return f"{at or 'it'} {what}"


def _named(kind: str) -> str:
    return NAMES.get(kind, kind)


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return kind not in KINDS or isinstance(value, KINDS[kind])


def _equal(one: Json, other: Json) -> bool:
    """As JSON has it: true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _without_null(schema: dict[str, Json]) -> Shape:
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return Shape(schema)
    real = [kind for kind in kinds if kind != "null"]
    return Shape({**schema, "type": real[0]} if len(real) == 1 else schema, len(real) < len(kinds))


def _target(reference: Json, root: Json) -> Json:
    """What a reference into the schema itself names; {} for any other."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    found = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _list(schema: dict[str, Json], key: str) -> list[Json]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
