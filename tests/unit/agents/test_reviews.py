"""Reviews: what LangChain's middleware and Agent Inbox ask, and what each decision resumes them with."""

from typing import Any

import pytest

from answerback.errors import DoesNotFit
from answerback.model import Action, Answer, Json, Question, QuestionKind
from answerback_agents import dialects

ARGS = {"customer": "c_8812", "amount": 100.0}
ALL = ["approve", "edit", "reject", "respond"]
SILENCE, NO_RESPONSE = Answer({}, expired=True), Answer({}, expired=True, no_response=True)
APPROVE, REJECT = {"decision": "approve"}, {"decision": "reject"}
WHY = {"decision": "reject", "message": "too much"}
EDIT = {"decision": "edit", "args": {"customer": "c_8812", "amount": 50}}
REPLY = {"decision": "respond", "message": "already refunded"}


def batched(*allowed: list[str], args: Json = ARGS, description: str = "It was charged twice.") -> Json:
    request = {"name": "refund", "args": args, "description": description}
    configs = [{"action_name": "refund", "allowed_decisions": each} for each in allowed]
    return {"action_requests": [request for _ in allowed], "review_configs": configs}


def inbox(*, args: Json = ARGS, **allowed: bool) -> Json:
    config = {f"allow_{key}": allowed.get(key, False) for key in ("ignore", "respond", "edit", "accept")}
    return {"action_request": {"action": "refund", "args": args}, "config": config, "description": "Why."}


def schema(*allowed: str) -> Json:
    """As LangGraph publishes the middleware's `response_schema`."""
    forms = {
        f"{name.capitalize()}Decision": {
            "type": "object",
            "properties": {"type": {"const": name, "type": "string"}},
            "required": ["type"],
        }
        for name in allowed
    }
    return {"$defs": forms, "oneOf": [{"$ref": f"#/$defs/{name}"} for name in forms]}


CALL = {"type": "tool_approval", "tool_call_id": "1", "name": "refund", "args": ARGS, "description": ""}
INBOX = [inbox(accept=True, edit=True, ignore=True, respond=True)]


def decided(*values: Json) -> Answer:
    return Answer({f"q{place}": value for place, value in enumerate(values, start=1)})


# -- what the person is asked


@pytest.mark.parametrize(
    ("payload", "form"), [(batched(ALL), None), (CALL, schema(*ALL)), (INBOX, None), (INBOX[0], None)]
)
def test_a_call_is_reviewed_as_the_call_has_it(payload: Json, form: Json) -> None:
    (question,) = dialects.read(payload, schema=form).questions
    assert (question.kind, question.action) == (QuestionKind.REVIEW, Action("refund", ARGS))
    assert question.decisions == tuple(ALL)


def test_what_the_agent_says_about_a_call_stands_beside_it() -> None:
    assert dialects.read(batched(ALL)).questions[0].text == "It was charged twice."
    assert dialects.read(INBOX).questions[0].text == "Why."


@pytest.mark.parametrize(
    ("said", "shown"), [("Tool execution requires approval", ""), ("Money leaves us", "Money leaves us")]
)
def test_a_description_that_only_repeats_the_call_is_left_out(said: str, shown: str) -> None:
    description = f"{said}\n\nTool: refund\nArgs: {ARGS}"
    assert dialects.read(batched(ALL, description=description)).questions[0].text == shown


@pytest.mark.parametrize("allowed", [["approve", "reject"], ["reject"], ["respond"], ["edit", "reject"]])
def test_only_what_is_allowed_is_offered(allowed: list[str]) -> None:
    assert dialects.read(batched(allowed)).questions[0].decisions == tuple(allowed)
    assert dialects.read(CALL, schema=schema(*allowed)).questions[0].decisions == tuple(allowed)


def test_agent_inbox_offers_what_its_config_allows() -> None:
    assert dialects.read([inbox(accept=True, ignore=True)]).questions[0].decisions == ("approve", "reject")
    assert dialects.read([inbox(respond=True)]).questions[0].decisions == ("respond",)


