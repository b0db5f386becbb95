"""Values: what can be stored goes in and comes back the same, everything else is refused with a sentence."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.errors import DoesNotFit
from answerback.values import DEPTH, canonical, check, parse, unstorable

# A loaded machine is slow, which says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

storable = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | storable,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(storable, inner, max_size=5),
)


@settings(unhurried)
@given(values)
def test_what_is_canonical_is_read_back_the_same(value):
    text = canonical(value)
    assert text.isascii()
    assert parse(text) == value
    assert canonical(parse(text.encode())) == text


def test_keys_are_sorted_and_nothing_is_padded():
    assert canonical({"b": 1, "a": ["é", None]}) == '{"a":["\\u00e9",null],"b":1}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2**63, "64 bits"),
        (-(2**63) - 1, "64 bits"),
        (2**70, "64 bits"),
        (float("nan"), "not finite"),
        (float("-inf"), "not finite"),
        ("a\ud83d", "U+D83D at position 2"),
        ({"\ud83d": 1}, "U+D83D at position 1"),
        (["nul\0"], "U+0000 at position 4"),
        ({1: "a"}, "type int; keys must be texts"),
        ({"a": b"bytes"}, "type bytes is not JSON"),
        ({"a": {1, 2}}, "type set is not JSON"),
        ("x" * 300_000, "262144 bytes"),
        ("é" * 100_000, "262144 bytes"),
    ],
)
def test_what_no_store_can_keep_is_refused_with_a_sentence(value, said):
    with pytest.raises(DoesNotFit) as refused:
        canonical(value)
    assert said in refused.value.detail
    assert refused.value.detail.endswith(".")


def nested(depth: int):
    value: list = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_a_hundred_levels_fit_and_one_more_does_not():
    assert parse(canonical(nested(DEPTH))) == nested(DEPTH)
    for refused in (lambda: canonical(nested(DEPTH + 1)), lambda: parse("[" * 101 + "]" * 101)):
        with pytest.raises(DoesNotFit, match="more than 100 deep"):
            refused()


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 40_000, '[{"a":' * 40_000, '"' + '\\"' * 120_000])
def test_hostile_nesting_is_refused_without_recursion(text):
    with pytest.raises(DoesNotFit):
        parse(text)


def test_a_value_that_contains_itself_is_refused():
    value: list = []
    value.append(value)
    with pytest.raises(DoesNotFit):
        check(value)
    wide: dict = {}
    wide.update({str(number): wide for number in range(50)})
    with pytest.raises(DoesNotFit):
        check(wide)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "same key twice"),
        ('[{"a": {"b": 1, "b": 1}}]', "same key twice"),
        ("NaN", "NaN is not a number"),
        ("[-Infinity]", "-Infinity is not a number"),
        ("1e999", "too large"),
        ("1" * 5000, "64 bits"),
        ("18446744073709551615", "64 bits"),
        ('"\\ud83d"', "U+D83D"),
        ('"\\u0000"', "U+0000"),
        ("", "not JSON"),
        ("yes", "not JSON"),
        ('{"a": 1} x', "not JSON"),
        (b'"\xff"', "not UTF-8: byte 2"),
        ("\ufeff1", "not JSON"),
        (" " * 300_000, "262144 bytes"),
    ],
)
def test_json_with_freedoms_is_refused_with_a_sentence(text, said):
    with pytest.raises(DoesNotFit) as refused:
        parse(text)
    assert said in refused.value.detail


@settings(unhurried)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_parsing_anything_gives_a_value_or_does_not_fit(raw):
    try:
        value = parse(raw)
    except DoesNotFit:
        return
    assert json.loads(raw) == value


def test_brackets_inside_texts_do_not_count_as_depth():
    text = json.dumps("[{" * 500 + '"' + "\\")
    assert parse(text) == json.loads(text)


def test_the_limit_is_the_callers_to_set():
    assert canonical("12345678", limit=10) == '"12345678"'
    with pytest.raises(DoesNotFit, match="10 bytes"):
        canonical("123456789", limit=10)
    with pytest.raises(DoesNotFit, match="10 bytes"):
        parse('"123456789"', limit=10)


def test_the_character_that_cannot_be_kept_is_named():
    assert unstorable("fine 👍 \n") == ""
    assert unstorable("ab\0") == "U+0000 at position 3"
