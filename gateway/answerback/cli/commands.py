"""Groups of commands: shared options may stand before a command too, and errors are told once."""

import os
import sys
from typing import Any

import click

from answerback.cli.errors import DEBUG, Exit, tell
from answerback.cli.options import JSON, shared

GIVEN = "answerback.given"  # whether --json stands on a command line that cannot be understood


class Commands(click.Group):
    """A group whose commands' errors become one line and an exit code; nested groups leave it to the root."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        own = {each.name for each in self.params}
        self.params += [option for option in shared() if option.name not in own]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of a first use, not of the alphabet

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if parent is not None:
            return super().make_context(info_name, args, parent, **extra)
        given = "--json" in (args[: args.index("--")] if "--" in args else args)
        try:
            made = super().make_context(info_name, args, None, **extra)
        except click.ClickException as error:
            raise _told(error, as_json=given) from None
        made.meta[GIVEN] = given
        return made

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.parent is not None:
            return super().invoke(ctx)
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except click.exceptions.Exit:
            raise
        except click.ClickException as error:
            raise _told(error, as_json=ctx.meta[GIVEN]) from None
        except (KeyboardInterrupt, click.Abort):
            click.echo(err=True)
            ctx.exit(Exit.INTERRUPTED)
        except BrokenPipeError:  # so that Python does not complain at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(Exit.ERROR)
        except Exception as error:
            if ctx.meta.get(DEBUG):
                from answerback.tracebacks import told

                click.echo(told(error), err=True)
            tell(error, as_json=bool(ctx.meta.get(JSON)))
            ctx.exit(Exit.ERROR)
        return None


def _told(error: click.ClickException, *, as_json: bool) -> Exception:
    """What is raised for wrong usage: click tells it in prose; as JSON it is told here."""
    if not as_json:
        return error
    tell(error, as_json=True)
    return click.exceptions.Exit(error.exit_code)