@pytest.mark.parametrize("payload", [batched(ALL, args={}), [inbox(accept=True, edit=True, args="all")]])
def test_what_has_no_named_arguments_cannot_be_edited(payload: Json) -> None:
    assert "edit" not in dialects.read(payload).questions[0].decisions


def test_several_calls_are_several_questions_in_their_order() -> None:
    reading = dialects.read(batched(["approve", "reject"], ["approve"], ALL))
    assert [question.id for question in reading.questions] == ["q1", "q2", "q3"]
    assert [len(question.decisions) for question in reading.questions] == [2, 1, 4]


def test_the_config_of_an_action_is_found_by_its_name_too() -> None:
    requests: list[Json] = [{"name": name, "args": {}} for name in ("a", "b", "a")]
    configs = [
        {"action_name": "b", "allowed_decisions": ["reject"]},
        {"action_name": "a", "allowed_decisions": ["approve"]},
    ]
    reading = dialects.read({"action_requests": requests, "review_configs": configs})
    assert [question.decisions for question in reading.questions] == [("approve",), ("reject",), ("approve",)]


@pytest.mark.parametrize(
    "payload",
    [
        batched(["shred"]),
        batched([]),
        {"action_requests": [], "review_configs": []},
        {"action_requests": [{"name": "refund", "args": {}}], "review_configs": []},
        {"action_requests": ["refund"], "review_configs": [{"allowed_decisions": ALL}]},
        [inbox()],
        [inbox(accept=True), "and more"],
        [],
        {"action_request": {"action": 7}, "config": {"allow_accept": True}},
        {"type": "tool_approval", "name": "refund"},
    ],
)
def test_what_could_not_be_decided_about_is_no_review(payload: Json) -> None:
    assert dialects.read(payload).questions[0].kind is QuestionKind.TEXT


# -- what the agent is resumed with


@pytest.mark.parametrize(
    ("value", "langchain", "agent_inbox"),
    [
        (APPROVE, {"type": "approve"}, {"type": "accept", "args": None}),
        (REJECT, {"type": "reject"}, {"type": "ignore", "args": None}),
        (WHY, {"type": "reject", "message": "too much"}, {"type": "ignore", "args": "too much"}),
        (
            EDIT,
            {"type": "edit", "edited_action": {"name": "refund", "args": EDIT["args"]}},
            {"type": "edit", "args": {"action": "refund", "args": EDIT["args"]}},
        ),
        (
            REPLY,
            {"type": "respond", "message": "already refunded"},
            {"type": "response", "args": "already refunded"},
        ),
    ],
)
def test_a_decision_in_each_dialect(value: Json, langchain: Json, agent_inbox: Json) -> None:
    assert dialects.write(batched(ALL), decided(value)) == {"decisions": [langchain]}
    assert dialects.write(CALL, decided(value), schema=schema(*ALL)) == langchain
    assert dialects.write(INBOX, decided(value)) == [agent_inbox]


def test_several_decisions_keep_order_and_count() -> None:
    written = dialects.write(batched(ALL, ALL, ALL), decided(WHY, APPROVE, REPLY))
    assert [each["type"] for each in written["decisions"]] == ["reject", "approve", "respond"]
    written = dialects.write([*INBOX, *INBOX], decided(APPROVE, WHY))
    assert [each["type"] for each in written] == ["accept", "ignore"]


@pytest.mark.parametrize(
    "value",
    [
        EDIT,
        REPLY,
        {"decision": "shred"},
        {"decision": None},
        {},
        None,
        True,
        "approve",
    ],
)
def test_a_decision_that_is_not_offered_never_reaches_the_agent(value: Json) -> None:
    for payload in (batched(["approve", "reject"]), [inbox(accept=True, ignore=True)], CALL):
        with pytest.raises(DoesNotFit):
            dialects.write(payload, decided(value))


