"""What was answered elsewhere stands in the form, as what it was and as nothing else."""

from dataclasses import replace

import pytest

from answerback.model import Json, Question
from answerback.web.fields import fill
from answerback.web.prefilled import prefilled
from answerback.web.typed import text_reader
from tests.unit.web.fakes import (
    CHOICE,
    CONFIRM,
    DATE,
    NUMBER,
    OPEN_CHOICE,
    REVIEW,
    SEVERAL,
    TEXT,
    interaction,
    view,
)

ANY = replace(NUMBER, minimum=None, maximum=None, whole=False)
EVERY: list[tuple[Question, Json]] = [
    (TEXT, " a\nb "),
    (CONFIRM, False),
    (CHOICE, CHOICE.choices[1].id),
    (OPEN_CHOICE, "neither"),
    (SEVERAL, [each.id for each in SEVERAL.choices][:2]),
    (ANY, 1.5),
    (ANY, -12),
    (DATE, "2026-12-03"),
    (DATE, "2026-12-04T09:00:00+01:00"),
    (REVIEW, {"decision": "approve"}),
    (REVIEW, {"decision": "reject", "message": "too much"}),
]


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_each_is_read_as_what_was_given(language: str) -> None:
    questions = tuple(replace(question, id=f"i{place}") for place, (question, _) in enumerate(EVERY))
    given = {f"i{place}": value for place, (_, value) in enumerate(EVERY)}
    page = view(interaction(*questions), language=language, given=given)
    assert fill(questions, prefilled(page), language, text_reader(page)).values == given


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (ANY, 1.234),  # "1,234" could be a thousand there
        (CHOICE, "gone"),
        (SEVERAL, "a"),
        (CONFIRM, "yes"),
        (REVIEW, {"decision": "edit", "args": {"amount": 1}}),
        (REVIEW, "approve"),
        (TEXT, "a\r\nb"),
    ],
)
def test_what_would_be_read_otherwise_is_left_out(question: Question, value: Json) -> None:
    page = view(interaction(question, TEXT), language="de", given={question.id: value})
    assert not prefilled(page)
