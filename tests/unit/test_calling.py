"""Calling a function that is not ours: it has its time, its room, and no way to hold up anything else."""

import asyncio
import functools
import threading

import pytest

from answerback.calling import Calls, Failed, TooLate, in_thread

SOON, NEVER = 0.05, 60.0
SECRET = "eyJhbGciOi"


def plain(given):
    return f"{given}!"


async def awaited(given):
    return plain(given)


def handed_on(given):
    return awaited(given)


class Object:
    async def __call__(self, given):
        return plain(given)


@pytest.mark.parametrize(
    "function",
    [
        plain,
        awaited,
        Object(),
        handed_on,
        functools.partial(awaited),
        functools.partial(plain),
    ],
)
async def test_plain_and_async_functions_are_called_alike(function):
    assert await Calls(function, NEVER, 1)("who") == "who!"


async def test_law_10_a_plain_function_that_waits_does_not_keep_the_loop_from_its_work():
    going = threading.Event()

    def waits(given):
        assert going.wait(30)
        return given

    call = asyncio.create_task(Calls(waits, NEVER, 1)("who"))
    await asyncio.sleep(0)
    going.set()  # the loop does this, so it runs
    assert await call == "who"


async def test_law_10_one_that_hangs_is_left_alone_and_takes_its_room_until_it_ends():
    gate, calls = threading.Event(), None

    def hangs(given):
        gate.wait(30)
        return given

    calls = Calls(hangs, SOON, 2)
    for _ in range(2):
        with pytest.raises(TooLate, match=r"did not answer within 0\.05 s"):
            await calls("who")
    with pytest.raises(TooLate, match="2 calls have not ended"):
        await calls("who")
    gate.set()
    while calls._calls:  # they end, however late
        await asyncio.wait(set(calls._calls))
    assert await calls("who") == "who"


async def test_an_async_one_that_hangs_is_cancelled():
    ended = asyncio.Event()

    async def hangs(given):
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    calls = Calls(hangs, SOON, 1)
    with pytest.raises(TooLate):
        await calls("who")
    await ended.wait()
    while calls._calls:
        await asyncio.wait(set(calls._calls))
    assert not calls._slots.locked()


async def test_one_that_will_not_be_cancelled_is_not_waited_for():
    gate = asyncio.Event()

    async def stays(given):
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue

    calls = Calls(stays, SOON, 1)
    with pytest.raises(TooLate):
        await calls("who")
    gate.set()
    await asyncio.wait(set(calls._calls))


@pytest.mark.parametrize(
    "kind", [RuntimeError, TimeoutError, SystemExit, StopIteration, asyncio.CancelledError]
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_law_11_what_it_raises_is_told_by_its_kind_and_its_line_without_its_text(kind, is_async):
    def fails(given):
        raise kind(SECRET)

    async def fails_later(given):
        raise kind(SECRET)

    with pytest.raises(Failed) as caught:
        await Calls(fails_later if is_async else fails, NEVER, 1)("who")
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    assert "the function raised" in str(caught.value)
    if kind not in (asyncio.CancelledError, StopIteration):
        assert f"{kind.__name__} at {__file__}:" in str(caught.value)


async def test_law_11_an_error_that_comes_too_late_is_shown_by_nobody(capfd, caplog):
    gate = threading.Event()

    def fails(given):
        gate.wait(30)
        raise RuntimeError(SECRET)

    calls = Calls(fails, SOON, 1)
    with pytest.raises(TooLate):
        await calls("who")
    gate.set()
    await asyncio.wait(set(calls._calls))
    assert SECRET not in "".join(capfd.readouterr()) + caplog.text


async def test_the_line_that_is_told_is_the_function_s_own_and_not_one_of_a_library():
    def fails(given):
        int("not a number", base=99)
        raise AssertionError

    def deep(given):
        return next(iter(map(fails, [given])))

    with pytest.raises(Failed, match=r"ValueError at .*test_calling\.py:\d+$"):
        await Calls(deep, NEVER, 1)("who")


async def test_in_a_thread_a_function_gives_what_it_gives_and_raises_what_it_raises():
    assert await in_thread(plain, "who") == "who!"
    for error in (KeyError("x"), SystemExit(3), StopIteration()):
        with pytest.raises((type(error), RuntimeError)):
            await in_thread(_raising, error)


def _raising(error):
    raise error


async def test_law_10_a_thread_that_nobody_waits_for_any_more_says_when_it_has_ended():
    go_on, over = threading.Event(), asyncio.Event()
    waiting = asyncio.create_task(in_thread(go_on.wait, 30, over=over.set))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not over.is_set()
    go_on.set()
    async with asyncio.timeout(30):
        await over.wait()
