"""Each safeguard by itself: where others stand before it, this is what it does alone (see mutants.py)."""

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt

from answerback import migrations
from answerback.agent import Failed, Finished, Target
from answerback.ask import AskRequest
from answerback.door import Actor, decide
from answerback.errors import DoesNotFit, NotPending, NotYet
from answerback.faults import Faults
from answerback.model import Answer, InteractionStatus, Question, RunStatus
from answerback.provider import Batch
from answerback.settings import Limits
from answerback.store import Store, Tx, choose, interactions, leases, meta, replies
from answerback.store.codec import answer_out
from answerback.testing import ScriptedAgent, asks
from answerback.threads import conclude, take_due
from answerback_agents.langgraph import evidence
from answerback_agents.langgraph.asked import digest_of
from tests.flow.langgraph.harness import Harness, only, said, target
from tests.support.databases import Database
from tests.support.gateway import gateway

QUESTION = Question("q1", "Which?")


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    async with contextlib.AsyncExitStack() as stack:
        yield Harness("sqlite", tmp_path, stack)


def stubborn() -> Any:
    """A graph that asks under one id, whatever it is told."""

    def ask(state: dict[str, Any]) -> dict[str, Any]:
        raise GraphInterrupt((Interrupt(value="Which?", id="a" * 32),))

    builder: Any = StateGraph(dict)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder


# -- law 1


async def test_an_answer_that_comes_a_moment_too_late_is_refused_by_langgraph_itself(
    harness: Harness,
) -> None:
    """Between our look at the thread and the resume, somebody else may have answered."""
    mine = await harness.open("two_questions")
    first = only(await mine.start("t", harness.input()))
    second = only(await mine.resume("t", target(first), said("one")))
    with pytest.raises(NotPending):
        await mine._runs.run("t", Command(resume={first.interrupt_id: "late"}), {})
    assert await mine.pending("t") == (second,)


