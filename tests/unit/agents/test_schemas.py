"""Forms: a `response_schema` as questions, one a field, and the answers as a value that fits it."""

import contextlib
import datetime
import enum
import ipaddress
import itertools
import json
import uuid
from typing import Annotated, Any, Literal, Union

import hypothesis.strategies as st
import pydantic
import pytest
from hypothesis import given, settings

from answerback.errors import DoesNotFit
from answerback.model import Answer, Choice, Json, Question, QuestionKind
from answerback.read import Value, read, validate
from answerback.render import wanted
from answerback_agents import dialects


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Place(pydantic.BaseModel):
    street: str
    zip: str = pydantic.Field(pattern=r"^\d{4}$")


class Order(pydantic.BaseModel):
    term: str = pydantic.Field(description="Which term shall I search for?")
    sure: bool
    count: int = pydantic.Field(ge=1, le=9)
    price: float | None = None
    day: str = pydantic.Field(default="", json_schema_extra={"format": "date"})
    size: Literal["small", "large"] = "small"
    level: Level = Level.LOW
    levels: list[Level] = []
    words: list[str] = []
    place: Place | None = None


ORDER = Order.model_json_schema()
GIVEN = {"term": "coding", "sure": True, "count": 3}


def asked(schema: Json, payload: Json = "Please order.") -> dict[str, Question]:
    return {question.id: question for question in dialects.read(payload, schema=schema).questions}


def told(schema: Json, id: str) -> str:
    """A field's question, and what is said with it about how the answer is written."""
    question = asked(schema)[id]
    return f"{question.text} · {wanted(question, 'en')}"


def written(schema: Json, payload: Json = "Please order.", **values: Any) -> Json:
    return dialects.write(payload, Answer(values), schema=schema)


def test_each_field_is_a_question_of_its_kind() -> None:
    kinds = {name: question.kind for name, question in asked(ORDER).items()}
    assert kinds == {
        "term": QuestionKind.TEXT,
        "sure": QuestionKind.CONFIRM,
        "count": QuestionKind.NUMBER,
        "price": QuestionKind.NUMBER,
        "day": QuestionKind.DATE,
        "size": QuestionKind.CHOICE,
        "level": QuestionKind.CHOICE,
        "levels": QuestionKind.CHOICES,
        "words": QuestionKind.TEXT,
        "place": QuestionKind.TEXT,
    }


def test_a_field_asks_with_its_description_or_its_title() -> None:
    questions = asked(ORDER)
    assert questions["term"].text == "Which term shall I search for?"
    assert questions["price"].text == "Price"
    assert asked({"type": "object", "properties": {"due_day": {}, "b": {}}})["due_day"].text.startswith(
        "Due day"
    )


def test_what_the_agent_says_beside_its_form_is_the_reason_or_for_one_field_the_question() -> None:
    assert dialects.read("Please order.", schema=ORDER).context == "Please order."
    one = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    count = Question("count", "How many?", QuestionKind.NUMBER, whole=True, files=False)
    assert asked(one, "How many?")["count"] == count
    payload = {"question": "How many?", "context": "214 are left.", "topic": "Order"}
    reading = dialects.read(payload, schema=one)
    assert (reading.questions[0].text, reading.context, reading.title) == (
        "How many?",
        "214 are left.",
        "Order",
    )


def test_limits_and_what_may_be_left_out_are_those_of_the_schema() -> None:
    questions = asked(ORDER)
    assert (questions["count"].minimum, questions["count"].maximum, questions["count"].whole) == (1, 9, True)
    assert [name for name, question in questions.items() if question.required] == ["term", "sure", "count"]


@pytest.mark.parametrize(
    ("limits", "low", "high"),
    [
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 10}, 1, 9),
        ({"exclusiveMinimum": 0.5, "exclusiveMaximum": 9.5}, 1, 9),
        ({"minimum": 3, "exclusiveMinimum": 1, "maximum": 5, "exclusiveMaximum": 9}, 3, 5),
    ],
)
def test_a_whole_number_beyond_its_limits_is_not_even_offered(
    limits: dict[str, float], low: float, high: float
) -> None:
    question = asked({"type": "integer", **limits})["q1"]
    assert (question.minimum, question.maximum) == (low, high)


