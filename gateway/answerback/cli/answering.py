"""A question answered in the terminal where it stands; the prompt ends by itself if others are quicker."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from answerback.cli import question, terminal
from answerback.client import GatewayUnavailable
from answerback.errors import AlreadyAnswered, Closed, DoesNotFit, NotAllowed, NotFound, Refused
from answerback.model import Json
from answerback.read import is_command

if TYPE_CHECKING:
    from answerback.cli.keyboard import Keyboard
    from answerback.client import Client, Interaction

BY_COMMAND = "answerback interactions answer"
STOPPED, TAKEN_BACK = "stopped in the terminal", "taken back in the terminal"  # who types is seldom the asker


class Lines(Protocol):
    """Where answers are typed."""

    async def line(self) -> str:
        """A line. Raises `EOFError` when there is none."""
        ...


class Input:
    """Standard input that is no terminal."""

    async def line(self) -> str:
        """The next line."""
        return input()  # noqa: ASYNC250 - nothing else happens meanwhile


class Withdrawn(Exception):
    """Whoever was asked does not want the question, or the run, to go on."""


def keyboard(options: Mapping[str, Any]) -> "Keyboard | None":
    """Where a command that waits may ask: its terminal, unless its options say otherwise."""
    from answerback.cli.keyboard import Keyboard

    return None if options["as_json"] or options["no_answer"] else Keyboard.find()


async def allowed(client: "Client", id: str, keyboard: "Keyboard | None") -> "Keyboard | None":
    """The keyboard, if the key may answer: an answer without one is refused, but for another reason."""
    if keyboard is None:
        return None
    try:
        await client.call("POST", f"/v1/interactions/{id}/respond", body={})
    except (NotAllowed, NotFound, GatewayUnavailable):
        return None
    except Refused:
        return keyboard
    return None


async def shown(client: "Client", record: "Interaction", keyboard: "Keyboard") -> "Interaction":
    """Show a question and offer it here; the record when it has ended, or has been left to others."""
    question.show(record)
    if record["status"] != "pending":
        return record
    cancel = "cancel stops the run" if record["run_id"] else "cancel takes it back"
    terminal.note(f"(Ctrl-D leaves it to others, {cancel}.)", dim=True)
    record, _ = await offered(client, record, keyboard, withdraws=True)
    if record["status"] == "pending":
        terminal.note(f"Waiting: {BY_COMMAND} {record['id']}")
    return record


def still_open(id: str) -> str:
    """How to go on with a question that nobody waits for any more."""
    return (
        f"The question is still open. To answer it: {BY_COMMAND} {id}\n"
        f"To withdraw it: answerback interactions cancel {id}"
    )


async def response(record: "Interaction", lines: Lines, *, withdraws: bool = False) -> Json:
    """What is typed for each question. Raises `EOFError`; `Withdrawn` for a word that says so."""
    count = len(record["questions"])
    values: dict[str, Json] = {}
    for number, each in enumerate(record["questions"], start=1):
        which = f"{number} of {count} · {question.title(each)} · " if count > 1 else ""
        terminal.note(f"{which}{question.hint(each)}:", dim=True)
        text = await lines.line()
        if withdraws and _is_withdrawal(text, each):
            raise Withdrawn
        left_out = not text.strip() and not each["required"]
        values[each["id"]] = None if left_out else question.typed(each, text)
    return next(iter(values.values())) if count == 1 else values


async def offered(
    client: "Client", record: "Interaction", keyboard: "Keyboard", *, withdraws: bool = False
) -> "tuple[Interaction, bool]":
    """The record when it has ended, or still pending if whoever sits here leaves it to others (Ctrl-D).

    And whether it was answered here. The question has been shown. `withdraws`: "cancel", "quit" and "exit"
    are no answers, but take it back.
    """
    ended = asyncio.ensure_future(client.wait(record["id"]))
    typed = asyncio.ensure_future(_typed(client, record, keyboard, withdraws=withdraws))
    try:
        await asyncio.wait({ended, typed}, return_when=asyncio.FIRST_COMPLETED)
        here = typed.done() and typed.result()
        if typed.done() and not here and not ended.done():
            return await client.wait(record["id"], 0.001), False
        return await ended, here
    finally:
        for task in (typed, ended):
            task.cancel()
        await asyncio.gather(typed, ended, return_exceptions=True)


async def _typed(client: "Client", record: "Interaction", keyboard: "Keyboard", *, withdraws: bool) -> bool:
    """Take answers until one fits. False: none is given here any more."""
    while True:
        try:
            return await _once(client, record, keyboard, withdraws=withdraws)
        except DoesNotFit as error:
            terminal.note(question.unclear(record, error))
        except GatewayUnavailable as error:  # what was sent into the dark may have arrived:
            terminal.note(str(error))  # then the question has ended, and so does this
        except (AlreadyAnswered, Closed, EOFError):
            return False
        except Refused as error:
            terminal.note(str(error))
            return False


async def _once(client: "Client", record: "Interaction", keyboard: "Keyboard", *, withdraws: bool) -> bool:
    try:
        given = await response(record, keyboard, withdraws=withdraws)
    except Withdrawn:
        await client.cancel(record["id"], STOPPED if record["run_id"] else TAKEN_BACK)
        return False
    await client.respond(record["id"], given)
    return True


def _is_withdrawal(text: str, asked: Mapping[str, Any]) -> bool:
    """A word that is a choice is an answer."""
    choices = [each for choice in asked.get("choices") or () for each in (choice["id"], choice["label"])]
    if text.strip().casefold() in (each.strip().casefold() for each in choices):
        return False
    command = is_command(text)
    return command is not None and command[0] == "cancel"
