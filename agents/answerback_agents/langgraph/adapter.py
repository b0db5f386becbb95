"""`LangGraph`: starts, asks, resumes and repairs one graph's threads, never answering another question."""

import contextlib
import functools
from collections.abc import AsyncIterator
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph import END
from langgraph.types import Command

from answerback.agent import Agent, AgentContext, Failed, Finished, Paused, Pending, State, Target, digest
from answerback.errors import Conflict, DoesNotFit, NotPending, NotYet
from answerback.model import CHANGED, NOT_YET, Answer, Json
from answerback_agents import dialects
from answerback_agents.langgraph import (
    breakpoints,
    contexts,
    evidence,
    loading,
    own,
    pitfalls,
    savers,
    values,
)
from answerback_agents.langgraph.asked import digest_of, payload_of, schema_of
from answerback_agents.langgraph.canary import sing
from answerback_agents.langgraph.locks import ThreadLocks
from answerback_agents.langgraph.marks import ANSWERED, STARTED, Stamp, is_stamped
from answerback_agents.langgraph.opening import Settings, lacks, opened
from answerback_agents.langgraph.reading import Reader, config_of, reachable
from answerback_agents.langgraph.running import Runs
from answerback_agents.langgraph.taking import Taking

ASKED_AGAIN = (
    "The graph asked again instead of taking the answer. A step that raises NodeInterrupt or GraphInterrupt "
    "by itself takes none: let it call interrupt()."
)
CHANGES = (
    "Each time this step runs it asks something else, or in another order, so no answer reaches it. Have it "
    "ask one thing after the other, and for what an earlier step has put into the state, or set "
    "ask_again_if_changed: false for this agent."
)
WENT_ON = (
    "This step asked something else than what was answered, was not given the answer, and went on without "
    "one: it catches what interrupt() pauses by."
)
OFTEN = 3  # times in a row


