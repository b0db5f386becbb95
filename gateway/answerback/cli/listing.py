"""The command `list` of a group: a page of records as a table, and how to get the next page."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import Client

Read = Callable[["Client", str, int, str], Awaitable[Any]]
Row = Callable[[Any], list[str]]


def add_list(
    group: click.Group, about: str, only: tuple[str, click.Choice[str]], read: Read, row: Row
) -> None:
    """Add `list` to `group`.

    `only` is the option that narrows the list and what it takes; `read` asks a client for the page of
    these, with at most so many, after that id; `row` gives the cells of one record.
    """
    name, values = only

    @group.command("list", help=about)
    @click.option(name, "narrowed", type=values, help="Only these.")
    @click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
    @click.option("--after", metavar="ID", default="", help="Go on after this one.")
    @remote
    def list_(
        config: str | None, url: str, as_json: bool, narrowed: str | None, limit: int, after: str
    ) -> None:
        from answerback.cli import gateway, terminal

        place = gateway.find(config, url)
        page = gateway.speak(place, lambda client: read(client, narrowed or "", limit, after))
        if as_json:
            return terminal.put_json(page)
        if not page["items"]:
            return terminal.note("There is nothing.")
        terminal.table([row(record) for record in page["items"]])
        if page["next"]:
            terminal.note(f"There may be more: --after {page['next']}")
