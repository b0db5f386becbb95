"""Frames and values: what comes out is what went in, and what is not a frame is noticed."""

import asyncio
import json
import socket
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerback import errors
from answerback.agent import AgentContext, Change, Failed, Finished, Look, Paused, Pending, State, Target
from answerback.errors import AnswerbackError
from answerback.model import Action, Answer, Attachment, Choice, Question, QuestionKind, Written
from answerback.settings import Plugin
from answerback.workers import codec, frames

text = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates too
numbers = st.integers() | st.floats(allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(text, json_values, max_size=3)
questions = st.builds(
    Question,
    id=text,
    text=text,
    kind=st.sampled_from(QuestionKind),
    choices=st.lists(st.builds(Choice, text, text), max_size=2).map(tuple),
    free_text=st.booleans(),
    required=st.booleans(),
    minimum=st.none() | numbers,
    maximum=st.none() | numbers,
    whole=st.booleans(),
    action=st.none() | st.builds(Action, text, objects),
    decisions=st.lists(text, max_size=2).map(tuple),
    demands=st.none() | objects,
    written=st.sampled_from(Written),
)
pending = st.builds(
    Pending,
    text,
    text,
    st.lists(questions, max_size=2).map(tuple),
    text,
    text,
    st.booleans(),
    text,
    st.booleans(),
    json_values,
    json_values,
    json_values,
    st.lists(text, max_size=2).map(tuple),
    text,
)
states = (
    st.builds(Paused, st.lists(pending, max_size=2).map(tuple))
    | st.builds(Finished, json_values)
    | st.builds(Failed, text, st.booleans())
)
flags = st.booleans()
files = st.builds(Attachment, text, text, text, st.none() | st.integers(), text, text)
some_files = st.lists(files, max_size=2).map(tuple)
answers = st.builds(Answer, objects, text, text, text, st.integers(), flags, flags, flags, some_files)


def sent(body: Any) -> Any:
    """As it is after it went through a socket."""
    raw = frames.frame(1, {"value": body})
    return json.loads(raw[frames.HEADER.size :])["value"]


@given(states)
def test_each_state_arrives_as_it_was(state: State) -> None:
    assert codec.state_in(sent(codec.state_out(state))) == state


waiting = st.lists(st.tuples(text, text), max_size=3).map(tuple)
changes = st.lists(st.builds(Change, text, waiting, st.booleans()), max_size=3).map(tuple)


@given(st.builds(Look, changes, text, st.none() | st.floats(0, 60)))
def test_each_look_arrives_as_it_was(look: Look) -> None:
    assert codec.look_in(sent(codec.look_out(look))) == look


@given(answers, st.builds(Target, text, text, text), json_values)
def test_each_argument_arrives_as_it_was(answer: Answer, target: Target, input: Any) -> None:
    arguments = {"answer": answer, "target": target, "input": input, "again": True}
    assert codec.arguments_in(sent(codec.arguments_out(arguments))) == arguments


@given(text, objects)
def test_what_to_run_arrives_as_it_was(name: str, options: dict[str, Any]) -> None:
    plugin = Plugin(name, "a.b:C", options, "f", 3, {"python": 4}, "/base", frozenset({"hidden"}))
    assert codec.plugin_in(sent(codec.plugin_out(plugin))) == plugin
    context = AgentContext("/data", "postgresql://u:p@h/n", "/base", {"more": options})
    assert codec.context_in(sent(codec.context_out(context))) == context


@pytest.mark.parametrize("kind", [Answer, Target, Question, Pending, AgentContext])
def test_no_field_is_forgotten(kind: type) -> None:
    known = {*codec._ANSWER, *codec._TARGET, *codec._QUESTION, *codec._PENDING, *codec._CONTEXT}
    known |= {"kind", "choices", "action", "decisions", "written", "questions", "unusable", "attachments"}
    assert {field.name for field in fields(kind)} <= known


def every_error(kind: type[AnswerbackError] = AnswerbackError) -> list[type[AnswerbackError]]:
    ours = [kind] if kind.__module__ == errors.__name__ else []
    return ours + [each for inner in kind.__subclasses__() for each in every_error(inner)]


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_each_error_arrives_with_its_class_its_text_and_all_it_carries(kind: type[Any]) -> None:
    error = kind(3.5) if kind is errors.TryLater else kind("what happened")
    arrived = codec.error_in(sent(codec.error_out(error)))
    assert type(arrived) is kind
    assert (str(arrived), arrived.args, vars(arrived)) == (str(error), error.args, vars(error))


def test_an_error_of_the_configuration_keeps_its_place() -> None:
    arrived = codec.error_in(sent(codec.error_out(errors.ConfigurationError("no", file="a", line=3))))
    assert isinstance(arrived, errors.ConfigurationError)
    assert (str(arrived), arrived.file, arrived.line) == ("a:3: no", "a", 3)


def test_an_adapters_own_error_is_told_as_the_one_that_it_is_a_kind_of() -> None:
    class Elsewhere(errors.AgentUnavailable):
        """An adapter's own."""

    assert type(codec.error_in(codec.error_out(Elsewhere("x")))) is errors.AgentUnavailable
    assert "hunter22" not in str(codec.error_in(codec.error_out(KeyError("hunter22"))))


def test_an_error_that_only_another_release_has_is_a_fault_of_the_agent() -> None:
    arrived = codec.error_in({"kind": "OfTomorrow", "args": ["what happened"], "more": {}})
    assert (type(arrived), str(arrived)) == (errors.AgentError, "what happened")


def fed(*pieces: bytes) -> list[tuple[int, Any]]:
    """The frames in what came piece by piece."""
    decoder = frames.Decoder()
    return [found for piece in pieces for found in decoder.feed(piece)]


TWO = frames.frame(1, {"a": "é"}) + frames.frame(2**63, {})


@given(st.integers(0, len(TWO)), st.integers(0, len(TWO)))
def test_frames_are_cut_out_however_they_come(one: int, other: int) -> None:
    first, second = sorted((one, other))
    assert fed(TWO[:first], TWO[first:second], TWO[second:]) == [(1, {"a": "é"}), (2**63, {})]


@pytest.mark.parametrize("raw", [b"", b"\0" * 5, frames.frame(1, {"a": 1})[:-1]])
def test_half_a_frame_is_none_yet(raw: bytes) -> None:
    assert fed(raw) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff" * 12,
        frames.HEADER.pack(frames.LARGEST + 1, 1),
        frames.HEADER.pack(2, 1) + b"[]",
    ],
)
def test_what_is_not_a_frame_is_noticed(raw: bytes) -> None:
    with pytest.raises(frames.Garbage):
        fed(raw)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 400_000])
