"""Running one graph on a thread until it pauses, ends or raises; what it waits for is read from storage."""

import asyncio
import copy
import logging
import weakref
from collections.abc import Awaitable, Callable, Set
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.errors import UnknownInterruptError, is_invalid_resume
from langgraph.types import Command

from answerback.agent import Failed, Finished, Paused, State
from answerback.errors import AgentUnavailable, DoesNotFit, NotPending
from answerback.model import Json
from answerback_agents.langgraph import breakpoints, evidence, loading, order, savers, values
from answerback_agents.langgraph.beside import PATIENCE
from answerback_agents.langgraph.calls import Calls, soon
from answerback_agents.langgraph.canary import CACHE
from answerback_agents.langgraph.marks import Stamp
from answerback_agents.langgraph.reading import Reader, config_of, is_storage
from answerback_agents.langgraph.taking import Taking

log = logging.getLogger("answerback.agents.langgraph")

AT_CLOSE = 3.0  # seconds
FIRST_LOOK, LAST_LOOK = 0.05, 5.0  # seconds
CANCELLED = Failed("Cancelled.", retryable=False)
STEP_IS_GONE = (
    "The step that asked is not in the graph any more, so nothing took the answer. "
    "Give the step its old name and place again and retry, or start a new run."
)
NOT_KEPT = (
    "The graph asks something that its checkpoints do not have: its saver does not keep what it is given."
)


