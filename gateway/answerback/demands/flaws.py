"""Flaws of a schema itself, for whoever wrote it: what is not checked, and what nothing can fit."""

import decimal
import math
from collections.abc import Iterator
from dataclasses import dataclass

from answerback.demands import patterns
from answerback.demands.bundling import NAMED, ONE, SEVERAL
from answerback.demands.checking import EXACT, first
from answerback.demands.shapes import Shape, figure, inline, is_number, listed, resolved, target
from answerback.model import Json

MOST = 20  # that are told
DEEPEST = 6  # schemas within each other: what nothing fits stands further up, as a rule
TYPES = frozenset({"string", "boolean", "integer", "number", "object", "array", "null"})
COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
LISTS = ("enum", "required", *SEVERAL)


@dataclass(frozen=True, slots=True)
class Faults:
    """Sentences. `unusable`: each demand that is not checked; `impossible`: why nothing fits, or ""."""

    unusable: tuple[str, ...] = ()
    impossible: str = ""


def faults(schema: Json) -> Faults:
    """What is wrong with a schema. It is looked through once, and references are not followed twice."""
    found = [f"{at or 'The schema'}: {what}." for at, what in _unusable(schema, schema, "")]
    why = _impossible(schema, schema, "", 0)
    return Faults(tuple(dict.fromkeys(found))[:MOST], f"{why}." if why else "")


def _unusable(schema: Json, root: Json, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict):
        if not isinstance(schema, bool):
            yield at, f"{_shown(schema)} is no schema, so it forbids nothing"
        return
    yield from ((at, what) for what in _own(schema, root))
    for key in ONE & schema.keys():
        yield from _unusable(schema[key], root, f"{at}[]" if key == "items" else f"{at}.*".lstrip("."))
    for key in SEVERAL:
        for part in listed(schema, key):
            yield from _unusable(part, root, at)
    for key in (*NAMED, "$defs"):
        if isinstance(schema.get(key), dict):
            for name, part in schema[key].items():
                yield from _unusable(part, root, f"{at}.{name}".lstrip("."))


def _own(schema: dict[str, Json], root: Json) -> Iterator[str]:
    ignored = "so it forbids nothing"
    kinds = listed(schema, "type") or ([schema["type"]] if "type" in schema else [])
    for kind in kinds:
        if kind not in TYPES if isinstance(kind, str) else True:
            yield f"type {_shown(kind)} is none of {', '.join(sorted(TYPES))}, {ignored}"
    for key in COUNTS:
        if key in schema and not _is_count(schema[key]):
            yield f"{key} {_shown(schema[key])} is no whole number of 0 or more"
    for key in LIMITS:
        if key in schema and not is_number(schema[key]):
            yield f"{key} {_shown(schema[key])} is no number, {ignored}"
    if is_number(schema.get("multipleOf")) and schema["multipleOf"] <= 0:
        yield f"multipleOf {_shown(schema['multipleOf'])} is not more than 0, {ignored}"
    for key in LISTS:
        if key in schema and not listed(schema, key) and schema[key] != []:
            yield f"{key} {_shown(schema[key])} is no list, {ignored}"
    if schema.get("enum") == []:
        yield f"enum is empty, {ignored}"
    for key in NAMED & schema.keys():
        if not isinstance(schema[key], dict):
            yield f"{key} {_shown(schema[key])} is no object, {ignored}"
    yield from _patterns(schema)
    if "$ref" in schema and target(schema["$ref"], root) is None:
        yield f"$ref {_shown(schema['$ref'])} leads nowhere in the schema, {ignored}"


def _patterns(schema: dict[str, Json]) -> Iterator[str]:
    if "pattern" in schema and not isinstance(schema["pattern"], str):
        yield f"pattern {_shown(schema['pattern'])} is no text, so it forbids nothing"
    by_pattern = schema.get("patternProperties")
    for pattern in (schema.get("pattern"), *(by_pattern if isinstance(by_pattern, dict) else ())):
        if isinstance(pattern, str) and (why := patterns.fault(pattern)):
            yield f"the pattern {why}"


