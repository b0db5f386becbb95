"""`--debug` shows where an error came from, and nothing of what it said (law 11)."""

import click
from click.testing import CliRunner

from answerback.cli.commands import Commands
from answerback.cli.errors import DEBUG

SECRET = "the combination is 7-21-9"


@click.group(cls=Commands)
def group() -> None:
    """A root of commands."""


@group.command()
@click.option("--debug", is_flag=True)
@click.pass_context
def fails(context: click.Context, debug: bool) -> None:
    context.meta[DEBUG] = debug
    try:
        raise KeyError(SECRET)
    except KeyError:
        raise ValueError(SECRET) from None


def test_law_11_a_traceback_names_the_error_and_its_place_without_its_words() -> None:
    shown = CliRunner().invoke(group, ["fails", "--debug"]).output
    assert "Traceback" in shown and "in fails" in shown and "ValueError" in shown
    assert SECRET not in shown


def test_without_it_there_is_one_sentence() -> None:
    shown = CliRunner().invoke(group, ["fails"]).output
    assert shown == "answerback: Something unexpected happened (ValueError). --debug shows where.\n"
