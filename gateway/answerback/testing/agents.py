"""An agent in memory that asks what its script says, and keeps a journal of what it was told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from answerback.agent import Agent, AgentContext, Failed, Finished, Paused, Pending, State, Target, digest
from answerback.errors import Conflict, NotPending
from answerback.model import Answer, Choice, Json, Question, QuestionKind


def asks(text: str, *choices: str, confirm: bool = False) -> Question:
    """A question of a script: free text, a choice, or a confirmation."""
    kind = QuestionKind.CONFIRM if confirm else QuestionKind.CHOICE if choices else QuestionKind.TEXT
    return Question("q1", text, kind, tuple(Choice(label.lower(), label) for label in choices))


@dataclass(slots=True)
class _Thread:
    run: str = ""  # which start it began with
    step: int = 0
    given: list[Json] = field(default_factory=list)
    open: list[int] = field(default_factory=list)  # positions of questions that wait
    happened: int = 0  # how often something did, on whatever thread, when something last did on this one


class ScriptedAgent(Agent):
    """Asks one step after the other; a step is a question, or several at once.

    A thread's result is the list of all answers. `journal` has (thread, question, answer) for each one
    consumed. `failures` are raised by the next resumes and `forget`s, before anything is done.
    """

    def __init__(self, *steps: Question | Sequence[Question], name: str = "scripted") -> None:
        super().__init__(name, None, AgentContext("."))
        self._steps = [(step,) if isinstance(step, Question) else tuple(step) for step in steps]
        self._threads: dict[str, _Thread] = {}
        self._happened = 0
        self.journal: list[tuple[str, str, Answer]] = []
        self.failures: list[Exception] = []

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        found = self._threads.setdefault(thread, _Thread())
        if run and found.run == run:  # the same start
            return Paused(await self.pending(thread)) if found.open else Finished(found.given)
        if found.open:
            raise Conflict("the thread waits")
        found.run = run
        self._happens(found)
        return self._enter(thread, found)

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        found = self._threads.get(thread, _Thread())
        return tuple(self._pending(found.step, position) for position in found.open)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        found = self._threads[thread]
        if self.failures:
            raise self.failures.pop(0)
        for position in found.open:
            waiting = self._pending(found.step, position)
            if (waiting.interrupt_id, waiting.digest) == (target.interrupt_id, target.digest):
                return self._consume(thread, found, position, answer)
        if again and any(target.interrupt_id == row for row in self._consumed(thread)):
            return Paused(await self.pending(thread)) if found.open else Finished(found.given)
        raise NotPending(target.interrupt_id)

    async def retry(self, thread: str) -> State:
        if thread not in self._threads:
            raise NotPending("This thread does not exist.")
        return Paused(await self.pending(thread))

    async def cancel(self, thread: str) -> Json:
        found = self._threads.pop(thread, None)
        return found.given or None if found else None

    async def tip(self, thread: str) -> str | None:
        found = self._threads.get(thread)
        return str(found.happened) if found else ""

    async def forget(self, thread: str, tip: str | None = None) -> None:
        if self.failures:
            raise self.failures.pop(0)
        if tip not in (None, await self.tip(thread)):
            raise Conflict("This thread was taken up again.")
        self._threads.pop(thread, None)

    @property
    def threads(self) -> tuple[str, ...]:
        """What it remembers."""
        return tuple(self._threads)

    def _happens(self, found: _Thread) -> None:
        self._happened += 1
        found.happened = self._happened

    def _consume(self, thread: str, found: _Thread, position: int, answer: Answer) -> State:
        question = self._steps[found.step][position]
        self._happens(found)
        self.journal.append((thread, question.text, answer))
        given = None if answer.expired else answer.values.get(question.id)
        if given == "fail":
            return Failed("ValueError: told to fail")
        found.given.append(given)
        found.open.remove(position)
        if found.open:
            return Paused(tuple(self._pending(found.step, left) for left in found.open))
        found.step += 1
        return self._enter(thread, found)

    def _enter(self, thread: str, found: _Thread) -> State:
        if found.step >= len(self._steps):
            return Finished(found.given)
        found.open = list(range(len(self._steps[found.step])))
        return Paused(tuple(self._pending(found.step, position) for position in found.open))

    def _pending(self, step: int, position: int) -> Pending:
        question = self._steps[step][position]
        return Pending(f"i{step}.{position}", digest(question.text), (question,), expirable=True)

    def _consumed(self, thread: str) -> list[str]:
        texts = {text for journal_thread, text, _ in self.journal if journal_thread == thread}
        return [
            f"i{step}.{position}"
            for step, questions in enumerate(self._steps)
            for position, question in enumerate(questions)
            if question.text in texts
        ]