def _impossible(schema: Json, root: Json, at: str, depth: int) -> str:
    """Why no value fits, as a sentence without its end; "" if one may. What is left out is no trouble."""
    where = at or "The schema"
    if schema is False:
        return f"{where} is false, which nothing fits"
    shape = resolved(schema, root)
    if depth > DEEPEST or shape.nullable:
        return ""
    for key in ("anyOf", "oneOf"):
        parts = [_impossible(part, root, at, depth + 1) for part in listed(shape.schema, key)]
        if parts and all(parts):
            return parts[0]
    if shape.options is not None:
        if any(first(option, shape.schema, root) is None for option in shape.options):
            return ""
        return f"{where}: none of {', '.join(map(_shown, shape.options))} fits what else is demanded"
    match shape.type:
        case "string":
            return _crossed(where, shape, "minLength", "maxLength")
        case "integer" | "number":
            return _no_number(where, shape)
        case "array":
            return _no_list(where, shape, root, at, depth)
        case "object":
            return _no_object(where, shape, root, at, depth)
    return ""


def _crossed(where: str, shape: Shape, low: str, high: str) -> str:
    least, most = shape.limit(low), shape.limit(high)
    if least is None or most is None or least <= most:
        return ""
    return f"{where}: {low} is {figure(least)} and {high} is {figure(most)}, which nothing fits"


def _no_number(where: str, shape: Shape) -> str:
    set_ = {key: limit for key in LIMITS if (limit := shape.limit(key)) is not None}
    low = max((limit for key, limit in set_.items() if key in ("minimum", "exclusiveMinimum")), default=None)
    high = min((limit for key, limit in set_.items() if key in ("maximum", "exclusiveMaximum")), default=None)
    steps = [step for step in (set_.get("multipleOf"), 1 if shape.type == "integer" else None) if step]
    if low is None or high is None or not all(map(math.isfinite, (low, high))):
        return ""
    crossed = low > high or (
        low == high and low in (set_.get("exclusiveMinimum"), set_.get("exclusiveMaximum"))
    )
    if crossed or any(_no_multiple(low, high, step, set_) for step in steps):
        said = ", ".join(f"{key} is {figure(limit)}" for key, limit in set_.items())
        return f"{where}: {said}, which no {'whole ' if shape.type == 'integer' else ''}number fits"
    return ""


def _no_multiple(low: float, high: float, step: float, limits: dict[str, float]) -> bool:
    """Whether no multiple of a step lies within the limits."""
    if step <= 0:
        return False
    width = decimal.Decimal(str(step))
    count = EXACT.divide(decimal.Decimal(str(low)), width).to_integral_value(decimal.ROUND_CEILING)
    least = EXACT.multiply(count, width)
    if limits.get("exclusiveMinimum") is not None and least == decimal.Decimal(str(low)) == decimal.Decimal(
        str(limits["exclusiveMinimum"])
    ):
        least += width
    most = decimal.Decimal(str(high))
    is_open = limits.get("exclusiveMaximum") == high
    return least > most or (is_open and least == most)


def _no_list(where: str, shape: Shape, root: Json, at: str, depth: int) -> str:
    if why := _crossed(where, shape, "minItems", "maxItems"):
        return why
    least = shape.limit("minItems") or 0
    options = resolved(shape.schema.get("items"), root).options
    if options is not None and shape.schema.get("uniqueItems") is True and least > len(options):
        return f"{where}: minItems is {figure(least)}, and only {len(options)} different items are possible"
    return _impossible(shape.schema.get("items", True), root, f"{at}[]", depth + 1) if least > 0 else ""


def _no_object(where: str, shape: Shape, root: Json, at: str, depth: int) -> str:
    for name in shape.required:
        part = shape.properties.get(name, True)
        if why := _impossible(part, root, f"{at}.{name}".lstrip("."), depth + 1):
            return why
    return _crossed(where, shape, "minProperties", "maxProperties")


def _is_count(value: Json) -> bool:
    return is_number(value) and value >= 0 and float(value).is_integer()


def _shown(value: Json) -> str:
    text = f"“{value}”" if isinstance(value, str) else inline(value)
    return text if len(text) <= 80 else text[:79] + "…"
