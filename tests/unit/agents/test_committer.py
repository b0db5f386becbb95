"""The thread that our savers' calls share: what is committed together, and what becomes of one that fails."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from answerback.errors import AgentUnavailable
from answerback_agents.langgraph.committer import GROUP, Committer


class Lost(Exception):
    """The connection is gone."""


class Fake:
    """A database that notes what is done in which transaction.

    `gone`: how often it is lost from now on; `away`: nobody answers; `broken`: nothing can be undone.
    """

    def __init__(self) -> None:
        self.committed: list[list[str]] = []
        self.begun: list[str] = []
        self.closed, self.lost, self.gone = False, False, 0
        self.away, self.broken, self.asked = False, False, 0
        self.free = threading.Event()
        self.free.set()

    def ready(self) -> None:
        self.asked, self.lost = self.asked + 1, False
        if self.away:
            raise Lost("nobody answers")

    def together(self, calls: Sequence[Callable[[], object]]) -> None:
        self.free.wait(30)
        for call in calls:
            call()
        if self.gone:
            self.gone, self.lost = self.gone - 1, True
            raise Lost("at the commit")
        self.committed.append(self.begun)
        self.begun = []

    def alone(self, call: Callable[[], object]) -> None:
        call()
        self.committed.append([f"({' '.join(self.begun)})"])
        self.begun = []

    def undo(self) -> bool:
        if self.broken:
            raise OSError("input/output error")
        self.begun = []
        return self.lost

    def close(self) -> None:
        self.closed = True

    def writes(self, what: str) -> Callable[[], str]:
        def write() -> str:
            self.begun.append(what)
            return what.upper()

        return write

    def fails(self) -> None:
        raise ValueError("cannot be stored")


@pytest.fixture
def database() -> Fake:
    return Fake()


@pytest.fixture
async def committer(database: Fake) -> AsyncIterator[Committer]:
    found = Committer(database)
    yield found
    database.free.set()
    if not database.closed:
        await found.close()


async def handed_over() -> None:
    """What tasks that were just made ask for waits in the thread afterwards."""
    for _ in range(3):
        await asyncio.sleep(0)


async def waiting(
    database: Fake, committer: Committer, *functions: Callable[[], object], alone: int | None = None
) -> "list[asyncio.Task[object]]":
    """A first call holds the thread until `free` is set, so that these behind it wait together.

    `alone`: which of these is.
    """
    database.free.clear()
    first: asyncio.Task[object] = asyncio.create_task(committer.do(database.writes("first")))
    asked = database.asked
    while database.asked == asked:  # noqa: ASYNC110 (a thread takes it)
        await asyncio.sleep(0.001)
    others = [
        asyncio.create_task(committer.do(function, alone=number == alone))
        for number, function in enumerate(functions)
    ]
    await handed_over()
    return [first, *others]


class TestTogether:
    async def test_a_call_gives_what_its_function_returns(self, database: Fake, committer: Committer) -> None:
        assert await committer.do(database.writes("a")) == "A"
        assert database.committed == [["a"]]

    async def test_what_waits_shares_a_commit_in_the_order_in_which_it_came(
        self, database: Fake, committer: Committer
    ) -> None:
        first, *others = await waiting(database, committer, *map(database.writes, "abc"))
        database.free.set()
        assert [*await asyncio.gather(first, *others)] == ["FIRST", "A", "B", "C"]
        assert database.committed == [["first"], ["a", "b", "c"]]

    async def test_what_is_asked_for_in_one_go_shares_a_commit_without_waiting_for_another(
        self, database: Fake, committer: Committer
    ) -> None:
        async def step() -> None:
            written = asyncio.create_task(committer.do(database.writes("writes")))
            await asyncio.sleep(0)
            await committer.do(database.writes("checkpoint"))
            await written

        await step()
        await step()
        assert database.committed == [["writes", "checkpoint"]] * 2

    async def test_what_is_asked_for_just_before_the_end_is_done(
        self, database: Fake, committer: Committer
    ) -> None:
        last = asyncio.create_task(committer.do(database.writes("last")))
        await asyncio.sleep(0)
        await committer.close()
        assert await last == "LAST"
        assert database.committed == [["last"]]

    async def test_law_1_nobody_hears_before_the_commit(self, database: Fake, committer: Committer) -> None:
        (first,) = await waiting(database, committer)
        await asyncio.sleep(0.01)
        assert not first.done() and database.committed == []
        database.free.set()
        assert await first == "FIRST"

    async def test_a_group_is_not_larger_than_what_is_worth_it(
        self, database: Fake, committer: Committer
    ) -> None:
        tasks = await waiting(database, committer, *[database.writes("x")] * (GROUP + 1))
        database.free.set()
        await asyncio.gather(*tasks)
        assert [len(group) for group in database.committed] == [1, GROUP, 1]

    async def test_what_has_transactions_of_its_own_is_done_in_its_turn_and_in_none_of_ours(
        self, database: Fake, committer: Committer
    ) -> None:
        tasks = await waiting(database, committer, *map(database.writes, "abc"), alone=1)
        database.free.set()
        await asyncio.gather(*tasks)
        assert database.committed == [["first"], ["a"], ["(b)"], ["c"]]

    async def test_threads_may_wait_for_it_and_other_loops_too(
        self, database: Fake, committer: Committer
    ) -> None:
        assert await asyncio.to_thread(committer.wait_for, database.writes("a")) == "A"
        assert await asyncio.to_thread(asyncio.run, committer.do(database.writes("b"))) == "B"
        with pytest.raises(ValueError, match="cannot be stored"):
            await asyncio.to_thread(committer.wait_for, database.fails)


class TestFailure:
    async def test_law_10_one_that_fails_spoils_none_beside_it(
        self, database: Fake, committer: Committer
    ) -> None:
        a, b = map(database.writes, "ab")
        first, before, bad, after = await waiting(database, committer, a, database.fails, b)
        database.free.set()
        assert [*await asyncio.gather(first, before, after)] == ["FIRST", "A", "B"]
        assert database.committed == [["first"], ["a"], ["b"]]
        with pytest.raises(ValueError, match="cannot be stored"):
            await bad

    async def test_what_a_lost_connection_spoilt_is_done_once_more(
        self, database: Fake, committer: Committer
    ) -> None:
        database.gone = 1
        assert await committer.do(database.writes("a")) == "A"
        assert database.committed == [["a"]]

    async def test_when_it_is_lost_again_all_who_wait_hear_of_it(
        self, database: Fake, committer: Committer
    ) -> None:
        first, *others = await waiting(database, committer, *map(database.writes, "ab"))
        database.gone = 99
        database.free.set()
        for task in (first, *others):
            with pytest.raises(Lost):
                await task
        database.gone = 0
        assert await committer.do(database.writes("c")) == "C"
        assert database.committed == [["c"]]

    async def test_a_server_that_is_away_is_not_asked_for_each_call_by_itself(
        self, database: Fake, committer: Committer
    ) -> None:
        first, *others = await waiting(database, committer, *map(database.writes, "ab"))
        database.away = True
        database.free.set()
        assert await first == "FIRST"
        for task in others:
            with pytest.raises(Lost):
                await task
        assert database.asked == 2  # by the first, and by all others together

    async def test_it_goes_on_even_if_nothing_can_be_undone(
        self, database: Fake, committer: Committer
    ) -> None:
        database.broken = True
        with pytest.raises(ValueError, match="cannot be stored"):
            await asyncio.wait_for(committer.do(database.fails), 10)
        database.broken = False
        assert await committer.do(database.writes("a")) == "A"

    async def test_who_was_cancelled_meanwhile_hears_nothing_and_the_others_go_on(
        self, database: Fake, committer: Committer
    ) -> None:
        first, *others = await waiting(database, committer, *map(database.writes, "ab"))
        others[0].cancel()
        database.free.set()
        assert [*await asyncio.gather(first, others[1])] == ["FIRST", "B"]
        assert database.committed == [["first"], ["a", "b"]]


class TestEnd:
    async def test_what_waits_is_done_before_it_ends(self, database: Fake, committer: Committer) -> None:
        first, other = await waiting(database, committer, database.writes("a"))
        closing = asyncio.create_task(committer.close())
        await asyncio.sleep(0)
        database.free.set()
        await closing
        assert [*await asyncio.gather(first, other)] == ["FIRST", "A"]
        assert database.closed

    async def test_after_that_nothing_is_taken_any_more(self, database: Fake, committer: Committer) -> None:
        await committer.close()
        with pytest.raises(AgentUnavailable, match="the agent is closed"):
            await committer.do(database.writes("a"))
        with pytest.raises(AgentUnavailable, match="the agent is closed"):
            committer.wait_for(database.writes("a"))
