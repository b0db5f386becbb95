"""Somebody mutes, or unmutes, on one gateway as something is made for them on another."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from answerback.notices import NoticeRequest
from answerback.settings import Route
from tests.support.two import Opened, Two, at_once, opening

pytestmark = pytest.mark.needs_extra("postgres")
Made = Callable[[Two], Coroutine[Any, Any, object]]
TOLD = {"ask": "Which?", "tell": "Backups are done."}
REMINDING = {"default": Route("default", ask=("alice",), providers=("memory",), reminders=(600.0,))}


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def ask(both: Two) -> object:
    return await both.ask()


async def tell(both: Two) -> object:
    return await both.one.app.notices.send(NoticeRequest("Backups are done.", ask=("alice",)))


@pytest.mark.parametrize("made", [ask, tell])
@pytest.mark.parametrize("is_first", [False, True])
async def test_what_is_made_as_somebody_unmutes_comes_now(two: Opened, made: Made, is_first: bool) -> None:
    async with two() as both:
        await both.one.types("1001", "mute 8h")
        work = [made(both), both.two.types("1001", "unmute")]
        await at_once(both, "contact", "alice", *(work if is_first else reversed(work)))
        await both.one.sweep()
        said = both.one.memory.titles("1001")
        assert sorted(said[1:]) == sorted(["No longer muted. What waited comes now.", TOLD[made.__name__]])


@pytest.mark.parametrize("made", [ask, tell])
async def test_what_is_made_as_somebody_mutes_waits(two: Opened, made: Made) -> None:
    async with two() as both:
        await at_once(both, "contact", "alice", both.two.types("1001", "mute 2h"), made(both))
        assert [said[:5] for said in both.one.memory.titles("1001")] == ["Muted"]
        await both.one.later(7201)
        assert both.one.memory.titles("1001")[1:] == [TOLD[made.__name__]]


@pytest.mark.parametrize("is_first", [False, True])
async def test_they_are_reminded_now_as_they_unmute(two: Opened, is_first: bool) -> None:
    async with two(routes=REMINDING) as both:
        await ask(both)
        await both.one.types("1001", "mute 8h")
        both.one.clock.advance(601)
        work = [both.one.app.elapser.pump(), both.two.types("1001", "unmute")]
        await at_once(both, "contact", "alice", *(work if is_first else reversed(work)))
        await both.one.sweep()
        assert both.one.memory.titles("1001").count("Which?") == 2


async def test_what_was_made_a_moment_before_they_mute_comes(two: Opened) -> None:
    async with two() as both:
        await at_once(both, "contact", "alice", ask(both), both.two.types("1001", "mute 2h"))
        assert "Which?" in both.one.memory.titles("1001")


async def test_of_mute_and_unmute_at_once_the_second_knows_of_the_first(two: Opened) -> None:
    async with two() as both:
        await both.one.types("1001", "help")  # so that neither has to note that they are there
        work = both.one.types("1001", "mute 2h"), both.two.types("1001", "unmute")
        await at_once(both, "contact", "alice", *work)
        await ask(both)
        assert both.one.memory.titles("1001")[-1] == "Which?"
        assert "You are not muted." not in both.one.memory.titles("1001")
