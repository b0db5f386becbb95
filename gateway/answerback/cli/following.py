"""A run followed to its end: a line for all that it asks, for who answered, and for how it ended."""

import asyncio
from typing import TYPE_CHECKING

from answerback.cli import answering, question, terminal

if TYPE_CHECKING:
    from answerback.cli.keyboard import Keyboard
    from answerback.client import Client, Interaction, Run

AT_ONCE = 0.001  # seconds of waiting
LOOK = 2.0  # seconds of waiting for one of several open questions, before the others are looked at
PAUSES = (0.05, 1.0)  # seconds between looks at a run that asks nothing: the first, and the longest


async def follow(client: "Client", id: str, keyboard: "Keyboard | None", left: list[str]) -> "Run":
    """The run when it has ended; what it asks meanwhile is shown, and asked here where that is possible.

    `left` holds the ids of what is shown and open, for whoever interrupts this.
    """
    seen: set[str] = set()
    pause, longest = PAUSES
    while True:
        record: Run = await client.patiently(f"/v1/runs/{id}")
        is_over = record["status"] not in ("running", "waiting")
        new = [interaction for interaction in record["interactions"] if interaction not in seen]
        for interaction in new:
            seen.add(interaction)
            await _asked(client, interaction, None if is_over else keyboard, left, is_over=is_over)
        if is_over:
            return record
        if left:
            await _look(client, left)
        pause = PAUSES[0] if new or left else min(pause * 2, longest)
        await asyncio.sleep(pause)


async def _asked(
    client: "Client", id: str, keyboard: "Keyboard | None", left: list[str], *, is_over: bool
) -> None:
    record = await client.wait(id, AT_ONCE)
    here = await answering.allowed(client, id, keyboard) if record["status"] == "pending" else None
    left.append(id)
    if here is not None:
        record = await answering.shown(client, record, here)
    else:
        question.show(record)
        if record["status"] == "pending" and not is_over:
            terminal.note(f"Waiting: {answering.BY_COMMAND} {id}")
    if record["status"] != "pending" or is_over:
        _ended(record, left)


async def _look(client: "Client", left: list[str]) -> None:
    """Wait a little for the first of them, then say which have ended."""
    await client.wait(left[0], LOOK)
    for id in tuple(left):
        record = await client.wait(id, AT_ONCE)
        if record["status"] != "pending":
            _ended(record, left)


def _ended(record: "Interaction", left: list[str]) -> None:
    which = f"#{record['code']}: " if len(left) > 1 else ""
    terminal.note(f"{which}{question.ended(record)}")
    left.remove(record["id"])


def goes_on(run: str, left: list[str]) -> str:
    """How to go on with a run that nobody waits for any more."""
    ways = [f"To answer its question: {answering.BY_COMMAND} {id}" for id in left]
    return "\n".join(
        [f"The run goes on: answerback runs show {run}", *ways, f"To stop it: answerback runs cancel {run}"]
    )
