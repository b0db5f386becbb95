"""What a question demands beyond its kind: read from what people write, and refused in their words."""

from dataclasses import replace

import pytest

from answerback.demands import Need
from answerback.errors import DoesNotFit
from answerback.model import Action, Choice, Json, Question, QuestionKind, Written
from answerback.read import Unclear, Value, read, validate, validate_response
from answerback.render import wanted
from answerback.sentences import LANGUAGES, all_needs, need

NOW = 1_796_288_400_000_000  # Thu 3 Dec 2026, 9:00 UTC
CODE = Question("q", "Code?", demands={"minLength": 4, "maxLength": 4, "pattern": "^[A-Z]+$"})
MAIL = Question("q", "Mail?", demands={"format": "email"})
WORDS = Question(
    "q",
    "Words?",
    demands={
        "type": "array",
        "items": {"type": "string", "maxLength": 5},
        "minItems": 2,
        "uniqueItems": True,
    },
    written=Written.LINES,
)
PLACE = Question(
    "q",
    "Place?",
    demands={
        "type": "object",
        "properties": {"zip": {"type": "string", "pattern": r"^\d{4}$", "examples": ["1010"]}},
        "required": ["zip"],
    },
    written=Written.JSON,
)
ANYTHING = Question("q", "What else?", written=Written.JSON)
STEP = Question("q", "How many?", QuestionKind.NUMBER, minimum=0, demands={"multipleOf": 5})
OPEN = Question("q", "How heavy?", QuestionKind.NUMBER, maximum=9, demands={"exclusiveMinimum": 0})
DAY = Question("q", "Which day?", QuestionKind.DATE, demands={"format": "date"})
CLOCK = Question("q", "When?", QuestionKind.DATE, demands={"format": "date-time"})
SOME = Question(
    "q",
    "Which?",
    QuestionKind.CHOICES,
    tuple(Choice(each, each) for each in "abc"),
    demands={"minItems": 2, "maxItems": 2},
)
CALL = Question(
    "q",
    "",
    QuestionKind.REVIEW,
    action=Action("refund", {"amount": 100}),
    decisions=("approve", "edit", "reject"),
    demands={"type": "object", "properties": {"amount": {"type": "number", "maximum": 500}}},
)
FITTING: list[tuple[Question, str, Json]] = [
    (CODE, "ABCD", "ABCD"),
    (MAIL, "ana@example.org", "ana@example.org"),
    (WORDS, "code\ncost", "code\ncost"),
    (WORDS, '["a", "b"]', '["a", "b"]'),
    (WORDS, '["[a] b", "c"]', '["[a] b", "c"]'),
    (WORDS, "[1] a\n[2] b", "[1] a\n[2] b"),
    (WORDS, " [ ] a\nb", " [ ] a\nb"),
    (WORDS, "[it]\nb", "[it]\nb"),
    (PLACE, '{"zip": "1010"}', '{"zip": "1010"}'),
    (STEP, "15", 15),
    (OPEN, "0,5", 0.5),
    (DAY, "tomorrow", "2026-12-04"),
    (CLOCK, "tomorrow 9:00", "2026-12-04T09:00:00+00:00"),
    (SOME, "1, 3", ["a", "c"]),
    (CALL, "approve", {"decision": "approve"}),
]
AS_JSON = "Write it as JSON, with every text in straight quotation marks."
OTHERS = [
    (CODE, "ABC", "Write exactly 4 characters."),
    (replace(CODE, demands={"maxLength": 1}), "ab", "Write at most 1 character."),
    (CODE, "abcd", "It has to match ^[A-Z]+$."),
    (MAIL, "ana at example", "Write it like ana@example.org."),
    (WORDS, "coding", "How many: at least 2."),
    (WORDS, "code\n code ", "Name each only once."),
    (WORDS, "code\ncosting", "[1]: Write at most 5 characters."),
    (WORDS, "[1, 2]", '[0]: Write it like "…".'),
    (WORDS, "[urgent] call the bank", "How many: at least 2."),
    *((WORDS, text, AS_JSON) for text in ('["a", ', "[“a”] b", "[a, b]", "[1, 2", '["a"] b', "[1], [2]")),
    (PLACE, "1010", 'Write it like {"zip": "1010"}.'),
    (PLACE, "{“zip”: 1}", AS_JSON),
    (PLACE, "{}", "“zip” is missing."),
    (PLACE, '{"zip": "A-1010"}', "zip: Write it like 1010."),
    (STEP, "7", "Write a multiple of 5."),
    (OPEN, "0", "Write a number: more than 0."),
    (DAY, "tomorrow 9:00", "Write the day without a time, e.g. 3 Dec."),
    (CLOCK, "tomorrow", "Write the time too, e.g. tomorrow 9:00."),
    (SOME, "1", "How many: exactly 2."),
]


def heard(question: Question, text: str, language: str = "en") -> Value | Unclear:
    return read(question, text, language=language, timezone="UTC", now=NOW)


