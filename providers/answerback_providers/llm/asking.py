"""What a model is asked and how its answer is read: a prompt, a schema, and the way back. Pure."""

import json
from typing import Any

from answerback.provider import Asked, Json, Question, QuestionKind
from answerback_providers.llm.settings import LLMSettings

ALL = ("approve", "edit", "reject", "respond")


def prompt_of(settings: LLMSettings, asked: Asked) -> str:
    """The template filled; what fills it is taken as it is, braces and all."""
    return settings.prompt.format(
        agent=asked.agent,
        answer=instruction(asked),
        context=asked.context,
        question="\n\n".join(_shown(asked, question) for question in asked.questions),
        title=asked.title or asked.agent or "A program",
    )


def is_free(asked: Asked) -> bool:
    """Whether the answer is one plain text: then no form is put on it, and it is taken as it stands."""
    return len(asked.questions) == 1 and asked.questions[0].kind is QuestionKind.TEXT


def instruction(asked: Asked) -> str:
    """How to answer, as a sentence; the schema says the same where a model takes one."""
    if is_free(asked):
        return "Answer with the text of your answer alone."
    fields = ", ".join(f'"{name}": {_wanted(question)}' for name, question in named(asked).items())
    return f"Answer with a JSON object alone: {{{fields}}}."


def named(asked: Asked) -> dict[str, Question]:
    """The questions by names that every service takes as names of fields."""
    if len(asked.questions) == 1:
        return {"answer": asked.questions[0]}
    return {f"answer_{place}": question for place, question in enumerate(asked.questions, start=1)}


def schema_of(asked: Asked) -> dict[str, Any]:
    """A JSON Schema for the answer."""
    fields = named(asked)
    return {
        "title": "answer",
        "description": "The answer to what is asked.",
        "type": "object",
        "properties": {name: _schema(question) for name, question in fields.items()},
        "required": [name for name, question in fields.items() if question.required],
    }


def value_of(asked: Asked, found: Json) -> Json:
    """The answer as `POST …/respond` takes it, of an object as `schema_of` describes; None if it is none."""
    fields = named(asked)
    if not isinstance(found, dict) or not any(found.get(name) is not None for name in fields):
        return None
    values = {question.id: found[name] for name, question in fields.items() if found.get(name) is not None}
    return values[asked.questions[0].id] if len(asked.questions) == 1 else values


def read(asked: Asked, text: str) -> Json:
    """The answer in a text, where the model took no schema: the object in it, or a bare answer."""
    if is_free(asked):
        return text.strip() or None
    start, end = text.find("{"), text.rfind("}")
    if start < end:
        try:
            return value_of(asked, json.loads(text[start : end + 1]))
        except (ValueError, RecursionError):
            return None
    return text.strip() or None if len(asked.questions) == 1 else None


def _schema(question: Question) -> dict[str, Any]:
    ids = [choice.id for choice in question.choices]
    match question.kind:
        case QuestionKind.CONFIRM:
            found: dict[str, Any] = {"type": "boolean"}
        case QuestionKind.CHOICE:
            found = {"type": "string"} if question.free_text else {"type": "string", "enum": ids}
        case QuestionKind.CHOICES:
            found = {"type": "array", "items": {"type": "string", "enum": ids}}
        case QuestionKind.NUMBER:
            found = {"type": "integer" if question.whole else "number"}
        case QuestionKind.REVIEW:
            decision = {"type": "string", "enum": list(question.decisions or ALL)}
            found = {
                "type": "object",
                "properties": {
                    "decision": decision,
                    "message": {"type": "string"},
                    "args": {"type": "object"},
                },
                "required": ["decision"],
            }
        case _:
            found = {"type": "string"}
    return found | {"description": f"{_said(question)} {_wanted(question)}"}


def _wanted(question: Question) -> str:
    match question.kind:
        case QuestionKind.CONFIRM:
            return "true or false"
        case QuestionKind.CHOICE:
            more = ", or a text of your own" if question.free_text else ""
            return f"the id of one choice ({_ids(question)}){more}"
        case QuestionKind.CHOICES:
            return f"a list of ids ({_ids(question)})"
        case QuestionKind.NUMBER:
            return "a number"
        case QuestionKind.DATE:
            return "a date such as 2026-12-03, or a date and time with its offset"
        case QuestionKind.REVIEW:
            ways = ", ".join(question.decisions or ALL)
            return f'an object with "decision" ({ways}) and, if you have one, a "message"'
    return "a text"


def _ids(question: Question) -> str:
    return ", ".join(choice.id for choice in question.choices)


def _said(question: Question) -> str:
    return question.text or (question.action.name if question.action else "")


def _shown(asked: Asked, question: Question) -> str:
    lines = [_said(question)]
    if question.action is not None:
        lines.append(
            f"The call: {question.action.name} {json.dumps(question.action.args, ensure_ascii=False)}"
        )
    lines += [f"- {choice.id}: {choice.label}" for choice in question.choices]
    lines += asked.wanted(question).splitlines()
    return "\n".join(lines)