def test_enumerations_become_choices_and_come_back_as_their_own_values() -> None:
    assert asked(ORDER)["level"].choices == (Choice("1", "1"), Choice("2", "2"))
    assert written(ORDER, **GIVEN, level="2", levels=["1", "2"], size="large") == {
        **GIVEN,
        "level": 2,
        "levels": [1, 2],
        "size": "large",
    }


def test_what_was_left_out_is_left_out_so_that_the_agents_default_stands() -> None:
    value = written(ORDER, **GIVEN, price=None)
    assert value == GIVEN
    assert Order.model_validate(value).size == "small"


def test_what_must_be_there_but_may_be_null_is_null_when_it_was_left_out() -> None:
    count = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    form = {"type": "object", "properties": {"count": count, "b": {}}, "required": ["count"]}
    assert not asked(form)["count"].required
    assert written(form) == {"count": None}
    assert written(form, count=0) == {"count": 0}


def test_texts_go_through_unmodified() -> None:
    assert written(ORDER, **GIVEN | {"term": "  as it is \n"})["term"] == "  as it is \n"


def test_a_list_of_texts_is_written_one_a_line_or_as_json() -> None:
    assert told(ORDER, "words") == "Words · Write each on a line of its own."
    assert written(ORDER, **GIVEN, words="coding\n\n costing ")["words"] == ["coding", "costing"]
    assert written(ORDER, **GIVEN, words='["a\\nb"]')["words"] == ["a\nb"]
    assert written(ORDER, **GIVEN, words="[urgent] call\nwrite")["words"] == ["[urgent] call", "write"]
    with pytest.raises(DoesNotFit, match="must be JSON"):
        written(ORDER, **GIVEN, words='["a", ')


def test_what_no_field_expresses_is_asked_as_json_and_shows_how() -> None:
    assert told(ORDER, "place") == 'Place · Write it like {"street": "…", "zip": "…"}.'
    value = written(ORDER, **GIVEN, place='{"street": "Ring 1", "zip": "1010"}')
    assert value["place"] == {"street": "Ring 1", "zip": "1010"}


def test_an_example_has_the_formats_and_places_of_what_is_wanted() -> None:
    pair = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string", "format": "email"}]}
    assert told(pair, "q1").endswith('Write it like [1, "ana@example.org"].')


def test_what_a_field_demands_stands_in_its_question_without_what_its_kind_says() -> None:
    demands = {name: question.demands for name, question in asked(ORDER).items()}
    texts = {"type": "array", "items": {"type": "string"}}
    place = demands.pop("place")
    assert {name: each for name, each in demands.items() if each} == {
        "day": {"format": "date"},
        "words": texts,
    }
    assert place["anyOf"][0]["properties"]["zip"] == {"type": "string", "pattern": r"^\d{4}$"}
    formatted = {"type": "string", "format": "password", "minLength": 2}
    assert asked(formatted)["q1"].demands == {"minLength": 2}


def test_what_may_be_null_may_be_written_so() -> None:
    place = asked(ORDER)["place"]
    assert validate(place, "null") == "null"
    assert written(ORDER, **GIVEN, place="null") == {**GIVEN, "place": None}
    with pytest.raises(DoesNotFit, match="lacks “zip”"):
        validate(place, '{"street": "Ring 1"}')


