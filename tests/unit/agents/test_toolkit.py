"""The toolkit: what it interrupts with, and what each way to answer becomes for a model and for a step."""

import json
import sys
from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from answerback.model import Answer, Attachment, Choice, Json, Question, QuestionKind
from answerback.sentences import say
from answerback.sentences.catalogue import SENTENCES as CATALOGUE
from answerback_agents import dialects
from answerback_agents.toolkit import (
    INSTRUCTIONS,
    Silence,
    ask,
    ask_human,
    confirm_action,
    confirmed,
    tools,
)
from answerback_agents.toolkit.answers import NOBODY, UNCONFIRMED

THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}
SILENCE = Answer({}, expired=True)
NO_RESPONSE = Answer({}, expired=True, no_response=True)
PLAN = Attachment("f1", "plan.pdf", "application/pdf", 3, "telegram", "/v1/interactions/i/attachments/0")
WHICH = {"question": "Which term?", "context": "0 documents with “costing”."}
TERMS = {**WHICH, "choices": ["coding", "costing"]}
DELETE = {"action": "delete_files", "details": "a.txt and b.txt, for good."}
ASKED = {"type": "ask_human", **WHICH}
OFFERED = {"type": "ask_human", **TERMS}
TO_CONFIRM = {"type": "confirm_action", **DELETE}
NO_TIME: list[Any] = ["soon", 0, -1, True, ["10m"], float("inf"), float("nan"), "10"]


class State(TypedDict, total=False):
    heard: Any


class Paused:
    """A real graph of one step, which waits for an answer; `payload` is what it was interrupted with."""

    def __init__(self, step: Callable[[], Any]) -> None:
        builder = StateGraph(State).add_node("step", lambda state: {"heard": step()}).add_edge(START, "step")
        self.graph = builder.compile(checkpointer=InMemorySaver())
        [interrupt] = self.graph.invoke({}, THREAD)["__interrupt__"]
        self.payload: Json = interrupt.value

    def resumed(self, value: Json) -> Any:
        return self.graph.invoke(Command(resume=value), THREAD)["heard"]

    def answered(self, answer: Answer) -> Any:
        """As answerback does it: the dialect that reads the payload writes what the graph gets."""
        return self.resumed(dialects.write(self.payload, answer))


def call(tool: BaseTool, arguments: Json) -> Callable[[], ToolMessage]:
    """A model's call of a tool; what comes of it is a message for the model."""
    return lambda: tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})


def asking(arguments: Json = WHICH) -> Paused:
    return Paused(call(ask_human, arguments))


def confirming() -> Paused:
    return Paused(call(confirm_action, DELETE))


def said(value: Any, text: str = "", *files: Attachment) -> Answer:
    return Answer({"q1": value}, text=text, attachments=files)


# What is asked


@pytest.mark.parametrize(
    ("step", "payload"),
    [
        (call(ask_human, WHICH), ASKED),
        (call(ask_human, {"question": "Why?"}), {"type": "ask_human", "question": "Why?", "context": ""}),
        (call(ask_human, TERMS), OFFERED),
        (call(confirm_action, DELETE), TO_CONFIRM),
        (lambda: ask(**WHICH), ASKED),
        (lambda: ask(**TERMS), OFFERED),
        (lambda: confirmed(**DELETE), TO_CONFIRM),
        (call(ask_human, {**WHICH, "expires_in": "10m"}), {**ASKED, "expires_in": "10m"}),
        (call(ask_human, {**WHICH, "expires_in": 600}), {**ASKED, "expires_in": "600s"}),
        (call(ask_human, {**WHICH, "expires_in": ""}), ASKED),
        (call(confirm_action, {**DELETE, "expires_in": "1h"}), {**TO_CONFIRM, "expires_in": "1h"}),
        (lambda: ask(**WHICH, expires_in=0.5), {**ASKED, "expires_in": "0.5s"}),
        (lambda: confirmed(**DELETE, expires_in="1h30m"), {**TO_CONFIRM, "expires_in": "1h30m"}),
        (
            lambda: ask(**TERMS, expires_in="10m", default="coding"),
            {**OFFERED, "expires_in": "10m", "on_expire": "default", "default": "coding"},
        ),
    ],
)
def test_a_tool_and_a_function_interrupt_with_the_same_json(step: Callable[[], Any], payload: Json) -> None:
    paused = Paused(step)
    assert paused.payload == payload
    assert json.loads(json.dumps(paused.payload)) == payload


def test_a_model_reads_that_no_person_confirmed_it() -> None:
    granted = Answer({"q1": True}, by="stand-in:gpt-5", via="advisor")
    message = confirming().answered(granted)
    assert message.content == "Confirmed.\nNo person answered: this is from stand-in:gpt-5."
    assert message.artifact["answered_by"] == "stand-in:gpt-5"


