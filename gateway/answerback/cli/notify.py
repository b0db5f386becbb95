"""`notify`: tell somebody something that asks nothing."""

from typing import TYPE_CHECKING, Any

import click

from answerback.cli.errors import Exit
from answerback.cli.options import patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Client, Notice

ARRIVED = ("sent", "delivered", "read")


@click.command()
@click.argument("text")
@click.option("--to", metavar="NAME", multiple=True, help="A contact; several times for several.")
@click.option("--route", metavar="NAME", default="", help="A route of the configuration.")
@click.option("--title", metavar="TEXT", default="", help="Who says it and about what, in one line.")
@click.option("--sensitive", is_flag=True, help="Say only that a message waits; show it behind a link.")
@click.option("--idempotency-key", metavar="KEY", default="", help="The same key again does not tell again.")
@click.option("--wait", is_flag=True, help="Wait until it was sent; exits with 1 if it was not.")
@patience_option
@remote
def notify(**options: Any) -> None:
    """Tell a person something.

    \b
    ./deploy && answerback notify "It is live." --to alice

    Nothing is asked: a reply changes nothing. Without --wait this prints the id of the notice. With it, it
    prints the id once every person was sent it, and exits with 1 when somebody could not be reached.
    """
    from answerback.cli import gateway, terminal

    async def work(client: "Client") -> "Notice":
        sent = await client.notify(
            options["text"],
            ask=options["to"],
            route=options["route"],
            title=options["title"],
            sensitive=options["sensitive"],
            idempotency_key=options["idempotency_key"],
        )
        return await (client.follow_notice(sent["id"]) if options["wait"] else client.notice(sent["id"]))

    place = gateway.find(options["config"], options["url"])
    notice = gateway.speak(place, work, patience=options["patience"])
    tell(notice)
    if options["as_json"]:
        terminal.put_json(notice)
    else:
        terminal.out(notice["id"])
    failed = options["wait"] and notice["status"] not in ARRIVED
    click.get_current_context().exit(Exit.ERROR if failed else Exit.FINE)


def tell(notice: "Notice") -> None:
    """Say what became of it at each address."""
    from answerback.cli import terminal

    for told in notice["deliveries"]:
        where = f" on {told['provider']}" if told["provider"] else ""
        why = f" ({told['error']})" if told["error"] else ""
        terminal.note(f"{told['contact'] or 'Here'}{where}: {told['status']}{why}")
