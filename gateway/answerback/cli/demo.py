"""`demo`: the whole loop on this machine, without an account anywhere."""

import click

from answerback.cli.options import debug_option

SETTINGS = {"ignore_unknown_options": True, "help_option_names": []}


@click.command(context_settings=SETTINGS)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@debug_option
def demo(arguments: tuple[str, ...]) -> None:
    """An agent asks, you answer on a phone in the browser, it goes on."""
    import importlib

    play = importlib.import_module("answerback_demo").main  # it imports everything, nothing imports it
    click.get_current_context().exit(play(list(arguments)))