def test_a_default_is_returned_when_nobody_answers() -> None:
    paused = Paused(lambda: ask(**TERMS, expires_in="10m", default="costing"))
    assert paused.answered(Answer({"q1": "costing"}, expired=True, default_used=True)) == "costing"
    assert dialects.read(paused.payload).deadline == dialects.Deadline("10m", "default", "costing")


def test_a_question_is_read_as_one_for_a_text_with_its_reason() -> None:
    reading = dialects.read(asking().payload)
    assert reading.questions == (Question("q1", "Which term?"),)
    assert (reading.context, reading.expirable) == ("0 documents with “costing”.", True)


def test_choices_are_read_as_buttons_beside_which_words_of_ones_own_are_possible() -> None:
    [question] = dialects.read(asking(TERMS).payload).questions
    assert question.choices == (Choice("coding", "coding"), Choice("costing", "costing"))
    assert (question.kind, question.free_text) == (QuestionKind.CHOICE, True)


def test_an_action_is_read_as_a_yes_or_no_with_its_details() -> None:
    reading = dialects.read(confirming().payload)
    [question] = reading.questions
    assert (question.kind, question.text) == (QuestionKind.CONFIRM, "Shall I go ahead with “delete files”?")
    assert (reading.context, reading.expirable) == ("a.txt and b.txt, for good.", True)


# What a question's answer becomes


@pytest.mark.parametrize(
    ("arguments", "answer", "words"),
    [
        (WHICH, said("  as it is,\n „so“ "), "  as it is,\n „so“ "),
        (TERMS, said("coding", "1"), "coding"),
        (TERMS, said("neither, look for tokens"), "neither, look for tokens"),
        (WHICH, said("No response"), "No response"),
        (WHICH, said(NOBODY), NOBODY),
        (WHICH, Answer({"q1": "coding"}, expired=True, default_used=True), "coding"),
    ],
)
def test_what_was_written_or_chosen_comes_back_unmodified(
    arguments: Json, answer: Answer, words: str
) -> None:
    assert Paused(lambda: ask(**arguments)).answered(answer) == words
    message = asking(arguments).answered(answer)
    assert message.content == words
    assert "timed_out" not in message.artifact


@pytest.mark.parametrize("silence", [SILENCE, NO_RESPONSE])
@pytest.mark.parametrize("arguments", [WHICH, TERMS])
def test_silence_is_a_sentence_for_a_model_and_said_in_the_artifact_for_code(
    arguments: Json, silence: Answer
) -> None:
    message = asking(arguments).answered(silence)
    assert message.content == NOBODY
    assert message.content.startswith("Nobody answered in time")
    assert message.artifact["timed_out"] is True


@pytest.mark.parametrize("arguments", [WHICH, TERMS])
def test_silence_is_raised_where_there_is_no_model_to_read_a_sentence(arguments: Json) -> None:
    paused = Paused(lambda: ask(**arguments))
    with pytest.raises(Silence, match="Nobody answered in time"):
        paused.answered(SILENCE)


def test_a_step_can_go_on_without_an_answer() -> None:
    def step() -> str:
        try:
            return ask("Which term?")
        except Silence:
            return "nothing was said"

    assert Paused(step).answered(SILENCE) == "nothing was said"


def test_a_choice_and_files_are_in_the_artifact() -> None:
    artifact = asking(TERMS).answered(said("coding", "1", PLAN)).artifact
    assert (artifact["choice"], artifact["attachments"][0]["name"]) == ("coding", "plan.pdf")


def test_an_answer_of_only_a_file_is_named_to_a_model_and_is_no_silence() -> None:
    assert asking().answered(said("", "", PLAN)).content == "They sent plan.pdf."
    assert Paused(lambda: ask("Which term?")).answered(said("", "", PLAN)) == ""


# What a confirmation's answer becomes


@pytest.mark.parametrize(
    ("answer", "told", "agreed"),
    [
        (said(True, "Yes"), "Confirmed.", True),
        (said(True), "Confirmed.", True),
        (said(True, "ja, gerne "), "Confirmed.\nIn their own words: ja, gerne ", True),
        (said(True, "", PLAN), "Confirmed.\nThey sent plan.pdf.", True),
        (said(False, "No"), "Not confirmed: they said no. Do not do it.", False),
        (
            said(False, "please don't"),
            "Not confirmed: they said no. Do not do it.\nIn their own words: please don't",
            False,
        ),
        (SILENCE, UNCONFIRMED, None),
        (NO_RESPONSE, UNCONFIRMED, None),
    ],
)
def test_a_confirmation_is_told_with_the_words_that_are_more_than_yes_or_no(
    answer: Answer, told: str, agreed: bool | None
) -> None:
    message = confirming().answered(answer)
    assert message.content == told
    assert message.artifact["confirmed"] is bool(agreed)
    assert message.artifact.get("timed_out", False) is (agreed is None)
    assert Paused(lambda: confirmed(**DELETE)).answered(answer) is agreed


