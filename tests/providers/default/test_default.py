"""Predefined answers: which one is given, and what is passed on."""

import pytest
from pydantic import ValidationError

from answerback.model import Action, Choice, Json, Question, QuestionKind
from answerback_providers.default import Default
from tests.support.stand_ins import made, message

TERM = Question(
    "q", "Search for “psr best Costing”?", QuestionKind.CHOICE, (Choice("y", "Yes"), Choice("c", "Coding"))
)
WIPE = Question("q", "Wipe?", QuestionKind.CONFIRM)
REFUND = Question(
    "q", "", QuestionKind.REVIEW, action=Action("refund_payment", {}), decisions=("approve", "reject")
)


async def given(question: Question, *answers: Json, **more: str) -> Json:
    sent = await made(Default, answers=answers).send(message(question, **more))
    assert bool(sent.replies) != bool(sent.declined)
    return sent.replies[0].value if sent.replies else None


@pytest.mark.parametrize(
    "fits",
    [
        {"text": "costing"},
        {"pattern": r"^Search for “.+”\?$"},
        {"agent": "research"},
        {"kind": "choice"},
        {"text": "PSR", "pattern": "best", "agent": "research", "kind": "choice"},
        {},
    ],
)
async def test_an_answer_is_given_where_all_that_it_says_is_true(fits: dict[str, str]) -> None:
    assert await given(TERM, {"answer": "Coding", **fits}) == "c"


@pytest.mark.parametrize(
    "fits",
    [
        {"text": "coding"},
        {"pattern": "^psr"},
        {"agent": "billing"},
        {"kind": "text"},
        {"text": "psr", "kind": "text"},
    ],
)
async def test_it_is_passed_on_where_one_is_not(fits: dict[str, str]) -> None:
    assert await given(TERM, {"answer": "Coding", **fits}) is None


async def test_the_first_that_fits_counts() -> None:
    assert (
        await given(TERM, {"text": "other", "answer": "1"}, {"text": "psr", "answer": "2"}, {"answer": "y"})
        == "c"
    )


async def test_a_number_is_the_choice_at_that_place_whatever_the_ids_are() -> None:
    floors = Question("q", "Which floor?", QuestionKind.CHOICE, (Choice("0", "Ground"), Choice("1", "First")))
    assert await given(floors, {"answer": "1"}) == "0"
    provider = made(Default, answers=[{"answer": {"q": "2", "why": "2"}}])
    sent = await provider.send(message(floors, Question("why", "Why?")))
    assert sent.replies[0].value == {"q": "1", "why": "2"}


async def test_a_text_that_names_no_choice_is_not_left_out_but_passed_on() -> None:
    floor = Question("q", "Which?", QuestionKind.CHOICE, (Choice("0", "Ground"),), required=False)
    provider = made(Default, answers=[{"answer": {"q": "attic", "why": "so"}}])
    assert (await provider.send(message(floor, Question("why", "Why?")))).declined


async def test_what_was_set_stands_beside_what_it_means() -> None:
    sent = await made(Default, answers=[{"answer": "2"}]).send(message(TERM))
    assert (sent.replies[0].value, sent.replies[0].text) == ("c", "2")


async def test_an_action_is_known_by_its_name() -> None:
    assert await given(REFUND, {"text": "refund_payment", "answer": "reject"}) == "reject"


@pytest.mark.parametrize(
    ("question", "answer"), [(TERM, "nothing of these"), (WIPE, "yes"), (REFUND, "approve")]
)
async def test_what_does_not_fit_or_may_not_be_given_is_passed_on_and_not_repeated(
    question: Question, answer: str
) -> None:
    sent = await made(Default, answers=[{"answer": answer}]).send(message(question))
    assert "predefined answer 1 does not fit" in sent.declined and answer not in sent.declined


async def test_several_questions_get_an_object() -> None:
    provider = made(Default, answers=[{"text": "colour", "answer": {"a": "blue", "b": ["1"]}}])
    choices = Question("b", "Which?", QuestionKind.CHOICES, (Choice("1", "One"), Choice("2", "Two")))
    sent = await provider.send(message(Question("a", "Colour?"), choices))
    assert sent.replies[0].value == {"a": "blue", "b": ["1"]}


async def test_what_concerns_people_is_none_of_its_business() -> None:
    sent = await made(Default, answers=[{"answer": "x"}]).send(message())
    assert not sent.replies and not sent.declined


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "at least 1 item"),
        ([{"answer": " "}], "says nothing"),
        ([{"answer": "x", "pattern": "("}], "no regular expression"),
        ([{"answer": "x", "kind": "essay"}], "Input should be"),
        ([{"answer": "x"}, {"text": "y", "answer": "y"}], "answer 1 fits every question"),
        ([{"text": "y"}], "Field required"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(answers: list[Json], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        made(Default, answers=answers)
