"""Anything with a `response_schema`: one question a field, and an answer that fits the schema.

The schema is JSON Schema, as `langgraph.types.Interrupt.response_schema` has it. LangGraph itself checks
answers only against Python types; a schema that was given as JSON is checked here alone.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from answerback.errors import DoesNotFit
from answerback.model import Answer, Json, Question, QuestionKind
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
    one_a_line,
    silent,
    title_of,
)
from answerback_agents.dialects.shapes import Shape, problem, resolved, sample

DATES = ("date", "date-time")


@dataclass(frozen=True, slots=True)
class Field:
    """One question, the values of its choices, whether its text is JSON or one item a line.

    `null`: the schema wants it, but takes null: what was not answered is that.
    """

    question: Question
    options: Sequence[Option] = ()
    json: bool = False
    lines: bool = False
    null: bool = False

    def value(self, given: Json) -> Json:
        """The field's value for an answer; raises `DoesNotFit` for a text that should be JSON and is not."""
        if self.options:
            values = {choice.id: value for choice, value in self.options}
            many = self.question.kind is QuestionKind.CHOICES
            return [values.get(id, id) for id in given] if many else values.get(given, given)
        if self.lines and isinstance(given, str) and not given.lstrip().startswith("["):
            return one_a_line(given)
        return _parsed(given, self.question) if self.json or self.lines else given


@dataclass(frozen=True, slots=True)
class Schema:
    """The dialect of one schema. Silence has no value: nobody can fill in a form for somebody else."""

    schema: dict[str, Json] = field(repr=False)

    def matches(self, payload: Json) -> bool:
        return True

    def read(self, payload: Json) -> Reading:
        questions = tuple(each.question for each in self._fields(payload))
        said, alone = _said(payload), len(questions) == 1
        context = _context(payload, "" if alone else said)
        deadline = deadline_of(payload) if asks(payload) else Deadline()
        return Reading(questions, context, title_of(payload), deadline=deadline)

    def write(self, payload: Json, answer: Answer) -> Json:
        if silent(answer):
            if answer.no_response and resolved(self.schema, self.schema).type == "string":
                return NO_RESPONSE
            raise DoesNotFit("This form has no value for silence; set on_expire to default, cancel or leave.")
        given = {}
        for each in self._fields(payload):
            id = each.question.id
            if answer.values.get(id) is not None:
                given[id] = each.value(answer.values[id])
            elif each.null:
                given[id] = None
        value = given if self._properties() else given.get(QUESTION_ID)
        if found := problem(value, self.schema, self.schema):
            raise DoesNotFit(f"The answer does not fit what the agent asked for: {found}.")
        return value

    def _properties(self) -> dict[str, Json]:
        """The fields of an object; {} for anything that is asked as a whole."""
        shape = resolved(self.schema, self.schema)
        united = any(key in shape.schema for key in ("oneOf", "anyOf"))
        return {} if united else shape.properties

    def _fields(self, payload: Json) -> list[Field]:
        properties = self._properties()
        if not properties:
            return [_field(QUESTION_ID, self.schema, self.schema, _said(payload), required=True)]
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
    many = resolved(shape.schema.get("items"), root).options if shape.type == "array" else None
    values = shape.options if many is None else many
    if values is not None:
        kind, options = QuestionKind.CHOICES if many else QuestionKind.CHOICE, of_values(values)
        choices = tuple(choice for choice, _ in options)
        return Field(Question(id, asked, kind, choices, required=required), options)
    match shape.type:
        case "boolean":
            return Field(Question(id, asked, QuestionKind.CONFIRM, required=required))
        case "integer" | "number":
            return Field(_number(id, asked, shape, required))
        case "string":
            kind = QuestionKind.DATE if shape.schema.get("format") in DATES else QuestionKind.TEXT
            return Field(Question(id, asked, kind, required=required))
        case "array" if resolved(shape.schema.get("items"), root).type == "string":
            return Field(Question(id, f"{asked}\nOne a line", required=required), lines=True)
        case _:
            like = json.dumps(sample(shape.schema, root), ensure_ascii=False)
            return Field(Question(id, f"{asked}\nAs JSON, like {like}", required=required), json=True)


def _number(id: str, asked: str, shape: Shape, required: bool) -> Question:
    whole = shape.type == "integer"
    above, below = shape.limit("exclusiveMinimum"), shape.limit("exclusiveMaximum")
    if whole:  # the next whole number is the limit itself, so that what cannot count is refused at once
        above = above if above is None else math.floor(above) + 1
        below = below if below is None else math.ceil(below) - 1
    low = max((each for each in (shape.limit("minimum"), above) if each is not None), default=None)
    high = min((each for each in (shape.limit("maximum"), below) if each is not None), default=None)
    return Question(id, asked, QuestionKind.NUMBER, minimum=low, maximum=high, whole=whole, required=required)


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
