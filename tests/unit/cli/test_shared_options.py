"""`--json`, `--config`, `--url` and `--debug` mean the same at every level; with `--json`, so do failures."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from answerback.cli import root
from answerback.cli.commands import Commands
from answerback.cli.errors import problem
from answerback.cli.options import remote
from answerback.client import GatewayUnavailable
from answerback.errors import ConfigurationError, Conflict, NotAllowed

AWAY = "http://127.0.0.1:9"  # nothing listens there
MEMBERS = ["type", "title", "status", "code", "detail"]


@click.group(cls=Commands)
def top() -> None:
    """A root."""


@top.group(cls=Commands)
def inner() -> None:
    """A group."""


@inner.command()
@remote
def shows(config: str | None, url: str, as_json: bool) -> None:
    """Print what it was given."""
    click.echo(json.dumps([config, url, as_json]))


def given(words: str, **environ: str) -> list[Any]:
    done = CliRunner().invoke(top, words.split(), env=environ)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize("place", range(3))
def test_they_may_stand_at_any_level(place: int) -> None:
    words = ["inner", "shows"]
    words.insert(place, "--json --config a.yaml --url http://a")
    assert given(" ".join(words)) == ["a.yaml", "http://a", True]


def test_the_one_nearest_to_the_command_counts_and_any_comes_before_the_environment() -> None:
    environ = {"ANSWERBACK_CONFIG": "e.yaml", "ANSWERBACK_URL": "http://e"}
    assert given("inner shows", **environ) == ["e.yaml", "http://e", False]
    assert given("--config a.yaml --url http://a inner shows", **environ) == ["a.yaml", "http://a", False]
    assert given("--config a.yaml inner --config b.yaml shows")[0] == "b.yaml"
    assert given("--config a.yaml inner --config b.yaml shows --config c.yaml")[0] == "c.yaml"


def test_the_program_takes_them_and_names_them_in_its_help(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("contacts: {alice: {name: Alice}}\n")
    for words in (["--json", "--config", str(file), "check"], ["check", "--json", "--config", str(file)]):
        done = CliRunner().invoke(root, words)
        assert json.loads(done.stdout)["found"]["contacts"] == "Alice"
    shown = CliRunner().invoke(root, ["--help"]).output
    assert all(option in shown for option in ("--json", "--config FILE", "--url URL", "--debug"))


def test_a_command_that_is_a_group_hands_them_on() -> None:
    words = ["providers", "--json", "--config", "nowhere.yaml", "try", "telegram", "alice"]
    done = CliRunner().invoke(root, words)
    assert (done.exit_code, told(done)["code"]) == (1, "configuration")


# -- failures


def told(done: Result) -> dict[str, Any]:
    """The problem document, alone on stderr; stdout is empty."""
    assert done.stdout == ""
    document = json.loads(done.stderr)
    assert list(document) == MEMBERS
    return document


@pytest.mark.parametrize(
    ("words", "code", "kind", "status", "detail"),
    [
        ("interactions list", 1, "unavailable", 503, f"Nothing answers at {AWAY}: is `answerback serve`"),
        ("interactions show a/b", 1, "not-found", 404, "There is no interaction with this id."),
        ("--config nowhere.yaml db upgrade", 1, "configuration", 500, "nowhere.yaml: There is no such"),
        ("ask", 2, "usage", 400, "Missing argument 'TEXT'. See: answerback ask --help"),
        ("ask --colour", 2, "usage", 400, "No such option '--colour'."),
        ("--colour ask", 2, "usage", 400, "No such option '--colour'."),
        ("aks", 2, "usage", 400, "No such command 'aks'."),
        ("interactions", 2, "usage", 400, "Missing command. See: answerback interactions --help"),
        ("routes test --send", 2, "usage", 400, "--send needs the NAME of one route."),
        ("run mine --input {", 2, "usage", 400, "Invalid value for '--input': this is not JSON"),
    ],
)
def test_with_json_a_failure_is_one_problem_document_on_stderr(
    words: str, code: int, kind: str, status: int, detail: str
) -> None:
    environ = {"ANSWERBACK_URL": AWAY, "ANSWERBACK_KEY": "k"}
    for line in (f"--json {words}", f"{words} --json"):
        done = CliRunner().invoke(root, line.split(), env=environ, prog_name="answerback")
        document = told(done)
        assert (done.exit_code, document["code"], document["status"]) == (code, kind, status)
        assert document["type"] == f"urn:answerback:problem:{kind}"
        assert document["detail"].startswith(detail)


def test_without_it_a_failure_is_a_sentence_and_so_is_json_as_a_word_of_the_question() -> None:
    environ = {"ANSWERBACK_URL": AWAY, "ANSWERBACK_KEY": "k"}
    done = CliRunner().invoke(root, ["interactions", "list"], env=environ)
    assert done.stderr.startswith("answerback: Nothing answers at")
    done = CliRunner().invoke(root, ["ask", "--", "--json", "--json"])
    assert (done.exit_code, done.stderr.startswith("Usage: ")) == (2, True)


@pytest.mark.parametrize(
    ("error", "status", "code", "title"),
    [
        (Conflict("Busy."), 409, "conflict", "Conflict"),
        (NotAllowed("Not you."), 403, "not-allowed", "Forbidden"),
        (GatewayUnavailable("Away."), 503, "unavailable", "Service Unavailable"),
        (ConfigurationError("Wrong.", file="a.yaml", line=3), 500, "configuration", "Wrong Configuration"),
        (EOFError(), 400, "no-input", "No Input"),
        (KeyError("secret"), 500, "internal", "Internal Server Error"),
        (click.ClickException("Cannot listen."), 500, "failed", "Failed"),
    ],
)
def test_every_error_has_a_kind_that_a_program_can_tell(
    error: Exception, status: int, code: str, title: str
) -> None:
    document = problem(error)
    assert (document["status"], document["code"], document["title"]) == (status, code, title)
    assert "secret" not in document["detail"]
