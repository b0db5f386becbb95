"""What runs in the background ends at the stop, whatever becomes of a cancellation."""

import asyncio

from answerback.background import break_off


class Loop:
    """Works until it is cancelled, and loses the first so many cancellations, as `asyncio.wait_for` may."""

    def __init__(self, loses: int) -> None:
        self.loses = loses

    async def run(self) -> None:
        while True:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                if not self.loses:
                    raise
                self.loses -= 1


async def fails() -> None:
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        raise ValueError("at the end")


async def test_what_loses_a_cancellation_is_cancelled_again() -> None:
    tasks = [asyncio.create_task(Loop(loses).run()) for loses in (0, 1, 3)]
    await asyncio.sleep(0)
    await break_off(tasks, again=0.001)
    assert all(task.cancelled() for task in tasks)


async def test_what_fails_as_it_ends_hinders_nothing() -> None:
    tasks = [asyncio.create_task(each) for each in (fails(), Loop(0).run())]
    await asyncio.sleep(0)
    await break_off(tasks)
    assert all(task.done() for task in tasks)


async def test_where_nothing_runs_there_is_nothing_to_wait_for() -> None:
    await break_off([])
