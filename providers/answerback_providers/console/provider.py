"""The provider: one question after the other in the terminal, each until it is answered or taken back."""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from answerback.provider import (
    Address,
    Asked,
    Batch,
    Inbound,
    Json,
    Message,
    MessageKind,
    Outcome,
    Provider,
    ProviderContext,
    Question,
    Receipt,
    Reply,
    Sent,
    Settings,
    StandInSettings,
    StandsIn,
    Undeliverable,
)
from answerback_providers.console import wording
from answerback_providers.console.terminal import Terminal

log = logging.getLogger("answerback_providers.console")
NO_TERMINAL = "there is no terminal to ask in: run answerback serve in one, in the foreground"
CHANGED = 1.0  # seconds after a question was taken back in which a line may have been meant for it
KEYS, SCREENS = 0, (2, 1)


class ConsoleSettings(StandInSettings):
    """The terminal belongs to whoever runs the gateway, so it shows what is sensitive, unless told not to.

    `style: brief` leaves out the reason and what silence does, `suggestions: false` the words that a question
    takes; "?" shows both.
    """

    sees_sensitive: bool = True
    style: Literal["detailed", "brief"] = "detailed"
    suggestions: bool = True


@dataclass(slots=True)
class _Case:
    """One interaction that is asked here."""

    message: Message
    asked: Asked
    values: dict[str, Json] = field(default_factory=dict)
    place: int = 0  # of the question that is next
    event: str = ""  # of the answer, or of the command, that is under way


