"""Anything with a `response_schema`: one question a field, and an answer that fits the schema.

The schema is JSON Schema, as `langgraph.types.Interrupt.response_schema` has it. What it demands of a field
stands in the field's question, so that the gateway takes only answers that fit. LangGraph itself checks
answers only against Python types; a schema that was given as JSON is checked by the gateway alone, once more
here for what concerns several fields.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from answerback.demands import Shape, bundled, faults, first, one_a_line, resolved
from answerback.errors import DoesNotFit
from answerback.model import Answer, Json, Question, QuestionKind, Written
from answerback_agents.dialects.options import Option, of_values
from answerback_agents.dialects.reading import (
    NO_RESPONSE,
    QUESTION_ID,
    Deadline,
    Reading,
    as_text,
    asks,
    context_of,
    deadline_of,
    joined,
    line,
    silent,
    title_of,
)

DATES = ("date", "date-time")
# What the kind of a question says already, and the gateway checks with it.
OF_NUMBERS = frozenset({"type", "minimum", "maximum"})
OF_WHOLE_NUMBERS = OF_NUMBERS | {"exclusiveMinimum", "exclusiveMaximum"}
OF_LISTS = ("minItems", "maxItems")


@dataclass(frozen=True, slots=True)
class Field:
    """One question, and the values of its choices.

    `null`: the schema wants it, but takes null: what was not answered is that.
    """

    question: Question
    options: Sequence[Option] = ()
    null: bool = False

    def value(self, given: Json) -> Json:
        """The field's value for an answer; raises `DoesNotFit` for a text that should be JSON and is not."""
        if self.options:
            values = {choice.id: value for choice, value in self.options}
            many = self.question.kind is QuestionKind.CHOICES
            return [values.get(id, id) for id in given] if many else values.get(given, given)
        written = self.question.written
        if written is Written.LINES and isinstance(given, str):
            lines = one_a_line(given)
            return [*lines] if lines is not None else _parsed(given, self.question)
        return _parsed(given, self.question) if written else given


@dataclass(frozen=True, slots=True)
class Schema:
    """The dialect of one schema. Silence has no value: nobody can fill in a form for somebody else."""

    schema: dict[str, Json] = field(repr=False)

    def matches(self, payload: Json) -> bool:
        return True

    def read(self, payload: Json) -> Reading:
        questions = tuple(replace(each.question, files=False) for each in self._fields(payload))
        said, alone = _said(payload), len(questions) == 1
        context = _context(payload, "" if alone else said)
        deadline = deadline_of(payload) if asks(payload) else Deadline()
        found = faults(self.schema)
        return Reading(
            questions,
            context,
            title_of(payload),
            deadline=deadline,
            unusable=found.unusable,
            impossible=found.impossible,
        )

    def write(self, payload: Json, answer: Answer) -> Json:
        if silent(answer):
            if answer.no_response and resolved(self.schema, self.schema).type == "string":
                return NO_RESPONSE
            raise DoesNotFit("This form has no value for silence; set on_expire to default, cancel or leave.")
        given = {}
        fields = self._fields(payload)
        for each in fields:
            id = each.question.id
            if answer.values.get(id) is not None:
                given[id] = each.value(answer.values[id])
            elif each.null:
                given[id] = None
        value = given if self._properties() else given.get(QUESTION_ID)
        if found := first(value, self.schema, parts=len(fields) + 1):  # what each fits, all of them fit
            raise DoesNotFit(f"The answer does not fit what the agent asked for: {found.said}.")
        return value

    def _properties(self) -> dict[str, Json]:
        """The fields of an object; {} for anything that is asked as a whole."""
        shape = resolved(self.schema, self.schema)
        united = any(key in shape.schema for key in ("oneOf", "anyOf"))
        return {} if united else shape.properties

    def _fields(self, payload: Json) -> list[Field]:
        properties = self._properties()
        if not properties:
            null = resolved(self.schema, self.schema).nullable
            return [_field(QUESTION_ID, self.schema, self.schema, _said(payload), required=not null)]
        required = resolved(self.schema, self.schema).required
        alone = _said(payload) if len(properties) == 1 else ""
        fields = []
        for name, schema in properties.items():
            null = name in required and resolved(schema, self.schema).nullable
            found = _field(name, schema, self.schema, alone, required=name in required and not null)
            fields.append(replace(found, null=null))
        return fields