@pytest.mark.parametrize(
    "switch", ["canary.STRICT", "canary.CACHE", "taking.SCRATCHPAD", "called.TASK", "called.RESUMING"]
)
def test_an_adapter_whose_langgraph_is_not_strict_does_not_open(tmp_path: Path, switch: str) -> None:
    """In a process of its own, where a switch has another name than this LangGraph knows."""
    code = """
import asyncio, sys
from answerback.agent import AgentContext
from answerback.errors import ConfigurationError
from answerback_agents.langgraph import LangGraph, called, canary, taking
{switch} = "__renamed_by_a_later_release"
settings = LangGraph.Settings(graph="tests.conformance.test_safeguards:stubborn")
try:
    asyncio.run(LangGraph("mine", settings, AgentContext(sys.argv[1], "sqlite", sys.argv[1])).open())
except ConfigurationError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code.replace("{switch}", switch), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert "answers could reach the wrong question" in done.stdout, done


async def test_a_question_that_waits_again_after_its_resume_ends_the_run(harness: Harness) -> None:
    mine = await harness.open("tests.conformance.test_safeguards:stubborn")
    question = only(await mine.start("t", {}))
    state = await mine.resume("t", target(question), said("one"))
    assert isinstance(state, Failed) and not state.retryable
    assert state.error.startswith("The graph asked again instead of taking the answer. A step that raises")


async def test_an_answer_never_releases_a_step_that_is_held_beside_its_question(harness: Harness) -> None:
    """The held step is asked about first; an answer to the question must not come before that."""
    mine = await harness.open("guarded_beside")
    held = only(await mine.start("t", harness.input()))
    head = await mine._reader.known("t")
    ((question, _),) = evidence.open_questions(head, mine._reader.names).values()
    early = Target(question.id, digest_of(question), evidence.checkpoint_id(head))
    with pytest.raises(NotYet):
        await mine.resume("t", early, said("x"))
    assert await mine.pending("t") == (held,)
    assert not (harness.data_dir / "log").exists()


async def test_a_lease_that_somebody_holds_is_not_given_to_another(store: Store) -> None:
    def tx(tx: Tx) -> list[bool]:
        return [leases.take(tx, "agent", "t", owner) is not None for owner in ("one", "two", "one")]

    assert await store.write(tx) == [True, False, False]


async def test_who_lost_a_lease_writes_nothing_in_its_name(database: Database) -> None:
    async with gateway(database) as g:
        store = g.app.context.store
        old = await store.write(lambda tx: leases.take(tx, "agent", "t", "one"))
        g.clock.advance(leases.SPAN / 1e6 + 1)  # it lapses, and the same process takes the thread anew
        new = await store.write(lambda tx: leases.take(tx, "agent", "t", "one"))
        assert old is not None and new is not None
        assert await store.write(lambda tx: [leases.renew(tx, old), leases.release(tx, old)]) == [False] * 2
        assert await store.write(lambda tx: [leases.renew(tx, new), leases.release(tx, new)]) == [True] * 2


async def test_an_answer_that_was_given_since_it_was_found_due_is_not_given_again(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        run = await g.run()
        await g.types("1001", "tea")
        found = {"id": run.interactions[0], "agent": "scripted", "thread_id": run.thread_id}
        store, context = g.app.context.store, g.app.context
        assert await store.write(lambda tx: take_due(tx, context, found)) is None
        assert await store.write(lambda tx: leases.take(tx, "scripted", run.thread_id, "me")) is not None


async def test_a_worker_that_was_overtaken_writes_no_state(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        run = await g.run(thread_id="t")
        lost = leases.Lease("scripted", "t", "a process that was stopped for a while", 1)
        written = await g.app.context.store.write(
            lambda tx: conclude(tx, g.app.context, lost, Finished("wrong"))
        )
        after = await g.settled(run.id)
        (record,) = (await g.app.reader.interactions()).items
    assert written is None
    assert (after.status, after.result) == (RunStatus.WAITING, None)
    assert record.status is InteractionStatus.PENDING


async def test_what_still_waits_after_a_siblings_answer_is_not_asked_again(database: Database) -> None:
    agent = ScriptedAgent([asks("This?", "Yes"), asks("That?", "Yes")])
    async with gateway(database, agent) as g:
        run = await g.run()
        this = next(shown for shown in g.memory.shown if shown.message.title == "This?")
        await g.types("1001", "yes", references=[this.id])
        records = (await g.app.reader.interactions()).items
        assert g.memory.titles("1001").count("That?") == 1
        assert (await g.settled(run.id)).status is RunStatus.WAITING
    statuses = {record.questions[0].text: record.status for record in records}
    assert len(records) == 2
    assert statuses == {"This?": InteractionStatus.COMPLETED, "That?": InteractionStatus.PENDING}


# -- law 2


async def test_only_a_pending_row_can_be_completed(database: Database) -> None:
    """Another process's answer may have been committed after ours looked."""
    async with gateway(database) as g:
        g.tampers = True  # what is tried here goes around the door, which writes the audit
        record = (await g.app.asker.ask(AskRequest((QUESTION,)))).interaction
        one, two = Answer({"q1": "one"}, by="alice"), Answer({"q1": "two"}, by="ben")

        def tx(tx: Tx) -> list[bool]:
            return [
                interactions.complete(tx, record, answer, answer_out(answer), at=tx.now, begun_until=None)
                for answer in (one, two)
            ]

        assert await g.app.context.store.write(tx) == [True, False]
        after = await g.app.reader.interaction(record.id)
    assert (after.answered_by, after.answer.values) == ("alice", {"q1": "one"})


