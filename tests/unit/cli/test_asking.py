"""`ask`: what is wrong usage, and which exit code an outcome has."""

from typing import Any

import pytest
from click.testing import CliRunner

from answerback.cli import root
from answerback.cli.ask import _names, exit_code
from answerback.cli.errors import Exit
from answerback.cli.question import ended
from answerback.errors import NotAllowed


def record(status: str, *values: Any, kind: str = "confirm", expired: bool = False) -> Any:
    questions = [{"id": f"q{place}", "kind": kind} for place in range(max(1, len(values)))]
    answer = {"values": {f"q{place}": value for place, value in enumerate(values)}, "expired": expired}
    return {"status": status, "questions": questions, "answer": answer if values or expired else None}


def test_only_yes_to_a_confirmation_is_fine() -> None:
    assert exit_code(record("completed", True)) is Exit.FINE
    assert exit_code(record("completed", False)) is Exit.NO


@pytest.mark.parametrize("value", [None, "yes", 1, "", 0, [True], {"confirmed": True}])
def test_what_is_neither_yes_nor_no_is_an_error(value: Any) -> None:
    assert exit_code(record("completed", value)) is Exit.ERROR


def test_several_confirmations_are_fine_only_if_all_are_yes() -> None:
    assert exit_code(record("completed", True, True)) is Exit.FINE
    assert exit_code(record("completed", True, False)) is Exit.NO
    assert exit_code(record("completed", True, None)) is Exit.ERROR


def test_any_other_answer_is_fine() -> None:
    assert exit_code(record("completed", "no", kind="text")) is Exit.FINE


@pytest.mark.parametrize(
    ("status", "code"), [("expired", 3), ("cancelled", 4), ("pending", 1), ("new state", 1)]
)
def test_what_was_not_answered_is_never_fine(status: str, code: int) -> None:
    assert exit_code(record(status)) == code
    assert exit_code(record(status, True)) == code


def test_a_default_of_a_deadline_is_not_an_answer() -> None:
    assert exit_code(record("completed", True, expired=True)) is Exit.EXPIRED


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("stand-in:llm (openai:gpt-5)", "Answered by the stand-in llm (openai:gpt-5), not by a person."),
        ("terminal:console", "Somebody in the terminal answered through console at ."),
        ("alice", "alice answered through console at ."),
        ("", "Somebody answered through console at ."),
    ],
)
def test_it_is_said_who_answered(by: str, said: str) -> None:
    found = {"status": "completed", "answered_by": by, "answered_via": "console", "answered_at": None}
    assert ended(found) == said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("", "This was cancelled: no reason was given."),
        ("not today", "This was cancelled: not today."),
        ("cancelled", "This was cancelled."),
        ("cancelled by the asker", "This was cancelled by the asker."),
        ("stopped in the terminal", "This was cancelled: stopped in the terminal."),
    ],
)
def test_it_is_said_why_it_was_cancelled(reason: str, said: str) -> None:
    found: Any = {"status": "cancelled", "reason": reason}
    assert ended(found) == said


def test_it_is_said_that_no_more_is_known() -> None:
    found = {"status": "completed", "answered_by": "ana", "answered_via": "form", "answered_at": None}
    moment = "2026-03-01T12:00:00.000000Z"
    said = ended(found | {"erased_at": moment, "questions": []})
    assert said.startswith("ana answered through form at . What was asked and answered was erased at ")
    said = ended(found | {"erased_at": moment, "questions": [{"id": "q"}]})
    assert said.startswith("ana answered through form at . What was answered was erased at ")


def test_completed_without_an_answer_is_an_error() -> None:
    assert exit_code(record("completed")) is Exit.ERROR


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask"], "Missing argument 'TEXT'"),
        (["ask", "Q?", "--confirm", "--choice", "a"], "either --confirm or --choice"),
        (["ask", "Q?", "--other"], "--other needs --choice"),
        (["ask", "Q?", "--expires", "soon"], "not a duration"),
        (["ask", "Q?", "--on-expire", "default"], "belong together"),
        (["ask", "Q?", "--default", "no"], "belong together"),
        (["ask", "Q?", "--on-expire", "explode"], "is not one of"),
        (["run", "mine", "--input", "{nope"], "not JSON"),
        (["run", "mine", "--input", "NaN"], "not JSON"),
        (["run", "mine", "--input", '{"a": 1, "a": 2}'], "same key twice"),
        (["interactions", "answer", "i", "yes", "--response", "true"], "either ANSWER or --response"),
        (["interactions", "list", "--limit", "1000"], "not in the range"),
        (["contacts", "add", "ben", "--address", "telegram"], "PROVIDER=ID"),
        (["sandbox", "--listen", "nowhere"], "not HOST:PORT"),
        (["sandbox", "--listen", "0.0.0.0:8710"], "loopback"),
        (["serve", "--listen"], "requires an argument"),
    ],
)
def test_wrong_usage_exits_with_2(words: list[str], said: str) -> None:
    done = CliRunner().invoke(root, words)
    assert done.exit_code == 2
    assert said in done.output


class People:
    """A client that knows these contacts, or may not."""

    def __init__(self, *contacts: Any, refused: bool = False) -> None:
        self.contacts, self.refused = contacts, refused

    async def call(self, method: str, path: str) -> Any:
        if self.refused:
            raise NotAllowed("This needs a key with the scope read or admin.")
        return {"items": list(self.contacts)}


ANA = {"id": "ana", "name": "Ana", "addresses": [{"provider": "telegram", "id": "1"}]}
BEN = {"id": "ben", "name": "Ben", "addresses": []}


async def test_who_has_an_address_was_asked_and_who_has_none_was_not() -> None:
    assert await _names(People(ANA, BEN), ["ana", "ben"]) == ("Ana", "Ben")
    assert await _names(People(ANA, BEN), []) == ("", "")


async def test_a_key_that_may_not_see_people_names_whom_it_was_told() -> None:
    assert await _names(People(refused=True), ["ana"]) == ("ana", "")
