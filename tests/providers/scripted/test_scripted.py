"""A script: which answer is next, when it comes, and what happens when none is left."""

import pytest
from pydantic import ValidationError

from answerback.model import Json, Question
from answerback.provider import Undeliverable
from answerback_providers.scripted import Scripted
from tests.support.stand_ins import made, message

COLOUR = Question("q", "Which colour?")
DEPLOY = Question("q", "Deploy now?")


async def test_answers_come_in_order() -> None:
    script = made(Scripted, answers=["blue", "red"])
    given = [(await script.send(message(COLOUR, delivery=id))).replies[0].value for id in ("d1", "d2")]
    assert given == ["blue", "red"]


async def test_an_answer_for_a_question_waits_for_that_one() -> None:
    script = made(Scripted, answers=[{"question": "deploy", "answer": "no"}, "blue"])
    assert (await script.send(message(COLOUR, delivery="d1"))).replies[0].value == "blue"
    assert (await script.send(message(DEPLOY, delivery="d2"))).replies[0].value == "no"


async def test_the_same_delivery_gets_the_same_answer_under_the_same_id() -> None:
    """As after a crash between the answer and its commit."""
    script = made(Scripted, answers=["blue", "red"])
    first, second = [(await script.send(message(COLOUR))).replies[0] for _ in range(2)]
    assert (first.value, first.event_id) == (second.value, second.event_id) == ("blue", "d1")


async def test_what_runs_out_says_for_which_question() -> None:
    script = made(Scripted, answers=[{"question": "deploy", "answer": "no"}])
    with pytest.raises(
        Undeliverable, match="no answer left for “Which colour\\?”, only 1 for other questions"
    ):
        await script.send(message(COLOUR))


async def test_what_is_sensitive_is_named_by_its_code() -> None:
    script = made(Scripted, answers=[{"question": "deploy", "answer": "no"}])
    with pytest.raises(Undeliverable, match="no answer left for #K7Q2"):
        await script.send(message(COLOUR, sensitive=True))


@pytest.mark.parametrize(("delay", "seconds"), [("2s", 2.0), ("500ms", 0.5), ("1.5", 1.5), ("1m", 60.0)])
async def test_an_answer_can_take_its_time(delay: str, seconds: float) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    script = made(Scripted, {"sleep": sleep}, answers=[{"answer": "blue", "delay": delay}])
    await script.send(message(COLOUR))
    assert slept == [seconds] and script.patience > 300


async def test_what_concerns_people_uses_up_nothing() -> None:
    script = made(Scripted, answers=["blue"])
    assert not (await script.send(message())).replies
    assert await script.probe() == "1 of 1 answers left"


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [{"question": "x"}],
        [{"answer": "x", "delay": "soon"}],
        [{"answer": "x", "delay": "1h"}],
        [{"answer": "x", "delay": "10m"}],
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(answers: list[Json]) -> None:
    with pytest.raises(ValidationError):
        made(Scripted, answers=answers)
