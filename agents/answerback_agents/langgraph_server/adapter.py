"""`LangGraphServer`: starts, asks and resumes an assistant's threads on a server that others reach too.

The server has no "resume if this still waits": so what waits is read first, the resume is strict and by id,
refused while another run works on the thread, and read back. docs/langgraph-server.md says where that ends.
"""

import logging
from typing import Any

from answerback.agent import Agent, AgentContext, Failed, Look, Paused, Pending, State, Target
from answerback.errors import AgentUnavailable, ConfigurationError, Conflict, NotPending, NotYet
from answerback.model import NOT_YET, Answer, Json
from answerback_agents import dialects
from answerback_agents.langgraph import breakpoints, loading, values
from answerback_agents.langgraph_server import looking, marks, reading
from answerback_agents.langgraph_server.inside import checkpoint
from answerback_agents.langgraph_server.server import ACTIVE, Rejected, Server
from answerback_agents.langgraph_server.settings import Settings

log = logging.getLogger("answerback.agents.langgraph_server")

GONE = "This question no longer waits on its thread."
BUSY = "Somebody else's run is at work on this thread."
Found = dict[str, Any]  # a thread, its state or a run, as the server shows it


class LangGraphServer(Agent):
    """An assistant on a LangGraph server behind the agent contract. Needs `open()` first."""

    Settings = Settings

    def __init__(self, name: str, settings: Any, context: AgentContext) -> None:
        super().__init__(name, settings, context)
        self._server = Server(settings)
        self._own: dialects.Own | None = None

    async def open(self) -> None:
        """Find the assistant. Raises `ConfigurationError` where only the configuration can help."""
        try:
            self._own = await loading.load_dialect(self.settings.dialect, self.context.base_dir, self.name)
            await self._server.meet()
        except Rejected as error:
            await self.close()
            raise ConfigurationError(str(error)) from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._server.close()

    # -- the contract

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        """See `Agent.start`; raises `Conflict` on a thread that waits for an answer to something else."""
        id, mark = self._id(thread), marks.of_start(run, input)
        if begun := await self._marked(id, mark):
            return await self._outcome(id, begun[0]["run_id"])
        if reading.waits(*await self._read(id), self._own):
            raise Conflict("This thread waits for an answer: give it, cancel it, or take another thread.")
        await self._server.own_thread(id, {**self.settings.metadata, **marks.of_thread(self.name, thread)})
        return await self._run(id, mark, input={} if input is None else input)

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return reading.waits(*await self._read(self._id(thread)), self._own)

    async def stands(self, thread: str) -> State | None:
        return reading.stands(*await self._known(self._id(thread)), self._own)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        """See `Agent.resume`. A run that carries this answer's mark is the earlier attempt."""
        id, mark = self._id(thread), marks.of_answer(target, answer)
        if again and (sent := await self._marked(id, mark)):
            return await self._reconcile(id, sent, target, answer)
        try:
            return await self._give(id, mark, target, answer)
        except NotPending:  # perhaps because the earlier attempt, held up on its way, has only now come there
            if again and (sent := await self._marked(id, mark)):
                return await self._reconcile(id, sent, target, answer)
            raise

    async def retry(self, thread: str) -> State:
        """Run what failed again, with the answers that are locked in; what waits keeps waiting.

        Where the choice of the next step failed, the server would leave that out: all steps beside each other
        run again then, and ask again.
        """
        id = self._id(thread)
        known = await self._known(id)
        state = reading.stands(*known, self._own)
        if isinstance(state, Failed):
            fork = {"checkpoint_id": reading.origin(known[1])} if reading.is_half_done(known[1]) else {}
            return await self._run(id, {}, input=None, **fork)
        return self._settled(state)

    async def reask(self, thread: str) -> State:
        """Fork where the last question was asked; the steps after it run again once it is answered."""
        id = self._id(thread)
        _, newest = await self._known(id)
        answered = await self._last_answered(id)
        async for state in self._server.history(id):
            is_newest = checkpoint(state) == checkpoint(newest)
            asked = {each.id for each in reading.asked(newest if is_newest else state)}
            if asked and reading.is_half_done(newest) and answered not in asked:
                break  # what failed had asked it: a step that the server leaves out
            if asked:
                return await self._run(id, {}, input=None, checkpoint_id=reading.origin(state))
            if (state.get("metadata") or {}).get("source") == "input":
                break
        return await self.retry(thread)

    async def cancel(self, thread: str) -> None:
        """Stop our runs, and close what waits on a thread that we started; others' threads are left alone."""
        id = self._id(thread)
        found = await self._server.thread(id)
        if found is None:
            return
        ours = marks.started_as(found)[0] == self.name
        async for run in self._server.runs(id):
            if run["status"] in ACTIVE and (ours or marks.ANSWERED in run["metadata"]):
                await self._server.stop(id, run["run_id"])
        found, state = await self._read(id)
        if ours and (state.get("next") or found.get("status") == "interrupted"):
            await self._server.end(id)

    async def tip(self, thread: str) -> str | None:
        """The id of its last checkpoint."""
        _, state = await self._read(self._id(thread))
        return checkpoint(state)

    async def forget(self, thread: str, tip: str | None = None) -> None:
        """The server has no way to do it only if nothing happened; it is looked at just before.

        Last of all whether a run has begun: that shows before anything else of it does.
        """
        id = self._id(thread)
        if tip is not None:
            state = await self._server.state(id) or {}
            found = await self._server.thread(id) or {}
            if found.get("status") == "busy" or checkpoint(state) != tip:
                raise Conflict("This thread was taken up again, so it is not forgotten.")
        await self._server.delete(id)

    async def look(self, cursor: str) -> Look:
        """Changed threads of ours; with `adopt`, everybody's threads of this assistant."""
        scope = {**self._server.scope, **self.settings.metadata}
        if not self.settings.adopt:
            scope[marks.AGENT] = self.name
        return await looking.look(self._server, self.settings, scope, cursor)

    # -- reading

    def _id(self, thread: str) -> str:
        return marks.server_id(self.name, thread)

    async def _read(self, id: str) -> tuple[Found, Found]:
        """The thread and its state; both empty if the server has none."""
        found, before = await self._server.thread(id), None
        while found:
            state = await self._server.state(id) or {}
            if reading.is_whole(found, state) or found == before:
                return found, reading.whole(found, state)
            found, before = await self._server.thread(id), found  # both of one moment: a run may have ended
        return {}, {}

    async def _known(self, id: str) -> tuple[Found, Found]:
        known = await self._read(id)
        if not known[0]:
            raise NotPending("This thread does not exist (any more).")
        return known

    async def _marked(self, id: str, mark: marks.Mark) -> list[Found]:
        """The runs that carry it, newest first."""
        return [run async for run in self._server.runs(id) if marks.is_marked(run, mark)]

    async def _last_answered(self, id: str) -> str:
        """The id of the interrupt that we answered last, or ""."""
        async for run in self._server.runs(id):
            if given := marks.given(run):
                return given
        return ""

    # -- answering

    async def _give(self, id: str, mark: marks.Mark, target: Target, answer: Answer) -> State:
        thread, state = await self._known(id)
        hold = reading.held(thread, state)
        if target.interrupt_id.startswith(breakpoints.PREFIX):
            return await self._let_go_on(id, mark, target, answer, hold)
        asked = next((each for each in reading.asked(state) if each.id == target.interrupt_id), None)
        if asked is None or target.checkpoint not in ("", checkpoint(state)):
            raise NotPending(GONE)
        if asked.digest != target.digest:
            raise NotPending("The question has changed since it was asked.")
        if asked.locked:
            raise NotPending("An earlier answer is locked in: retry the run, or have it asked again.")
        if hold:  # it would let the held steps run
            raise NotYet(NOT_YET)
        value = dialects.write(asked.payload, answer, self._own, asked.schema)
        values.check(value)
        return self._read_back(
            target, await self._run(id, mark, secrets=value, command={"resume": {target.interrupt_id: value}})
        )

    def _read_back(self, target: Target, state: State) -> State:
        """The id must be gone after a resume that did not fail."""
        if isinstance(state, Paused) and any(
            each.interrupt_id == target.interrupt_id for each in state.pending
        ):
            return Failed("The graph asked again instead of taking the answer.", retryable=False)
        return state

    async def _let_go_on(
        self, id: str, mark: marks.Mark, target: Target, answer: Answer, hold: Pending | None
    ) -> State:
        """A yes lets held steps run; a no ends the thread."""
        if hold is None or (hold.interrupt_id, hold.digest) != (target.interrupt_id, target.digest):
            raise NotPending("These steps are no longer held back.")
        if answer.values.get(breakpoints.QUESTION_ID) is True and not answer.expired:
            state = await self._run(id, mark, input=None)
            stuck = isinstance(state, Paused) and hold in state.pending
            return Failed(breakpoints.STUCK, retryable=False) if stuck else state
        await self._server.end(id)
        who = "Nobody answered" if answer.expired else "You said no"
        return Failed(f"{who} before the next step.", retryable=False)

    async def _reconcile(self, id: str, sent: list[Found], target: Target, answer: Answer) -> State:
        """After a crash runs with our answer are found: wait for them, and see what became of the answer.

        The server refuses each of them but one, if one came first; nobody else's may have.
        """
        ends = [await self._server.ended(id, run["run_id"]) for run in sent]  # the newest first
        thread, state = await self._known(id)
        asked = next((each for each in reading.asked(state) if each.id == target.interrupt_id), None)
        last, *before = ends
        # What a thread says of an error is of its last run.
        refused = reading.is_refused(last, thread, state)
        if asked is None and refused and all(reading.is_refused(ended, {}, state) for ended in before):
            raise NotPending(GONE)
        if asked is None or asked.locked:  # consumed; or in a step that failed with it
            return self._settled(reading.stands(thread, state, self._own))
        if last.status == "success":
            return self._read_back(target, self._settled(reading.stands(thread, state, self._own)))
        return await self._give(id, marks.of_answer(target, answer), target, answer)

    # -- running

    async def _run(self, id: str, mark: marks.Mark, *, secrets: Any = (), **what: Any) -> State:
        return await self._outcome(id, await self._server.run(id, mark, **what), secrets)

    async def _outcome(self, id: str, run: str, secrets: Any = ()) -> State:
        """Where a run leaves its thread; raises `NotPending` if the server refused its answer."""
        ended = await self._server.ended(id, run)
        thread, state = await self._known(id)
        if ended.failed:
            if reading.is_refused(ended, thread, state):
                raise NotPending(GONE)
            error = ended.error or thread.get("error")
            return reading.failed({"error": error}, state, secrets)
        return self._settled(reading.stands(thread, state, self._own))

    def _settled(self, state: State | None) -> State:
        if state is None:
            raise AgentUnavailable(BUSY)
        return state
