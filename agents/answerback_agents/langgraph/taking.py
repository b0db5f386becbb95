"""Taking: a step gets an answer only if it asks what that was an answer to (law 1).

LangGraph runs a step again from its start once its answer is there, and gives it to whichever `interrupt`
comes first, whatever that asks by then. It asks something else if an amount in it was looked up again, if a
model worded it anew, if another version of the graph was deployed in between, or if the step asks in threads
and another one was faster. LangGraph has no hook there, so its `interrupt` is replaced by one that compares
first. In what is not a run of ours it does what it did.
"""

import contextvars
import functools
import sys
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import langgraph.types
from langgraph.checkpoint.serde.types import RESUME
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt
from pydantic import TypeAdapter

from answerback_agents.langgraph.asked import digest_of, id_of
from answerback_agents.langgraph.calls import Calls, soon
from answerback_agents.langgraph.tasks import Numbered, Tasks

# Private names of LangGraph's, as in `langgraph.types.interrupt`; a test of each kind of step proves them.
SCRATCHPAD, NAMESPACE, SEND = "__pregel_scratchpad", "checkpoint_ns", "__pregel_send"
TASK = "__pregel_task_id"
_original = langgraph.types.interrupt
_current: contextvars.ContextVar["Taking | None"] = contextvars.ContextVar("taking", default=None)


class Taking:
    """What a run's steps were asked for, and what they took.

    `asked`: the digest of what each question asked as it was answered, by interrupt id. `stored`: a value as
    it comes back from the graph's saver. `called`: the tasks that steps have called before. `compares`:
    whether inner graphs must be called as when they asked. `taken` are the digests of what was given its
    answer, with the namespace of its task; `changed` the ids of what asked something else, and so was not
    given it; `calls` the inner graphs that run, and `tasks` those of the functional API. `waits`: whether
    anything was asked that has no answer yet.
    """

    def __init__(
        self,
        asked: Mapping[str, str] = MappingProxyType({}),
        stored: Callable[[Any], Any] = lambda value: value,
        called: Mapping[str, Numbered] = MappingProxyType({}),
        *,
        compares: bool = False,
    ) -> None:
        self._asked, self._stored, self.compares = asked, stored, compares
        self._counts: dict[int, tuple[Any, int]] = {}
        self._lock = threading.Lock()
        self.taken: dict[str, tuple[str, str]] = {}
        self.changed: set[str] = set()
        self.waits = False
        self._closed: set[str] = set()
        self.calls, self.tasks = Calls(), Tasks(called)

    def context(self) -> contextvars.Context:
        """A context for the task of a run: what runs in it asks here."""
        context = contextvars.copy_context()
        context.run(_current.set, self)
        return context

    def given(self, interrupt_id: str) -> bool:
        """Whether a step was given the answer to this, and kept to its question."""
        return interrupt_id in self.taken and interrupt_id not in self.changed

    async def settled(self, interrupt_id: str, patience: float) -> bool:
        """Whether a step is given the answer to this within `patience` seconds. If not, none will be."""
        await soon(lambda: self.given(interrupt_id), patience)
        with self._lock:
            if given := self.given(interrupt_id):
                return given
            self._closed.add(interrupt_id)
            return False

    def ask(self, value: Any, schema: Any, ask: Callable[[], Any]) -> Any:
        """`ask()`, if what is asked is what the answer was given for. Raises `GraphInterrupt` otherwise.

        Raises `OneHistory`, `NoHistory` where no answer would reach this question alone.
        """
        step = told()
        self.calls.ask(step.get(NAMESPACE, ""))
        with self._lock:  # steps may ask in threads: LangGraph and we have to count the same
            try:
                self._compare(value, schema, step)
                return ask()
            except GraphInterrupt:
                self.waits = True
                raise

    def _compare(self, value: Any, schema: Any, step: Mapping[str, Any]) -> None:
        scratchpad = step.get(SCRATCHPAD)
        place = 0 if scratchpad is None else self._place(scratchpad.interrupt_counter)
        if scratchpad is None or place >= len(scratchpad.resume):
            self.calls.must_go_on()  # what has its answer may still take it
            return
        interrupt_id = id_of(step[NAMESPACE], place)
        asks = Interrupt(value=value, id=interrupt_id, response_schema=_json_schema(schema))
        was, now = self._asked.get(interrupt_id), digest_of(asks)
        same = was is None or was == now or was == digest_of(self._stored(asks))
        if same and interrupt_id not in self._closed:
            self.taken[interrupt_id] = (was or now, step[NAMESPACE])
            return
        self.changed.add(interrupt_id)
        # From here on nothing is answered, also of what the step asks at the same time.
        scratchpad.interrupt_counter()
        del scratchpad.resume[place:]
        step[SEND]([(RESUME, list(scratchpad.resume))])
        raise GraphInterrupt((asks,))

    def _place(self, counter: Any) -> int:
        """How many this try of the step has asked before. LangGraph's own counter cannot be looked at."""
        _, place = self._counts.get(id(counter), (counter, 0))
        self._counts[id(counter)] = (counter, place + 1)  # kept, so that no other gets its id
        return place


def current() -> Taking | None:
    """That of the run of ours that what runs here belongs to."""
    return _current.get()


def is_ours() -> bool:
    """Whether what runs here belongs to a run of ours."""
    return _current.get() is not None


def told() -> Mapping[str, Any]:
    """What LangGraph tells the step, or the task, that runs here; nothing where none does."""
    try:
        return get_config()["configurable"]
    except (RuntimeError, KeyError):
        return {}


def _json_schema(schema: Any) -> Any:
    """As `interrupt` makes it."""
    return schema if schema is None or isinstance(schema, dict) else TypeAdapter(schema).json_schema()


@functools.wraps(_original)
def interrupt(value: Any, *args: Any, **more: Any) -> Any:
    """`langgraph.types.interrupt`, which gives an answer to nothing but what it was given for."""
    run = _current.get()
    if run is None:
        return _original(value, *args, **more)
    return run.ask(value, more.get("response_schema"), lambda: _original(value, *args, **more))


def install() -> None:
    """Replace it everywhere: in LangGraph, and in what has imported it already."""
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is _original and module.__name__ != __name__:
                setattr(module, name, interrupt)