@pytest.mark.parametrize("language", sorted(CATALOGUE))
@pytest.mark.parametrize("key", ["yes", "no"])
def test_what_a_button_says_is_nobodys_own_words_in_any_language(language: str, key: str) -> None:
    message = confirming().answered(said(key == "yes", say(key, language)))
    assert message.content == ("Confirmed." if key == "yes" else "Not confirmed: they said no. Do not do it.")


@pytest.mark.parametrize(
    "value", ["yes", True, 1, {"confirmed": "yes"}, {"confirmed": 1}, {"confirmed": True, "timed_out": True}]
)
def test_nothing_but_true_confirms_however_the_graph_is_resumed(value: Json) -> None:
    assert not Paused(lambda: confirmed(**DELETE)).resumed(value)
    assert not confirming().resumed(value).content.startswith("Confirmed")


@pytest.mark.parametrize(
    ("value", "words"),
    [("coding", "coding"), ({"content": 7}, "7"), ({"args": "coding"}, '{"args": "coding"}')],
)
def test_a_graph_that_is_resumed_by_hand_loses_nothing(value: Json, words: str) -> None:
    assert Paused(lambda: ask("Which term?")).resumed(value) == words
    assert asking().resumed(value).content == words


# Arguments


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (lambda: ask(" \n"), "The question is empty: ask one thing"),
        (lambda: ask(None), "The question must be a text"),
        (lambda: ask("Which?", 7), "The context must be a text"),
        (lambda: ask("Which?", choices="ab"), "The choices must be a list"),
        (lambda: ask("Which?", choices=["a", " "]), "The choice is empty"),
        (lambda: ask("Which?", choices=["a", "a "]), "A choice is there twice"),
        (lambda: confirmed(""), "The action is empty: say what will be done"),
        (lambda: confirmed("wipe", {}), "The details must be a text"),
        (lambda: ask("Which?", default=" "), "The default is empty"),
        *((lambda wrong=wrong: ask("Which?", expires_in=wrong), "expires_in must be") for wrong in NO_TIME),
        *(
            (lambda wrong=wrong: confirmed("Wipe", expires_in=wrong), "expires_in must be")
            for wrong in NO_TIME
        ),
        (call(ask_human, {"question": "Which?", "expires_in": "soon"}), "expires_in must be"),
        (call(ask_human, {"question": " "}), "The question is empty: ask one thing"),
        (call(confirm_action, {"action": ""}), "The action is empty: say what will be done"),
    ],
)
def test_arguments_that_ask_nothing_are_refused_with_what_to_give_instead(
    step: Callable[[], Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        step()


def in_one_step(*calls: Json) -> Any:
    """A graph of one's own, in which one step runs all calls of a turn."""
    turn = AIMessage("", tool_calls=list(calls))
    builder = StateGraph(MessagesState).add_node("tools", ToolNode(tools())).add_edge(START, "tools")
    return builder.compile(checkpointer=InMemorySaver()), {"messages": [turn]}


@pytest.mark.parametrize(
    "bad",
    [
        {"question": ""},
        {"question": "Which?", "choices": ["a", "a"]},
        {"question": "Which?", "expires_in": "soon"},
        {"context": "because"},
    ],
)
def test_a_model_that_asks_nothing_is_told_so_and_nobody_is_asked(bad: Json) -> None:
    graph, turn = in_one_step({"name": "ask_human", "args": bad, "id": "1"})
    result = graph.invoke(turn, THREAD)
    assert "__interrupt__" not in result
    assert result["messages"][-1].status == "error"


async def test_binding_calls_of_one_step_get_their_own_answers_however_threads_are_scheduled() -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # where calls run in threads, this mixes their order up within a few tries
    try:
        for _ in range(10):
            graph, given = in_one_step(
                *({"name": "ask_human", "args": {"question": name}, "id": name} for name in "abc")
            )
            while waiting := (result := await graph.ainvoke(given, THREAD)).get("__interrupt__"):
                given = Command(resume={waiting[0].id: {"content": waiting[0].value["question"]}})
            heard = {each.tool_call_id: each.content for each in result["messages"][1:]}
            assert heard == {"a": "a", "b": "b", "c": "c"}
    finally:
        sys.setswitchinterval(usual)


# The list for an agent


def test_an_agent_gets_both_tools_or_none_when_it_runs_without_people() -> None:
    assert tools() == [ask_human, confirm_action]
    assert tools(enabled=False) == []


def test_a_model_is_told_what_each_tool_and_each_argument_is_for() -> None:
    for tool in tools():
        assert f"`{tool.name}`" in INSTRUCTIONS
        assert "nobody answered in time" in tool.description
        assert all(argument["description"] for argument in tool.args.values())
    assert {tool.name: list(tool.args) for tool in tools()} == {
        "ask_human": ["question", "context", "choices", "expires_in"],
        "confirm_action": ["action", "details", "expires_in"],
    }


def test_the_instructions_name_the_word_that_a_confirmation_begins_with() -> None:
    assert '"Confirmed."' in INSTRUCTIONS
