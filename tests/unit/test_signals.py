"""Waiting for what others commit: nothing that happens while one looks is missed, and time is time."""

import asyncio

from answerback.signals import ANY, Signals

LONG = 3600.0  # seconds that nothing here waits


async def test_what_changes_while_one_looks_is_seen_at_once() -> None:
    signals, looks = Signals(), 0

    async def look() -> int:
        nonlocal looks
        looks += 1
        found = looks
        if looks == 1:  # committed after this look has read, and before it is done
            signals.changed("i1")
        return found

    async with asyncio.timeout(10):
        assert await signals.until("i1", lambda found: found == 2, look, LONG, LONG) == 2


async def test_changes_that_are_not_what_one_waits_for_take_nothing_of_the_time() -> None:
    signals, looks = Signals(), 0

    async def look() -> int:
        nonlocal looks
        looks += 1
        asyncio.get_running_loop().call_soon(signals.changed, "i1")
        return looks

    async with asyncio.timeout(10):
        assert await signals.until("i1", lambda found: found == 100, look, LONG, LONG / 10) == 100


async def test_when_the_time_is_over_what_was_found_last_is_given() -> None:
    async def look() -> str:
        return "pending"

    async with asyncio.timeout(10):
        assert await Signals().until("i1", lambda found: False, look, 0.02, 0.005) == "pending"


async def test_another_question_wakes_nobody_but_who_waits_for_whichever() -> None:
    signals = Signals()
    with signals.hearing("i1") as one, signals.hearing(ANY) as whichever:
        signals.changed("i2")
        assert (one.is_set(), whichever.is_set()) == (False, True)
    assert not signals._waiting