class LangGraph(Agent):
    """Any LangGraph graph behind the agent contract. Needs `open()` first."""

    Settings = Settings

    def __init__(self, name: str, settings: Any, context: AgentContext) -> None:
        super().__init__(name, settings, context)
        self._stack = contextlib.AsyncExitStack()
        self._graph: loading.Graph
        self._reader: Reader
        self._runs: Runs
        self._locks: ThreadLocks
        self._changes: dict[str, int] = {}
        self.patience = 3.0  # seconds in which an answer that was given must be taken

    # -- opening and closing

    async def open(self) -> None:
        """Load the graph, give it a durable saver; refuse if this LangGraph would misdirect an answer."""
        try:
            await sing()
            self._locks = await savers.open_locks(self.context, self.name, self._stack)
            self._graph, self._reader = await opened(
                self.settings, self.context, self.name, self._locks, self._stack
            )
            context = contexts.making(self._graph.context_schema, self.settings.context)
            self._runs = Runs(self.name, self._reader, context)
            self._stack.push_async_callback(self._runs.close)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._stack.aclose()

    async def notes(self) -> tuple[str, ...]:
        """Pitfalls in the source of the graph and of the user's modules, and what the graph itself lacks."""
        loaded = await loading.load_object(self.settings.graph, self.context.base_dir, self.name)
        modules = own.modules(loaded.module)
        found = pitfalls.notes(modules, ask_again_if_changed=self.settings.ask_again_if_changed)
        return found + tuple(f"{loaded.file}: {each}" for each in lacks(self._graph, self.settings))

    # -- the contract

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        """See `Agent.start`; raises `Conflict` on a thread that waits for an answer to something else."""
        given = {} if input is None else input
        stamp = {STARTED: run or digest(values.plain(given))}
        async with self._hold(thread):
            head = await self._reader.head(thread)
            if head is None:
                return await self._runs.run(thread, given, stamp, new=True)
            waiting, ours = await self._reader.waiting(thread, head), is_stamped(head, stamp)
            if ours and run:
                return await self._go_on(thread, head, stamp)
            if waiting and not ours:
                raise Conflict("This thread waits for an answer: give it, cancel it, or take another thread.")
            if waiting:
                return Paused(waiting)
            unfinished = ours and await self._is_unfinished(thread, head)
            taking = self._taking(head)
            return await self._runs.run(thread, None if unfinished else given, stamp, taking=taking)

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        with reachable():
            head = await self._reader.head(thread)
            return await self._reader.waiting(thread, head) if head else ()

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        """See `Agent.resume`; raises `DoesNotFit` for a value that would leave the thread unresumable."""
        async with self._hold(thread):
            if again:  # what still runs may be about to write down that it has the answer
                await self._runs.nothing_left(thread)
            head = await self._reader.known(thread)
            if target.interrupt_id.startswith(breakpoints.PREFIX):
                return await self._pass_breakpoint(thread, head, target, answer, again)
            return await self._answer(thread, head, target, answer, again)

    async def retry(self, thread: str) -> State:
        """Run what failed again. A locked-in answer is used again; what waits or is held keeps waiting."""
        async with self._hold(thread):
            head = await self._reader.known(thread)
            return await self._retry(thread, head)

    async def reask(self, thread: str) -> State:
        """Fork where the last answered question was asked; steps after it run again once it is answered."""
        async with self._hold(thread):
            head = await self._reader.known(thread)
            if asked := await self._reader.last_answered(thread):
                return await self._runs.run(thread, None, {}, at=asked)
            return await self._retry(thread, head)

    async def cancel(self, thread: str) -> Json:
        """Stop a run (a sync node ends by itself, its result unused) and close what waits.

        Gives the graph's output as it stands in its last checkpoint.
        """
        self._runs.cancel(thread)
        async with self._hold(thread):
            self._runs.cancelled(thread)
            if await self._reader.head(thread) is None:
                return None
            finished = await self._finished(thread)
            await self._end(thread)
            return finished

    async def tip(self, thread: str) -> str | None:
        """The id of its last checkpoint."""
        with reachable():
            head = await self._reader.head(thread)
        return evidence.checkpoint_id(head) if head else ""

    async def forget(self, thread: str, tip: str | None = None) -> None:
        """Delete its checkpoints; what the graph keeps by a saver of its own is for its owner to delete."""
        if self._reader.is_ours:
            async with self._hold(thread):
                if tip not in (None, await self.tip(thread)):
                    raise Conflict("This thread was taken up again, so it is not forgotten.")
                await self._reader.saver.adelete_thread(thread)

    @contextlib.asynccontextmanager
    async def _hold(self, thread: str) -> AsyncIterator[None]:
        """The thread is ours. Raises `AgentUnavailable` if it is another's, or its checkpoints are away."""
        with reachable():
            async with self._locks.hold(thread):
                yield

    # -- answering

    async def _answer(
        self, thread: str, head: CheckpointTuple, target: Target, answer: Answer, again: bool
    ) -> State:
        held = await self._reader.held(thread, head)
        found = evidence.open_questions(head, self._reader.names).get(target.interrupt_id)
        if found is None:  # it may be hidden by what the thread has got to since it was asked
            if held and await self._reader.waits_for(thread, {target.interrupt_id}):
                raise NotYet(NOT_YET)
            head = await self._reader.showing(thread, head, lambda _, asked: asked == target.interrupt_id)
            found = evidence.open_questions(head, self._reader.names).get(target.interrupt_id)
        if found is None:
            return await self._consumed(thread, head, target, answer, again)
        if digest_of(found[0]) != target.digest:
            raise NotPending("The question has changed since it was asked.")
        value = dialects.write(payload_of(found[0]), answer, self._reader.own, schema_of(found[0]))
        values.check(value)
        stamp = {ANSWERED: target.interrupt_id}
        taken = await self._reader.taken(thread, head, target.interrupt_id, found[1])
        taking = self._taking(head)
        given: Any = Command(resume={target.interrupt_id: value})
        if taken is not evidence.NOTHING:
            if not again or (taken is not evidence.UNKNOWN and values.plain(taken) != value):
                raise NotPending("An earlier answer is locked in: retry the run, or have it asked again.")
            if held:
                return Paused((held,))
            given = None
        elif held:
            raise NotYet(NOT_YET)
        state = await self._runs.run(thread, given, stamp, secrets=value, taking=taking)
        return await self._read_back(thread, head, target, state, taking, given is not None)

    def _taking(self, head: CheckpointTuple) -> Taking:
        """What is compared as the thread goes on from here."""
        if not self.settings.ask_again_if_changed:
            return Taking()
        asked, called = evidence.asked(head), evidence.called_before(head)
        stored = functools.partial(values.given_back, saver=self._reader.saver)
        return Taking(asked, stored, called, compares=True)

    async def _read_back(
        self, thread: str, head: CheckpointTuple, target: Target, state: State, taking: Taking, gave: bool
    ) -> State:
        """The id must be gone after a resume that did not fail, and a run that pauses again must have taken
        the answer if it was given one now; `DoesNotFit` if its question has changed.
        """
        asks_other = taking.changed and not taking.given(target.interrupt_id)
        if isinstance(state, Paused) and not asks_other:
            if any(item.interrupt_id == target.interrupt_id for item in state.pending):
                return Failed(ASKED_AGAIN, retryable=False)
            asks_other = gave and not await self._is_given(thread, head, target, state, taking)
        if asks_other:
            return state if isinstance(state, Failed) else self._changed(thread, state)
        self._changes.pop(thread, None)
        return state

    async def _is_given(
        self, thread: str, head: CheckpointTuple, target: Target, state: Paused, taking: Taking
    ) -> bool:
        """Whether a step has the answer, or gets it soon: another part of it may have paused first."""
        if state.pending[0].checkpoint != evidence.checkpoint_id(head):
            return True  # the step that had asked has ended
        anew = taking.calls.anew or taking.tasks.anew
        given = await taking.settled(target.interrupt_id, self.patience / 10 if anew else self.patience)
        return given or await self._reader.has_answer(thread, target)

    def _changed(self, thread: str, state: State) -> State:
        if isinstance(state, Finished):
            return Failed(WENT_ON, retryable=False)
        often = self._changes[thread] = self._changes.get(thread, 0) + 1
        if often < OFTEN:
            raise DoesNotFit(CHANGED)
        del self._changes[thread]
        return Failed(CHANGES)

    async def _consumed(
        self, thread: str, head: CheckpointTuple, target: Target, answer: Answer, again: bool
    ) -> State:
        """After a crash: go on if it was our answer that the graph took, otherwise refuse."""
        if not again or not await self._reader.took(thread, target, answer):
            raise NotPending("This question no longer waits on its thread.")
        return await self._go_on(thread, head, {ANSWERED: target.interrupt_id})

    async def _pass_breakpoint(
        self, thread: str, head: CheckpointTuple, target: Target, answer: Answer, again: bool
    ) -> State:
        asked = await self._reader.held(thread, head)
        yes = answer.values.get(breakpoints.QUESTION_ID) is True and not answer.expired
        if asked and (asked.interrupt_id, asked.digest) == (target.interrupt_id, target.digest):
            if yes:
                stamp, taking = {ANSWERED: target.interrupt_id}, self._taking(head)
                state = await self._runs.run(thread, None, stamp, taking=taking)
                stuck = isinstance(state, Paused) and asked in state.pending
                return Failed(breakpoints.STUCK, retryable=False) if stuck else state
            steps = breakpoints.steps(await self._reader.holds(thread))
            await self._end(thread)
            who = "Nobody answered" if answer.expired else "You said no"
            return Failed(f"{who} before {steps}.", retryable=False)
        if again and not yes and not asked:
            return Failed("You said no before the next step.", retryable=False)
        if not (again and yes and await self._reader.passed(thread, head, target)):
            raise NotPending("This breakpoint no longer holds its thread.")
        return await self._go_on(thread, head, {ANSWERED: target.interrupt_id})

    async def _go_on(self, thread: str, head: CheckpointTuple, stamp: Stamp) -> State:
        """From the last checkpoint: what waits or is held keeps waiting, an end is an end, the rest runs."""
        if waiting := await self._reader.waiting(thread, head):
            return Paused(waiting)
        if await self._is_unfinished(thread, head):
            return await self._runs.run(thread, None, stamp, taking=self._taking(head))
        snapshot = await self._graph.aget_state(config_of(thread))
        return Finished(self._runs.result(snapshot.values))

    async def _is_unfinished(self, thread: str, head: CheckpointTuple) -> bool:
        """Whether more is to run. Between a step's end and its checkpoint LangGraph names no next step."""
        return evidence.is_half_way(head) or bool(await self._reader.next_steps(thread))

    async def _retry(self, thread: str, head: CheckpointTuple) -> State:
        failed = any(task.failed and not task.finished for task in evidence.tasks(head))
        if not failed or await self._reader.held(thread, head):
            return await self._go_on(thread, head, {})
        return await self._runs.run(thread, None, {}, taking=self._taking(head))

    async def _finished(self, thread: str) -> Json:
        """The output so far; None if there is none or it cannot be read: to cancel comes first."""
        with contextlib.suppress(Exception):
            return self._runs.result((await self._graph.aget_state(config_of(thread))).values) or None
        return None

    async def _end(self, thread: str) -> None:
        """Leave the thread without next steps: nothing waits, and no late answer finds its question."""
        with contextlib.suppress(Exception):  # a graph may refuse updates; the gateway's record counts
            await self._graph.aupdate_state(config_of(thread), None, as_node=END)
