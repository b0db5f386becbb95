"""`run` and `runs`: start an agent, wait for it, look at what ran, stop it, or try again."""

from typing import TYPE_CHECKING, Any

import click

from answerback.cli.commands import Commands
from answerback.cli.errors import Exit
from answerback.cli.given_json import parsed
from answerback.cli.listing import add_list
from answerback.cli.options import duration, here_option, patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Client, Run

STATUS = click.Choice(["running", "waiting", "completed", "failed", "cancelled"])
CODES = {"completed": Exit.FINE, "cancelled": Exit.CANCELLED}


@click.command()
@click.argument("agent")
@click.option(
    "--input", "input_", metavar="JSON", callback=parsed,
    help="What the agent is given; @FILE reads it from a file, - from standard input.",
)  # fmt: skip
@click.option("--thread", metavar="ID", default="", help="The thread to run on. [default: a new one]")
@click.option("--to", metavar="NAME", multiple=True, help="Who is asked; several times for several.")
@click.option("--route", metavar="NAME", default="", help="A route of the configuration.")
@click.option("--expires", metavar="TIME", callback=duration, help="Until when each question: 10m, 24h.")
@click.option("--user", metavar="ID", default="", help="For whom it runs; questions can be listed by it.")
@click.option("--replace", is_flag=True, help="End what waits on the thread.")
@click.option("--wait", is_flag=True, help="Wait for the result.")
@here_option
@patience_option
@remote
def run(**options: Any) -> None:
    """Start an AGENT.

    Without --wait this prints the id of the run. With it, stdout gets the result and nothing else, and the
    exit code says how it ended: 0 completed, 4 cancelled, 1 failed. On a terminal you can answer right there
    what the run asks, if the key has the scope answer, until somebody else does.
    """
    from answerback.cli import answering, following, gateway, terminal

    open_: list[str] = []
    ids: list[str] = []

    async def work(client: "Client") -> "Run":
        started = await client.start(
            options["agent"], options["input_"], thread_id=options["thread"], route=options["route"],
            ask=options["to"], expires_in=options["expires"], replace=options["replace"],
            user=options["user"],
        )  # fmt: skip
        if not options["wait"]:
            return started
        terminal.note(f"Started {options['agent']}: run {started['id']}")
        ids.append(started["id"])
        return await following.follow(client, started["id"], keyboard, open_)

    place = gateway.find(options["config"], options["url"])
    keyboard = answering.keyboard(options) if options["wait"] else None
    say = keyboard.say if keyboard else terminal.note
    try:
        record = gateway.speak(place, work, patience=options["patience"], say=say)
    except KeyboardInterrupt:
        if ids:
            terminal.note(f"\n{following.goes_on(ids[0], open_)}")
        raise
    if options["wait"]:
        return tell(record, as_json=options["as_json"])
    if options["as_json"]:
        return terminal.put_json(record)
    terminal.out(record["id"])


def tell(record: "Run", *, as_json: bool) -> None:
    """Print how a run ended, and exit with what that means."""
    from answerback.cli import question, terminal

    if as_json:
        terminal.put_json(record)
    elif record["status"] == "completed":
        terminal.note(f"{record['agent']} is completed.")
        terminal.out(_text(record["result"]))
    else:
        terminal.note(f"answerback: the run is {question.became(record['status'], record['error'])}")
        _finished(record)
    if record["status"] == "failed":
        terminal.note(_again(record))
    click.get_current_context().exit(CODES.get(record["status"], Exit.ERROR))


@click.group(cls=Commands)
def runs() -> None:
    """What agents are doing and have done."""


def _row(record: "Run") -> list[str]:
    from answerback.cli import terminal

    said = _text(record["result"]) if record["status"] == "completed" else record["error"]
    said = "(erased)" if record.get("erased_at") else said
    return [record["id"], record["status"], record["agent"], terminal.cut(said, 60)]


add_list(
    runs,
    "List runs, oldest first.",
    [click.option("--status", type=STATUS, help="Only these.")],
    lambda client, query: client.runs(**query),
    _row,
)


@runs.command()
@click.argument("id")
@remote
def show(config: str | None, url: str, as_json: bool, id: str) -> None:
    """Show one run: its state, what it asked, its result or error."""
    from answerback.cli import gateway, question, terminal

    record = gateway.speak(gateway.find(config, url), lambda client: client.run(id))
    if as_json:
        return terminal.put_json(record)
    terminal.note(f"{record['agent']} is {question.became(record['status'], record['error'])}")
    for interaction in record["interactions"]:
        terminal.note(f"It asked: answerback interactions show {interaction}")
    if erased := terminal.erased("What went in and came out", record.get("erased_at")):
        terminal.note(erased)
    elif record["status"] == "completed":
        terminal.out(_text(record["result"]))
    else:
        _finished(record)


def _finished(record: "Run") -> None:
    """What a run that was cancelled had done until then, if anything."""
    from answerback.cli import terminal

    if record["status"] == "cancelled" and record["result"] is not None:
        terminal.note("What it had finished until then:")
        terminal.out(_text(record["result"]))


def _steering(name: str, about: str) -> None:
    """Add a command that does one thing to one run."""

    @runs.command(name, help=about)
    @click.argument("id")
    @remote
    def steer(config: str | None, url: str, as_json: bool, id: str) -> None:
        from answerback.cli import gateway, question, terminal

        record = gateway.speak(gateway.find(config, url), lambda client: client.steer(id, name))
        if as_json:
            return terminal.put_json(record)
        terminal.note(f"{record['agent']} is {question.became(record['status'], record['error'])}")


_steering("cancel", "Stop a run; what it asked is withdrawn.")
_steering("retry", "Try a failed run's step again, with the same answer.")
_steering("reask", "Ask a failed run's question anew, for another answer.")


def _again(record: "Run") -> str:
    if not record["interactions"]:
        return (
            f"Again, with the same input: answerback runs retry {record['id']}; otherwise start another run."
        )
    return f"Again, with the same answer: answerback runs retry {record['id']}; with a new one: reask"


def _text(result: Any) -> str:
    import json

    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
