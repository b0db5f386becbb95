"""Reading: what a thread waits for, and what became of an answer, from its checkpoints alone."""

import contextlib
import sqlite3
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Interrupt

from answerback.agent import Pending, Target
from answerback.errors import AgentUnavailable, NotPending
from answerback.model import Answer
from answerback_agents import dialects
from answerback_agents.langgraph import breakpoints, evidence, loading, order, savers, values
from answerback_agents.langgraph.asked import digest_of, payload_of, schema_of
from answerback_agents.langgraph.canary import STRICT
from answerback_agents.langgraph.faces import Saver
from answerback_agents.langgraph.marks import ANSWERED, is_stamped


@dataclass(frozen=True, slots=True)
class Reader:
    """One graph's threads in one saver. `look` gives what `saver.aget_tuple` gives."""

    graph: loading.Graph
    saver: Saver
    look: savers.Look
    own: dialects.Own | None
    names: evidence.Names
    has_breakpoints: bool
    is_ours: bool  # the saver: nobody but us keeps anything in it

    async def head(self, thread: str) -> CheckpointTuple | None:
        """The thread's last checkpoint, if it has one. What is written from now on comes after it."""
        return order.follow(await self.look({"configurable": {"thread_id": thread, "checkpoint_ns": ""}}))

    async def known(self, thread: str) -> CheckpointTuple:
        """The thread's last checkpoint; raises `NotPending` when there is none."""
        if head := await self.head(thread):
            return head
        raise NotPending("This thread does not exist (any more).")

    async def next_steps(self, thread: str) -> tuple[str, ...]:
        return (await self.graph.aget_state(config_of(thread))).next

    async def waiting(self, thread: str, head: CheckpointTuple) -> tuple[Pending, ...]:
        """What waits: held steps first, because answering anything else would let them run unasked."""
        if held := await self.held(thread, head):
            return (held,)
        checkpoint = evidence.checkpoint_id(head)
        found = []
        for interrupt, doubt in evidence.open_questions(head, self.names).values():
            if await self.taken(thread, head, interrupt.id, doubt) is evidence.NOTHING:
                found.append(self._asked(interrupt, checkpoint))
        return tuple(found)

    def _asked(self, interrupt: Interrupt[Any], checkpoint: str) -> Pending:
        reading = dialects.read(payload_of(interrupt), self.own, schema_of(interrupt))
        return Pending(
            interrupt_id=interrupt.id,
            digest=digest_of(interrupt),
            questions=reading.questions,
            context=reading.context,
            title=reading.title,
            expirable=reading.expirable,
            checkpoint=checkpoint,
            human_only=reading.human_only,
            unusable=reading.unusable,
            impossible=reading.impossible,
            **reading.deadline.said,
        )

    async def showing(
        self, thread: str, head: CheckpointTuple, wanted: Callable[[str, str], bool]
    ) -> CheckpointTuple:
        """The thread's last checkpoint, where steps name what graphs ask that they call: what is `wanted`, by
        the graph's namespace and the interrupt's id. LangGraph takes no answer to what is not named there.
        """
        window = await self._window(thread, evidence.checkpoint_id(head))
        shown = {task.id: task.interrupts for task in evidence.tasks(head)}
        more = [(task, each) for task, place, each in evidence.hidden(window) if wanted(place, each.id)]
        for task, interrupt in more:
            shown.setdefault(task, []).append(interrupt)
        for task in {task for task, _ in more}:
            await self.saver.aput_writes(head.config, [(INTERRUPT, shown[task])], task)
        return await self.known(thread) if more else head

    async def waits_for(self, thread: str, interrupt_ids: Set[str]) -> bool:
        """Whether any of these has no answer yet as it is stored, whether a step names it or not."""
        head = await self.known(thread)
        window = await self._window(thread, evidence.checkpoint_id(head))
        if any(interrupt.id in interrupt_ids for _, _, interrupt in evidence.hidden(window)):
            return True
        return any(pending.interrupt_id in interrupt_ids for pending in await self.waiting(thread, head))

    async def held(self, thread: str, head: CheckpointTuple) -> Pending | None:
        """The confirmation that a breakpoint waits for, if one holds the thread."""
        held = await self.holds(thread)
        return breakpoints.ask(held, evidence.checkpoint_id(head)) if held else None

    async def holds(self, thread: str) -> list[breakpoints.Hold]:
        return await breakpoints.holds(self.graph, config_of(thread)) if self.has_breakpoints else []

    async def taken(self, thread: str, head: CheckpointTuple, interrupt_id: str, doubt: bool) -> Any:
        """The answer already taken, by a step that then failed or by an inner graph, or `NOTHING`.

        `UNKNOWN` where a step of an inner graph has ended with it.
        """
        if not doubt:
            return evidence.NOTHING
        window = await self._window(thread, evidence.checkpoint_id(head))
        answer = evidence.given_answer(window, self.names, interrupt_id)
        if answer is evidence.NOTHING and evidence.ended_with(window, self.names, interrupt_id):
            return evidence.UNKNOWN
        return answer

    async def took(self, thread: str, target: Target, answer: Answer) -> bool:
        """Whether it was this answer that the graph consumed: it is stored, or our run left its stamp,
        or the task has ended since, and was killed before it could leave one.

        An agent's own dialect cannot be reversed without the payload: then that it was answered is enough.
        """
        window = await self._window(thread, target.checkpoint)
        if _turned(window, target.checkpoint):
            return False
        stored = evidence.given_answer(window, self.names, target.interrupt_id)
        if stored is not evidence.NOTHING:
            return self.own is not None or dialects.carries(values.plain(stored), answer)
        if any(is_stamped(found, {ANSWERED: target.interrupt_id}) for found in window):
            return True
        # Nobody but us answers while we hold the thread, and our attempt had begun.
        return evidence.ended_with(window, self.names, target.interrupt_id)

    async def has_answer(self, thread: str, target: Target) -> bool:
        """Whether an answer to this is stored."""
        window = await self._window(thread, target.checkpoint)
        return evidence.given_answer(window, self.names, target.interrupt_id) is not evidence.NOTHING

    async def passed(self, thread: str, head: CheckpointTuple, target: Target) -> bool:
        """Whether our yes let held steps run: they have begun on the same checkpoint, or left the stamp."""
        window = await self._window(thread, target.checkpoint)
        if _turned(window, target.checkpoint):
            return False
        stamped = any(is_stamped(found, {ANSWERED: target.interrupt_id}) for found in window)
        return stamped or evidence.checkpoint_id(head) == target.checkpoint

    async def last_answered(self, thread: str) -> str:
        """The id of the newest checkpoint of this run on which a question has been answered, or "".

        LangGraph forks no fork that is the last one: what it was forked from is the same, and it does there.
        """
        listed = self.saver.alist({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
        for found in [found async for found in listed]:  # all of it: the saver is locked while it lists
            if await self._has_answer(thread, found):
                is_fork = found.metadata.get("source") == "fork" and found.parent_config
                return str((is_fork or found.config)["configurable"]["checkpoint_id"])
            if found.metadata.get("source") == "input":
                break
        return ""

    async def _has_answer(self, thread: str, found: CheckpointTuple) -> bool:
        known = evidence.tasks(found)
        if any(task.answers and task.interrupts for task in known):
            return True
        asked = {interrupt.id for task in known for interrupt in task.interrupts}
        answers = [await self.taken(thread, found, interrupt_id, True) for interrupt_id in asked]
        return any(answer is not evidence.NOTHING for answer in answers)

    async def _window(self, thread: str, since: str) -> list[CheckpointTuple]:
        """The thread's checkpoints, those of inner graphs too, back to this one; ids sort by time."""
        window: list[CheckpointTuple] = []
        listed = self.saver.alist({"configurable": {"thread_id": thread}})
        async with contextlib.aclosing(cast(AsyncGenerator[CheckpointTuple], listed)):
            async for found in listed:
                if evidence.checkpoint_id(found) < since:
                    break
                window.append(found)
        return window


def config_of(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, STRICT: True}}


@contextlib.contextmanager
def reachable() -> Iterator[None]:
    """Raises `AgentUnavailable` where the saver cannot be used: that is nobody's mistake, and passes."""
    try:
        yield
    except Exception as error:
        if is_storage(error):
            raise AgentUnavailable("the agent's checkpoints cannot be read now") from error
        raise


def is_storage(error: BaseException) -> bool:
    """Whether a database cannot be used now; which one, the graph's or ours, the error does not say."""
    known: tuple[type[BaseException], ...] = (sqlite3.OperationalError,)
    if (psycopg := sys.modules.get("psycopg")) is not None:
        known += (psycopg.OperationalError, psycopg.InterfaceError)
        # What a server says that has become a standby, or that has ended our session.
        known += (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.IdleInTransactionSessionTimeout)
    return isinstance(error, known)


def _turned(window: list[CheckpointTuple], since: str) -> bool:
    """Whether the thread got new input, a fork or an update after this checkpoint: not our answer's doing."""
    main = [found for found in window if not found.config["configurable"].get("checkpoint_ns")]
    later = [found for found in main if evidence.checkpoint_id(found) != since]
    return any(found.metadata.get("source") != "loop" for found in later)
