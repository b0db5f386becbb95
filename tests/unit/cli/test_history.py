"""What happened to a question, as the command line tells it."""

import datetime

import pytest

from answerback.cli.history import show
from answerback.client import Event

NOW = datetime.datetime.now(datetime.UTC)
LONG_AGO = "2025-12-01T12:00:00.000000Z"


def event(event: str, actor: str = "", provider: str = "", kind: str = "", error: str = "") -> Event:
    return {
        "at": LONG_AGO,
        "event": event,
        "actor": actor,
        "provider": provider,
        "kind": kind,
        "error": error,
    }


def told(capsys: pytest.CaptureFixture[str], *events: Event) -> list[str]:
    show({"events": list(events), "next_at": None})
    return [line.split("  ", 1)[1] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (event("asked", "billing"), "billing asked."),
        (event("asked"), "It was asked."),
        (event("sent", "alice", "telegram", "question"), "The question was sent to alice on telegram."),
        (
            event("failed", "alice", "telegram", "question", "the person blocked the bot."),
            "The question could not be sent to alice on telegram: the person blocked the bot.",
        ),
        (
            event("read", "ben", "signal", "reminder"),
            "A reminder was sent to ben on signal, and was read.",
        ),
        (event("queued", "ben", "email", "outcome"), "How it ended is to be sent to ben on email."),
        (event("sent", "", "form", "question"), "It can be answered on its form."),
        (
            event("reply", "", "telegram", "asked again"),
            "A reply on telegram did not fit, so it was asked again.",
        ),
        (
            event("reply", "", "x", "not allowed"),
            "A reply on x came from somebody who may not answer.",
        ),
        (event("answered", "ben"), "ben answered."),
        (event("answered"), "Somebody answered."),
        (event("declined", "", "llm"), "llm gave no answer."),
        (event("erased", "retention"), "What was said was erased (retention)."),
        (event("what a later version writes"), "What a later version writes."),
        (event("reply", "", "p", "of a later version"), "A reply on p of a later version."),
    ],
)
def test_each_event_is_a_sentence(found: Event, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, found) == [said]


def test_the_time_has_its_date_unless_it_is_today(capsys: pytest.CaptureFixture[str]) -> None:
    now = NOW.isoformat()
    show({"events": [event("asked"), {**event("expired"), "at": now}], "next_at": now})
    said = capsys.readouterr()
    first, second = said.out.splitlines()
    assert " Dec 2025, " in first or " Nov 2025, " in first
    assert second.endswith("Nobody answered in time; it was closed.") and second[2] == ":"
    assert said.err.startswith("At ") and "the gateway goes on with it" in said.err
