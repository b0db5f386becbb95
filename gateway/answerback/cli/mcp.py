"""`mcp`: programs that speak the Model Context Protocol ask people, over stdin and stdout."""

from typing import TYPE_CHECKING, Any

import click

from answerback.cli.options import duration, patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Client


@click.command()
@click.option("--to", metavar="NAME", multiple=True, help="Who is asked, unless a call names somebody.")
@click.option("--route", metavar="NAME", default="", help="A route of the configuration.")
@click.option("--as", "title", metavar="TEXT", default="", help="Who asks, as people read it: “Claude”.")
@click.option(
    "--wait", metavar="TIME", default="50s", show_default=True, callback=duration,
    help="How long one call waits; many programs give up on a call after a minute.",
)  # fmt: skip
@patience_option
@remote
def mcp(**options: Any) -> None:
    """Let a program that speaks MCP ask people.

    \b
    claude mcp add people -- answerback mcp --to alice --as Claude

    It offers the tools ask_human, confirm_action, wait_for_answer, withdraw_question and notify, on stdin and
    stdout, until stdin closes. A question stays open when a call gives up on it, and when this ends.
    """
    from answerback.cli import gateway
    from answerback.cli.desk import Desk
    from answerback.cli.mcp_tools import server
    from answerback.errors import ConfigurationError

    place = gateway.find(options["config"], options["url"])

    async def work(client: "Client") -> None:
        desk = Desk(client, options["to"], options["route"], options["title"], options["wait"])
        try:
            tools = server(desk)
        except ImportError:
            raise ConfigurationError("This needs the package mcp: pip install 'answerback[mcp]'.") from None
        await tools.run_stdio_async()

    gateway.speak(place, work, patience=options["patience"])
