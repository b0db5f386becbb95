"""A list of answers in place of a person, for tests and rehearsals: each is given once, in order.

    script:
      use: scripted
      answers:
        - blue
        - {question: Deploy, answer: no, delay: 2s}     # only for a question that has this in its text

Where it has got to is kept in memory: after a restart the script begins anew. A question that is asked again
after a crash gets its answer again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, field_validator

from answerback.provider import (
    Asked,
    Message,
    Provider,
    ProviderContext,
    Sent,
    Settings,
    StandInSettings,
    StandsIn,
    Undeliverable,
    answering,
    shorten,
)

LONGEST_DELAY = 300.0
NAMED = 80  # characters of a question in an error
_DELAY = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}


class Line(Settings):
    """One answer. `question`: words that a question must have to get it; `delay`: seconds before it."""

    answer: str | dict[str, str | list[str] | dict[str, Any]] | list[str]
    question: str = ""
    delay: float = Field(0.0, ge=0, le=LONGEST_DELAY)

    @field_validator("delay", mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        found = _DELAY.fullmatch(value.strip()) if isinstance(value, str) else None
        return float(found[1]) * _SECONDS[found[2] or "s"] if found else value


def _line(value: Any) -> Any:
    return {"answer": value} if isinstance(value, str) else value


class ScriptedSettings(StandInSettings):
    """`answers`: texts, or objects with `answer`, `question` and `delay`."""

    answers: tuple[Annotated[Line, BeforeValidator(_line)], ...] = Field(min_length=1)


class Scripted(Provider):
    """Gives the next answer that is left. `context.extra["sleep"]` replaces `asyncio.sleep`."""

    Settings: ClassVar[type[Settings]] = ScriptedSettings
    stand_in = StandsIn.PROGRAM
    patience = LONGEST_DELAY + 10

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self._left: list[Line] = list(settings.answers)
        self._given: dict[str, Line] = {}  # by the delivery that got it; no more than there are answers
        self._sleep: Callable[[float], Awaitable[None]] = context.extra.get("sleep", asyncio.sleep)

    async def send(self, message: Message) -> Sent:
        """Answer a question. Raises `Undeliverable` when the script has no answer left for it."""
        asked = message.asked
        if asked is None:
            return Sent()
        line = self._given.get(message.delivery_id) or self._next(message, asked)
        if line.delay:
            await self._sleep(line.delay)
        return Sent(replies=(answering(message, line.answer),))

    def _next(self, message: Message, asked: Asked) -> Line:
        said = "\n".join(question.text for question in asked.questions)
        for line in self._left:
            if line.question.casefold() in said.casefold():
                self._left.remove(line)
                self._given[message.delivery_id] = line
                return line
        left = f", only {len(self._left)} for other questions" if self._left else ""
        named = f"#{message.code}" if asked.sensitive else f"“{shorten(' '.join(said.split()), NAMED)}”"
        raise Undeliverable(f"the script has no answer left for {named}{left}")

    async def probe(self) -> str:
        return f"{len(self._left)} of {len(self.settings.answers)} answers left"
