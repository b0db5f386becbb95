"""Gates: how many messages go out at once, how many wait behind them, and when the others come again."""

import asyncio
import contextlib

import pytest

from answerback.gates import AT_ONCE, AT_ONCE_PLACE, LONGEST, ROOM, ROOM_PLACE, SHORTEST, Gates, NoRoom


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def filled(gates: Gates, provider: str = "chat", place: str = "ana") -> None:
    for _ in range(ROOM_PLACE):
        assert gates.enter(provider, place) == 0


@contextlib.asynccontextmanager
async def at_work(gates: Gates, *places: str):
    """One message to each of these places that hangs."""
    async with contextlib.AsyncExitStack() as stack:
        for place in places:
            assert gates.enter("chat", place) == 0
            await stack.enter_async_context(gates.turn("chat", place))
        yield


def test_a_place_has_room_for_so_many_and_each_that_leaves_makes_room():
    gates = Gates({})
    filled(gates)
    assert gates.enter("chat", "ana") > 0
    assert gates.enter("chat", "ben") == gates.enter("mail", "ana") == 0
    gates.leave("chat", "ana")
    assert gates.enter("chat", "ana") == 0


def test_so_has_a_provider_whatever_its_places():
    gates = Gates({})
    for number in range(ROOM):
        assert gates.enter("chat", f"place {number}") == 0
    assert gates.enter("chat", "one more") > 0
    assert gates.enter("mail", "one more") == 0


async def test_what_finds_no_room_comes_again_as_fast_as_what_is_at_work_gets_on():
    clock = Clock()
    gates = Gates({}, now=clock)
    filled(gates)
    async with gates.turn("chat", "ana"):
        clock.seconds += 1
        again = [gates.enter("chat", "ana") for _ in range(3)]
        assert again == [0.5, 1.0, 1.5]  # two at a time, a second each
        clock.seconds += 1
        assert gates.enter("chat", "ana") == 1.5  # behind the last of these
        clock.seconds += 600
        assert gates.enter("chat", "ana") == gates.enter("chat", "ana") == LONGEST


async def test_who_ends_fast_is_come_to_fast_and_who_did_and_hangs_now_is_soon_known_to():
    clock = Clock()
    gates = Gates({}, now=clock)
    filled(gates)
    for _ in range(98):
        async with gates.turn("chat", "ana"):
            clock.seconds += 0.02
    assert gates.enter("chat", "ana") == SHORTEST == gates.enter("chat", "ana")  # 20 ms each
    pauses = []
    for _ in range(10):
        clock.seconds += 10
        pauses.append(gates.enter("chat", "ana"))
    assert pauses == sorted(pauses) and pauses[-1] > 2


async def test_law_10_the_first_moment_of_a_burst_says_nothing_of_a_service():
    """All of it is being worked on, so that nothing ends: a thousand calls of 10 ms took a minute."""
    clock = Clock()
    gates = Gates({}, now=clock)
    filled(gates)
    async with gates.turn("chat", "ana"), gates.turn("chat", "ana"):
        clock.seconds += 0.9
        assert [gates.enter("chat", "ana") for _ in range(500)][-1] == pytest.approx(5.0)


async def test_what_was_long_ago_says_nothing_of_what_is_now():
    clock = Clock()
    gates = Gates({}, now=clock)
    for number in range(ROOM):
        gates.enter("chat", f"place {number}")
    for number in range(ROOM):
        gates.leave("chat", f"place {number}")
    clock.seconds += 3600
    for number in range(ROOM):
        assert gates.enter("chat", f"place {number}") == 0
    assert gates.enter("chat", "ana") == SHORTEST


def test_where_nobody_knows_how_long_one_takes_it_is_not_long():
    gates = Gates({}, now=Clock())
    filled(gates)
    again = [gates.enter("chat", "ana") for _ in range(100)]
    assert again == sorted(again)
    assert again[0] == SHORTEST and 0.9 < again[-1] < 1.1


async def test_so_many_go_out_at_once_to_a_place_and_on_a_provider():
    gates = Gates({"calls": 2}, patience=0.01)
    async with at_work(gates, *["ana"] * AT_ONCE_PLACE):
        with pytest.raises(NoRoom):
            async with gates.turn("chat", "ana"):
                pytest.fail("it has no turn")
        async with gates.turn("chat", "ben"), gates.turn("calls", "one"), gates.turn("calls", "other"):
            with pytest.raises(NoRoom):
                async with gates.turn("calls", "third"):
                    pytest.fail("it has no turn")
    async with gates.turn("chat", "ana"):
        pass


async def test_a_place_that_hangs_takes_one_place_of_its_provider_for_each_message_at_work_only():
    gates = Gates({}, patience=0.01)
    waiting = [asyncio.create_task(_waits(gates)) for _ in range(AT_ONCE + AT_ONCE_PLACE)]
    async with at_work(gates, *["ana"] * AT_ONCE_PLACE), gates.turn("chat", "ben"):
        await asyncio.gather(*waiting)
    with pytest.raises(NoRoom):
        async with at_work(gates, *[f"place {number}" for number in range(AT_ONCE)]), gates.turn("chat", "x"):
            pytest.fail("it has no turn")


async def _waits(gates: Gates) -> None:
    with contextlib.suppress(NoRoom):
        async with gates.turn("chat", "ana"):
            pass