def test_a_form_that_refers_to_itself_is_checked_in_all_its_depth() -> None:
    tree = {"$ref": "#/$defs/T", "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
    form = {"type": "object", "properties": {"tree": tree, "b": {}}, "$defs": tree["$defs"]}
    question = asked(form)["tree"]
    assert validate(question, "[[], [[]]]") == "[[], [[]]]"
    with pytest.raises(DoesNotFit, match=r"\[1\]\[0\] must be a list"):
        validate(question, "[[], [1]]")


def test_only_choices_that_fit_the_rest_of_the_form_are_offered() -> None:
    choices = asked({"type": "integer", "enum": [1, 5, 9], "minimum": 5})["q1"].choices
    assert [choice.label for choice in choices] == ["5", "9"]
    levels = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True}
    assert asked(levels)["q1"].demands == {"minItems": 2}


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("Ring 1", "“Place” must be JSON, with every text in straight quotation marks."),
        ('{"zip": "1010", "zip": "1020"}', "“Place” must be JSON"),
        ("NaN", "“Place” must be JSON"),
        ("[" * 100_000, "“Place” must be JSON"),
        ('{"street": "Ring 1"}', "place lacks “zip”"),
        ('{"street": 1, "zip": "1010"}', "place.street must be a text"),
        ('{"street": "Ring 1", "zip": "A-1010"}', "place.zip must match"),
        ("7", "place must be an object"),
    ],
)
def test_what_does_not_fit_says_where_and_why(place: str, why: str) -> None:
    with pytest.raises(DoesNotFit, match=why):
        written(ORDER, **GIVEN, place=place)


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ({"type": "integer"}, 1.5, "a whole number"),
        ({"type": "integer"}, True, "a whole number"),
        ({"enum": [1, "a"]}, True, "one of 1, a"),
        ({"type": "string", "minLength": 3}, "ab", "at least 3"),
        ({"type": "string", "maxLength": 1}, "ab", "at most 1"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "out of range"),
        ({"type": "number", "maximum": 1}, 2, "out of range"),
        ({"type": ["string", "null"]}, 1, "a text"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, True, "must be"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "a", "at least 2"),
    ],
)
def test_a_value_is_checked_against_the_schema(schema: Json, value: Json, why: str) -> None:
    properties = {"a": schema, "b": {}}
    with pytest.raises(DoesNotFit, match=why):
        written({"type": "object", "properties": properties}, a=value)


def test_fields_that_are_not_asked_for_are_refused_where_the_schema_says_so() -> None:
    inner = {"type": "object", "properties": {"x": {}}, "additionalProperties": False}
    form = {"type": "object", "properties": {"a": inner, "b": {}}}
    with pytest.raises(DoesNotFit, match="a has “y”"):
        written(form, a='{"y": 1}')
    assert written(form, a='{"x": 1}') == {"a": {"x": 1}}


@pytest.mark.parametrize(
    ("schema", "kind", "value"),
    [
        ({"type": "boolean"}, QuestionKind.CONFIRM, False),
        ({"type": "integer"}, QuestionKind.NUMBER, 0),
        ({"type": "string"}, QuestionKind.TEXT, "x"),
        ({"enum": ["a", "b"]}, QuestionKind.CHOICE, "a"),
        ({"const": "a"}, QuestionKind.CHOICE, "a"),
    ],
)
def test_what_is_no_object_is_one_question_and_its_value_the_answer(
    schema: Json, kind: QuestionKind, value: Json
) -> None:
    assert asked(schema, "Well?")["q1"].kind is kind
    assert asked(schema, "Well?")["q1"].text == "Well?"
    assert written(schema, "Well?", q1=value) == value


def test_forms_that_exclude_each_other_are_asked_as_json() -> None:
    forms = {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "integer"},
        ]
    }
    assert asked(forms, "Well?")["q1"].kind is QuestionKind.TEXT
    assert written(forms, "Well?", q1='{"a": "x"}') == {"a": "x"}
    assert written(forms, "Well?", q1="7") == 7
    with pytest.raises(DoesNotFit):
        written(forms, "Well?", q1="true")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}, "b": True}},
        {"type": "object", "properties": {"a": {"pattern": "("}, "b": {"anyOf": [{"$ref": "#/no/where"}]}}},
        {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}] * 2}, "b": {}}},
        {"type": 7, "enum": [], "properties": []},
    ],
)
def test_odd_schemas_do_no_harm(schema: Json) -> None:
    reading = dialects.read("Well?", schema=schema)
    assert reading.questions
    answers = {question.id: '"x"' for question in reading.questions}
    with contextlib.suppress(DoesNotFit):
        dialects.write("Well?", Answer(answers), schema=schema)


