"""`interactions`: the questions that were asked: list, show, explain, files, answer, cancel."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from answerback.cli.commands import Commands
from answerback.cli.errors import Exit, tell
from answerback.cli.given_json import parsed
from answerback.cli.listing import add_list
from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import Client, Interaction

PATIENCE = 60.0  # seconds that the gateway may be away while somebody types
CODES = {"cancelled": Exit.CANCELLED, "expired": Exit.EXPIRED}
STATUS = click.Choice(["pending", "completed", "expired", "cancelled"])


@click.group(cls=Commands)
def interactions() -> None:
    """The questions that were asked, and their answers."""


def _row(record: "Interaction") -> list[str]:
    from answerback.cli import question, terminal

    known = record["status"] == "completed" and not record.get("erased_at")
    said = question.answer_text(record) if known else ""
    text = terminal.cut(_asked(record), 50) + (f" → {terminal.cut(said, 30)}" if said else "")
    when = terminal.local_time(record["created_at"])
    return [record["id"], record["status"], f"#{record['code']}", when, text]


def _asked(record: "Interaction") -> str:
    if not record["questions"] and record.get("erased_at"):
        return "(erased)"
    if not record["questions"]:
        return "damaged, see answerback dead-letters show"
    first, *others = record["questions"]
    text = (first.get("action") or {}).get("name") or first["text"]
    return f"{text} (+{len(others)})" if others else text


add_list(
    interactions,
    "List questions, oldest first.",
    [
        click.option("--status", type=STATUS, help="Only these."),
        click.option("--user", metavar="ID", help="Only what was asked for them."),
    ],
    lambda client, query: client.interactions(**query),
    _row,
)


@interactions.command()
@click.argument("id")
@remote
def show(config: str | None, url: str, as_json: bool, id: str) -> None:
    """Show one question, and its answer."""
    from answerback.cli import gateway, question, terminal

    record = gateway.speak(gateway.find(config, url), lambda client: client.interaction(id))
    if as_json:
        return terminal.put_json(record)
    question.show(record)
    if record["user"]:
        terminal.note(f"Asked for {record['user']}.")
    terminal.note(question.ended(record))
    if record["answer"] is not None and record["answer"]["values"]:
        terminal.out(question.answer_text(record))
    for file in question.files(record):
        terminal.note(file)


@interactions.command()
@click.argument("id")
@remote
def explain(config: str | None, url: str, as_json: bool, id: str) -> None:
    """Tell what happened to a question: who was asked where, what came back, and what comes next."""
    from answerback.cli import gateway, history, terminal

    found = gateway.speak(gateway.find(config, url), lambda client: client.history(id))
    if as_json:
        return terminal.put_json(found)
    history.show(found)


@interactions.command()
@click.argument("id")
@click.argument("folder", default=".", type=click.Path(file_okay=False, exists=True, path_type=Path))
@remote
def files(config: str | None, url: str, as_json: bool, id: str, folder: Path) -> None:
    """Save the files that came with an answer into FOLDER (here, if none is named). None is overwritten."""
    from answerback.cli import gateway, saving, terminal

    async def work(client: "Client") -> list[str]:
        record, saved = await client.interaction(id), []
        for number, file in enumerate(
            record["answer"]["attachments"] if record["answer"] is not None else []
        ):
            content = await client.attachment(id, number)
            saved.append(str(saving.save(folder, saving.safe_name(file, number), content)))
            if not as_json:
                terminal.out(saved[-1])
        return saved

    saved = gateway.speak(gateway.find(config, url), work)
    if as_json:
        terminal.put_json({"folder": str(folder), "files": saved})
    elif not saved:
        terminal.note("No files came with it.")


@interactions.command()
@click.argument("id")
@click.argument("answer", required=False)
@click.option(
    "--response", metavar="JSON", callback=parsed,
    help="The answer as JSON; @FILE reads it from a file, - from standard input.",
)  # fmt: skip
@remote
def answer(config: str | None, url: str, as_json: bool, id: str, answer: str | None, response: Any) -> None:
    """Answer a question: with ANSWER, read as a message would be, or typed when it has been shown."""
    from answerback.cli import gateway, terminal

    is_json = click.get_current_context().get_parameter_source("response") is ParameterSource.COMMANDLINE
    if answer is not None and is_json:
        raise click.UsageError("Give either ANSWER or --response.")
    place = gateway.find(config, url)
    record = gateway.speak(place, lambda client: client.interaction(id))
    if answer is not None:
        response = _given(record, answer)
    if is_json or answer is not None or record["status"] != "pending":
        _respond(place, id, response, as_json=as_json)
    else:
        _conversation(place, record, as_json=as_json)
    terminal.note("Response received.")
    if as_json:
        terminal.put_json(gateway.speak(place, lambda client: client.interaction(id)))


@interactions.command()
@click.argument("id")
@click.option("--reason", metavar="TEXT", default="", help="Why; whoever was asked is told that it is over.")
@remote
def cancel(config: str | None, url: str, as_json: bool, id: str, reason: str) -> None:
    """Withdraw a question."""
    from answerback.cli import gateway, question, terminal

    record = gateway.speak(gateway.find(config, url), lambda client: client.cancel(id, reason))
    if as_json:
        return terminal.put_json(record)
    terminal.note(question.ended(record))


@interactions.command()
@click.argument("id")
@click.confirmation_option(prompt="What was asked and answered will be gone for good. Go on?")
@remote
def erase(config: str | None, url: str, as_json: bool, id: str) -> None:
    """Erase what was asked and answered at once, with the run that asked it and all that this run asked."""
    from answerback.cli import gateway, question, terminal

    record = gateway.speak(gateway.find(config, url), lambda client: client.erase(id))
    if as_json:
        return terminal.put_json(record)
    terminal.note(question.ended(record))


def _given(record: "Interaction", text: str) -> Any:
    from answerback.cli import question

    return question.typed(record["questions"][0], text) if len(record["questions"]) == 1 else text


def _conversation(place: Any, record: "Interaction", *, as_json: bool) -> None:
    """Show the question and take typed answers until one fits; without a terminal there is one try."""
    import asyncio

    from answerback.cli import answering, gateway, question, terminal
    from answerback.cli.keyboard import Keyboard
    from answerback.errors import AlreadyAnswered, Closed

    question.show(record)
    keyboard = Keyboard.find()
    if keyboard is None:
        typed = asyncio.run(answering.response(record, answering.Input()))
        return _respond(place, record["id"], typed, as_json=as_json)

    async def work(client: "Client") -> "tuple[Interaction, bool]":
        return await answering.offered(client, record, keyboard)

    ended, here = gateway.speak(place, work, patience=PATIENCE, say=keyboard.say)
    if here:
        return None
    if ended["status"] == "pending":
        raise EOFError
    said = question.ended(ended)
    if as_json:
        tell((AlreadyAnswered if ended["status"] == "completed" else Closed)(said), as_json=True)
    else:
        terminal.note(said)
    click.get_current_context().exit(CODES.get(ended["status"], Exit.ERROR))


def _respond(place: Any, id: str, response: Any, *, as_json: bool) -> None:
    from answerback.cli import gateway
    from answerback.errors import Closed

    async def work(client: "Client") -> str:
        try:
            await client.respond(id, response)
        except Closed as error:
            tell(error, as_json=as_json)
            return (await client.interaction(id))["status"]
        return ""

    status = gateway.speak(place, work)
    if status:
        click.get_current_context().exit(CODES.get(status, Exit.EXPIRED))
