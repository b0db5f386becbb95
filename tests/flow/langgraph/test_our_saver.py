"""Our saver does what LangGraph asks of one, reads and writes what LangGraph's own do, and shares commits."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer
from langgraph.types import Command

from answerback.agent import AgentContext
from answerback_agents.langgraph import savers
from answerback_agents.langgraph.committer import Committer, Connection
from answerback_agents.langgraph.faces import InThreads
from answerback_agents.langgraph.grouped import PAGE, Grouped
from tests.flow.langgraph.graphs import two_questions
from tests.flow.langgraph.harness import end_connections
from tests.support.databases import Database

Opened = Callable[[], Awaitable[Grouped]]
AT: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


@pytest.fixture
async def opened(database: Database) -> AsyncIterator[Opened]:
    """Opens savers, all of them for one agent."""
    async with contextlib.AsyncExitStack() as stack:
        context = AgentContext(str(database.data_dir / "var"), database.url, "")
        yield lambda: savers.open_saver(context, "mine", stack)


@contextlib.asynccontextmanager
async def theirs(database: Database) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """LangGraph's own async saver in the same place."""
    context = AgentContext(str(database.data_dir / "var"), database.url, "")
    if database.url == "sqlite":
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        file = savers.checkpoint_file(context, "mine")
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            yield saver
        return
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    where = savers.conninfo(context)
    schema = f"options=-csearch_path%3D{savers.checkpoint_schema('mine')}"
    async with AsyncPostgresSaver.from_conn_string(f"{where}{'&' if '?' in where else '?'}{schema}") as saver:
        yield saver


class TestConformance:
    """LangGraph's own suite for savers (langgraph-checkpoint-conformance)."""

    @staticmethod
    def suite(database: Database, face: Callable[[Grouped], Any]) -> RegisteredCheckpointer:
        numbers = itertools.count()
        # LangGraph's saver for SQLite has no pruning.
        skipped = {"prune"} if database.url == "sqlite" else set()

        @checkpointer_test(name="ours", skip_capabilities=skipped)
        async def ours() -> AsyncIterator[BaseCheckpointSaver[Any]]:
            context = AgentContext(str(database.data_dir / "var"), database.url, "")
            async with contextlib.AsyncExitStack() as stack:
                yield face(await savers.open_saver(context, f"suite {next(numbers)}", stack))

        return ours

    async def test_awaited(self, database: Database) -> None:
        await self.holds(self.suite(database, lambda saver: saver), database)

    async def test_awaited_by_one_run(self, database: Database) -> None:
        await self.holds(self.suite(database, lambda saver: saver.of_one_run()), database)

    async def test_called_by_threads(self, database: Database) -> None:
        await self.holds(self.suite(database, InThreads), database)

    async def holds(self, suite: RegisteredCheckpointer, database: Database) -> None:
        report = await validate(suite)
        assert not {name: found.failures for name, found in report.results.items() if found.failures}
        tested = {name for name, found in report.results.items() if found.passed}
        pruned = {"prune"} if database.url != "sqlite" else set()
        assert tested == {"put", "put_writes", "get_tuple", "list", "delete_thread"} | pruned


class TestPlace:
    async def test_langgraphs_own_saver_goes_on_where_ours_paused_and_the_other_way_round(
        self, database: Database, opened: Opened
    ) -> None:
        ours, log = await opened(), {"log": str(database.data_dir / "log")}
        async with theirs(database) as other:
            for first, second, thread in ((ours, other, "a"), (other, ours, "b")):
                config: Any = {"configurable": {"thread_id": thread}}
                paused = await two_questions.compile(checkpointer=first).ainvoke(log, config)
                (asked,) = paused["__interrupt__"]
                graph = two_questions.compile(checkpointer=second)
                following = await graph.ainvoke(Command(resume={asked.id: "yes"}), config)
                assert following["__interrupt__"] and following["__interrupt__"][0].id != asked.id


