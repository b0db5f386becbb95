"""The interface that a system is driven through: small, so that any way of asking people fits behind it.

A driver lives in a process of its own (host.py), which a hazard may kill. What must outlive it is in its
folder. What a system has no words for raises `NotApplicable`, with the reason.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar


class NotApplicable(Exception):
    """This system's interface cannot express the step. The message is the reason, one sentence."""


class NotDriven(Exception):
    """The system could do this, its driver here cannot. The message is the reason, one sentence."""


class Refused(Exception):
    """The system would not start here. The message is what it said."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as one person sees it. `id` names it in events; `who` and `via` say where it stands."""

    id: str
    text: str
    who: str = "alice"
    via: str = "first"


@dataclass(frozen=True, slots=True)
class Event:
    """A person's answer on its way in. `key` is the sending service's own id for it."""

    asked: str
    answer: str
    key: str
    who: str = "alice"


class Driver:
    """Override what the system can do. Every call returns once all that follows from it is done."""

    name = ""
    version = ""
    limit = 99  # questions in one node, by the system's documents
    # Why it takes no interrupts but its own, such as those of LangChain's review middleware; "" if it does.
    only_own = "It asks by a call of its own, and reads no other interrupts."
    left_out: ClassVar[dict[str, str]] = {}  # hazard → the document's sentence that leaves it to the user

    async def declines(self, hazard: str, per_node: int, foreign: bool) -> str:
        """Why a hazard is not for this system; "" if it is."""
        if foreign and self.only_own:
            return self.only_own
        if per_node > self.limit:
            return "It allows one question in a node, and says so."
        return self.left_out.get(hazard, "")

    def only_plain(self, how: dict[str, Any], *known: str) -> None:
        """Raise `NotApplicable` for ways of starting that this system does not have."""
        reasons = {
            "people": "It asks one person a run.",
            "providers": "It has one way to reach a person.",
            "deadline": "It has no deadlines that it acts on.",
        }
        for name, reason in reasons.items():
            if name in how and name not in known:
                raise NotApplicable(reason)

    async def open(self, folder: Path, database: str, graph: str, *, again: bool) -> None:
        """Start the system on `folder` and `database`; `again` after a crash or beside a living process."""
        raise NotApplicable("It has no driver.")

    async def close(self) -> None:
        """Stop in good order."""

    async def start(self, thread: str, **how: Any) -> None:
        """Run the graph. Called again for the same thread when the first call was not acknowledged.

        `how`: `people=2` asks alice and ben; `providers=2` asks through both; `deadline=True` sets an
        hour; `anew=True` gives a waiting thread new input.
        """
        raise NotApplicable("It starts no runs.")

    async def pending(self) -> list[Asked]:
        """What can be answered, oldest first."""
        raise NotApplicable("It lists no questions.")

    async def deliver(self, event: Event) -> None:
        """An answer comes in. The same event again is the same call again."""
        raise NotApplicable("It takes no answers.")

    async def settle(self) -> None:
        """Do what is due."""

    async def say(self, text: str, who: str) -> None:
        """A person writes without naming a question."""
        raise NotApplicable("It takes no text that names no question.")

    async def respond(self, asked: str, response: Any) -> None:
        """Answer with raw JSON, past whatever a screen would offer."""
        raise NotApplicable("It takes no raw answers.")

    async def decide(self, asked: str, decisions: list[dict[str, Any]]) -> None:
        """Decide about the calls of a review, in their order, past whatever a screen would offer.

        Each is `{"decision", "args"?, "message"?}`; the decisions are LangChain's.
        """
        raise NotApplicable("It takes no decisions about calls.")

    async def forge(self) -> None:
        """An answer to a question that never was."""
        raise NotApplicable("An answer cannot name a question that was never asked.")

    async def expire(self) -> None:
        """The deadline passes, and what follows from that is done."""
        raise NotApplicable("It has no deadlines.")

    async def cancel(self) -> None:
        """The run is cancelled by whoever started it."""
        raise NotApplicable("It cancels nothing.")

    async def retry(self) -> None:
        """Run the failed step again."""
        raise NotApplicable("It does not retry a failed step.")

    async def reask(self) -> None:
        """Ask the failed step's question again, for another answer."""
        raise NotApplicable("It does not ask again.")

    async def elsewhere(self, answer: str) -> None:
        """Somebody resumes the thread past the system, on LangGraph itself."""
        raise NotApplicable("Its threads cannot be reached from outside.")

    async def crash(self, moment: str) -> None:
        """Die by SIGKILL the next time that this moment comes (one of `MOMENTS`)."""
        raise NotDriven("Only our own code has named points to be killed at; a driver cannot reach its.")


# For `left_out` where the author of a graph compiles it with a saver, as the documents show.
AUTHORS_SAVER = {"a graph that was compiled without a saver": "The author compiles the graph with a saver."}

# Before and after each commit of a question's way there and back.
MOMENTS = {
    "run stored": "run.before-agent",
    "agent has paused": "run.after-agent",
    "question stored": "run.after-commit",
    "before the message": "deliver.before-send",
    "after the message": "deliver.after-send",
    "message id stored": "deliver.after-commit",
    "before the answer is stored": "receive.before-commit",
    "answer stored": "receive.after-commit",
    "before the agent is told": "resume.before-agent",
    "agent has been told": "resume.after-agent",
    "next state stored": "resume.after-commit",
    "silence stored": "elapse.after-commit",
}
