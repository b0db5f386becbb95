"""What is printed: questions as a person is asked them, nothing that steers a terminal."""

import io
import json
import logging
from typing import Any

import pytest

from answerback.cli import question, terminal
from answerback.cli.logs import JsonLines, TextLines, one_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def asked(**more: Any) -> dict[str, Any]:
    return {
        "id": "q",
        "kind": "text",
        "text": "Which?",
        "choices": [],
        "free_text": False,
        "action": None,
        **more,
    }


def record(*questions: Any, **more: Any) -> Any:
    base = {"title": "", "agent": "", "context": "", "status": "pending", "expires_at": None, "code": "K7Q2"}
    return {**base, "questions": list(questions), **more}


def test_a_review_shows_the_call_first_and_what_the_agent_says_as_a_quotation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    action = {"name": "refund_payment", "args": {"customer": "Ana", "amount": 100.0}}
    question.show(record(asked(kind="review", action=action), title="Billing · refunds", context="Sure."))
    assert capsys.readouterr().err.splitlines() == [
        "🟥 Billing · wants to run",
        "refund_payment",
        "  customer   Ana",
        "  amount   100.0",
        "The agent says: “Sure.”",
        "#K7Q2",
    ]


def test_no_line_of_an_argument_can_be_taken_for_another_argument(capsys: pytest.CaptureFixture[str]) -> None:
    action = {"name": "send", "args": {"body": "Hi\r  to   the boss", "cc\n  to": "all"}}
    question.show(record(asked(kind="review", action=action)))
    shown = capsys.readouterr().err.splitlines()
    assert shown[2:5] == ["  body   Hi", "│   to   the boss", "  cc to   all"]


def test_what_is_nested_stands_in_lines_and_no_text_passes_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    action = {"name": "pay", "args": {"to": {"name": "Ana", "x\niban": 1}, "note": "\niban: EVIL"}}
    question.show(record(asked(kind="review", action=action)))
    shown = capsys.readouterr().err.splitlines()
    assert shown[2:6] == ["  to", "│ name: Ana", '│ "x\\niban": 1', '  note   "\\niban: EVIL"']


@pytest.mark.parametrize(
    ("typed", "sent"),
    [("2", "b"), ("2.", "b"), ("3", "3"), ("0", "0"), ("b", "b"), ("²", "²"), ("other", "other")],
)
def test_a_listed_number_stands_for_its_choice_and_anything_else_for_itself(typed: str, sent: str) -> None:
    choices = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
    assert question.typed(asked(kind="choice", choices=choices), typed) == sent


def test_a_choice_that_is_called_by_a_number_is_meant_before_the_list() -> None:
    choices = [{"id": "2", "label": "2"}, {"id": "1", "label": "1"}]
    assert question.typed(asked(kind="choice", choices=choices), "1") == "1"


@pytest.mark.parametrize(("typed", "sent"), [("1", "0"), ("2", "1"), ("Alpha", "0"), ("1.", "0")])
def test_what_is_listed_is_meant_before_an_id_that_is_not(typed: str, sent: str) -> None:
    choices = [{"id": "0", "label": "Alpha"}, {"id": "1", "label": "Beta"}]
    assert question.typed(asked(kind="choice", choices=choices), typed) == sent


@pytest.mark.parametrize(
    ("typed", "sent"), [("alpha", "beta"), ("4", "8 GB"), ("4 gb", "4 GB"), ("the third", "4 GB")]
)
def test_a_text_means_what_it_means_in_a_message_and_a_number_the_one_in_the_list(
    typed: str, sent: str
) -> None:
    choices = [{"id": "beta", "label": "Alpha"}, {"id": "alpha", "label": "Beta"}]
    choices += [{"id": size, "label": size} for size in ("4 GB", "8 GB")]
    assert question.typed(asked(kind="choice", choices=choices), typed) == sent


def test_a_choice_that_is_called_as_another_ones_id_is_the_one_that_is_shown() -> None:
    choices = [{"id": "1", "label": "2"}, {"id": "2", "label": "1"}]
    assert question.typed(asked(kind="choice", choices=choices), "2") == "1"


def test_a_number_is_no_choice_where_nothing_is_chosen() -> None:
    assert question.typed(asked(), "1") == "1"


@pytest.mark.parametrize(
    ("value", "text"), [(True, "yes"), (False, "no"), ("a\nb", "a\nb"), (3, "3"), (["a"], '["a"]')]
)
def test_an_answer_is_one_text(value: Any, text: str) -> None:
    assert question.answer_text(record(asked(), answer={"value": value, "values": {"q": value}})) == text


def test_several_answers_are_json() -> None:
    answer = {"value": None, "values": {"a": "ä", "b": True}}
    assert question.answer_text(record(asked(), asked(), answer=answer)) == '{"a": "ä", "b": true}'


def test_on_a_terminal_nothing_can_steer_it_and_a_pipe_gets_every_character() -> None:
    text = "refund\x1b[2J 1\u202e00\nlast"
    assert terminal.safe(text, Terminal()) == "refund[2J 1⟦U+202E⟧00\nlast"
    assert terminal.safe(text, io.StringIO()) == text


def test_styles_only_on_a_terminal_that_wants_them() -> None:
    assert not terminal.coloured(io.StringIO())


def test_a_long_text_is_cut_to_one_line() -> None:
    assert terminal.cut("one\n two  three", 9) == "one two…"
    assert terminal.cut("short", 9) == "short"


def test_a_time_of_another_day_has_its_date() -> None:
    assert terminal.local_time(None) == ""
    assert "2020" in terminal.local_time("2020-01-15T12:00:00.000000Z")


def line(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("answerback.deliver", logging.INFO, "f.py", 1, message, args, None)
    made.created = 0.5
    vars(made).update(extra)
    return made


def test_a_log_line_has_time_level_and_event() -> None:
    text = TextLines().format(line("sent %s", "x", run="r1"))
    assert text == "1970-01-01T00:00:00.500Z INFO answerback.deliver: sent x run=r1"


def test_a_log_line_as_json_has_the_same() -> None:
    found = json.loads(JsonLines().format(line("sent %s", "x", run="r1")))
    assert (found["time"], found["level"], found["event"]) == ("1970-01-01T00:00:00.500Z", "info", "sent x")
    assert (found["logger"], found["run"]) == ("answerback.deliver", "r1")


def test_what_came_from_outside_cannot_look_like_another_line() -> None:
    made = line("from %s", "a\n1970 ERROR b\x1b[0m")
    assert one_line(made)
    assert TextLines().format(made).endswith("from a 1970 ERROR b [0m")
