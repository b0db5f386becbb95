"""An agent without any library, that does as it is told: for what becomes of calls, errors and ends."""

import asyncio
import contextlib
import gc
import os
import stat
import time
from pathlib import Path
from typing import Any

import pydantic

from answerback import errors
from answerback.agent import Agent, Failed, Finished, Look, Paused, Pending, State, Target
from answerback.model import Action, Answer, Choice, Question, QuestionKind

EVERYTHING = Pending(
    "i1",
    "d1",
    (
        Question(
            "q1", "Which?", QuestionKind.CHOICE, (Choice("a", "A 😀"), Choice("b", "B")), free_text=True
        ),
        Question(
            "q2", "\ud83d lone", QuestionKind.NUMBER, required=False, minimum=1, maximum=2.5, whole=True
        ),
        Question(
            "q3",
            "Delete?",
            QuestionKind.REVIEW,
            action=Action("delete", {"a": [1, 1.0, None]}),
            decisions=("approve",),
        ),
    ),
    context="why",
    title="who",
    expirable=True,
    checkpoint="c1",
)


class Settings(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    folder: str
    at_open: str = ""
    secret: pydantic.SecretStr = pydantic.SecretStr("")


class Plain(Agent):
    """`start` does what its input says: `[word, value]`."""

    Settings = Settings

    async def open(self) -> None:
        starts = Path(self.settings.folder, "starts")
        with starts.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len(starts.read_text().split()) == 1:
            await self._open_badly(self.settings.at_open)

    async def _open_badly(self, how: str) -> None:
        if how == "hang":
            time.sleep(1000)  # noqa: ASYNC251 - that is the point
        if how == "crash":
            os._exit(4)
        if how == "away":
            raise errors.AgentUnavailable("Its server does not answer.")
        if how == "odd":
            raise KeyError(self.settings.secret.get_secret_value())

    async def close(self) -> None:
        Path(self.settings.folder, "closed").touch()

    async def tip(self, thread: str) -> str | None:
        return "its tip"

    async def forget(self, thread: str, tip: str | None = None) -> None:
        if tip not in (None, "its tip"):
            raise errors.Conflict(tip)

    async def start(self, thread: str, input: Any, run: str = "") -> State:
        word, value = input
        if word == "echo":
            return Finished(value)
        if word == "pause":
            return Paused((EVERYTHING,))
        if word == "fail":
            return Failed(value, retryable=False)
        if word == "raise":
            raise getattr(errors, value)(f"it says {value}")
        if word == "raise odd":
            raise KeyError(value)
        if word == "raise what is no Exception":
            raise GeneratorExit(value)
        if word == "large":
            return Finished("x" * value)
        if word == "many":
            return Finished([[]] * value)
        if word == "not json":
            return Finished(object())
        if word == "end":
            os._exit(value)
        if word == "pid":
            return Finished(os.getpid())
        if word == "frozen":
            return Finished(gc.get_freeze_count())
        if word == "garbage":
            _write_to_sockets(b"\xff" * 64)
        if word == "block":
            time.sleep(value)  # noqa: ASYNC251 - that is the point
        await self._wait(thread)
        return Finished("waited")

    async def _wait(self, thread: str) -> None:
        """Until the task is cancelled; says so in a file."""
        Path(self.settings.folder, f"waiting-{thread}").touch()
        try:
            await asyncio.Event().wait()
        finally:
            Path(self.settings.folder, f"cancelled-{thread}").touch()

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return (EVERYTHING,)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        return Finished([repr(target), repr(answer), again])

    async def look(self, cursor: str) -> Look:
        return Look((), "x" * 9_000_000)

    async def retry(self, thread: str) -> State:
        return Finished("retried")

    async def reask(self, thread: str) -> State:
        return Finished("asked anew")

    async def cancel(self, thread: str) -> Any:
        Path(self.settings.folder, f"stopped-{thread}").touch()
        return "x" * 9_000_000 if thread == "large" else [thread]


class Doomed(Plain):
    """Asks, and crashes whenever it is answered."""

    ASKED = Pending("i1", "d1", (Question("q1", "Well?"),))

    async def start(self, thread: str, input: Any, run: str = "") -> State:
        return Paused((self.ASKED,))

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return (self.ASKED,)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        os._exit(1)


class Reluctant(Plain):
    """Fails to cancel twice: raises at first, and then never comes to an end."""

    async def cancel(self, thread: str) -> Any:
        tries = Path(self.settings.folder, "tries")
        with tries.open("a") as file:
            file.write("x")
        if len(tries.read_text()) == 1:
            raise KeyError(thread)
        if len(tries.read_text()) == 2:
            await asyncio.Event().wait()
        return await super().cancel(thread)


def _write_to_sockets(data: bytes) -> None:
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, data)