class Runs:
    """The graph's runs that are under way here, one a thread: whoever calls holds the thread's lock.

    `context`: makes what the steps of one run have as their context. `patience`: for how many seconds a run
    waits for what the one before has left running; `beside`: for how many a graph that a step calls and that
    has paused waits for those that it calls at the same time.
    """

    def __init__(
        self, agent: str, reader: Reader, context: Callable[[], Any] = lambda: None, patience: float = 30.0
    ) -> None:
        self._agent, self._reader, self._context, self.patience = agent, reader, context, patience
        self.beside = PATIENCE
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._cancelled: set[str] = set()
        # Of each thread's last run, also while it is under way, as long as anything of it is left.
        self._left = weakref.WeakValueDictionary[str, Calls]()

    def cancel(self, thread: str) -> None:
        """What is under way on this thread ends as cancelled, and the thread is free some time later."""
        if left := self._left.get(thread):
            left.over()
        if running := self._tasks.get(thread):
            self._cancelled.add(thread)
            running.cancel()

    def cancelled(self, thread: str) -> None:
        """It is free: from now on a run that is stopped was stopped by something else."""
        self._cancelled.discard(thread)

    async def close(self) -> None:
        """Stop what is under way; what runs have left running has a moment to write down what it did."""
        tasks, left = list(self._tasks.values()), list(self._left.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for calls in left:
            calls.over()
        await soon(lambda: not any(calls.is_running() for calls in left), min(self.patience, AT_CLOSE))

    async def run(
        self,
        thread: str,
        given: Any,
        stamp: Stamp,
        *,
        new: bool = False,
        at: str = "",
        secrets: Any = (),
        taking: Taking | None = None,
    ) -> State:
        """Run the graph until it pauses, ends or raises; what it waits for is read from storage.

        `new`: the thread has just been seen to have no checkpoint. LangGraph looks again itself otherwise: a
        resume must be strict about what is there, not about what we saw. `at`: the checkpoint to fork from.
        `secrets`: what no error text may repeat. What may come from an answer is neither put into the graph's
        cache nor taken from there: only a run with new input uses that. `taking`: who compares what its steps
        ask with what was answered; without it, nothing was asked before.
        """
        await self.nothing_left(thread)
        graph = copy.copy(self._reader.graph)
        look, kept = savers.nothing if new else self._reader.look, list[str]()
        graph.checkpointer = savers.for_one_run(self._reader.saver, look, kept)
        config = config_of(thread)
        if at:
            config["configurable"].update(checkpoint_id=at, checkpoint_ns="")
        if given is None or isinstance(given, Command):
            config["configurable"][CACHE] = None  # it would keep what a step was told, for others like it
        config["metadata"] = dict(stamp)
        taking = taking or Taking()
        taking.calls.beside.patience = self.beside
        running = graph.ainvoke(given, config, durability="sync", context=self._context())
        resume = given.resume if isinstance(given, Command) else None
        answered = set(resume) if isinstance(resume, dict) else set[str]()
        ran = self._until_kept(thread, running, taking, answered)
        task = asyncio.create_task(ran, context=taking.context())
        self._tasks[thread], self._left[thread] = task, taking.calls
        try:
            output = await task
        except asyncio.CancelledError:
            if thread in self._cancelled:
                return CANCELLED
            task.cancel()
            await asyncio.wait({task})
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `sys.exit` in a step, or a Rust panic: that run's affair alone
            return await self._failed(thread, error, secrets)
        finally:
            self._tasks.pop(thread, None)
        state = await self._after(thread, output, taking)
        # LangGraph says nothing of an answer for a step that a changed graph has no more, and ends.
        took = not isinstance(given, Command) or kept or not isinstance(state, Finished)
        return state if took else Failed(STEP_IS_GONE)

    async def nothing_left(self, thread: str) -> None:
        """Wait for what the run before has left running: parts of a step of which another one has paused.

        They may still take an answer that they were given, and write down what they did with it.
        """
        if (left := self._left.get(thread)) is None:
            return
        left.over()
        if not await soon(lambda: not left.is_running(), self.patience):
            raise AgentUnavailable("what this thread's step has left running does not end")

    async def _until_kept(
        self, thread: str, running: Awaitable[Any], taking: Taking, answered: Set[str]
    ) -> Any:
        """What it puts out, once it is stored what became of these answers.

        One of several calls of a step may still work on what it was told when another one has paused or
        failed: killed then, it would know nothing of that.
        """
        output: Any = None
        error, pause = None, FIRST_LOOK
        try:
            output = await running
        except Exception as raised:
            error = raised
        while answered and taking.calls.is_running() and await self._reader.waits_for(thread, answered):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_LOOK)
        if error is not None:
            raise error
        return output

    async def _after(self, thread: str, output: Any, taking: Taking) -> State:
        # LangGraph does not show what a step asks that it hides: so it is with what leads to the first one.
        asks = taking.waits or not isinstance(output, dict) or "__interrupt__" in output
        head = await self._reader.head(thread) if asks or self._reader.has_breakpoints else None
        if head and taking.calls.are_several():  # one of them may hide what another one asks
            head = await self._reader.showing(thread, head, lambda place, _: taking.calls.has_begun(place))
        if head and (waiting := await self._reader.waiting(thread, head)):
            await self._write_down(head, taking)
            return Paused(waiting)
        if isinstance(output, dict) and "__interrupt__" in output:  # it waits for ever: that is no end
            return Failed(NOT_KEPT)
        may_be_held = self._reader.has_breakpoints or taking.calls.beside.held
        if may_be_held and await self._reader.next_steps(thread):
            return Failed(breakpoints.STUCK)
        return Finished(self.result(output))

    async def _write_down(self, head: CheckpointTuple, taking: Taking) -> None:
        """LangGraph keeps each task's last question alone; a task that asks further must keep to all of them,
        and a step to the calls of its tasks.

        Killed before this is written, what was asked and called before is known to nobody, and not compared.
        """
        asked = evidence.still_open(head, taking.taken)
        called = taking.tasks.made(evidence.going_on(head), taking.calls.asking())
        if asked or called:
            asked, called = evidence.asked_before(head) | asked, evidence.called_before(head) | called
            known = evidence.to_keep(asked, called)
            await self._reader.saver.aput_writes(head.config, known, evidence.ASKED_BEFORE)

    async def _failed(self, thread: str, error: BaseException, secrets: Any) -> State:
        if isinstance(error, order.Behind):
            raise AgentUnavailable("this machine's clock is behind that of the step before") from error
        if isinstance(error, UnknownInterruptError):
            raise NotPending("This question no longer waits on its thread.") from error
        if is_invalid_resume(error):
            wrong = values.error_line(error, secrets).removeprefix("ValidationError: ")
            raise DoesNotFit(f"The agent asked for an answer of another form. {wrong}") from error
        head = await self._reader.head(thread)
        known = evidence.tasks(head) if head else []
        if is_storage(error) and not any(task.failed for task in known):
            raise AgentUnavailable("the agent's checkpoints cannot be written now") from error
        file, line = loading.where(error)
        at = f" ({file}:{line})" if file else ""
        log.info("agent %s: a step raised %s%s", self._agent, type(error).__name__, at)
        return Failed(values.error_line(error, [secrets, [task.answers for task in known]]))

    def result(self, output: Any) -> Json:
        """What a graph has put out, as JSON: of its state, what it names as its output."""
        shown = values.storable(values.plain(output))
        if not isinstance(shown, dict):
            return shown
        channels = self._reader.graph.output_channels
        wanted = shown if isinstance(channels, str) else {key: shown[key] for key in channels if key in shown}
        return {key: value for key, value in wanted.items() if key != "__interrupt__"}