def test_a_form_has_no_value_for_silence() -> None:
    assert not dialects.read("Please order.", schema=ORDER).expirable
    with pytest.raises(DoesNotFit):
        dialects.write("Please order.", Answer({}, expired=True), schema=ORDER)
    default = Answer(GIVEN, expired=True, default_used=True)
    assert dialects.write("Please order.", default, schema=ORDER) == GIVEN


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "array", "items": {"type": "string"}}, "a\nb"),
        ({"type": "object"}, '{"a": 1}'),
        ({"type": "number"}, 0),
        ({"type": "boolean"}, False),
        ({"enum": [1, 2]}, "2"),
    ],
)
def test_a_stored_value_of_one_question_is_recognised_too(schema: Json, given: Json) -> None:
    stored = written(schema, "Well?", q1=given)
    assert dialects.carries(stored, Answer({"q1": given}))
    assert not dialects.carries(stored, Answer({"q1": "something else"}))
    assert not dialects.carries(stored, Answer({}, expired=True))


def test_a_stored_form_is_recognised_without_its_payload() -> None:
    place = '{"street": "a", "zip": "1010"}'
    answers = {**GIVEN, "level": "2", "levels": ["1"], "words": "a\n b", "place": place, "price": None}
    stored = written(ORDER, **answers)
    assert dialects.carries(stored, Answer(answers))
    assert not dialects.carries(stored, Answer(answers | {"level": "1"}))
    assert not dialects.carries(stored, Answer(answers | {"count": 4}))
    assert not dialects.carries(stored, Answer(answers | {"words": "a\nb\nc"}))
    assert not dialects.carries(stored, Answer({**answers, "price": 1.5}))
    assert not dialects.carries(stored, Answer({}, expired=True))


