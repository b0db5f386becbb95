"""Reading a mailbox (a real Dovecot): nothing is lost, whatever breaks, and flags follow the commit."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from answerback.provider import TryLater, Void
from answerback_providers.email import Email
from answerback_providers.email.head import LONGEST_MAIL
from answerback_providers.email.imap import Inbox
from tests.providers.email.dovecot import Box
from tests.providers.email.mailbox import Gate, gate, reads, replies, signs_in, texts
from tests.providers.email.replies import Signer, reply, vouched
from tests.providers.email.support import listener
from tests.support.ports import free_port

LONG = 60  # seconds: far more than anything here takes


@pytest.fixture
async def provider(mailbox: Box) -> AsyncIterator[Email]:
    opened = reads(mailbox.server.imap, user=mailbox.user)
    yield opened
    await opened.close()


async def waits(provider: Email, cursor: str, way: Gate | None = None) -> asyncio.Task:
    """A poll that has come as far as to wait for mail."""
    task = asyncio.create_task(provider.poll(cursor))
    while provider._inbox is None or not provider._inbox.waiting.is_set():  # noqa: ASYNC110 (nothing there tells us)
        await asyncio.sleep(0.005)
    return task


async def test_what_came_before_is_read_at_once_and_flagged_after_the_commit(
    mailbox: Box, provider: Email
) -> None:
    await mailbox.deliver(vouched("one"), vouched("two"))
    batch = await provider.poll("", 0)
    assert texts(provider, batch) == ["one", "two"]
    assert await mailbox.flags() == [False, False]
    again = await provider.poll("", 0)  # the cursor was not committed: the same again
    assert texts(provider, again) == ["one", "two"]
    assert (await provider.poll(again.cursor, 0)).events == ()
    assert await mailbox.flags() == [True, True]


@pytest.mark.parametrize(
    ("greeting", "why"),
    [
        ("421 4.3.2 not now", "refused connecting (421 4.3.2)"),
        ("554 go away", "refused connecting (554)"),
        ("hello?", "gave an answer that is none"),
    ],
)
async def test_law_10_mail_is_read_whether_or_not_any_can_be_sent(
    mailbox: Box, caplog: pytest.LogCaptureFixture, greeting: str, why: str
) -> None:
    """What people say gets here while the server for what we say is away; the log says that it is."""
    await mailbox.deliver(vouched("one"))
    async with listener({"QUIT": "221 bye"}, greeting) as (port, _):
        smtp = {"host": "localhost", "security": "plain", "port": port, "timeout": 1}
        provider = reads(mailbox.server.imap, user=mailbox.user, smtp=smtp)
        try:
            await provider.open()
            assert texts(provider, await provider.poll("", 0)) == ["one"]
            await asyncio.wait_for(provider._look, LONG)
        finally:
            await provider.close()
    (said,) = caplog.messages
    assert said.startswith("the provider email cannot send mail at the moment: ") and why in said


async def test_leaving_while_the_server_for_what_is_sent_says_nothing(mailbox: Box) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        smtp = {"host": "localhost", "security": "plain", "port": port, "timeout": 28}
        provider = reads(mailbox.server.imap, user=mailbox.user, smtp=smtp)
        await provider.open()
        await asyncio.wait_for(provider.close(), 20)


async def test_a_mail_that_comes_while_waiting_ends_the_wait(mailbox: Box, provider: Email) -> None:
    await mailbox.deliver(vouched("one"))
    first = await provider.poll("", 0)
    task = await waits(provider, first.cursor)
    await mailbox.deliver(vouched("two"))
    second = await asyncio.wait_for(task, LONG)
    assert texts(provider, second) == ["two"]


async def test_many_mails_come_in_batches_and_in_order(mailbox: Box, provider: Email) -> None:
    bodies = [str(number) for number in range(45)]
    await mailbox.deliver(*(vouched(body) for body in bodies))
    cursor, sizes, found = "", [], []
    while (batch := await provider.poll(cursor, 0)).events:
        cursor = batch.cursor
        sizes.append(len(batch.events))
        found += texts(provider, batch)
    assert sizes == [20, 20, 5]
    assert found == bodies


async def test_a_mail_that_is_told_of_beside_another_answer_is_looked_for_and_not_waited_for(
    mailbox: Box,
) -> None:
    """A server tells of it once, with the answer to any command (RFC 3501, section 5.2)."""
    async with gate(mailbox, b"* CAPABILITY", b"* 1 EXISTS\r\n* CAPABILITY") as way:
        provider = reads(way.port, user=mailbox.user)
        found = await asyncio.wait_for(provider.poll(""), LONG)
        assert (found.events, way.heard.count(b"SEARCH")) == ((), 2)
        await provider.close()


async def test_a_reset_while_waiting_is_told_and_the_next_poll_catches_up(mailbox: Box) -> None:
    async with gate(mailbox) as way:
        provider = reads(way.port, user=mailbox.user)
        await mailbox.deliver(vouched("one"))
        first = await provider.poll("", 0)
        task = await waits(provider, first.cursor)
        way.cut()
        with pytest.raises(TryLater, match="broke"):
            await asyncio.wait_for(task, LONG)
        await mailbox.deliver(vouched("two"))
        second = await provider.poll(first.cursor, 0)
        assert texts(provider, second) == ["two"]
        assert way.connections == 2
        await provider.close()


async def test_a_reset_between_reading_and_flagging_loses_no_flag_and_no_mail(mailbox: Box) -> None:
    async with gate(mailbox) as way:
        provider = reads(way.port, user=mailbox.user)
        await mailbox.deliver(vouched("one"))
        first = await provider.poll("", 0)
        way.cut()
        with pytest.raises(TryLater, match="broke"):
            await provider.poll(first.cursor, 0)  # it was committed: this would have flagged it
        await mailbox.deliver(vouched("two"))
        second = await provider.poll(first.cursor, 0)
        assert texts(provider, second) == ["two"]
        assert (await provider.poll(second.cursor, 0)).events == ()
        assert await mailbox.flags() == [True, True]
        await provider.close()


async def test_a_silence_ends_by_itself_and_the_next_poll_catches_up(mailbox: Box) -> None:
    async with gate(mailbox) as way:
        provider = reads(way.port, user=mailbox.user)
        await mailbox.deliver(vouched("one"))
        first = await provider.poll("", 0)
        trusted = provider._inbox
        provider._inbox = Inbox(provider.settings.imap, trusted._trust, idle=0.2, silence=1)
        await trusted.close()
        await provider.poll(first.cursor, 0)
        way.deaf = True
        with pytest.raises(TryLater, match="broke"):
            await asyncio.wait_for(provider.poll(first.cursor), LONG)
        way.deaf = False
        await mailbox.deliver(vouched("two"))
        assert texts(provider, await provider.poll(first.cursor, 0)) == ["two"]
        await provider.close()


async def test_a_mailbox_that_was_made_anew_loses_nothing(mailbox: Box, provider: Email) -> None:
    await mailbox.deliver(vouched("one"), vouched("two"))
    first = await provider.poll("", 0)
    known = {reply.event_id for reply in replies(provider, first)}
    await mailbox.made_anew()
    await mailbox.deliver(vouched("three"))
    with pytest.raises(TryLater):
        await provider.poll(first.cursor, 0)
    batch = await provider.poll(first.cursor, 0)
    assert batch.cursor.partition(":")[0] != first.cursor.partition(":")[0]
    new = [reply.text for reply in replies(provider, batch) if reply.event_id not in known]
    assert new == ["three"]  # the others are the same events: the core knows them
    assert len(batch.events) == 3


async def test_a_wait_can_be_given_up_at_once(mailbox: Box, provider: Email) -> None:
    await mailbox.deliver(vouched("one"))
    first = await provider.poll("", 0)
    task = await waits(provider, first.cursor)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await asyncio.wait_for(provider.poll(first.cursor, 0), LONG)).events == ()


async def test_a_wrong_password_is_tried_more_and_more_seldom_until_somebody_repairs_it(
    mailbox: Box,
) -> None:
    port = mailbox.server.imap
    provider = reads(port, imap=signs_in(mailbox.user, port=port, password="wrong"))
    for seconds in (60, 120):
        with pytest.raises(TryLater, match="Check username and password") as caught:
            await provider.poll("", 0)
        assert caught.value.seconds == seconds
    await provider.close()


async def test_a_server_that_lets_nobody_sign_in_at_the_moment_is_tried_again_soon(mailbox: Box) -> None:
    """RFC 5530: its own words tell that from a wrong password."""
    async with gate(mailbox, b"[AUTHENTICATIONFAILED]", b"[UNAVAILABLE]") as way:
        provider = reads(way.port, imap=signs_in(mailbox.user, port=way.port, password="wrong"))
        with pytest.raises(TryLater, match="not available at the moment") as caught:
            await provider.poll("", 0)
        assert caught.value.seconds < 10
        await provider.close()


async def test_a_server_that_is_not_there_is_tried_again() -> None:
    provider = reads(free_port())
    with pytest.raises(TryLater, match="cannot be reached"):
        await provider.poll("", 0)
    await provider.close()


async def test_without_the_name_of_our_server_a_signature_is_looked_up_and_verified(mailbox: Box) -> None:
    signer = Signer()
    provider = reads(mailbox.server.imap, signer.lookup, mailbox.user, authserv_id="")
    await mailbox.deliver(signer.sign(reply("signed")), reply("unsigned"))
    found = replies(provider, await provider.poll("", 0))
    assert [(each.text, each.trusted) for each in found] == [("signed", True), ("unsigned", False)]
    await provider.close()


async def test_law_10_a_domain_whose_name_servers_are_silent_holds_up_its_own_mail_only(
    mailbox: Box,
) -> None:
    signer = Signer()
    all_ask = asyncio.Barrier(3)  # nobody is told before all have asked

    async def lookup(name: str) -> str:
        await all_ask.wait()
        return await signer.lookup(name)

    others = [Signer(f"z{number}.org") for number in range(2)]
    provider = reads(mailbox.server.imap, lookup, mailbox.user, authserv_id="")
    mails = [other.sign(reply("hi", From=f"mallory@{other.domain}")) for other in others]
    await mailbox.deliver(*mails, signer.sign(reply("yes")))
    found = replies(provider, await asyncio.wait_for(provider.poll("", 0), LONG))
    assert [(each.text, each.trusted) for each in found] == [("hi", False), ("hi", False), ("yes", True)]
    await provider.close()


async def test_of_a_mail_that_is_too_long_only_its_beginning_comes_and_decides_nothing(
    mailbox: Box, provider: Email
) -> None:
    await mailbox.deliver(vouched(("z" * 900 + "\n") * (LONGEST_MAIL // 900)))
    batch = await provider.poll("", 0)
    (found,) = replies(provider, batch)
    assert (found.trusted, found.text) == (False, "")
    assert len(batch.events[0].body) == LONGEST_MAIL + 1
    assert found.void is Void.TOO_LONG


async def test_a_batch_ends_with_the_mail_that_makes_it_large(mailbox: Box, provider: Email) -> None:
    large = vouched(("z" * 900 + "\n") * (LONGEST_MAIL // 1800))
    await mailbox.deliver(vouched("one"), large, large, vouched("two"))
    cursor, sizes = "", []
    while (batch := await provider.poll(cursor, 0)).events:
        cursor = batch.cursor
        sizes.append(len(batch.events))
    assert sizes == [3, 1]
