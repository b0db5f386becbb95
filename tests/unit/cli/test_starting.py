"""How fast the program starts, and how its commands are found."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from answerback.cli import root
from answerback.cli.root import COMMANDS

IMPORTED = "import sys; from answerback.cli import root; {}; print(*sys.modules)"
HELP = "root.main(['--help'], standalone_mode=False)"
SLOW = (
    "aiohttp alembic apscheduler asyncio babel fastapi importlib.metadata langgraph pydantic "
    "sqlalchemy sqlmodel starlette telegram uvicorn yaml"
).split()


def modules(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_imports_click_and_the_standard_library_only() -> None:
    loaded = modules(IMPORTED.format(HELP))
    assert loaded.isdisjoint(SLOW)
    packages = {name.partition(".")[0] for name in loaded}
    before = {name.partition(".")[0] for name in modules("import sys; print(*sys.modules)")}
    assert packages - before - set(sys.stdlib_module_names) <= {"click", "answerback", "colorama"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_each_command_what_the_command_says_itself(name: str) -> None:
    command = root.get_command(click.Context(root), name)
    assert command.name == name
    assert command.help.startswith(COMMANDS[name][1].rstrip("."))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_no_command_is_wrong_usage(name: str) -> None:
    if name != "demo":
        assert CliRunner().invoke(root, [name, "--help"]).exit_code == 0
    assert CliRunner().invoke(root, [f"{name}x"]).exit_code == 2


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        names = command.list_commands(context)
        return [leaf for name in names for leaf in leaves(command.get_command(context, name), (*path, name))]
    return [path]


@pytest.mark.parametrize("path", [path for path in leaves(root) if path != ("demo",)], ids=" ".join)
def test_every_command_prints_json_on_demand_and_tracebacks_only_with_debug(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(root, [*path, "--help"]).output
    assert "--json" in shown
    assert "--debug" in shown