KEYWORDS = st.sampled_from(
    "type enum const properties required additionalProperties items anyOf oneOf allOf $ref $defs format "
    "default minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems "
    "title description".split()
)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["string", "object", "#", "#/$defs", "("])
)
SCHEMAS: st.SearchStrategy[Json] = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYWORDS | st.sampled_from(["a", "b"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(schema=st.dictionaries(KEYWORDS, SCHEMAS, min_size=1, max_size=5), value=VALUES)
@settings(deadline=None)
def test_no_schema_breaks_the_reading_of_it_or_of_an_answer(schema: dict[str, Json], value: Json) -> None:
    questions = dialects.read("Well?", schema=schema).questions
    assert len({question.id for question in questions}) == len(questions)
    with contextlib.suppress(DoesNotFit):
        dialects.write("Well?", Answer({question.id: value for question in questions}), schema=schema)


@given(
    payload=SCHEMAS, name=st.sampled_from(["action_requests", "action_request", "tool_approval", "question"])
)
@settings(deadline=None)
def test_no_payload_breaks_its_reading(payload: Json, name: str) -> None:
    for odd in (
        payload,
        {name: payload},
        [{name: payload, "config": payload}],
        {"type": name, "args": payload},
    ):
        assert dialects.read(odd).questions


class Many(pydantic.BaseModel):
    one: list[int]
    other: list[int]


def test_law_8_answers_that_each_fit_are_not_too_much_together() -> None:
    """What checks the whole at the end takes no fewer steps than what has checked its parts at the door."""
    schema, given = Many.model_json_schema(), json.dumps([1] * 12_000)
    for question in asked(schema).values():
        assert validate(question, given) == given
    assert len(written(schema, one=given, other=given)["other"]) == 12_000


@pytest.mark.parametrize("kind", [list[Literal["a", "b"]], set[Level], list[Level]])
def test_law_8_where_the_form_takes_an_empty_list_none_is_an_answer(kind: Any) -> None:
    schema = pydantic.create_model("Form", some=(kind, ...)).model_json_schema()
    question = asked(schema)["some"]
    for said in ("none", "keine"):
        assert read(question, said, language="en", timezone="UTC", now=0) == Value([], said)
    assert written(schema, some=validate(question, [])) == {"some": []}


def test_law_8_where_it_takes_none_none_is_no_answer() -> None:
    kind = Annotated[list[Literal["a", "b"]], pydantic.Field(min_length=1)]
    schema = pydantic.create_model("Form", some=(kind, ...)).model_json_schema()
    with pytest.raises(DoesNotFit):
        validate(asked(schema)["some"], [])


@pytest.mark.parametrize("kind", [int, bool, str, Level, Literal["a"], list[int]])
def test_law_8_what_may_be_null_as_a_whole_may_be_left_out(kind: Any) -> None:
    schema = pydantic.TypeAdapter(kind | None).json_schema()
    (question,) = asked(schema).values()
    assert validate(question, None) is None
    assert written(schema) is None


_numbers = itertools.count()


def part(kind: Any) -> Any:
    """A model that has this in it, by a name that few share."""
    return pydantic.create_model(f"Part{next(_numbers) % 7}", x=(kind, ...))


VERDICTS = st.recursive(
    st.sampled_from(
        [
            int,
            str,
            bool,
            float,
            datetime.date,
            datetime.time,
            datetime.timedelta,
            uuid.UUID,
            pydantic.UUID4,
            ipaddress.IPv4Network,
            pydantic.IPvAnyAddress,
            Literal["a", "b"],
            Literal["a", 1],
            Level,
            Place,
            Annotated[int, pydantic.Field(gt=0, le=9, multiple_of=3)],
            Annotated[str, pydantic.Field(min_length=2, pattern="^[a-z]+$")],
            Annotated[list[str], pydantic.Field(min_length=1, max_length=2)],
            dict[str, int],
        ]
    ),
    lambda kinds: st.one_of(
        kinds.map(lambda kind: kind | None),
        kinds.map(lambda kind: list[kind]),  # type: ignore[valid-type]
        kinds.map(lambda kind: dict[str, kind]),  # type: ignore[valid-type]
        kinds.map(part),
        st.tuples(kinds, kinds).map(lambda pair: Union[pair]),  # noqa: UP007 (of two that are found out here)
    ),
    max_leaves=3,
)
WRITTEN = st.recursive(
    st.sampled_from([None, True, 1, 4.5, "a", "ab", "14:30", "2026-12-03"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["x", "street", "zip"]), inner, max_size=2)
    ),
    max_leaves=5,
)
SAID = st.one_of(
    WRITTEN.map(json.dumps),
    st.sampled_from(
        "a b ab abc 1 3 4.5 -1 0 yes no none true null 1430 14:30 T14:30 1:30 01:30:00 P1D 3d PT 20261203 "
        "2026-12-03 2026-W49-4 2026-12-03T10:00:00+01:00:30 2026-12-03T10:00Z 192.0.2.1 192.0.2.0/24 "
        '123e4567-e89b-12d3-a456-426614174000 123e4567-e89b-42d3-a456-426614174000 ["ab"] [1,2] [] {} '
        '{"x":1} {"x":null} {"street":"s","zip":"1010"} {"street":"s","zip":"x"} [["14:30"],null] '
        '["20261203"] ["2026-12-03"] {"x":"1430"} [1.0] [1.5] [true] "14:30" "1430"'.split()
    ),
    st.from_regex(r"[0-9PTDHMYW:.+-]{1,12}", fullmatch=True),
)


@given(kind=VERDICTS, said=SAID)
@settings(max_examples=500)
def test_law_8_whatever_is_accepted_the_graph_takes(kind: Any, said: str) -> None:
    """LangGraph checks an answer against the type itself, we against what the type says of itself."""
    form = pydantic.create_model("Form", it=(kind, ...))
    question = asked(form.model_json_schema())["it"]
    found = read(question, said, language="en", timezone="UTC", now=0)
    if isinstance(found, Value):
        form.model_validate(written(form.model_json_schema(), it=found.value))
