"""JSON on the command line: as it is, from a file (`@FILE`), or from standard input (`-`)."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from answerback.cli import root
from answerback.cli.given_json import parsed
from answerback.values import LIMIT


@click.command()
@click.option("--input", "input_", callback=parsed)
def given(input_: Any) -> None:
    """Print what came out of it."""
    click.echo(repr(input_))


def said(value: str | None, typed: str | bytes = "") -> tuple[int, str]:
    done = CliRunner().invoke(given, [] if value is None else ["--input", value], input=typed)
    return done.exit_code, " ".join(done.output.split())


def written(folder: Path, content: bytes) -> str:
    file = folder / "input.json"
    file.write_bytes(content)
    return str(file)


def test_a_text_is_read_as_it_stands() -> None:
    assert said('{"goal": "learn"}') == (0, "{'goal': 'learn'}")
    assert said(None) == (0, "None")


def test_a_file_is_read_and_so_is_standard_input(tmp_path: Path) -> None:
    content = '{"goal": "lernen, schön"}\n'
    assert said("@" + written(tmp_path, content.encode())) == (0, "{'goal': 'lernen, schön'}")
    assert said("-", content) == (0, "{'goal': 'lernen, schön'}")


def test_a_text_in_quotation_marks_is_never_a_file() -> None:
    assert said('"@ana"') == (0, "'@ana'")
    assert said('"-"') == (0, "'-'")


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    code, sentence = said(f"@{tmp_path}/nothing.json")
    assert (code, f"{tmp_path}/nothing.json cannot be read: No such file or directory." in sentence) == (
        2,
        True,
    )
    code, sentence = said(f"@{tmp_path}")
    assert (code, f"{tmp_path} cannot be read: Is a directory." in sentence) == (2, True)
    code, sentence = said("@")
    assert (code, "there is no name of a file after the @." in sentence) == (2, True)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            b"{nope",
            "This is not JSON: Expecting property name enclosed in double quotes at line 1, column 2.",
        ),
        (b'{"a": 1, "a": 2}', "An object has the same key twice"),
        (b'"sch\xf6n"', "This is not UTF-8: byte 5 cannot be read."),
        (b'"' + b"a" * LIMIT + b'"', f"This is larger than the {LIMIT} bytes that can be stored."),
    ],
    ids=["not JSON", "not strict", "not UTF-8", "too large"],
)
def test_what_stands_there_and_is_not_json_is_said_with_its_place(
    tmp_path: Path, content: bytes, why: str
) -> None:
    file = written(tmp_path, content)
    for value, place in ((f"@{file}", file), ("-", "standard input")):
        code, sentence = said(value, content)
        assert (code, f"{place} is not JSON that can be sent. {why}" in sentence) == (2, True), sentence


def test_what_is_empty_is_said_to_be(tmp_path: Path) -> None:
    file = written(tmp_path, b"\n")
    assert f"{file} is empty." in said(f"@{file}")[1]
    assert "standard input is empty." in said("-", "")[1]


def test_who_names_a_file_as_it_is_is_told_how_to_have_it_read(tmp_path: Path) -> None:
    file = written(tmp_path, b"{}")
    code, sentence = said(file)
    assert (code, f"For what stands in the file: @{file}" in sentence) == (2, True)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    assert "/dev/zero is not JSON that can be sent. This is larger than" in said("@/dev/zero")[1]


@pytest.mark.parametrize("words", [["run", "mine", "--input"], ["interactions", "answer", "i", "--response"]])
def test_every_option_that_takes_json_takes_a_file(words: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(root, [*words, f"@{tmp_path}/nothing.json"])
    assert (done.exit_code, "cannot be read: No such file" in " ".join(done.output.split())) == (2, True)
    done = CliRunner().invoke(root, [*words, "-"], input="{nope")
    assert (done.exit_code, "standard input is not JSON" in done.output) == (2, True)
