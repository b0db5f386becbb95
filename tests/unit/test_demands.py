"""Demands: what a schema says of an answer, whether one fits, and what is wrong with a schema itself."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerback.demands import bundled, faults, first, resolved, sample
from answerback.model import Json

# Each takes longer than anybody lives in an engine that goes back.
SLOW = [
    (r"^(a+)+$", "a" * 5000 + "!"),
    (r"(x+x+)+y", "x" * 5000),
    (r"^(.*a){30}$", "a" * 5000 + "!"),
    (r"(.*)*(.*)*(.*)*z", "y" * 5000),
]


def said(value: Json, schema: Json) -> str:
    found = first(value, schema)
    return found.said if found else ""


@pytest.mark.parametrize(
    ("schema", "fitting", "other", "why"),
    [
        ({"minLength": 3}, "abc", "ab", "it needs at least 3 characters"),
        ({"maxLength": 2}, "ab", "abc", "it needs at most 2 characters"),
        ({"minLength": 1}, "😀", "", "it needs at least 1 characters"),
        ({"pattern": "^[a-z]+$"}, "abc", "Abc", "it must match ^[a-z]+$"),
        ({"pattern": "b"}, "abc", "acd", "it must match b"),
        ({"pattern": r"^\d{4}$"}, "1010", "1010\n", r"it must match ^\d{4}$"),
        ({"pattern": "^A", "examples": ["A-1"]}, "A-2", "B", "it must be written like A-1"),
        ({"minimum": 2}, 2, 1.5, "it is out of range: at least 2"),
        ({"maximum": 2, "minimum": 0}, 0, 3, "it is out of range: at least 0 and at most 2"),
        ({"exclusiveMinimum": 0}, 0.1, 0, "it is out of range: more than 0"),
        ({"exclusiveMaximum": 1}, 0.9, 1, "it is out of range: less than 1"),
        ({"minimum": 1000000}, 1000000, 2, "it is out of range: at least 1000000"),
        ({"multipleOf": 5}, 15, 7, "it must be a multiple of 5"),
        ({"multipleOf": 0.1}, 0.3, 0.35, "it must be a multiple of 0.1"),
        ({"multipleOf": 0.01}, 19.99, 19.999, "it must be a multiple of 0.01"),
        ({"enum": [1, "a"]}, "a", True, "it must be one of 1, a"),
        ({"const": {"a": 1}}, {"a": 1}, {"a": 2}, 'it must be one of {"a": 1}'),
        ({"minItems": 2}, [1, 2], [1], "it has too few or too many items: at least 2"),
        ({"maxItems": 1}, [1], [1, 2], "it has too few or too many items: at most 1"),
        ({"uniqueItems": True}, [1, "1", True], [1, 1.0], "it has the same item twice"),
        ({"items": {"type": "string"}}, ["a"], ["a", 1], "[1] must be a text"),
        (
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            ["a", 1],
            ["a", "b"],
            "[1] must",
        ),
        ({"required": ["a"]}, {"a": 1}, {"b": 1}, "it lacks “a”"),
        ({"properties": {"a": {"minLength": 2}}}, {"a": "bc"}, {"a": "b"}, "a needs at least 2 characters"),
        (
            {"additionalProperties": False, "properties": {"a": {}}},
            {"a": 1},
            {"b": 1},
            "it has “b”, which is",
        ),
        ({"additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": "b"}, "a must be a whole number"),
        (
            {"patternProperties": {"^x": {"type": "integer"}}},
            {"a": ""},
            {"x1": ""},
            "x1 must be a whole number",
        ),
        ({"propertyNames": {"enum": ["a"]}}, {"a": 1}, {"b": 1}, "it has “b”, which is not asked for"),
        ({"minProperties": 1}, {"a": 1}, {}, "it has too few or too many keys: at least 1"),
        ({"type": ["string", "null"]}, None, 1, "it must be a text or null"),
        ({"type": "integer"}, 2.0, 2.5, "it must be a whole number"),
        ({"anyOf": [{"type": "integer"}, {"minLength": 2, "type": "string"}]}, 1, "a", "it needs at least 2"),
        ({"allOf": [{"minLength": 2}, {"maxLength": 3}]}, "ab", "abcd", "it needs at most 3 characters"),
        ({"properties": {"a": False}}, {}, {"a": 1}, "it has “a”, which is not asked for"),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"minLength": 2}}},
            "ab",
            "a",
            "it needs at least 2 characters",
        ),
        ({"$ref": "#/allOf/0", "allOf": [{"minLength": 2}]}, "ab", "a", "it needs at least 2 characters"),
        (
            {"properties": {"a": {"items": {"$ref": "#"}}}, "minProperties": 1},
            {"a": []},
            {"a": [{}]},
            "a[0] has",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(
    schema: Json, fitting: Json, other: Json, why: str
) -> None:
    assert said(fitting, schema) == ""
    assert why in said(other, schema)


@pytest.mark.parametrize(
    ("name", "fitting", "others"),
    [
        (
            "email",
            ["ana@example.org", "a+b@x", "ü@exämple.org"],
            ["ana", "ana@", "@x", "a b@x.org", "a@b@c", "a@b..c"],
        ),
        (
            "uri",
            ["https://example.org", "mailto:a@b.c", "urn:isbn:1"],
            ["example.org", "https:", "https://a b", "/x"],
        ),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123", "zzze4567-e89b-12d3-a456-426614174000"]),
        ("uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000", "a"]),
        ("ipv4", ["192.0.2.1"], ["192.0.2", "192.0.2.256"]),
        ("ipv6", ["2001:db8::1"], ["192.0.2.1", "::g"]),
        ("ipv4network", ["192.0.2.0/24"], ["192.0.2.1/24", "a"]),
        ("ipvanyaddress", ["192.0.2.1", "::1"], ["192.0.2.0/24", "a"]),
        ("hostname", ["example.org", "a", "exa-mple.org."], ["-a.org", "a b", "a..b", "a" * 300]),
        ("time", ["14:30", "14:30:00+01:00"], ["25:00", "half past two", "1430", "T14:30", "20261203"]),
        ("duration", ["PT10M", "P1DT2H", "P2W", "00:10:00", "3 days"], ["10 minutes", "P", "PT", "1:30"]),
        (
            "date",
            ["2026-12-03"],
            ["2026-13-03", "3 Dec", "2026-12-03T10:00:00Z", "20261203", "2026-W49-4", "0"],
        ),
        (
            "date-time",
            ["2026-12-03T10:00:00Z"],
            ["2026-12-03", "2026-12-03T10:00:00", "20261203T100000Z", "2026-12-03T10:00:00+01:00:30", "0"],
        ),
        ("of-my-own", ["anything"], []),
    ],
)
def test_formats_are_checked_by_name(name: str, fitting: list[str], others: list[str]) -> None:
    assert [text for text in fitting if first(text, {"format": name})] == []
    assert [text for text in others if not first(text, {"format": name})] == []


@pytest.mark.parametrize("schema", [{"minLength": "3"}, {"pattern": "("}, {"pattern": 7}, {"multipleOf": 0}])
def test_what_cannot_be_read_forbids_nothing(schema: Json) -> None:
    assert said("a", schema) == said(7, schema) == ""


# -- attacks


@pytest.mark.parametrize(("pattern", "text"), SLOW)
def test_no_text_makes_a_pattern_run_long(pattern: str, text: str) -> None:
    re.compile(pattern)  # it is one of Python's too
    assert first(text, {"pattern": pattern}) is not None
    assert faults({"pattern": pattern}).unusable == ()


@pytest.mark.parametrize("pattern", [r"^(?=.*\d)a+$", r"^(a+)\1$", r"^(?<!a)b", r"a{1000}" * 2000])
def test_a_pattern_that_could_run_long_is_not_matched_and_that_is_said(pattern: str) -> None:
    assert first("a" * 30 + "!", {"pattern": pattern}) is None
    (told,) = faults({"properties": {"code": {"pattern": pattern}}}).unusable
    assert told.startswith("code: the pattern ") and "not matched before the agent has the answer" in told


def test_a_text_that_is_too_long_to_be_matched_does_not_fit() -> None:
    assert first("a" * 10_000, {"pattern": "^a+$"}) is None
    assert said("a" * 10_001, {"pattern": "^a+$"}) == "it is too much to be checked"


def test_a_schema_that_asks_for_too_many_steps_refuses_instead_of_going_on() -> None:
    tree = {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/A"}}},
    }
    assert said([[1] * 50] * 50, tree) == ""
    assert said([[1] * 150] * 150, tree) == "it is too much to be checked"


def test_a_schema_that_leads_to_itself_comes_to_an_end() -> None:
    assert said("x", {"$ref": "#"}) == ""
    assert said("x", {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}) == ""
    deep: Json = "x"
    for _ in range(100):
        deep = [deep]
    assert "must be a list or a whole number" in said(
        deep, {"items": {"$ref": "#"}, "type": ["array", "integer"]}
    )


def _leading_on(width: int) -> dict[str, Json]:
    """An object whose every field is such an object."""
    return {
        "$ref": "#/$defs/A",
        "$defs": {
            "A": {"type": "object", "properties": {f"f{i}": {"$ref": "#/$defs/A"} for i in range(width)}}
        },
    }


def test_law_10_a_schema_that_stands_for_millions_of_values_is_shown_by_a_few() -> None:
    assert len(json.dumps(sample(_leading_on(200), _leading_on(200)))) < 100_000
    assert said("x", _leading_on(200)) == "it must be an object"
    assert said("x", {"anyOf": [_leading_on(200)] * 5_000, "$defs": _leading_on(200)["$defs"]}) == (
        "it must be an object"
    )


def test_references_that_lead_on_to_too_many_others_are_followed_to_an_end() -> None:
    parts: dict[str, Json] = {f"A{i}": {"allOf": [{"$ref": f"#/$defs/A{i + 1}"}] * 200} for i in range(9)}
    schema = {"$ref": "#/$defs/A0", "$defs": parts | {"A9": {"type": "object"}}}
    assert resolved(schema, schema).type == ""
    assert said("x", schema) == "it is too much to be checked"


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ([9_999] * 10_000, {"items": {"enum": [*range(10_000)]}}),
        ([{"a": 1}] * 10_000, {"items": {"required": ["a"] * 10_000}}),
        ({f"n{i}": 1 for i in range(10_000)}, {"patternProperties": {f"x{i}": {} for i in range(10_000)}}),
    ],
)
def test_what_has_to_be_looked_through_again_and_again_counts_as_steps(value: Json, schema: Json) -> None:
    assert said(value, schema) == "it is too much to be checked"


# -- one schema out of several


def test_of_two_limits_the_narrower_one_counts_whichever_comes_first() -> None:
    parts = [{"minLength": 5, "maxLength": 7}, {"minLength": 2, "maxLength": 9}]
    for order in (parts, parts[::-1]):
        shape = resolved({"type": "string", "allOf": order}, {}).schema
        assert (shape["minLength"], shape["maxLength"]) == (5, 7)


def test_what_cannot_be_one_stays_beside_it_and_counts_too() -> None:
    shape = resolved({"pattern": "^a", "allOf": [{"pattern": "b$"}]}, {}).schema
    assert (said("ab", shape), said("a", shape) != "", said("b", shape) != "") == ("", True, True)


def test_a_field_named_twice_has_to_be_both() -> None:
    one, other = ({"properties": {"a": {"type": "string", key: 2}}} for key in ("minLength", "maxLength"))
    shape = resolved({"allOf": [one, other]}, {}).schema
    assert [said({"a": text}, shape) == "" for text in ("a", "ab", "abc")] == [False, True, False]


KEYWORDS: dict[str, st.SearchStrategy[Json]] = {
    "type": st.sampled_from(["string", "integer", "number", "array", "object", "boolean", "null"]),
    "minLength": st.integers(0, 3),
    "maxLength": st.integers(0, 3),
    "minimum": st.integers(-3, 3),
    "maximum": st.integers(-3, 3),
    "exclusiveMinimum": st.sampled_from([-1, 0, 0.5, 2]),
    "exclusiveMaximum": st.sampled_from([-1, 0, 0.5, 2]),
    "multipleOf": st.sampled_from([0.5, 1, 2, 3]),
    "minItems": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "enum": st.lists(st.sampled_from([1, "a", "ab", None, True]), min_size=1, max_size=3),
    "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
    "pattern": st.sampled_from(["a", "^b", "(?=a)", "("]),
    "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B", "#", "#/$defs/no"]),
}


def _with_parts(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    parts: dict[str, st.SearchStrategy[Json]] = {
        "items": inner,
        "additionalProperties": inner | st.booleans(),
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
    }
    return st.fixed_dictionaries({}, optional={**KEYWORDS, **parts})


PLAIN = st.fixed_dictionaries({}, optional=KEYWORDS)
SCHEMAS = st.recursive(PLAIN, _with_parts, max_leaves=4)
WHOLE = st.builds(lambda schema, a, b: {**schema, "$defs": {"A": a, "B": b}}, SCHEMAS, SCHEMAS, SCHEMAS)
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2, -1, 0.5, "", "a", "ab", "b"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=4,
)
unhurried = settings(deadline=None)


def test_law_8_what_is_bundled_keeps_what_its_parts_refer_to() -> None:
    """As a model of Pydantic does that has another one in it, which has a third."""
    street = {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}}
    customer = {"type": "object", "required": ["at"], "properties": {"at": {"$ref": "#/$defs/Address"}}}
    parts = {"Address": street, "Customer": customer}
    order = {"type": "object", "properties": {"customer": {"$ref": "#/$defs/Customer"}}, "$defs": parts}
    bundle = bundled(order, order)
    assert first({"customer": {"at": {"street": "Elm"}}}, bundle) is None
    assert first({"customer": {"at": {}}}, bundle) is not None
    assert first({"customer": {}}, bundle) is not None


@given(schema=WHOLE, value=VALUES)
@unhurried
def test_what_is_bundled_takes_the_same_values(schema: dict[str, Any], value: Json) -> None:
    assert (first(value, bundled(schema, schema)) is None) == (first(value, schema) is None)


def test_law_8_what_is_put_together_loses_nothing_that_must_hold_beside_it() -> None:
    """A pattern beside the pattern of what is referred to, and more that must hold."""
    code = {"type": "string", "pattern": "^b"}
    short = {"allOf": [{"maxLength": 2}]}
    schema = {"$ref": "#/$defs/Code", "pattern": "a", **short, "$defs": {"Code": code}}
    whole = resolved(schema, schema).schema
    assert [first(value, whole) is None for value in ("ba", "a", "b", "bca")] == [True, False, False, False]


@given(schema=WHOLE, value=VALUES)
@unhurried
def test_what_is_put_together_takes_the_same_values(schema: dict[str, Any], value: Json) -> None:
    shape = resolved(schema, schema)
    if value is None and shape.nullable:
        return
    alone, together = first(value, schema), first(value, bundled(shape.schema, schema))
    if "too much" not in (alone.said if alone else "") + (together.said if together else ""):
        assert (alone is None) == (together is None)


# -- what is wrong with a schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strnig"}, "type “strnig” is none of array, boolean,"),
        ({"minLength": "3"}, "minLength “3” is no whole number of 0 or more"),
        ({"maxItems": -1}, "maxItems -1 is no whole number of 0 or more"),
        ({"minimum": "low"}, "minimum “low” is no number, so it forbids nothing"),
        ({"exclusiveMinimum": True}, "exclusiveMinimum true is no number"),
        ({"multipleOf": 0}, "multipleOf 0 is not more than 0"),
        ({"enum": []}, "enum is empty"),
        ({"enum": "ab"}, "enum “ab” is no list"),
        ({"required": "a"}, "required “a” is no list"),
        ({"properties": []}, "properties [] is no object"),
        ({"items": 7}, "7 is no schema"),
        ({"pattern": "("}, "the pattern “(” is no regular expression (missing ), unterminated subpattern"),
        ({"pattern": 7}, "pattern 7 is no text"),
        ({"$ref": "#/$defs/no"}, "$ref “#/$defs/no” leads nowhere in the schema"),
        ({"$ref": "https://example.org/x"}, "leads nowhere in the schema"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_place(schema: Json, why: str) -> None:
    (told,) = faults({"type": "object", "properties": {"a": {"properties": {"b": schema}}}}).unusable
    assert told.startswith("a.b") and why in told
    assert faults({"properties": {"a": schema}}).impossible == ""


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength is 5 and maxLength is 3"),
        ({"type": "integer", "minimum": 5, "maximum": 3}, "no whole number fits"),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, "no whole number fits"),
        ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "no whole number fits"),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 1}, "no number fits"),
        (
            {"type": "number", "minimum": 1, "maximum": 4, "multipleOf": 5},
            "multipleOf is 5, which no number fits",
        ),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 5, "multipleOf": 5}, "no number fits"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "minItems is 3 and maxItems is 2"),
        (
            {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"enum": [1, 2]}},
            "only 2 different",
        ),
        (
            {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 2, "maxLength": 1}},
            "[]: min",
        ),
        ({"enum": ["a", "bc"], "minLength": 3}, "none of “a”, “bc” fits what else is demanded"),
        ({"type": "integer", "enum": ["1"]}, "none of “1” fits"),
        ({"type": "object", "required": ["x"], "properties": {"x": False}}, "field.x is false"),
        ({"anyOf": [{"enum": [1], "type": "string"}, False]}, "none of 1 fits"),
        (
            {"allOf": [{"type": "string", "minLength": 5}, {"maxLength": 3}]},
            "minLength is 5 and maxLength is 3",
        ),
        ({"$ref": "#/$defs/A"}, "minLength is 2 and maxLength is 1"),
    ],
)
def test_what_nothing_fits_is_said_if_it_must_be_there(schema: Json, why: str) -> None:
    parts = {"A": {"type": "string", "minLength": 2, "maxLength": 1}}
    form = {"type": "object", "properties": {"field": schema}, "$defs": parts}
    told = faults({**form, "required": ["field"]}).impossible
    assert told.startswith("field") and why in told
    assert faults(form).impossible == ""
    optional = {"anyOf": [schema, {"type": "null"}]}
    assert faults({**form, "properties": {"field": optional}, "required": ["field"]}).impossible == ""


@given(schema=WHOLE, value=VALUES)
@unhurried
def test_what_is_said_to_be_impossible_takes_no_value(schema: dict[str, Any], value: Json) -> None:
    if faults(schema).impossible:
        assert first(value, schema) is not None
