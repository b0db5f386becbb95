"""`dead-letters`: what was given up, and why: list, show, replay, discard."""

from typing import TYPE_CHECKING

import click

from answerback.cli.commands import Commands
from answerback.cli.listing import add_list
from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import DeadLetter

KIND = click.Choice(["delivery", "reply", "answer", "run", "interaction", "stop"])


@click.group("dead-letters", cls=Commands)
def dead_letters() -> None:
    """What was given up, and why."""


def _row(letter: "DeadLetter") -> list[str]:
    from answerback.cli import terminal

    return [
        letter["id"],
        letter["kind"],
        terminal.local_time(letter["at"]),
        terminal.cut(letter["reason"], 90),
    ]


add_list(
    dead_letters,
    "List what was given up, oldest first.",
    [click.option("--kind", type=KIND, help="Only these.")],
    lambda client, query: client.dead_letters(**query),
    _row,
)


@dead_letters.command()
@click.argument("id")
@remote
def show(config: str | None, url: str, as_json: bool, id: str) -> None:
    """Show one: what it is, why it was given up, what can be done."""
    from answerback.cli import gateway, terminal

    letter = gateway.speak(gateway.find(config, url), lambda client: client.dead_letter(id))
    if as_json:
        return terminal.put_json(letter)
    terminal.out(letter["reason"])
    terminal.note(letter["remedy"])
    for name in ("agent", "contact", "provider"):
        if letter[name]:
            terminal.note(f"{name}: {letter[name]}")
    if letter["run_id"]:
        terminal.note(f"Its run: answerback runs show {letter['run_id']}")
    if letter["interaction_id"]:
        terminal.note(f"Its question: answerback interactions show {letter['interaction_id']}")


def _settling(name: str, about: str) -> None:
    """Add a command that does one thing to one letter."""

    @dead_letters.command(name, help=about)
    @click.argument("id")
    @remote
    def settle(config: str | None, url: str, as_json: bool, id: str) -> None:
        from answerback.cli import gateway, terminal

        said = gateway.speak(gateway.find(config, url), lambda client: client.settle(id, name))
        if as_json:
            return terminal.put_json({"status": "success", "message": said})
        terminal.note(said)


_settling("replay", "Try one again, once its cause is mended.")
_settling("discard", "Take one off the list for good. A run that cannot go on without it is cancelled.")
