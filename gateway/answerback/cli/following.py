"""A run followed to its end: a line for all that it asks, for who answered, and for how it ended."""

from typing import TYPE_CHECKING

from answerback.cli import answering, question, terminal
from answerback.transport import AT_ONCE

if TYPE_CHECKING:
    from answerback.cli.keyboard import Keyboard
    from answerback.client import Client, Interaction, Run


async def follow(client: "Client", id: str, keyboard: "Keyboard | None", left: list[str]) -> "Run":
    """The run when it has ended; what it asks meanwhile is shown, and asked here where that is possible.

    `left` holds the ids of what is shown and open, for whoever interrupts this.
    """
    seen: set[str] = set()
    async for record in client.run_changes(id):
        is_over = record["status"] not in ("running", "waiting")
        await _look(client, left)
        for interaction in record["interactions"]:
            if interaction not in seen:
                seen.add(interaction)
                await _asked(client, interaction, None if is_over else keyboard, left, is_over=is_over)
    return record


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
    """Say which of them have ended."""
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
