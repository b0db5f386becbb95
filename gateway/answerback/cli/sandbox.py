"""`sandbox`: the far sides on loopback: Telegram, WhatsApp, mail, and a phone in the browser."""

from typing import Any

import click

from answerback.cli.options import debug_option, json_option

PORTS = click.IntRange(0, 65535)


@click.command()
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8710", show_default=True)
@click.option("--smtp-port", type=PORTS, default=8711, show_default=True, help="0 takes a free one.")
@click.option("--imap-port", type=PORTS, default=8712, show_default=True, help="0 takes a free one.")
@click.option("--token", metavar="TOKEN", help="The bot's token. [default: any that looks like one]")
@click.option("--person", "people", metavar="NAME", multiple=True, help="One more beside Ana; repeatable.")
@click.option("--webhook", metavar="URL", default="", help="Where WhatsApp messages are posted.")
@click.option("--rates", is_flag=True, help="Keep Telegram's sending rates.")
@json_option
@debug_option
def sandbox(
    listen: str,
    smtp_port: int,
    imap_port: int,
    token: str | None,
    people: tuple[str, ...],
    webhook: str,
    rates: bool,
    as_json: bool,
) -> None:
    """Run the sandbox: no account, no other machine. It prints what to put into a bot's settings."""
    import asyncio
    import importlib

    from answerback.cli import terminal

    far_side: Any = importlib.import_module("answerback_sandbox")
    standing: Any = importlib.import_module("answerback_sandbox.standing")
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise click.BadParameter("this is not HOST:PORT, such as 127.0.0.1:8710", param_hint="--listen")
    try:
        box = far_side.Sandbox(token, rates=rates)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--token") from None
    try:
        standing.equipped(box, list(people), webhook)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None

    def tell(found: dict[str, Any]) -> None:
        terminal.put_json(found) if as_json else terminal.out("\n".join(standing.lines(found)))

    try:
        asyncio.run(standing.stand(box, host, int(port), smtp_port, imap_port, tell))
    except OSError as error:
        taken = f"{listen}, or on port {smtp_port} or {imap_port} there"
        raise click.ClickException(f"Cannot listen on {taken}: {error.strerror or error}.") from None
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(str(error), param_hint="--listen") from None