def _field(id: str, schema: Json, root: Json, text: str, *, required: bool) -> Field:
    shape = resolved(schema, root)
    asked = text or _asked(id, shape)
    items = resolved(shape.schema.get("items"), root) if shape.type == "array" else None
    values = shape.options if items is None else items.options
    if values is not None:
        return _chosen(id, asked, values, shape if items is None else items, root, shape, required)
    match shape.type:
        case "boolean":
            return Field(Question(id, asked, QuestionKind.CONFIRM, required=required))
        case "integer" | "number":
            return Field(_number(id, asked, shape, root, required))
        case "string":
            kind = QuestionKind.DATE if shape.schema.get("format") in DATES else QuestionKind.TEXT
            demands = _demands(shape, root, frozenset({"type"}))
            return Field(Question(id, asked, kind, required=required, demands=demands))
        case "array" if items is not None and items.type == "string":
            written, demands = Written.LINES, _demands(shape, root)
            return Field(Question(id, asked, required=required, demands=demands, written=written))
        case _:
            demands = _demands(shape, root)
            if shape.nullable and demands is not None:
                demands = {"anyOf": [demands, {"type": "null"}]} | (
                    {"$defs": demands.pop("$defs")} if "$defs" in demands else {}
                )
            return Field(Question(id, asked, required=required, demands=demands, written=Written.JSON))


def _chosen(
    id: str, asked: str, values: list[Json], one: Shape, root: Json, whole: Shape, required: bool
) -> Field:
    """One of the values, or several of a list; only those are offered that fit what else is demanded."""
    options = of_values([each for each in values if first(each, one.schema, root) is None] or values)
    choices = tuple(choice for choice, _ in options)
    if one is whole:
        return Field(Question(id, asked, QuestionKind.CHOICE, choices, required=required), options)
    limits = {key: limit for key in OF_LISTS if (limit := whole.limit(key)) is not None}
    demands = ({"minItems": 0} | limits if required else limits) or None
    return Field(
        Question(id, asked, QuestionKind.CHOICES, choices, required=required, demands=demands), options
    )


def _demands(shape: Shape, root: Json, known: frozenset[str] = frozenset()) -> Json:
    """What a question's answer has to fit beside what is `known` by its kind; None if that is all."""
    found = {key: value for key, value in bundled(shape.schema, root).items() if key not in known}
    return found if found.keys() - {"examples"} else None


def _number(id: str, asked: str, shape: Shape, root: Json, required: bool) -> Question:
    whole = shape.type == "integer"
    low, high = shape.limit("minimum"), shape.limit("maximum")
    if whole:  # the next whole number is the limit itself
        above, below = shape.limit("exclusiveMinimum"), shape.limit("exclusiveMaximum")
        above = above if above is None else math.floor(above) + 1
        below = below if below is None else math.ceil(below) - 1
        low = max((each for each in (low, above) if each is not None), default=None)
        high = min((each for each in (high, below) if each is not None), default=None)
    return Question(
        id,
        asked,
        QuestionKind.NUMBER,
        minimum=low,
        maximum=high,
        whole=whole,
        required=required,
        demands=_demands(shape, root, OF_WHOLE_NUMBERS if whole else OF_NUMBERS),
    )


def _asked(id: str, shape: Shape) -> str:
    """The description asks best; a title is at least meant for people."""
    spoken = id.replace("_", " ").strip()
    return (
        line(shape.schema.get("description"))
        or line(shape.schema.get("title"))
        or spoken[:1].upper() + spoken[1:]
        or "?"
    )


def _said(payload: Json) -> str:
    """What the agent asks beside its schema."""
    return payload["question"].strip() if asks(payload) else as_text(payload)


def _context(payload: Json, said: str) -> str:
    return joined((said, context_of(payload) if asks(payload) else ""))


def _parsed(given: Json, question: Question) -> Json:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError):
        name = question.text.partition("\n")[0]
        raise DoesNotFit(f"“{name}” must be JSON, with every text in straight quotation marks.") from None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("the same key twice")
    return found


def _constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")
