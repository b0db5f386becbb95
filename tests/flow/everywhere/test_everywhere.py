"""One question on Telegram, WhatsApp, mail and form at once: answered on any, told on all, and once each."""

import asyncio
from functools import partial

import pytest

from answerback.model import InteractionStatus
from answerback.settings import Route
from answerback.store import interactions
from answerback_sandbox import FaultKind
from tests.flow.everywhere.conftest import ROUTE, everywhere
from tests.flow.everywhere.places import ANA, PATIENCE, Places, until
from tests.providers.email.dovecot import Box
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("telegram", "whatsapp", "email"), pytest.mark.either_database]
CHOSE = "✅ You chose “coding”"


@pytest.mark.parametrize("place", ["telegram", "whatsapp", "email", "form"])
async def test_an_answer_anywhere_is_told_everywhere_once(places: Places, place: str) -> None:
    await places.ask()
    await places.answer(place)
    await places.answered()
    record = await places.record()
    assert (record.status, record.answered_via, record.answer.values) == (
        InteractionStatus.COMPLETED,
        place,
        {"q1": "a"},
    )
    # Telegram: the question itself became the outcome.
    assert [text for text in places.texts() if "Which term?" in text or CHOSE in text] == [
        text for text in places.texts() if CHOSE in text
    ]
    assert places.says("telegram", CHOSE) == 1
    # WhatsApp: one short message below it.
    assert len(places.notes(CHOSE)) == 1
    # Mail: one, in the thread of the question.
    (question,) = places.mails("--- write above this line ---")[:1]
    (outcome,) = [mail for mail in places.mails() if CHOSE in mail.get_body(("plain",)).get_content()]
    assert outcome["in-reply-to"] == question["message-id"]
    assert question["message-id"] in outcome["references"]
    # The form shows it, and takes nothing more.
    page = await places.page()
    assert "coding" in page and "<form" not in page
    # Nobody was told twice, whatever was said in between.
    assert len(places.box.received(1001)) == 1
    assert len(places.mails()) == 2
    await places.app.deliverer.pump()
    await places.settled()
    assert (places.says("telegram", CHOSE), len(places.notes(CHOSE)), len(places.mails())) == (1, 1, 2)


async def test_of_two_answers_at_the_same_moment_one_wins_and_the_other_hears_who_and_where(
    places: Places,
) -> None:
    await places.ask()
    await asyncio.gather(places.answer("telegram", "coding"), places.answer("whatsapp", "costing"))
    await places.answered()
    record = await places.record()
    won, lost = ("telegram", "whatsapp") if record.answered_via == "telegram" else ("whatsapp", "telegram")
    value = "coding" if won == "telegram" else "costing"
    name = {"telegram": "Telegram", "whatsapp": "WhatsApp"}[won]
    await until(lambda: places.says(lost, "Nothing changed."))
    await places.settled()
    said = places.texts() if lost == "telegram" else [note.body for note in places.notes("")]
    (told,) = [text for text in said if "Nothing changed." in text]
    assert told.startswith("You answered this at ")
    assert f" on {name}: “{value}”. Nothing changed." in told
    assert places.says(won, "Nothing changed.") == 0
    for place in ("telegram", "whatsapp", "email"):
        assert places.says(place, f"✅ You chose “{value}”") == 1


async def test_a_copy_that_still_waits_when_the_answer_comes_is_never_sent(
    database: Database, mailbox: Box
) -> None:
    async with everywhere(database, mailbox) as places:
        await places.open_whatsapp()
        places.box.fail(FaultKind.DOWN, calls=None, method="sendMessage")
        await places.ask(wait_for=("whatsapp", "email"))
        await places.answer("whatsapp")
        await places.answered()
        places.box.heal()
        for _ in range(3):
            await places.app.deliverer.pump()
            await places.settled()
        assert places.texts() == []
        assert (await places.rows("question"))["telegram"]["error"] == "no longer needed"
        assert "telegram" not in await places.rows("outcome")


async def test_an_outcome_whose_service_is_down_comes_later_and_once(places: Places) -> None:
    await places.ask()
    places.box.fail(FaultKind.DOWN, calls=2, method="editMessageText")
    await places.answer("form")
    await places.box.wait_for(lambda: places.says("telegram", CHOSE) == 1, PATIENCE)
    await places.answered()
    assert len(places.box.received(1001)) == 1


async def test_outside_the_24_hours_whatsapp_is_asked_by_template_and_not_told_the_outcome(
    database: Database,
    mailbox: Box,
) -> None:
    async with everywhere(database, mailbox) as places:
        await places.ask()  # she never wrote there
        (asked,) = places.notes("Which term?")
        assert asked.content_sid == places.box.twilio.content_sid
        await places.answer("telegram")
        await places.answered()
        assert [note.sid for note in places.notes("")] == [asked.sid]
        places.box.twilio.type(ANA, "costing", asked.sid)  # too late
        await until(lambda: places.notes("Nothing changed."))
        assert "on Telegram: “coding”. Nothing changed." in places.notes("Nothing changed.")[0].body


async def test_reminders_stop_everywhere_with_the_answer(database: Database, mailbox: Box) -> None:
    route = Route("default", ROUTE.ask, ROUTE.providers, at_once=True, reminders=(3600.0, 7200.0))
    async with everywhere(database, mailbox, route) as places:
        await places.open_whatsapp()
        await places.ask()
        await an_hour_passes(places)
        for place in ("telegram", "whatsapp", "email"):
            await until(partial(places.says, place, "Still waiting"))
        await places.settled()
        await places.answer("form")
        await places.answered()
        row = await places.app.context.store.read(lambda tx: tx.one(interactions.GET, id=places.interaction))
        assert row["next_action_at"] is None  # nothing will ever look at it again
        assert not await places.waits("reminder")
        # A reminder is a copy too: it becomes the outcome, or is followed by it once in its place.
        assert [places.says(place, "Still waiting") for place in ("telegram", "whatsapp", "email")] == [
            0,
            1,
            1,
        ]
        assert [places.says(place, CHOSE) for place in ("telegram", "whatsapp", "email")] == [2, 1, 1]


async def an_hour_passes(places: Places) -> None:
    """The first reminder falls due now."""
    write = places.app.context.store.write
    await write(lambda tx: tx.run(interactions.NEXT_AT, key=places.interaction, at=tx.now))
    await places.app.elapser.pump()