class Console(Provider):
    """`context.extra["terminal"]` may give two file descriptors, `["monotonic"]` a clock, instead of ours."""

    Settings: ClassVar[type[Settings]] = ConsoleSettings
    stand_in = StandsIn.TERMINAL

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        keys, screen = context.extra.get("terminal") or _own()
        self._terminal = Terminal(keys, screen)
        self._look = wording.Look(settings.style == "detailed", settings.suggestions)
        self._time: Callable[[], float] = context.extra.get("monotonic", time.monotonic)
        self._cases: dict[str, _Case] = {}  # by delivery, in the order in which they came
        self._events: dict[str, bytes] = {}  # answers until the gateway has acknowledged them
        self._typed = asyncio.Event()
        self._changed_until = 0.0
        self._is_open = False

    async def open(self) -> None:
        """Take the terminal, if there is one."""
        if self._is_open:
            return
        if not self._terminal.is_there:
            log.warning("the provider %s cannot ask: %s", self.name, NO_TERMINAL)
            return
        self._terminal.open(self._line, self._hung_up)
        self._is_open = True

    async def close(self) -> None:
        """Give the terminal back. What was not answered is asked again after the next start."""
        if self._is_open:
            self._is_open = False
            self._terminal.close()

    @property
    def polls(self) -> bool:
        return self._is_open

    async def send(self, message: Message) -> Sent:
        """Show a question when it is its turn, anything else at once. Raises `Undeliverable`."""
        await self.open()
        if not self._is_open:
            raise Undeliverable(NO_TERMINAL)
        if message.asked is None or message.kind is not MessageKind.QUESTION:
            links = (f"{button.label}: {button.url}" for button in message.buttons if button.url)
            self._say("\n".join((message.text, *links)))
            return Sent()
        if message.delivery_id not in self._cases:
            self._cases[message.delivery_id] = _Case(message, message.asked)
            if len(self._cases) == 1:
                self._show()
        return Sent((message.delivery_id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """A question is closed: say how, and ask the next one."""
        if not self._is_open:
            raise Undeliverable(NO_TERMINAL)
        case = self._cases.get(message_id)
        self._say(message.title)
        if case is not None:
            self._take_back(case)

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """What was typed, until it is acknowledged."""
        if not self._events and wait != 0:
            self._typed.clear()
            await self._typed.wait()
        return Batch(tuple(Inbound(raw) for raw in self._events.values()), cursor)

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        """One answer, as `_submit` wrote it down."""
        return [Reply(**json.loads(inbound.body))]

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        """What became of an answer: the next question, or the same one again."""
        self._events.pop(reply.event_id, None)
        case = next((each for each in self._cases.values() if each.event == reply.event_id), None)
        if case is None:
            return
        if outcome in (Outcome.ASKED_AGAIN, Outcome.NOT_ALLOWED) and text:
            self._say(text)
            case.event = ""
            if case.place == len(case.asked.questions):  # the answer was whole; a command comes before
                case.values, case.place = {}, 0
            self._show()
            return
        if outcome is Outcome.COMMAND:
            self._say(text or "Passed on.")
        elif outcome is not Outcome.ACCEPTED:
            self._say(f"That did not count: {outcome}.")
        self._cases.pop(case.message.delivery_id, None)
        self._show()

    async def probe(self) -> str:
        if not self._terminal.is_there:
            raise Undeliverable(NO_TERMINAL)
        return "asks in this terminal"

    # -- the person

    def _show(self, look: wording.Look | None = None) -> None:
        """Ask what is first, or nothing."""
        case = next(iter(self._cases.values()), None)
        if case is None or case.event:
            self._terminal.ask("")
            return
        self._terminal.say(wording.shown(case.message, case.asked, case.place, look or self._look))
        self._terminal.ask(wording.PROMPT)

    def _line(self, line: str | None) -> None:
        """A line was typed. It is the answer to what stands above it, and to nothing else."""
        case = next(iter(self._cases.values()), None)
        if case is None or case.event:
            return
        if self._time() < self._changed_until:
            self._say("The question has just changed. Please answer this one.")
            return
        question = case.asked.questions[case.place]
        if (line or "").strip() == wording.MORE and all(
            each.label != wording.MORE for each in question.choices
        ):
            self._show(wording.ALL)
        elif line is None or case.asked.is_command(line):
            self._submit(case, line, line or "")
        elif not line.strip() and not question.required:
            self._next(case)
        else:
            self._answer(case, question, line)

    def _answer(self, case: _Case, question: Question, line: str) -> None:
        value, problem = case.asked.listed(line, question)
        if problem:
            self._say(problem)
            self._terminal.ask(wording.PROMPT)
            return
        case.values[question.id] = value
        self._next(case, line)

    def _next(self, case: _Case, line: str = "") -> None:
        case.place += 1
        if case.place < len(case.asked.questions):
            self._show()
            return
        only = case.asked.questions[0].id if len(case.asked.questions) == 1 else ""
        self._submit(case, case.values.get(only) if only else case.values, line if only else "")

    def _submit(self, case: _Case, value: Json, text: str = "") -> None:
        """Hand it to the gateway; nothing more is taken for this question until that is done.

        A person gives an answer once, so its id is new each time: one that did not fit must not stand for
        the next.
        """
        self._terminal.ask("")
        case.event = uuid.uuid4().hex
        to = case.message.to
        reply = {"event_id": case.event, "sender": to.external_id, "place": to.place, "text": text}
        raw = json.dumps({**reply, "token": case.message.token, "value": value})
        self._events[case.event] = raw.encode()
        self._typed.set()

    def _take_back(self, case: _Case) -> None:
        is_shown = case is next(iter(self._cases.values()))
        del self._cases[case.message.delivery_id]
        if not is_shown:
            return
        if not case.event and self._cases:  # somebody may be typing an answer to it
            self._changed_until = self._time() + CHANGED
        self._show()

    def _say(self, text: str) -> None:
        self._terminal.say("\n".join(wording.printable(line) for line in text.splitlines()))

    def _hung_up(self) -> None:
        log.warning("the terminal is gone: what was not answered there is asked again after a restart")
        self._is_open = False
        self._cases.clear()
        self._terminal.close()


def _own() -> tuple[int, int]:
    """The process's own terminal: keys from stdin, text to stderr, or stdout where that is redirected."""
    import os

    screens = [screen for screen in SCREENS if os.isatty(screen)]
    return KEYS, screens[0] if screens else SCREENS[0]
