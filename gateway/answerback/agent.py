"""The agent contract: how anything that can pause is started, asked what it waits for, and resumed.

An adapter implements `Agent`. The gateway calls `resume` only while it holds the thread's lease, with
the interrupt id and payload digest it stored when it asked; the adapter checks both against what is
pending *now* and raises `NotPending` rather than answer anything else (law 1).
"""

import abc
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from answerback.model import Answer, Json, Question

CONTRACT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Pending:
    """One interrupt that waits: its id, what it asks, and the digest of its payload.

    `expirable`: the payload's dialect promises a value for silence, so that `on_expire: auto` may use it.
    `checkpoint` is an opaque position that the adapter may want back after a crash (a checkpoint id).
    `expires_in`, `on_expire` and `default` are what the payload says of its deadline, as it stands there,
    None for nothing: the gateway judges it, and asks without what it cannot use. The last two are sentences
    for whoever wrote the agent: what it demands of an answer and is not checked, and why nothing could fit.
    What nothing can fit is not asked, and the run fails with that reason.
    """

    interrupt_id: str
    digest: str
    questions: tuple[Question, ...]
    context: str = ""
    title: str = ""
    expirable: bool = False
    checkpoint: str = ""
    human_only: bool = False  # the payload says that no stand-in may answer
    expires_in: Json = None  # seconds, or a text such as "10m"; instead of the route's
    on_expire: Json = None  # the value of an `OnExpire`; instead of the route's
    default: Json = None  # what counts when nobody answers, with `on_expire: default`
    unusable: tuple[str, ...] = ()
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class Paused:
    """The thread waits for these answers."""

    pending: tuple[Pending, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The thread ran to its end. `result` is JSON."""

    result: Json = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The agent raised. `error` is one line for people; `retryable`: the same step can be tried again."""

    error: str
    retryable: bool = True


State = Paused | Finished | Failed


@dataclass(frozen=True, slots=True)
class Target:
    """What an answer was given for: nothing else may receive it."""

    interrupt_id: str
    digest: str
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A thread that may have changed without the gateway: started, answered or moved on by somebody else.

    `waiting` are the (interrupt id, digest) of what seems to wait on it; what is true says `Agent.stands`.
    `started`: a gateway started it, this one or another that shares the server.
    """

    thread: str
    waiting: tuple[tuple[str, str], ...] = ()
    started: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a look found, and the cursor to look on from.

    `again_in`: seconds to the next look; None when there will never be anything to see.
    """

    changes: tuple[Change, ...] = ()
    cursor: str = ""
    again_in: float | None = None


class Agent(abc.ABC):
    """A configured thing that can pause and be resumed. All methods may raise `AgentUnavailable`."""

    contract_version: ClassVar[int] = CONTRACT_VERSION

    def __init__(self, name: str, settings: Any, context: "AgentContext") -> None:
        self.name, self.settings, self.context = name, settings, context

    async def open(self) -> None:
        """Prepare; raises `ConfigurationError` when the agent cannot be used at all."""

    async def close(self) -> None:
        """Release what `open` took."""

    async def notes(self) -> tuple[str, ...]:
        """What its author should look at though it can be used: a sentence each, with file and line."""
        return ()

    @abc.abstractmethod
    async def start(self, thread: str, input: Json, run: str = "") -> State:
        """Run `input` on a thread that is not waiting, until it pauses or ends.

        Must be safe to repeat after a crash: a thread that already has progress from this start goes on
        from its last checkpoint instead of starting over. `run` names the start: the same name is the
        same start, even when it has ended already, then its result is given again.
        """

    @abc.abstractmethod
    async def pending(self, thread: str) -> tuple[Pending, ...]:
        """What waits on the thread now, `()` if nothing does. Reads only."""

    @abc.abstractmethod
    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        """Give `answer` to exactly `target`; raise `NotPending` if it does not wait with that digest.

        Raises `NotYet` while it waits behind something else, which `pending` then shows instead of it: the
        answer is given again once that is answered.

        Raises `DoesNotFit` for a value that the agent refuses and has kept nothing of: it is asked again.
        With `answerback.model.CHANGED` as its detail, the agent would by now ask something else.

        `again`: an earlier attempt with this same answer was begun and its result is unknown (a crash).
        The adapter then finds out whether the answer was consumed, is locked in, or never arrived, and
        goes on accordingly: an answer is never given twice and never to something else.
        """

    @abc.abstractmethod
    async def retry(self, thread: str) -> State:
        """Try a failed step again with what it was given before; `NotPending` where there is no thread."""

    async def reask(self, thread: str) -> State:
        """Ask the failed step's question anew (for another answer); by default the same as `retry`."""
        return await self.retry(thread)

    async def look(self, cursor: str) -> Look:
        """The threads that somebody else may have changed since `cursor` ("" the first time).

        Only of an agent whose threads others reach too. By default nobody does, and there is no next look.
        """
        return Look()

    async def stands(self, thread: str) -> State | None:
        """Where a thread stands that somebody else has changed; None while it works. Reads only."""
        waiting = await self.pending(thread)
        return Paused(waiting) if waiting else None

    async def cancel(self, thread: str) -> Json:
        """Stop what runs on the thread; what waits will not be answered.

        Gives what was finished until then, as JSON, or None: it becomes the result of the cancelled run.
        """

    async def tip(self, thread: str) -> str | None:
        """What the thread ends with: whatever happens on it changes this. "" where nothing is stored.

        None, as it is by default: this adapter cannot tell.
        """
        return None

    async def forget(self, thread: str, tip: str | None = None) -> None:
        """Delete what is stored of the thread; raises nothing if there is none. Its runs have ended.

        `tip`: what the thread ended with when that was looked at, if this adapter can tell. Whoever wants it
        forgotten may have been stopped since then; `Conflict` if the thread was taken up again meanwhile.
        """


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What an adapter is given: where to keep its files, and the database when that is PostgreSQL."""

    data_dir: str
    database: str = "sqlite"
    base_dir: str = "."  # relative paths in the configuration start here
    extra: dict[str, Any] = field(default_factory=dict)


def digest(payload: Json) -> str:
    """The digest of a payload, hex: SHA-256 of its canonical JSON (sorted keys, no spaces).

    The adapter first turns what JSON cannot express (models, dataclasses, tuples) into what can;
    anything else is a TypeError here, because an unstable digest would break law 1.
    """
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
