"""Dialects: what each payload asks, what each answer resumes it with, and what silence does."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from answerback.errors import DoesNotFit
from answerback.model import Answer, Attachment, Choice, Json, Question, QuestionKind
from answerback_agents import dialects

SILENCE = Answer({}, expired=True)
NO_RESPONSE = Answer({}, expired=True, no_response=True)
CONFIRM = {"type": "confirm_action", "action": "delete_file", "details": {"path": "a.txt", "size": 3}}
CHOICE = {"question": "Which term?", "choices": ["coding", "costing"], "topic": "Term check"}


def said(value: Any, text: str = "") -> Answer:
    return Answer({"q1": value}, text=text)


def question(payload: Json) -> Question:
    (asked,) = dialects.read(payload).questions
    return asked


def test_confirm_action_reads_like_a_sentence_and_shows_the_details() -> None:
    reading = dialects.read(CONFIRM)
    assert reading.questions == (
        Question("q1", "Shall I go ahead with “delete file”?", QuestionKind.CONFIRM),
    )
    assert reading.context == "path: a.txt\nsize: 3"
    assert reading.expirable


def test_confirm_action_is_resumed_with_what_was_said_and_whether_it_is_a_yes() -> None:
    assert dialects.write(CONFIRM, said(True, "sure")) == {"content": "sure", "confirmed": True}
    assert dialects.write(CONFIRM, said(False)) == {"content": "no", "confirmed": False}
    for value in ("yes", 1, None):
        with pytest.raises(DoesNotFit):
            dialects.write(CONFIRM, said(value))


def test_silence_never_confirms() -> None:
    for silence in (SILENCE, NO_RESPONSE):
        written = dialects.write(CONFIRM, silence)
        assert written == {"content": "No response", "confirmed": False, "timed_out": True}


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ({"question": "Is this right?", "name": "Ana", "born": None}, "name: Ana"),
        (
            {"question": "Go ahead?", "context": "Costly.", "details": {"eur": 5}},
            'Costly.\ndetails: {"eur": 5}',
        ),
        ({"question": "Which?", "choices": {"a": "Apple"}}, 'choices: {"a": "Apple"}'),
        (CHOICE | {"draft": "a\nb"}, "draft: a\nb"),
        (CONFIRM | {"details": "", "cost": 3}, "cost: 3"),
    ],
)
def test_whatever_else_a_question_comes_with_is_shown_to_whoever_decides(payload: Json, shown: str) -> None:
    assert dialects.read(payload).context == shown


def test_a_form_shows_what_else_its_question_comes_with() -> None:
    payload = {"question": "Is this right?", "context": "Costly.", "name": "Ana"}
    assert dialects.read(payload, schema={"type": "boolean"}).context == "Costly.\nname: Ana"


def test_what_steers_a_question_is_not_shown() -> None:
    payload = CHOICE | {
        "type": "pick",
        "human_only": True,
        "expires_in": "5m",
        "on_expire": "leave",
        "default": "a",
    }
    assert dialects.read(payload).context == ""


def test_choices_become_buttons_and_come_back_as_label_and_id() -> None:
    reading = dialects.read(CHOICE)
    assert question(CHOICE).choices == (Choice("coding", "coding"), Choice("costing", "costing"))
    assert (reading.title, reading.expirable) == ("Term check", True)
    assert dialects.write(CHOICE, said("coding", "1")) == {"content": "coding", "choice": "coding"}
    silence = {"content": "No response", "choice": None, "timed_out": True}
    assert dialects.write(CHOICE, SILENCE) == silence


def test_a_text_of_ones_own_is_no_choice() -> None:
    assert question(CHOICE).free_text
    assert dialects.write(CHOICE, said("something else")) == {"content": "something else", "choice": None}


def test_choices_with_ids_keep_them_as_they_are() -> None:
    payload = {"question": "Which?", "choices": [{"id": 1, "label": "One"}, {"id": 2, "label": "One"}]}
    assert question(payload).choices == (Choice("1", "One"), Choice("2", "One"))
    assert dialects.write(payload, said("2")) == {"content": "One", "choice": 2}


def test_choice_ids_stay_unique_when_labels_repeat() -> None:
    payload = {"question": "Which?", "choices": ["a", "a", "a#2"]}
    ids = [choice.id for choice in question(payload).choices]
    assert len(set(ids)) == 3
    assert dialects.write(payload, said(ids[1])) == {"content": "a", "choice": "a"}


@pytest.mark.parametrize("choices", [[], "ab", [None], [{}], [[1]], [{"id": ["x"]}]])
def test_choices_that_cannot_be_shown_leave_a_plain_question(choices: Json) -> None:
    payload = {"question": "Which?", "choices": choices}
    assert question(payload).kind is QuestionKind.TEXT
    assert dialects.write(payload, said("x")) == {"content": "x"}


@pytest.mark.parametrize(
    ("payload", "given"),
    [
        ({"question": "Which?"}, {"content": "this"}),
        ({"question": "Which?", "choices": ["a", "b"]}, {"content": "this", "choice": None}),
    ],
)
def test_files_stand_beside_the_text_where_an_object_is_given_back(
    payload: Json, given: dict[str, Json]
) -> None:
    file = Attachment("f1", "a.pdf", "application/pdf", 3, "telegram", "/v1/interactions/i/attachments/0")
    answer = replace(said("this"), attachments=(file,))
    assert dialects.write(payload, answer) == {**given, "attachments": [asdict(file)]}
    assert question(payload).files
    assert dialects.write("Which?", answer) == "this"


@pytest.mark.parametrize(
    ("payload", "schema"),
    [
        ("Which?", None),
        (["a", "b"], None),
        ({"note": "no question"}, None),
        ("Which?", {"type": "string"}),
        (
            {"question": "Who?"},
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1]}}},
        ),
        ([{"action_request": {"action": "f", "args": {}}, "config": {"allow_respond": True}}], None),
        (
            {
                "action_requests": [{"name": "f", "args": {}}],
                "review_configs": [{"action_name": "f", "allowed_decisions": ["approve", "reject"]}],
            },
            None,
        ),
        ({"type": "tool_approval", "name": "f", "args": {}}, {"type": "object"}),
    ],
)
def test_a_question_whose_answer_has_no_place_for_files_says_so(payload: Json, schema: Json) -> None:
    asked = dialects.read(payload, schema=schema).questions
    assert asked and not any(each.files for each in asked)


def test_ask_human_and_any_object_with_a_question_take_a_text() -> None:
    payload = {"type": "ask_human", "question": "Which term?", "context": "0 documents with “costing”."}
    assert question(payload) == Question("q1", "Which term?")
    assert dialects.read(payload).context == "0 documents with “costing”."
    assert dialects.write(payload, said("  as it is \n")) == {"content": "  as it is \n"}
    assert dialects.write(payload, SILENCE) == {"content": "No response", "timed_out": True}


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ("Which term?", "Which term?"),
        (None, "The agent waits for an answer."),
        ("", "The agent waits for an answer."),
        (7, "7"),
        ({"question": "  "}, "question:   "),
        ({"files": ["a", "b"], "sure": True}, 'files: ["a", "b"]\nsure: true'),
        (["a", "b"], "a\nb"),
    ],
)
def test_anything_else_is_shown_as_text_and_resumed_with_the_reply(payload: Json, shown: str) -> None:
    assert question(payload).text == shown
    assert dialects.write(payload, said(" unmodified ")) == " unmodified "
    assert not dialects.read(payload).expirable


def test_a_plain_question_has_no_value_for_silence_unless_no_response_is_asked_for() -> None:
    with pytest.raises(DoesNotFit):
        dialects.write("Which term?", SILENCE)
    assert dialects.write("Which term?", NO_RESPONSE) == "No response"


@pytest.mark.parametrize("payload", ["Which term?", ["a", "b"]])
def test_a_default_is_written_as_if_it_had_been_answered(payload: Json) -> None:
    default = Answer({"q1": "coding"}, expired=True, default_used=True)
    assert dialects.write(payload, default) == dialects.write(payload, said("coding"))


@pytest.mark.parametrize("value", [{}, None, False, 0, ""])
def test_empty_values_are_values(value: Json) -> None:
    assert dialects.write("?", Answer({"q1": value}, text="something")) == value


@pytest.mark.parametrize("payload", [CHOICE, "Which term?", {"question": "?"}])
def test_a_stored_value_is_recognised_without_its_payload(payload: Json) -> None:
    stored = dialects.write(payload, said("coding"))
    assert dialects.carries(stored, said("coding"))
    assert not dialects.carries(stored, said("costing"))
    assert not dialects.carries(stored, SILENCE)
    assert dialects.carries(dialects.write(payload, NO_RESPONSE), NO_RESPONSE)


def test_a_yes_is_not_taken_for_a_stored_no() -> None:
    stored = dialects.write(CONFIRM, said(False))
    assert dialects.carries(stored, said(False))
    assert not dialects.carries(stored, said(True))
    assert not dialects.carries({"content": 1, "confirmed": 0}, said(True))


def test_an_agents_own_dialect_comes_first() -> None:
    class Shout(dialects.Plain):
        def write(self, payload: Json, answer: Answer) -> Json:
            return f"{answer.values['q1']}!"

    def own(payload: Json) -> dialects.Dialect | None:
        return Shout() if payload == "shout" else None

    assert dialects.write("shout", said("hey"), own) == "hey!"
    assert dialects.write("say", said("hey"), own) == "hey"


@pytest.mark.parametrize(
    "payload",
    [
        {"question": "Which?", "human_only": True},
        {"type": "confirm_action", "action": "wipe", "human_only": "yes"},
        {"action_requests": [{"name": "pay", "args": {}, "human_only": True}], "review_configs": []},
        [{"action_request": {"action": "pay", "args": {}}, "config": {"human_only": 1}}],
        {"anything": [{"at": {"all": {"human_only": True}}}]},
    ],
)
def test_a_payload_can_keep_stand_ins_out(payload):
    assert dialects.read(payload).human_only


@pytest.mark.parametrize(
    "payload", ["human_only", None, {"question": "Which?", "human_only": False}, {"question": "W"}]
)
def test_and_does_not_by_itself(payload):
    assert not dialects.read(payload).human_only


DEADLINE = {"expires_in": "10m", "on_expire": "default", "default": "coding"}


@pytest.mark.parametrize(
    "payload",
    [CONFIRM, CHOICE, {"type": "ask_human", "question": "Which term?", "context": "0 documents."}],
)
def test_an_object_that_asks_can_set_a_deadline_which_is_not_shown(payload: dict[str, Json]) -> None:
    reading = dialects.read({**payload, **DEADLINE})
    assert reading.deadline == dialects.Deadline("10m", "default", "coding")
    assert replace(reading, deadline=dialects.Deadline()) == dialects.read(payload)


def test_a_form_with_a_question_can_set_one_too() -> None:
    schema = {"type": "object", "properties": {"term": {"type": "string"}}}
    assert dialects.read({"question": "Which?", "expires_in": 60}, schema=schema).deadline.expires_in == 60
    assert dialects.read({"expires_in": 60}, schema=schema).deadline == dialects.Deadline()


@pytest.mark.parametrize("payload", ["Which?", {"anything": "else", **DEADLINE}, [DEADLINE], None])
def test_what_is_shown_as_it_stands_sets_none(payload: Json) -> None:
    assert dialects.read(payload).deadline == dialects.Deadline()


@pytest.mark.parametrize(
    ("default", "id"), [("Two", "2"), (2, "2"), ("2", "2"), (True, True), (None, None), ("three", "three")]
)
def test_the_default_of_choices_is_an_id_of_the_payloads_own_or_a_label(default: Json, id: Json) -> None:
    choices = [{"id": 1, "label": "One"}, {"id": 2, "label": "Two"}]
    reading = dialects.read({"question": "Which?", "choices": choices, "default": default})
    assert reading.deadline.default is id or reading.deadline.default == id


def test_a_default_comes_back_in_the_shape_of_an_answer() -> None:
    default = Answer({"q1": "coding"}, expired=True, default_used=True)
    assert dialects.write(CHOICE, default)["choice"] == "coding"
    assert "timed_out" not in dialects.write(CHOICE, default)


ASKED = [(CONFIRM, False), (CHOICE, "coding"), ({"question": "Which?"}, "coding")]
STAND_IN = {"by": "stand-in:openai:gpt-5", "via": "advisor"}
PEOPLE = [
    {"by": "alice", "via": "telegram"},
    {"by": "terminal:console", "via": "console"},
    {"via": "api"},
    {},
]


@pytest.mark.parametrize(("payload", "value"), ASKED)
def test_an_answer_that_is_no_persons_says_whose_it_is_and_is_else_the_same(
    payload: Json, value: Json
) -> None:
    written = dialects.write(payload, said(value, "as it was"))
    stood_in = replace(said(value, "as it was"), **STAND_IN)
    assert dialects.write(payload, stood_in) == {**written, "answered_by": "stand-in:openai:gpt-5"}
    preset = replace(said(value, "as it was"), expired=True, default_used=True, via="deadline")
    assert dialects.write(payload, preset) == {**written, "answered_by": "default"}
    for answer in (stood_in, preset):  # after a crash it is known again
        assert dialects.carries(dialects.write(payload, answer), answer)


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize(("payload", "value"), ASKED)
def test_a_persons_answer_says_nothing_of_that(payload: Json, value: Json, person: dict[str, str]) -> None:
    assert "answered_by" not in dialects.write(payload, replace(said(value), **person))


@pytest.mark.parametrize("payload", [payload for payload, _ in ASKED])
def test_neither_does_silence(payload: Json) -> None:
    assert "answered_by" not in dialects.write(payload, replace(SILENCE, via="deadline"))


def test_a_plain_text_stays_what_it_is_whoever_wrote_it() -> None:
    assert dialects.write("Which?", replace(said("coding"), **STAND_IN)) == "coding"
