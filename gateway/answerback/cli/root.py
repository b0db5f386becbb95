"""The program: every command, in the order in which a newcomer meets them, imported when it is used."""

import importlib
import os
import sys

import click

from answerback.cli.commands import Commands

# Name → module and what it is for. A test holds the texts against the commands' own.
COMMANDS = {
    "demo": ("demo", "An agent asks, you answer on a phone in the browser, it goes on."),
    "serve": ("serve", "Run the gateway until Ctrl-C or SIGTERM."),
    "run": ("run", "Start an AGENT."),
    "ask": ("ask", "Ask a person."),
    "notify": ("notify", "Tell a person something."),
    "interactions": ("interactions", "The questions that were asked, and their answers."),
    "runs": ("run", "What agents are doing and have done."),
    "contacts": ("people", "The people who can be asked."),
    "providers": ("providers", "List the ways to reach people, and whether they work."),
    "agents": ("people", "List the agents, and whether they can be used."),
    "routes": ("routes", "On which ways people are asked."),
    "check": ("check", "Check the configuration, and import what it names."),
    "dead-letters": ("letters", "What was given up, and why."),
    "audit": ("audit", "What is kept of all that happened, and whether it is whole."),
    "db": ("db", "The database."),
    "signing-secret": ("signing", "Print the secret that signs what is posted to a callback_url."),
    "mcp": ("mcp", "Let a program that speaks MCP ask people."),
    "sandbox": ("sandbox", "Run the sandbox: no account, no other machine."),
}


class Root(Commands):
    """`answerback`: knows its commands without importing them, so that it starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"answerback.cli.{COMMANDS[name][0]}")
        found = getattr(module, name.replace("-", "_"))
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.command(cls=Root)
@click.version_option(package_name="answerback", message="%(prog)s %(version)s")
def root() -> None:
    """An agent asks, a person answers on the messenger they already use, the agent goes on."""


def open_streams() -> None:
    """Where stdin, stdout or stderr is closed, nothing is read, and what is printed goes nowhere.

    Otherwise the next file takes its number, and a process that we start would write into that.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: the missing one
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))


def main() -> None:
    """The program `answerback`."""
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character must not end a wait
            stream.reconfigure(errors="backslashreplace")
    root.main(prog_name="answerback")
