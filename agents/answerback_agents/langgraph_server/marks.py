"""Marks: what we write into the metadata of threads and runs, to know our own again after a crash."""

import uuid
from collections.abc import Mapping

from answerback.agent import Target, digest
from answerback.model import Answer, Json

# On a thread: its name at the gateway, and the agent that started it.
THREAD, AGENT = "answerback_thread", "answerback_agent"
# On a run: which start it is; or which interrupt it answers, with which answer.
STARTED, ANSWERED, ANSWER = "answerback_started", "answerback_answered", "answerback_answer"
NAMES = uuid.UUID("6f6b2f5e-6d8f-5c0e-9a51-3d1e0c6a7b42")
Mark = dict[str, str]


def server_id(agent: str, thread: str) -> str:
    """The thread's id on the server, which takes UUIDs only: itself, or the same one for the same name."""
    try:
        return str(uuid.UUID(thread))
    except ValueError:
        return str(uuid.uuid5(NAMES, f"{agent}\n{thread}"))


def of_thread(agent: str, thread: str) -> Mark:
    return {THREAD: thread, AGENT: agent}


def started_as(thread: Mapping[str, Json]) -> tuple[str, str]:
    """(agent, name) as which a gateway started a thread, both empty if none did.

    A copy of a thread has the marks of its original, which its id does not fit.
    """
    metadata = thread.get("metadata") or {}
    agent, name = str(metadata.get(AGENT) or ""), str(metadata.get(THREAD) or "")
    return (agent, name) if name and server_id(agent, name) == thread["thread_id"] else ("", "")


def of_start(run: str, input: Json) -> Mark:
    """The same name is the same start; without a name, the same input is."""
    return {STARTED: run or digest(input)}


def of_answer(target: Target, answer: Answer) -> Mark:
    given = [answer.values, answer.text, answer.by, answer.via, answer.at, answer.expired]
    return {ANSWERED: target.interrupt_id, ANSWER: digest(given)}


def is_marked(thing: Mapping[str, Json], mark: Mark) -> bool:
    """Whether a thread or run carries all of a mark."""
    metadata = thing.get("metadata") or {}
    return all(metadata.get(key) == value for key, value in mark.items())


def given(run: Mapping[str, Json]) -> str:
    """The id of the interrupt that a run of ours answers; "" for any other run."""
    return str((run.get("metadata") or {}).get(ANSWERED) or "")
