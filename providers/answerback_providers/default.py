"""Predefined answers in place of a person: the first that fits is given; what none fits is passed on.

    usual:
      use: default
      answers:
        - {text: costing, answer: coding}                 # these words stand in the question, in any case
        - {pattern: "^Search for", kind: choice, answer: "yes"}
        - {agent: research, answer: "2"}
        - {answer: no}                                    # whatever was left

An `answer` is what a person would write ("yes", "2", a label), a list of choices, or, for several questions
asked together, an object with an answer for each id.
"""

import re
from dataclasses import replace
from typing import Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from answerback.provider import (
    Asked,
    Json,
    Message,
    Provider,
    Question,
    QuestionKind,
    Sent,
    Settings,
    StandInSettings,
    StandsIn,
    answering,
)

LOOKED_AT = 2000  # characters of a question: a pattern is the operator's, the question is not


class Predefined(Settings):
    """One answer, and what has to be true of a question for it to be given: all that is set here."""

    answer: str | dict[str, str | list[str] | dict[str, Any]] | list[str]
    text: str = ""
    pattern: str = ""
    agent: str = ""
    kind: QuestionKind | None = None

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"this is no regular expression: {error}.") from None
        return pattern

    @field_validator("answer")
    @classmethod
    def _says_something(cls, answer: Any) -> Any:
        if not answer or (isinstance(answer, str) and not answer.strip()):
            raise ValueError("an answer that says nothing answers nothing.")
        return answer

    def fits(self, asked: Asked) -> bool:
        """Whether this is the answer to what is asked."""
        said = "\n".join(spoken(question) for question in asked.questions)[:LOOKED_AT]
        return (
            self.text.casefold() in said.casefold()
            and re.search(self.pattern, said) is not None
            and self.agent in ("", asked.agent)
            and (self.kind is None or all(question.kind is self.kind for question in asked.questions))
        )


class DefaultSettings(StandInSettings):
    """`answers` in the order in which they are tried."""

    answers: tuple[Predefined, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        for place, each in enumerate(self.answers[:-1], start=1):
            if not (each.text or each.pattern or each.agent or each.kind):
                raise ValueError(f"answer {place} fits every question, so those below it are never given.")
        return self


class Default(Provider):
    """Gives the first answer that fits a question, and passes on what none fits."""

    Settings: ClassVar[type[Settings]] = DefaultSettings
    stand_in = StandsIn.PROGRAM

    async def send(self, message: Message) -> Sent:
        """Answer a question. Everything else concerns people."""
        asked = message.asked
        if asked is None:
            return Sent()
        found = next((each for each in self.settings.answers if each.fits(asked)), None)
        if found is None:
            return Sent(declined="none of the predefined answers fits")
        answer = _listed(asked, found.answer)
        if answer is None or asked.problem(answer):
            place = self.settings.answers.index(found) + 1
            return Sent(declined=f"predefined answer {place} does not fit the question, or may not be given")
        text = found.answer if isinstance(found.answer, str) else ""
        return Sent(replies=(replace(answering(message, answer), text=text),))

    async def probe(self) -> str:
        return f"{len(self.settings.answers)} predefined answers"


def _listed(asked: Asked, answer: Json) -> Json:
    """The value for what a person would write where choices stand with their numbers; None: it fits none."""
    if isinstance(answer, str) and len(asked.questions) == 1:
        return asked.listed(answer, asked.questions[0])[0]
    if not isinstance(answer, dict):
        return answer
    named = {question.id: question for question in asked.questions}
    found = {
        id: asked.listed(each, named[id])[0] if isinstance(each, str) and id in named else each
        for id, each in answer.items()
    }
    return None if None in found.values() else found


def spoken(question: Question) -> str:
    """What a question asks, and the name of the action that it asks about."""
    return " ".join(part for part in (question.text, question.action.name if question.action else "") if part)
