"""Bundling: what a schema demands as a schema of its own, without what it refers to elsewhere."""

from answerback.demands import formats
from answerback.demands.shapes import listed, target
from answerback.model import Json

# What checks a value by itself; a name that stands nowhere here is left out.
PLAIN = frozenset({
    "type", "enum", "const", "required", "pattern", "format", "multipleOf", "uniqueItems",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength",
    "minItems", "maxItems", "minProperties", "maxProperties",
})  # fmt: skip
ONE = frozenset({"items", "additionalProperties", "propertyNames"})
SEVERAL = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
NAMED = frozenset({"properties", "patternProperties"})


def bundled(schema: dict[str, Json], root: Json) -> dict[str, Json]:
    """Only what checks a value, and the examples of how it is written; {} for what forbids nothing."""
    known: dict[str, str] = {}  # references, and what they are called in the bundle
    parts: dict[str, Json] = {}
    found: dict[str, Json] = _copied(schema, root, known, parts)
    return found | {"$defs": parts} if parts else found


def _copied(schema: Json, root: Json, known: dict[str, str], parts: dict[str, Json]) -> Json:
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    found: dict[str, Json] = {key: value for key, value in schema.items() if key in PLAIN}
    if not formats.example(found.get("format")):
        found.pop("format", None)
    for key in ONE & schema.keys():
        found[key] = _copied(schema[key], root, known, parts)
    for key in SEVERAL:
        if several := listed(schema, key):
            found[key] = [_copied(part, root, known, parts) for part in several]
    for key in NAMED & schema.keys():
        if isinstance(schema[key], dict):
            found[key] = {name: _copied(part, root, known, parts) for name, part in schema[key].items()}
    if "$ref" in schema and (reference := _referred(schema["$ref"], root, known, parts)):
        found["$ref"] = reference
    if found and (examples := [each for each in listed(schema, "examples") if isinstance(each, str)]):
        found["examples"] = examples[:1]
    return found


def _referred(reference: Json, root: Json, known: dict[str, str], parts: dict[str, Json]) -> str:
    aim = target(reference, root)
    if aim is None:
        return ""
    if reference not in known:
        name = str(len(known))  # before what it refers to itself gets one
        known[reference] = f"#/$defs/{name}"
        parts[name] = _copied(aim, root, known, parts)
    return known[reference]