def test_a_body_that_cannot_be_read_concerns_its_own_call_only(body: bytes) -> None:
    (number, found), behind = fed(frames.HEADER.pack(len(body), 7) + body + frames.frame(8, {}))
    assert (number, type(found), behind) == (7, frames.Unreadable, (8, {}))


async def test_nothing_behind_garbage_is_taken_for_a_frame() -> None:
    ours, theirs = socket.socketpair()
    came: list[int] = []
    over: asyncio.Queue[frames.Garbage | None] = asyncio.Queue()
    line = await frames.connect(ours, lambda number, _: came.append(number), over.put_nowait)
    with theirs:
        theirs.sendall(frames.frame(1, {}) + frames.HEADER.pack(2, 2) + b"[]" + frames.frame(3, {}))
        assert isinstance(await over.get(), frames.Garbage)
        assert await over.get() is None
        await line.closed
    assert came == [1]


def test_what_cannot_go_through_is_refused_before_it_goes() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in ("x" * frames.LARGEST, deep):
        with pytest.raises(frames.TooLarge):
            frames.frame(1, {"value": value})


@pytest.mark.parametrize(
    "value",
    [
        [[]] * 50_001,
        [0.5] * 50_001,
        {str(number): None for number in range(50_000)},
        [{"id": number} for number in range(60_000)],
        [1] * 400_001,
    ],
    ids=["lists", "fractions", "keys", "objects", "whole numbers"],
)
def test_what_would_take_long_to_read_is_refused_before_it_goes(value: Any) -> None:
    with pytest.raises(frames.TooLarge, match="over 50,000 values"):
        frames.frame(1, {"value": value})


@pytest.mark.parametrize(
    "value",
    [
        ["a text"] * 390_000,
        "[]," * 2_000_000,
        [{"id": number, "name": "x", "ok": True} for number in range(27_000)],
        [0.5] * 49_000,
    ],
    ids=["texts", "one text", "rows", "fractions"],
)
def test_what_is_read_in_no_time_goes_through(value: Any) -> None:
    assert sent(value) == value


def test_a_look_finds_fifty_thousand_threads_that_wait() -> None:
    found = tuple(Change(f"{number:036}", ((f"{number:032}", "d" * 64),)) for number in range(50_000))
    assert codec.look_in(sent(codec.look_out(Look(found)))) == Look(found)
