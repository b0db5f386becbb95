"""After an outage: what no webhook brought is listed, once."""

from collections.abc import AsyncIterator

import pytest

from answerback.provider import Reply, TryLater
from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import FaultKind, Sandbox
from tests.providers.whatsapp.support import ANA, ON_TIME, Ahead, connected

pytestmark = pytest.mark.needs_extra("whatsapp")


@pytest.fixture
def clock() -> Ahead:
    return Ahead()


@pytest.fixture
async def whatsapp(box: Sandbox, clock: Ahead) -> AsyncIterator[WhatsApp]:
    async with connected(box, clock=clock) as provider:
        yield provider


async def replies(whatsapp: WhatsApp, cursor: str) -> tuple[list[Reply], str]:
    batch = await whatsapp.poll(cursor, 0)
    found = [reply for event in batch.events for reply in whatsapp.parse(event)]
    assert all(isinstance(reply, Reply) for reply in found)
    return [reply for reply in found if isinstance(reply, Reply)], batch.cursor


async def test_what_was_written_while_we_were_away_is_found_oldest_first(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    _, cursor = await replies(whatsapp, "")
    first, second = box.twilio.type(ANA, "one"), box.twilio.type(ANA, "two")
    found, _ = await replies(whatsapp, cursor)
    assert [(reply.event_id, reply.text) for reply in found] == [(first.sid, "one"), (second.sid, "two")]
    assert found[0].sent_at == first.at // 1_000_000 * 1_000_000


async def test_what_was_kept_is_not_offered_again_and_the_cursor_stays(
    box: Sandbox, whatsapp: WhatsApp
) -> None:
    box.twilio.type(ANA, "one")
    found, cursor = await replies(whatsapp, "")
    assert len(found) == 1
    assert await replies(whatsapp, cursor) == ([], cursor)
    box.twilio.type(ANA, "two")  # in the same second, most of the time
    found, _ = await replies(whatsapp, cursor)
    assert [reply.text for reply in found] == ["two"]


async def test_what_could_not_be_kept_is_offered_again(box: Sandbox, whatsapp: WhatsApp) -> None:
    _, before = await replies(whatsapp, "")
    box.twilio.type(ANA, "one")
    await replies(whatsapp, before)  # the database was away: the cursor did not move
    found, _ = await replies(whatsapp, before)
    assert [reply.text for reply in found] == ["one"]


async def test_what_is_younger_than_a_minute_waits_for_its_webhook_which_says_more(
    box: Sandbox, whatsapp: WhatsApp, clock: Ahead
) -> None:
    box.twilio.type(ANA, "one")
    clock.by = ON_TIME.by
    found, cursor = await replies(whatsapp, "")
    assert found == []
    clock.by = Ahead().by
    found, cursor = await replies(whatsapp, cursor)
    assert [reply.text for reply in found] == ["one"]
    assert await replies(whatsapp, cursor) == ([], cursor)


async def test_a_list_does_not_say_what_was_answered(box: Sandbox, whatsapp: WhatsApp) -> None:
    box.twilio.type(ANA, "one")
    ((reply,), _) = await replies(whatsapp, "")
    assert reply.partial


async def test_after_a_restart_the_overlap_comes_again_under_the_same_id(
    box: Sandbox, whatsapp: WhatsApp, clock: Ahead
) -> None:
    box.twilio.type(ANA, "one")
    found, cursor = await replies(whatsapp, "")
    async with connected(box, clock=clock) as restarted:
        again, _ = await replies(restarted, cursor)
    assert [reply.event_id for reply in again] == [reply.event_id for reply in found]


async def test_our_own_messages_are_no_answers(box: Sandbox, whatsapp: WhatsApp) -> None:
    box.twilio.world.send(ANA, "from us", "")
    assert (await replies(whatsapp, ""))[0] == []


async def test_a_file_comes_with_its_message(box: Sandbox, whatsapp: WhatsApp) -> None:
    box.twilio.send_file(ANA, b"%PDF", "application/pdf", "the contract")
    ((reply,), _) = await replies(whatsapp, "")
    (attachment,) = reply.attachments
    assert (reply.text, attachment.content_type) == ("the contract", "application/pdf")
    assert await whatsapp.fetch(attachment) == b"%PDF"


async def test_when_twilio_is_down_it_is_tried_later(box: Sandbox, whatsapp: WhatsApp) -> None:
    box.twilio.fail(FaultKind.DOWN, method="list")
    with pytest.raises(TryLater):
        await whatsapp.poll("", 0)
