"""`WorkerAgent`: an agent in a process of its own, started again with back-off whenever that ends."""

import asyncio
import contextlib
import logging
import shutil
import sys
from collections.abc import Callable
from typing import Any

from answerback import backoff
from answerback.agent import Agent, AgentContext, Failed, Look, Pending, State, Target
from answerback.errors import AgentError, AgentUnavailable, ConfigurationError, DoesNotFit
from answerback.model import Answer, Json
from answerback.settings import Plugin
from answerback.settings.source import Source
from answerback.workers import codec, frames
from answerback.workers.process import Patience, UnusablePython, Worker

log = logging.getLogger("answerback.workers")
LONGEST = 60.0  # seconds between two starts


class WorkerAgent(Agent):
    """Behind the contract: what a configured agent does, done in a worker.

    A call that is under way when the worker ends raises `AgentUnavailable`, and only once the worker is
    gone for certain: the next try, with `again=True`, finds out what became of the answer (law 1).
    """

    def __init__(
        self,
        plugin: Plugin,
        context: AgentContext,
        *,
        patience: Patience = Patience(),
        pause: Callable[[int], float] = backoff.pause,
    ) -> None:
        super().__init__(plugin.name, plugin, context)
        self._plugin, self._patience, self._pause = plugin, patience, pause
        self._worker: Worker | None = None  # the one that is ready
        self._keeper: asyncio.Task[None] | None = None
        self._turned = asyncio.Condition()  # `_worker`, `_starting` or `_state` has changed
        self._starting = self._opened = self._closed = False
        self._unusable: ConfigurationError | None = None
        self._state = ""
        self._notes: tuple[str, ...] = ()
        self._to_cancel: set[str] = set()  # threads that are being cancelled

    @property
    def state(self) -> str:
        """What hinders the worker, as a sentence for people; "" while it works."""
        if self._worker is not None and self._worker.ended.done():
            return f"Its worker {self._worker.ended.result()}."
        return self._state

    # -- opening and closing

    async def open(self) -> None:
        """Start the worker and wait for it. A ConfigurationError of the agent is raised here, as it is.

        What may pass (a crash, a database that is away, a slow import) is tried again in the background.
        """
        self._starting = True
        self._keeper = asyncio.create_task(self._keep())
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience.open), self._turned:
                    await self._turned.wait_for(lambda: not self._starting)
        except BaseException:
            await self.close()
            raise
        self._opened = True
        if self._unusable is not None:
            raise self._unusable
        if self.state:
            log.warning("the agent %s is not ready yet: %s", self.name, self.state)

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        self._closed = True
        await self._turn(None, starting=False, state="")

    async def _keep(self) -> None:
        """Start it, see it end, wait, start it again; ends it when this task is cancelled."""
        failures, why = 0, ""
        while self._unusable is None:
            worker = Worker(self.name, self._python(), self._patience, self._source().masked)
            began = asyncio.get_running_loop().time()
            starting = f"{why} The worker is starting again." if why else "Its worker is starting."
            await self._turn(None, starting=True, state=starting)
            why = await self._attended(worker)
            if asyncio.get_running_loop().time() - began >= self._patience.steady:
                failures = 0
            seconds = min(self._pause(failures), LONGEST)
            failures += 1
            if self._unusable is None:
                again = f"{why} The worker starts again in {seconds:.0f} s."
                log.warning("the agent %s: %s", self.name, again)
                await self._turn(None, starting=False, state=again)
                await asyncio.sleep(seconds)

    async def _attended(self, worker: Worker) -> str:
        """From its start to its end; why it ended."""
        try:
            await worker.open(self._configuration())
            self._note(worker.notes)
            await self._catch_up(worker)
            await self._turn(worker, starting=False, state="")
            await asyncio.wait({worker.ended})
            return f"Its worker {worker.ended.result()}."
        except ConfigurationError as error:
            await self._give_up(error)
        except UnusablePython as error:
            await self._give_up(self._source().error("python", f"agents.{self.name}.python: {error}"))
        except AgentError as error:
            return str(error)
        except asyncio.CancelledError:
            await worker.close()
            raise
        except Exception as error:
            log.exception("a worker could not be started")
            return f"Its worker cannot be started: {type(error).__name__}."
        finally:
            await worker.kill("")  # whatever happened: never two of them at work
        return ""

    def _note(self, notes: tuple[str, ...]) -> None:
        """Said once, however often the worker starts again."""
        for note in notes:
            if note not in self._notes:
                log.warning("the agent %s: %s", self.name, note)
        self._notes = notes

    async def _catch_up(self, worker: Worker) -> None:
        """Cancel what was to be cancelled, before a retry can take it further."""
        try:
            async with asyncio.timeout(self._patience.start):
                for thread in [*self._to_cancel]:
                    await worker.call("cancel", {"thread": thread})
                    self._to_cancel.discard(thread)
        except TimeoutError:
            raise AgentUnavailable("Its worker could not cancel what the one before it had left.") from None

    async def _give_up(self, error: ConfigurationError) -> None:
        """Nothing but a change of the configuration helps."""
        self._unusable = error
        if self._opened:  # nobody waits in `open` any more to hear of it
            log.error("the agent %s cannot be used: %s", self.name, error)
        await self._turn(None, starting=False, state=str(error))

    async def _turn(self, worker: Worker | None, *, starting: bool, state: str) -> None:
        async with self._turned:
            self._worker, self._starting, self._state = worker, starting, state
            self._turned.notify_all()

    def _configuration(self) -> Json:
        same = self._python() == sys.executable
        return {
            "plugin": codec.plugin_out(self._plugin),
            "context": codec.context_out(self.context),
            "path": sys.path if same else [],  # what can be imported here can be imported there
            "memory_limit": self._plugin.memory_limit,
        }

    def _python(self) -> str:
        named = self._plugin.python
        return (shutil.which(named) or named) if named else sys.executable

    def _source(self) -> Source:
        plugin = self._plugin
        prefix = f"agents.{plugin.name}"
        return Source(plugin.file, plugin.base_dir, plugin.lines, prefix, plugin.line, plugin.hidden)

    # -- the contract

    async def notes(self) -> tuple[str, ...]:
        return self._notes

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        try:
            return codec.state_in(await self._call("start", thread=thread, input=input, run=run))
        except frames.TooLarge as error:
            return Failed(f"The input does not reach the agent: {error}.", retryable=False)

    async def pending(self, thread: str) -> tuple[Pending, ...]:
        return codec.pending_in(await self._call("pending", thread=thread))

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        try:
            state = await self._call("resume", thread=thread, target=target, answer=answer, again=again)
        except frames.TooLarge as error:
            raise DoesNotFit(f"The answer does not reach the agent: {error}.") from None
        return codec.state_in(state)

    async def retry(self, thread: str) -> State:
        return codec.state_in(await self._call("retry", thread=thread))

    async def reask(self, thread: str) -> State:
        return codec.state_in(await self._call("reask", thread=thread))

    async def look(self, cursor: str) -> Look:
        return codec.look_in(await self._call("look", cursor=cursor))

    async def stands(self, thread: str) -> State | None:
        state = await self._call("stands", thread=thread)
        return None if state is None else codec.state_in(state)

    async def cancel(self, thread: str) -> Json:
        """As the contract says. A worker that is blocked, so that nothing can be stopped in it, is ended.

        The next worker then does it before anything else. When this raises because the worker is away, it is
        for whoever called to do it again: by itself the next one would not know who has the thread by then.
        """
        self._to_cancel.add(thread)
        try:
            return await self._cancel(thread)
        finally:
            self._to_cancel.discard(thread)

    async def _cancel(self, thread: str) -> Json:
        worker = await self._ready()
        try:
            async with asyncio.timeout(self._patience.blocked):
                await worker.call("ping", {})
            return await worker.call("cancel", {"thread": thread})
        except TimeoutError:
            await worker.kill("was blocked by a run that was to be cancelled, and was ended")
            await self._started_again()
            return None

    async def _started_again(self) -> None:
        try:
            async with asyncio.timeout(self._patience.start):
                await self._ready(patiently=True)
        except TimeoutError:
            raise AgentUnavailable(self.state) from None

    async def tip(self, thread: str) -> str | None:
        found: str | None = await self._call("tip", thread=thread)
        return found

    async def forget(self, thread: str, tip: str | None = None) -> None:
        known = {} if tip is None else {"tip": tip}
        await self._call("forget", thread=thread, **known)

    async def _call(self, method: str, **arguments: Any) -> Json:
        worker = await self._ready()
        return await worker.call(method, codec.arguments_out(arguments))

    async def _ready(self, *, patiently: bool = False) -> Worker:
        """The worker, once it has started; `patiently`: through a pause before its next start as well."""

        def decided() -> bool:
            waits = self._starting or patiently
            return self._closed or self._unusable is not None or self._alive() or not waits

        if self._worker is not None and self._alive():
            return self._worker
        async with self._turned:
            await self._turned.wait_for(decided)
            if self._worker is None or not self._alive():
                raise AgentUnavailable(self.state or f"The agent {self.name} has no worker now.")
            return self._worker

    def _alive(self) -> bool:
        return self._worker is not None and not self._worker.ended.done()