@pytest.mark.parametrize("end", [InteractionStatus.EXPIRED, InteractionStatus.CANCELLED])
async def test_only_a_pending_row_can_be_closed(database: Database, end: InteractionStatus) -> None:
    async with gateway(database) as g:
        g.tampers = True  # what is tried here goes around the door, which writes the audit
        record = (await g.app.asker.ask(AskRequest((QUESTION,)))).interaction

        def tx(tx: Tx) -> list[bool]:
            one = Answer({"q1": "one"})
            won = interactions.complete(tx, record, one, answer_out(one), at=tx.now, begun_until=None)
            return [won, interactions.close(tx, record, end)]

        assert await g.app.context.store.write(tx) == [True, False]
        assert (await g.app.reader.interaction(record.id)).status is InteractionStatus.COMPLETED


async def test_the_door_itself_takes_no_answer_that_is_too_long(database: Database) -> None:
    """Whatever way it came in, and whatever was checked on that way: the configuration's limit counts."""
    async with gateway(database, limits=Limits(answer_bytes=100)) as g:
        record = (await g.app.asker.ask(AskRequest((QUESTION,)))).interaction
        values, actor = {"q1": "x" * 101}, Actor("alice", "api")
        with pytest.raises(DoesNotFit):
            await g.app.context.store.write(lambda tx: decide(tx, g.app.context, record, values, "", actor))
        assert (await g.app.reader.interaction(record.id)).status is InteractionStatus.PENDING


# -- law 3


class Unreliable:
    """A backend, its connections and cursors; while `full`, nothing can be committed."""

    def __init__(self, inner: Any, owner: "Unreliable | None" = None) -> None:
        self._inner, self._owner, self.full = inner, owner or self, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def connect(self, *, writer: bool) -> Any:
        return Unreliable(self._inner.connect(writer=writer), self)

    def cursor(self) -> Any:
        return Unreliable(self._inner.cursor(), self._owner)

    def execute(self, statement: str, *values: Any) -> Any:
        if statement == "COMMIT" and self._owner.full:
            raise OSError("no space left on the device")
        return self._inner.execute(statement, *values)


async def test_nobody_hears_of_a_transaction_that_could_not_be_committed(tmp_path: Path) -> None:
    backend = Unreliable(choose("sqlite", str(tmp_path)))
    store = Store(backend)
    store.open(migrations.upgrade)
    backend.full = True
    with pytest.raises(OSError, match="no space left"):
        await store.write(lambda tx: tx.run(meta.PUT, key="k", value=""))
    backend.full = False
    assert await store.write(lambda tx: tx.run(meta.PUT, key="k", value="")) == 1
    store.close()


async def test_a_webhook_is_acknowledged_only_once_it_is_stored(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        run = await g.run()
        gate = threading.Event()
        held = asyncio.create_task(g.app.context.store.write(lambda tx: gate.wait(60)))
        request = asyncio.create_task(g.app.receiver.webhook("memory", g.memory.typed("1001", "one")))
        for _ in range(100):  # all that can happen while nothing is written
            await asyncio.sleep(0)
        early = request.done()
        gate.set()
        await asyncio.gather(held, request)
        assert not early
        assert (await g.settled(run.id)).result == ["one"]


class FailsToReceive(Faults):
    """Dies, as far as an exception can, before an event is stored."""

    def reach(self, point: str) -> None:
        super().reach(point)
        if point == "receive.before-commit":
            raise SystemError("died here")


async def test_a_cursor_never_moves_without_its_events(database: Database) -> None:
    async with gateway(database, faults=FailsToReceive()) as g:
        with pytest.raises(SystemError):
            await g.app.receiver.polled("memory", Batch((g.memory.typed("1001", "one"),), "17"))
        assert await g.app.receiver.cursor("memory") == ""


async def test_an_event_whose_matching_raises_stops_no_other(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        run = await g.run()
        bad, good = g.memory.typed("1001", "bad", sent_at="soon"), g.memory.typed("1001", "good")
        await g.app.receiver.polled("memory", Batch((bad, good), "2"))
        row = await g.app.context.store.read(lambda tx: replies.first(tx, "memory", "e1"))
        assert (await g.settled(run.id)).result == ["good"]
    assert (row["outcome"], row["error"]) == ("failed", "TypeError")