@pytest.mark.parametrize(("question", "text", "value"), FITTING)
def test_what_fits_is_taken_as_it_was_written(question: Question, text: str, value: Json) -> None:
    assert heard(question, text) == Value(value, text)
    assert validate(question, value) == value


@pytest.mark.parametrize(("question", "text", "what"), OTHERS)
def test_what_does_not_fit_is_told_with_what_to_write(question: Question, text: str, what: str) -> None:
    assert heard(question, text) == Unclear("unfit", {"text": text, "need": what})
    with pytest.raises(DoesNotFit):
        validate_response((question,), text, now=NOW)


@pytest.mark.parametrize(
    ("question", "value", "why"),
    [
        (CODE, "ABC", "it needs at least 4 and at most 4 characters"),
        (STEP, 7, "it must be a multiple of 5"),
        (STEP, "7", "Write a multiple of 5."),
        (SOME, ["a"], "it has too few or too many items: at least 2 and at most 2"),
        (DAY, "2026-12-03T09:00:00+00:00", "Write the day without a time, e.g. 3 Dec."),
        (CLOCK, "2026-12-03", "Write the time too, e.g. tomorrow 9:00."),
        (PLACE, '{"zip": "A"}', "zip must be written like 1010"),
        (PLACE, "{", "it must be JSON, with every text in straight quotation marks"),
        (CALL, {"decision": "edit", "args": {"amount": 501}}, "amount is out of range: at most 500"),
    ],
)
def test_a_program_is_told_too(question: Question, value: Json, why: str) -> None:
    with pytest.raises(DoesNotFit) as refused:
        validate_response((question,), value, now=NOW)
    assert why in refused.value.detail


def test_only_a_change_has_arguments_that_must_fit() -> None:
    assert validate(CALL, {"decision": "edit", "args": {"amount": 500}})
    assert validate(CALL, {"decision": "reject", "message": "no"})


def test_what_may_be_left_out_need_not_fit() -> None:
    optional = Question("q", "Code?", required=False, demands={"minLength": 4})
    assert validate(optional, None) is None
    with pytest.raises(DoesNotFit):
        validate(optional, "")


def test_the_number_of_the_text_is_what_the_person_reads_in_their_language() -> None:
    said = {language: heard(CODE, "ABC", language).args["need"] for language in LANGUAGES}
    assert said == {
        "en": "Write exactly 4 characters.",
        "de": "Schreiben Sie genau 4 Zeichen.",
        "fr": "Écrivez exactement 4 caractères.",
        "es": "Escriba exactamente 4 caracteres.",
        "zh": "字符数：正好 4。",
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "each",
    [
        Need("characters", {"low": 3, "high": None}),
        Need("items", {"low": None, "high": 3}),
        Need("keys", {"low": 1, "high": 3}),
        Need("number", {"low": 1.5, "high": None, "above": None, "below": 2}),
        Need("number", {"above": 0, "high": 9}),
        Need("step", {"step": 0.5}),
        Need("like", {"like": "{x}"}),
        Need("kind", {"kinds": ["integer"], "like": "1"}),
        Need("pattern", {"pattern": "^{1,2}"}),
        Need("one_of", {"options": [1, "a", None]}),
        Need("key", {"name": "zip"}),
        Need("no_key", {"name": "zip"}),
        *(Need(key) for key in ("once", "less", "json", "day", "clock")),
    ],
)
def test_every_need_has_its_sentence_in_every_language(each: Need, language: str) -> None:
    assert len(need(each, language)) > 3 and len(each.said) > 3
    assert need(Need(each.key, each.args, "a.b"), language) == f"a.b: {need(each, language)}"
    assert all_needs((each, each), language).count(need(each, language)) == 2


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (CODE, "Write exactly 4 characters. It has to match ^[A-Z]+$."),
        (MAIL, "Write it like ana@example.org."),
        (WORDS, "Write each on a line of its own. How many: at least 2. Name each only once."),
        (PLACE, 'Write it like {"zip": "1010"}.'),
        (ANYTHING, "Write it as JSON, with every text in straight quotation marks."),
        (STEP, "Write a number: at least 0. Write a multiple of 5."),
        (OPEN, "Write a number: more than 0 and at most 9."),
        (DAY, "Write the day without a time, e.g. 3 Dec."),
        (CLOCK, "Write the time too, e.g. tomorrow 9:00."),
        (SOME, "How many: exactly 2."),
        (CALL, ""),
        (Question("q", "Any?", demands={"minLength": 1}), ""),
        (Question("q", "Any?", demands={"pattern": "x" * 61}), ""),
        (
            Question("q", "Any?", demands={"pattern": "^A", "examples": ["A\u202e7"]}),
            "Write it like A⟦U+202E⟧7.",
        ),
        (Question("q", "How many?", QuestionKind.NUMBER), ""),
    ],
)
def test_what_an_answer_has_to_be_is_said_in_advance(question: Question, told: str) -> None:
    assert wanted(question, "en") == told
