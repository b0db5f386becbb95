"""A person who writes `mute` hears nothing for a while that can wait, wherever it would come from."""

import pytest

from answerback.ask import AskRequest
from answerback.model import Contact
from answerback.notices import NoticeRequest
from answerback.testing import asks
from tests.support.databases import Database
from tests.support.gateway import ALICE, Gateway, gateway

HOUR = 3600.0


async def ask(g: Gateway, text: str = "Which?", **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(text),), **more))
    await g.app.idle()
    return asked.interaction.id


def phone(g: Gateway, who: str = "1001") -> list[str]:
    return g.memory.titles(who)


async def test_what_can_wait_comes_when_it_is_over(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute 2h")
        assert phone(g)[0].startswith("Muted until ")
        await ask(g)
        await g.app.notices.send(NoticeRequest("Backups are done.", ask=("alice",)))
        await g.later(HOUR)
        assert len(phone(g)) == 1
        await g.later(HOUR + 1)
        assert sorted(phone(g)[1:]) == ["Backups are done.", "Which?"]


async def test_what_closes_before_that_comes_at_once(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute 2h")
        await ask(g, "Now or never?", expires_in=HOUR)
        assert phone(g)[1:] == ["Now or never?"]


async def test_unmute_brings_what_waited(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "/mute until tomorrow")
        await ask(g)
        await g.types("1001", "unmute")
        await g.sweep()
        assert phone(g)[1:] == ["No longer muted. What waited comes now.", "Which?"]
        await ask(g, "And now?")
        assert phone(g)[-1] == "And now?"
        await g.types("1001", "unmute")
        assert phone(g)[-1] == "You are not muted."


async def test_it_is_for_eight_hours_if_nothing_is_said(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute")
        await ask(g)
        await g.later(7.9 * HOUR)
        assert len(phone(g)) == 1
        await g.later(0.2 * HOUR)
        assert phone(g)[-1] == "Which?"


async def test_quiet_hours_are_kept_whichever_ends_later(database: Database) -> None:
    """It is noon at first, in UTC."""
    alice = Contact("alice", "Alice", quiet_hours="13:00-15:00", addresses=ALICE.addresses)
    async with gateway(database, contacts={"alice": alice}) as g:
        await g.types("1001", "mute 90m")  # until half past one
        await ask(g)
        await g.later(2.9 * HOUR)
        assert len(phone(g)) == 1
        await g.later(0.2 * HOUR)
        assert phone(g)[-1] == "Which?"


async def test_unmute_in_quiet_hours_leaves_what_waits_until_their_end(database: Database) -> None:
    alice = Contact("alice", "Alice", quiet_hours="11:00-13:00", addresses=ALICE.addresses)
    async with gateway(database, contacts={"alice": alice}) as g:
        await g.types("1001", "mute 5h")
        await ask(g)
        await g.types("1001", "unmute")
        await g.later(0.9 * HOUR)
        assert phone(g)[-1] != "Which?"
        await g.later(0.2 * HOUR)
        assert phone(g)[-1] == "Which?"


async def test_a_shorter_time_brings_what_waits_earlier_and_a_longer_one_not_later(
    database: Database,
) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute 5h")
        await ask(g, "First?")
        await g.types("1001", "mute 1h")
        await g.types("1001", "mute 9h")
        await g.later(1.1 * HOUR)
        assert phone(g)[-1] == "First?"
        await ask(g, "Second?")
        assert phone(g)[-1] == "First?"


async def test_others_hear_what_they_are_asked(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute 2h")
        await ask(g, ask=("alice", "ben"))
        assert phone(g, "2002") == ["Which?"]


async def test_it_outlasts_a_restart(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "mute 2h")
        clock, memory = g.clock, g.memory
    async with gateway(database, clock=clock, providers={"memory": memory}) as g:
        await ask(g)
        assert len(phone(g)) == 1


@pytest.mark.parametrize("who", ["9999"])
async def test_law_7_a_stranger_mutes_nobody(database: Database, who: str) -> None:
    async with gateway(database) as g:
        await g.types(who, "/mute 2h")
        await ask(g)
        assert phone(g) == ["Which?"]


async def test_a_time_that_cannot_be_read_is_asked_for_again(database: Database) -> None:
    async with gateway(database) as g:
        await g.types("1001", "/mute for ever")
        await ask(g)
        assert "is not a date I can read" in phone(g)[0]
        assert phone(g)[-1] == "Which?"