class Counted:
    """A connection that notes how many calls share each commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self.groups = connection, list[int]()
        self.ready, self.alone = connection.ready, connection.alone
        self.undo, self.close = connection.undo, connection.close

    def together(self, calls: Sequence[Callable[[], object]]) -> None:
        self._connection.together(calls)
        self.groups.append(len(calls))


class TestGroup:
    @staticmethod
    def checkpoint(id: str) -> Checkpoint:
        return {**empty_checkpoint(), "id": id}

    async def test_law_10_one_that_cannot_be_stored_spoils_none_beside_it(self, opened: Opened) -> None:
        saver, free = await opened(), threading.Event()
        busy = asyncio.create_task(saver.committer.do(free.wait))
        await asyncio.sleep(0.01)
        metadata: list[Any] = [{"n": 1}, {"n": object()}, {"n": 3}]
        puts = [
            asyncio.create_task(saver.aput(AT, self.checkpoint(str(number)), given, {}))
            for number, given in enumerate(metadata)
        ]
        await asyncio.sleep(0)
        free.set()
        await busy
        found = await asyncio.gather(*puts, return_exceptions=True)
        assert [isinstance(each, TypeError) for each in found] == [False, True, False]
        kept = [each.metadata["n"] async for each in saver.alist(AT)]  # type: ignore[typeddict-item]
        assert kept == [3, 1]

    async def test_a_run_waits_for_one_commit_before_its_first_step_and_for_one_after_each(
        self, opened: Opened, database: Database
    ) -> None:
        """The input, what it sets off and the checkpoint before the step share the first one."""
        saver, log = await opened(), {"log": str(database.data_dir / "log")}
        counted = Counted(saver.committer._connection)
        saver.committer = Committer(counted)
        thread: Any = {"configurable": {"thread_id": "a"}}

        async def run(given: Any) -> Any:
            graph = two_questions.compile(checkpointer=saver.of_one_run())
            return await graph.ainvoke(given, thread, durability="sync")

        (first,) = (await run(log))["__interrupt__"]
        looked = [1]
        assert counted.groups == [*looked, 3, 1]
        (second,) = (await run(Command(resume={first.id: "yes"})))["__interrupt__"]
        assert counted.groups[3:] == [*looked, 1]
        await run(Command(resume={second.id: "yes"}))
        assert counted.groups[5:] == [*looked, 2, 2]  # each of the two steps that follow, with what it gave
        await saver.committer.close()

    @pytest.mark.parametrize("following", ["writes", "checkpoint"])
    async def test_what_became_of_the_inputs_checkpoint_is_raised_by_the_next_call(
        self, opened: Opened, following: str
    ) -> None:
        once = (await opened()).of_one_run()
        unstorable: Any = {"source": "input", "n": object()}
        at: Any = await once.aput(AT, self.checkpoint("1"), unstorable, {})
        calls = {
            "writes": lambda: once.aput_writes(at, [("channel", "value")], "task"),
            "checkpoint": lambda: once.aput(at, self.checkpoint("2"), {}, {}),
        }
        with pytest.raises(TypeError, match="not JSON serializable"):
            await calls[following]()

    async def test_outside_of_a_run_an_inputs_checkpoint_is_durable_when_it_is_given(
        self, opened: Opened, database: Database
    ) -> None:
        saver = await opened()
        await saver.aput(AT, self.checkpoint("1"), {"source": "input"}, {})
        async with theirs(database) as other:
            assert await other.aget_tuple(AT)

    async def test_what_a_step_gave_is_kept_as_it_was_then(self, opened: Opened) -> None:
        """Other steps go on beside the write, and may change what this one gave them."""
        saver, free = await opened(), threading.Event()
        await saver.aput(AT, self.checkpoint("1"), {}, {})
        busy = asyncio.create_task(saver.committer.do(free.wait))
        given = ["before"]
        at: Any = {"configurable": {**AT["configurable"], "checkpoint_id": "1"}}
        put = asyncio.create_task(saver.aput_writes(at, [("channel", given)], "task"))
        await asyncio.sleep(0)
        given.append("after")
        free.set()
        await asyncio.gather(busy, put)
        found = await saver.aget_tuple(AT)
        assert found is not None and found.pending_writes == [("task", "channel", ["before"])]

    async def test_a_graph_that_is_called_in_a_thread_uses_it_too(
        self, database: Database, opened: Opened
    ) -> None:
        """As a step may that runs another graph."""
        graph = two_questions.compile(checkpointer=await opened())
        given = {"log": str(database.data_dir / "log")}
        paused = await asyncio.to_thread(graph.invoke, given, AT)
        assert (await asyncio.to_thread(graph.get_state, AT)).interrupts == tuple(paused["__interrupt__"])


class Counting(Grouped):
    """Notes how often its thread is asked."""

    asked = 0

    async def _do(self, function):
        self.asked += 1
        return await super()._do(function)


async def test_a_long_history_is_read_in_pages_and_no_further_than_is_wanted(opened: Opened) -> None:
    ours = await opened()
    ids = [f"{number:03}" for number in range(2 * PAGE + 50)]
    await asyncio.gather(*(ours.aput(AT, TestGroup.checkpoint(id), {}, {}) for id in ids))
    saver, newest = Counting(ours.saver, ours.committer), ids[::-1]

    async def read(config: Any = AT, **options: Any) -> list[str]:
        return [found.checkpoint["id"] async for found in saver.alist(config, **options)]

    assert await read() == newest
    assert await read(limit=PAGE + 20) == newest[: PAGE + 20]
    assert await read(limit=PAGE) == newest[:PAGE]
    assert await read(limit=0) == []
    assert await read(before={"configurable": {"checkpoint_id": ids[30]}}) == ids[:30][::-1]
    assert await read(None) == newest
    saver.asked = 0
    async for _ in saver.alist(AT):
        break
    assert saver.asked == 1


async def test_a_connection_that_the_server_ended_is_made_anew(postgres_url: str, tmp_path: Path) -> None:
    context = AgentContext(str(tmp_path), postgres_url, "")
    async with contextlib.AsyncExitStack() as stack:
        saver = await savers.open_saver(context, "mine", stack)
        look = await savers.open_look(saver, context, "mine", stack)
        for id in ("1", "2"):
            await end_connections(postgres_url)
            await saver.aput(AT, TestGroup.checkpoint(id), {}, {})
            found = await look(AT)
            assert found is not None and found.checkpoint["id"] == id
