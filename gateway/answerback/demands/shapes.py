"""Shapes: JSON Schemas as they come with interrupts, mostly from Pydantic, without their detours."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from answerback.demands import formats
from answerback.model import Json

DEEPEST = 12  # of references and unions that lead on to others: one may lead to itself, even twice
MOST = 2_000  # steps on that way, for a shape or a sample: each may lead on to many others
ABOUT = frozenset({"title", "description", "default", "examples"})  # said to people, and forbids nothing
LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


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
        return _dict(self.schema, "properties")

    @property
    def required(self) -> list[str]:
        """The names of the fields that must be there."""
        return [name for name in listed(self.schema, "required") if isinstance(name, str)]

    def limit(self, key: str) -> float | None:
        """A number that the schema sets; None if it does not."""
        found = self.schema.get(key)
        return found if is_number(found) else None

    @property
    def options(self) -> list[Json] | None:
        """The values of an enumeration; None if it is none."""
        if "const" in self.schema:
            return [self.schema["const"]]
        return listed(self.schema, "enum") or None


class _Way:
    """Steps through one schema, and how many are left: ten lines of a schema can stand for millions."""

    def __init__(self, root: Json) -> None:
        self.root, self._left = root, MOST

    @property
    def ends(self) -> bool:
        return self._left <= 0

    def step(self) -> bool:
        """Go one further; False at the end."""
        self._left -= 1
        return not self.ends


def resolved(schema: Json, root: Json) -> Shape:
    """Follow references, put what stands in `allOf` together, look through a union of one thing and null.

    What leads on for too long forbids nothing.
    """
    return _resolved(schema, _Way(root), 0)


def _resolved(schema: Json, way: _Way, depth: int) -> Shape:
    if not isinstance(schema, dict) or depth > DEEPEST or not way.step():
        return Shape({})
    if "$ref" in schema:
        found = _resolved(target(schema["$ref"], way.root), way, depth + 1)
        return Shape(_joined(found.schema, _without(schema, "$ref")), found.nullable)
    if listed(schema, "allOf"):
        whole: dict[str, Json] = {}
        for part in schema["allOf"]:
            whole = _joined(whole, _resolved(part, way, depth + 1).schema)
        return Shape(_joined(whole, _without(schema, "allOf")))
    parts = listed(schema, "anyOf") or listed(schema, "oneOf")
    if not parts:
        return _without_null(schema)
    real = [part for part in parts if part != {"type": "null"}]
    if len(real) != 1:
        return Shape(schema, len(real) < len(parts))
    found = _resolved(real[0], way, depth + 1)
    nullable = found.nullable or len(real) < len(parts)
    return Shape(_joined(found.schema, _without(schema, "anyOf", "oneOf")), nullable)


def branches(schema: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    """What the `type` of an answer may be, where that tells its forms apart, each with its form."""
    whole = resolved(schema, schema).schema
    for form in listed(whole, "oneOf") or listed(whole, "anyOf") or [whole]:
        shape = resolved(form, schema)
        tag = resolved(shape.properties.get("type"), schema)
        yield from ((each, shape.schema) for each in tag.options or () if isinstance(each, str))


def sample(schema: Json, root: Json) -> Json:
    """A value of about this shape, to show what is meant."""
    return _sample(schema, _Way(root), 0)


def _sample(schema: Json, way: _Way, depth: int) -> Json:
    shape = _resolved(schema, way, 0)
    if depth > 3 or way.ends or shape.schema.get("default") is not None:
        return shape.schema.get("default", "…")
    for known in (listed(shape.schema, "examples"), shape.options):
        if known:
            return known[0]
    if shape.type == "object":
        return {name: _sample(part, way, depth + 1) for name, part in shape.properties.items()}
    if shape.type == "array":
        parts = listed(shape.schema, "prefixItems") or [shape.schema.get("items")]
        return [_sample(part, way, depth + 1) for part in parts]
    if shape.type == "string" and (like := formats.example(shape.schema.get("format"))):
        return like
    return {"boolean": True, "integer": 1, "number": 1.5, "null": None}.get(shape.type, "…")


def target(reference: Json, root: Json) -> Json:
    """What a reference into the schema itself names; None for any other."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            found = (
                found[int(name)] if name.isascii() and name.isdecimal() and int(name) < len(found) else None
            )
        else:
            found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict | bool) else None


def inline(value: Json) -> str:
    """A value in one line: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def figure(value: float) -> str:
    """A number as it is written: 1000000, 2.5."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def listed(schema: dict[str, Json], key: str) -> list[Json]:
    """A list of the schema's; [] if it has none there."""
    found = schema.get(key)
    return found if isinstance(found, list) else []


def is_number(value: Json) -> bool:
    """Whether it is one in JSON's sense, where true is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _joined(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    """Both: of two limits the narrower one, and in `allOf` what can be only beside the first."""
    whole, beside = dict(one), listed(one, "allOf")
    for key, value in other.items():
        known = whole.get(key)
        if key == "allOf" and isinstance(value, list):
            beside = [*beside, *(part for part in value if part not in beside)]
        elif key not in whole or key in ABOUT or known == value:
            whole[key] = value
        elif key in LOWER | UPPER and is_number(known) and is_number(value):
            whole[key] = max(known, value) if key in LOWER else min(known, value)
        elif key == "required" and isinstance(known, list) and isinstance(value, list):
            whole[key] = [*known, *(name for name in value if name not in known)]
        elif key == "properties" and isinstance(known, dict) and isinstance(value, dict):
            both = {name: {"allOf": [known[name], value[name]]} for name in known.keys() & value.keys()}
            whole[key] = known | value | {name: both[name] for name in both if known[name] != value[name]}
        elif key != "$defs":
            beside = [*beside, {key: value}]
    return whole | {"allOf": beside} if beside else whole


def _without(schema: dict[str, Json], *keys: str) -> dict[str, Json]:
    return {key: value for key, value in schema.items() if key not in keys}


def _without_null(schema: dict[str, Json]) -> Shape:
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return Shape(schema)
    real = [kind for kind in kinds if kind != "null"]
    return Shape({**schema, "type": real[0]} if len(real) == 1 else schema, len(real) < len(kinds))


def _dict(schema: dict[str, Json], key: str) -> dict[str, Json]:
    found = schema.get(key)
    return found if isinstance(found, dict) else {}
