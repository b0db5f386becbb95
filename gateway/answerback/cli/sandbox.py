"""`sandbox`: the far side on loopback: a Telegram Bot API, and a phone in the browser."""

from typing import Any

import click

from answerback.cli.options import debug_option, json_option


@click.command()
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8710", show_default=True)
@click.option("--token", metavar="TOKEN", help="The bot's token. [default: any that looks like one]")
@click.option("--rates", is_flag=True, help="Keep Telegram's sending rates.")
@json_option
@debug_option
def sandbox(listen: str, token: str | None, rates: bool, as_json: bool) -> None:
    """Run the sandbox: no account, no other machine."""
    import asyncio
    import importlib

    far_side: Any = importlib.import_module("answerback_sandbox")
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise click.BadParameter("this is not HOST:PORT, such as 127.0.0.1:8710", param_hint="--listen")
    try:
        box = far_side.Sandbox(token, rates=rates)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--token") from None
    try:
        asyncio.run(_serve(box, host, int(port), as_json))
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {listen}: {error.strerror or error}.") from None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--listen") from None


async def _serve(box: Any, host: str, port: int, as_json: bool) -> None:
    import asyncio
    import signal

    from answerback.cli import terminal

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with box.serve(host, port):
        if as_json:
            terminal.put_json({"phone": f"{box.url}/", "bot_api": box.bot_api_base, "token": box.token})
        else:
            terminal.out(f"phone     {box.url}/\nbot api   {box.bot_api_base}\ntoken     {box.token}")
        await stopped.wait()
