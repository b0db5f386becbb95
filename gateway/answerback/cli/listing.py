"""The command `list` of a group: a page of records as a table, and how to get the next page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import Client

Read = Callable[["Client", dict[str, Any]], Awaitable[Any]]
Row = Callable[[Any], list[str]]


def add_list(
    group: click.Group, about: str, only: Sequence[Callable[[Any], Any]], read: Read, row: Row
) -> None:
    """Add `list` to `group`.

    `only` are the options that narrow the list; `read` asks a client for a page, with these, `limit` and
    `after` by name; `row` gives the cells of one record.
    """

    def narrowed(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(only):
            command = option(command)
        return command

    @group.command("list", help=about)
    @narrowed
    @click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
    @click.option("--after", metavar="ID", default="", help="Go on after this one.")
    @remote
    def list_(config: str | None, url: str, as_json: bool, **query: Any) -> None:
        from answerback.cli import gateway, terminal

        place = gateway.find(config, url)
        given = {name: value for name, value in query.items() if value is not None}
        page = gateway.speak(place, lambda client: read(client, given))
        if as_json:
            return terminal.put_json(page)
        if not page["items"]:
            return terminal.note("There is nothing.")
        terminal.table([row(record) for record in page["items"]])
        if page["next"]:
            terminal.note(f"There may be more: --after {page['next']}")