@pytest.mark.parametrize("args", [{"customer": "x", "amount": 1, "admin": True}, {}, None, ["c_8812"], "all"])
def test_edited_arguments_stay_within_those_of_the_call(args: Json) -> None:
    for payload in (batched(ALL), INBOX):
        with pytest.raises(DoesNotFit):
            dialects.write(payload, decided({"decision": "edit", "args": args}))


def test_an_edit_cannot_switch_the_tool() -> None:
    value = {"decision": "edit", "args": {"amount": 1}, "name": "delete_everything"}
    (decision,) = dialects.write(batched(ALL), decided(value))["decisions"]
    assert decision["edited_action"] == {"name": "refund", "args": {"amount": 1}}


def test_edited_arguments_must_fit_the_tools_own_schema_where_there_is_one() -> None:
    form = schema(*ALL)
    args = {"type": "object", "properties": {"amount": {"type": "number"}}}
    edited = {"type": "object", "properties": {"args": args}}
    form["$defs"]["EditDecision"]["properties"]["edited_action"] = edited
    with pytest.raises(DoesNotFit, match="amount must be a number"):
        dialects.write(CALL, decided({"decision": "edit", "args": {"amount": "much"}}), schema=form)


def test_a_reply_in_place_of_a_call_needs_words() -> None:
    with pytest.raises(DoesNotFit):
        dialects.write(batched(ALL), decided({"decision": "respond", "message": "  "}))


def test_an_answer_to_some_of_the_calls_is_none() -> None:
    with pytest.raises(DoesNotFit):
        dialects.write(batched(ALL, ALL), decided(APPROVE))


# -- silence


@pytest.mark.parametrize("silence", [SILENCE, NO_RESPONSE])
def test_silence_rejects_with_that_reason(silence: Answer) -> None:
    rejected = {"type": "reject", "message": "Nobody answered in time."}
    assert dialects.read(batched(ALL, ALL)).expirable
    assert dialects.write(batched(ALL, ALL), silence) == {"decisions": [rejected, rejected]}
    assert dialects.write(CALL, silence, schema=schema(*ALL)) == rejected
    assert dialects.write(INBOX, silence) == [{"type": "ignore", "args": "Nobody answered in time."}]


@pytest.mark.parametrize("allowed", [["approve"], ["approve", "edit"]])
def test_silence_never_approves(allowed: list[str]) -> None:
    for payload in (batched(allowed), batched(ALL, allowed), [inbox(accept=True, edit=True)]):
        assert not dialects.read(payload).expirable
        with pytest.raises(DoesNotFit):
            dialects.write(payload, SILENCE)


def test_agent_inbox_is_told_no_response_where_it_cannot_be_ignored() -> None:
    payload = [inbox(accept=True, respond=True)]
    assert dialects.read(payload).expirable
    assert dialects.write(payload, SILENCE) == [{"type": "response", "args": "No response"}]


# -- after a crash


@pytest.mark.parametrize("value", [APPROVE, REJECT, WHY, EDIT, REPLY])
@pytest.mark.parametrize(("payload", "form"), [(batched(ALL), None), (CALL, schema(*ALL)), (INBOX, None)])
def test_a_stored_decision_is_recognised_without_its_payload(payload: Json, form: Json, value: Json) -> None:
    stored = dialects.write(payload, decided(value), schema=form)
    others: list[Any] = [other for other in (APPROVE, REJECT, WHY, EDIT, REPLY) if other != value]
    assert dialects.carries(stored, decided(value))
    assert [other for other in others if dialects.carries(stored, decided(other))] == []
    assert not dialects.carries(stored, decided(value, value))
    assert not dialects.carries(stored, SILENCE)
    assert dialects.carries(dialects.write(payload, SILENCE, schema=form), SILENCE)


def test_a_review_can_be_a_default_too() -> None:
    default = Answer({"q1": REJECT}, expired=True, default_used=True)
    assert dialects.write(batched(ALL), default) == {"decisions": [{"type": "reject"}]}


def test_a_question_with_words_of_its_own_is_no_review() -> None:
    assert dialects.read({"question": "Which?"}).questions == (Question("q1", "Which?"),)
