"""Errors on the command line: what, where, what to do; a traceback only with --debug."""

import enum
import os
import signal
import sys
from typing import Any

import click

DEBUG = "answerback.debug"


class Exit(enum.IntEnum):
    """What a script learns."""

    FINE = 0
    ERROR = 1
    USAGE = 2
    EXPIRED = 3
    CANCELLED = 4
    NO = 5
    INTERRUPTED = 128 + signal.SIGINT


class Commands(click.Group):
    """A group whose commands' errors become one line and an exit code; nested groups leave it to the root."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of a first use, not of the alphabet

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.parent is not None:
            return super().invoke(ctx)
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit):
            raise
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
            click.echo(f"answerback: {sentence(error)}", err=True)
            ctx.exit(Exit.ERROR)
        return None


def sentence(error: Exception) -> str:
    """What a person is told of an error."""
    from answerback.errors import AnswerbackError

    if isinstance(error, AnswerbackError):
        return str(error)
    if isinstance(error, EOFError):
        return "The input ended, so nothing was answered."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'The operating system'}: {error.strerror}."
    return f"Something unexpected happened ({type(error).__name__}). --debug shows where."
