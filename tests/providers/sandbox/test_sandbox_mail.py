"""Mail's far side: the real aiosmtplib hands mail in, the real imap-tools reads what people answer."""

import asyncio
import contextlib
import imaplib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

import aiosmtplib
import imap_tools
import pytest

from answerback_sandbox import FaultKind, Sandbox, SandboxError, ServiceName
from answerback_sandbox.changes import Changes
from answerback_sandbox.mail import letters
from answerback_sandbox.mail.imap import Reading
from answerback_sandbox.mail.state import Letter
from answerback_sandbox.mail.world import Envelope

ANA = "ana@people.test"
BOUNCES = "agent+bounce-t0k3n@sandbox.test"


def question(subject: str = "Which term? [#K7Q2]", to: str = ANA) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Research <agent@sandbox.test>", to
    mail["Reply-To"] = "agent+t0k3n@sandbox.test"
    mail["Subject"], mail["Message-ID"] = subject, "<q1@sandbox.test>"
    mail["References"] = "<q0@sandbox.test>"
    mail.set_content("Which term?\n\n1. Coding\n2. Costing\n\n.\nhttps://ask.test/f/x\n")
    mail.add_alternative(
        '<html><body><p>Which term?</p><a href="https://ask.test/f/x">Answer <b>here</b></a>'
        '<a href="javascript:alert(1)">No</a></body></html>',
        subtype="html",
    )
    return mail


async def send(box: Sandbox, mail: EmailMessage | None = None, **changes: str) -> None:
    await aiosmtplib.send(
        mail or question(),
        hostname=box.mail.host,
        port=box.mail.smtp_port,
        username=changes.get("username", box.mail.address),
        password=changes.get("password", box.mail.password),
        start_tls=False,
        sender=changes.get("sender", BOUNCES),
        recipients=[changes.get("to", ANA)],
    )


async def asked(box: Sandbox) -> Letter:
    """What lies in Ana's mailbox after the agent has asked."""
    await send(box)
    return box.mail.received(ANA)[-1]


@contextlib.contextmanager
def mailbox(box: Sandbox, password: str = "") -> Iterator[imap_tools.BaseMailBox]:
    """The agent's mailbox; to be used in a thread."""
    client = imap_tools.MailBoxUnencrypted(box.mail.host, box.mail.imap_port, 5)
    try:
        yield client.login(box.mail.address, password or box.mail.password)
    finally:
        client.client.shutdown()


async def read(box: Sandbox) -> list[imap_tools.MailMessage]:
    """Everything in the agent's mailbox."""

    def fetch() -> list[imap_tools.MailMessage]:
        with mailbox(box) as client:
            return list(client.fetch(mark_seen=False))

    return await asyncio.to_thread(fetch)


async def test_a_mail_that_the_agent_hands_in_lies_in_the_persons_mailbox(box: Sandbox) -> None:
    seen = await asked(box)
    assert (seen.sender, seen.sender_name, seen.to) == ("agent@sandbox.test", "Research", ANA)
    assert (seen.subject, seen.message_id) == ("Which term? [#K7Q2]", "<q1@sandbox.test>")
    assert seen.text == "Which term?\n\n1. Coding\n2. Costing\n\n.\nhttps://ask.test/f/x\n"
    assert [(link.label, link.url) for link in seen.links] == [("Answer here", "https://ask.test/f/x")]
    assert not seen.mine and not seen.read
    box.mail.opens(ANA, seen.message_id)
    assert box.mail.received(ANA)[0].read


@pytest.mark.parametrize("style", ["gmail", "outlook", "apple"])
async def test_a_reply_comes_back_by_imap_threaded_vouched_for_and_with_both_bodies(
    box: Sandbox, style: str
) -> None:
    await asked(box)
    sent = box.mail.reply(ANA, "<q1@sandbox.test>", "Coding, bitte – “ja”.", style)
    (came,) = await read(box)
    assert came.to == ("agent+t0k3n@sandbox.test",) and came.from_ == ANA
    assert came.obj["In-Reply-To"] == "<q1@sandbox.test>"
    assert came.obj["References"].split() == ["<q0@sandbox.test>", "<q1@sandbox.test>"]
    assert came.subject == {"outlook": "RE: "}.get(style, "Re: ") + "Which term? [#K7Q2]"
    assert came.obj["Authentication-Results"] == "mx.sandbox.test; dmarc=pass header.from=people.test"
    assert came.obj["Return-Path"] == f"<{ANA}>"
    assert came.text.startswith("Coding, bitte – “ja”.") and "Coding, bitte – “ja”." in came.html
    assert "Which term?" in came.text and "Answer <b>here</b>" in came.html
    assert sent.mine and box.mail.messages(ANA)[-1] == sent


async def test_who_answers_the_newest_mail_reads_none_of_those_before(box: Sandbox) -> None:
    """A mailbox of thousands: to read all of it for each answer would take seconds."""
    for number in range(20):
        old = question(f"Question {number}")
        old.replace_header("Message-ID", f"<old{number}@sandbox.test>")
        await send(box, old)
    await asked(box)
    letters._letter.cache_clear()
    box.mail.reply(ANA, "<q1@sandbox.test>", "coding")
    assert letters._letter.cache_info().misses < 5  # the question, the reply, and what is made of them


async def test_each_program_quotes_in_its_own_way(box: Sandbox) -> None:
    await asked(box)
    gmail, outlook, apple = (
        box.mail.reply(ANA, "<q1@sandbox.test>", "coding", style) for style in ("gmail", "outlook", "apple")
    )
    assert "@sandbox.test> wrote:\n\n> Which term?\n>\n> 1. Coding\n" in gmail.text
    assert '<blockquote class="gmail_quote"' in gmail.html and 'class="gmail_attr"' in gmail.html
    assert f"{'_' * 32}\nFrom: Research <agent@sandbox.test>\nSent: " in outlook.text
    assert "\nTo: Ana <ana@people.test>\nSubject: Which term? [#K7Q2]\n\nWhich term?" in outlook.text
    assert '<div id="divRplyFwdMsg" dir="ltr">' in outlook.html
    assert (
        "\n\n> On " in apple.text and "Research <agent@sandbox.test> wrote:\n>\n> Which term?" in apple.text
    )
    assert '<blockquote type="cite"><div>On ' in apple.html and "Apple Mail" in apple.headers["x-mailer"]


async def test_a_subject_beyond_ascii_and_a_long_id_survive_the_reply(box: Sandbox) -> None:
    mail = question("Wählen Sie „Kodierung“ oder „Kostenrechnung“ für die Suche? [#K7Q2]")
    mail.replace_header("Message-ID", f"<{'x' * 90}@eu-central-1.amazonses.com>")
    await send(box, mail)
    (seen,) = box.mail.received(ANA)
    box.mail.reply(ANA, seen.message_id, "1")
    (came,) = await read(box)
    assert came.subject == f"Re: {mail['Subject']}"
    assert came.obj["In-Reply-To"].strip() == seen.message_id


async def test_whoever_writes_in_somebodys_name_is_not_vouched_for(box: Sandbox) -> None:
    await asked(box)
    box.mail.forge(ANA, "<q1@sandbox.test>", "coding")
    (came,) = await read(box)
    assert came.from_ == ANA
    assert came.obj["Authentication-Results"] == "mx.sandbox.test; dmarc=fail header.from=people.test"


async def test_results_that_the_sender_wrote_in_the_servers_name_are_taken_out(box: Sandbox) -> None:
    mail = question()
    mail["Authentication-Results"] = "mx.sandbox.test; dmarc=pass header.from=bank.test"
    mail.replace_header("From", "Bank <it@bank.test>")
    await send(box, mail)
    (seen,) = box.mail.received(ANA)
    assert seen.raw.lower().count(b"authentication-results") == 1
    assert seen.headers["authentication-results"] == "mx.sandbox.test; dmarc=fail header.from=bank.test"


async def test_a_from_cannot_write_results_of_its_own(box: Sandbox) -> None:
    mail = b"From: <a@[x.test;dmarc=pass header.from=bank.test]>\r\nTo: x\r\n\r\nhello\r\n"
    box.mail.world.deliver(mail, Envelope("a@x.test", ANA, proved=False))
    (seen,) = box.mail.received(ANA)
    assert seen.headers["authentication-results"] == "mx.sandbox.test; dmarc=fail header.from=invalid"


@pytest.mark.parametrize(
    "mail",
    [
        b"",
        b"\r\n\r\n",
        b"no header\r\nat all",
        b"From: " + b"=?utf-8?q?x?= " * 200 + b"\r\nMessage-ID: <>\r\n\r\n",
        b'Content-Type: text/plain; charset="nonsense"\r\n\r\n\xff\xfe',
        b"Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n--a\r\n",
        b"Content-Type: text/html\r\n\r\n<a href='http://x'><a href=><a",
    ],
)
async def test_a_mail_that_is_not_well_made_lies_in_the_mailbox_like_any_other(
    box: Sandbox, mail: bytes
) -> None:
    box.mail.world.deliver(mail, Envelope("", ANA, proved=False))
    assert len(box.mail.received(ANA)) == 1


async def test_idle_is_patient_with_faults_that_end_no_connection(box: Sandbox) -> None:
    def wait() -> list[bytes]:
        with mailbox(box) as client, client.idle as idle:
            loop.call_soon_threadsafe(idling.set)
            return idle.poll(5)

    loop, idling = asyncio.get_running_loop(), asyncio.Event()
    waiting = asyncio.create_task(asyncio.to_thread(wait))
    await idling.wait()
    box.mail.fail(FaultKind.SLOW, 3, method="read", seconds=600)
    box.mail.write(ANA, "Hello", "are you there?")
    assert b"* 1 EXISTS" in await waiting
    assert [fault.calls for fault in box.mail.faults.ahead] == [3]


async def test_somebody_who_is_away_answers_every_mail_but_no_automatic_reply(box: Sandbox) -> None:
    box.mail.set_away(ANA, True)
    await asked(box)
    (came,) = await read(box)
    assert came.obj["Auto-Submitted"] == "auto-replied" and came.obj["Return-Path"] == "<>"
    assert came.subject == "Automatic reply: Which term? [#K7Q2]" and "out of the office" in came.text
    box.add_person(1002, "Ben")
    box.mail.set_away("ben@people.test", True)
    box.mail.write(ANA, "Hello", "are you there?", to="ben@people.test")
    assert len(box.mail.messages("ben@people.test")) == 2  # and Ana's program is silent


async def test_a_mail_that_comes_back_is_reported_to_its_envelopes_sender(box: Sandbox) -> None:
    box.mail.set_bouncing(ANA, True)
    await send(box)
    (came,) = await read(box)
    assert came.to == (BOUNCES,) and came.obj["Return-Path"] == "<>"
    assert came.obj.get_content_type() == "multipart/report"
    status = next(part for part in came.obj.walk() if part.get_content_type() == "message/delivery-status")
    assert "Action: failed" in status.as_string() and "Status: 5.1.1" in status.as_string()
    assert box.mail.received(ANA) == ()


async def test_nobody_is_refused_at_once(box: Sandbox) -> None:
    with pytest.raises(aiosmtplib.SMTPRecipientsRefused) as caught:
        await send(box, to="nobody@people.test")
    assert caught.value.recipients[0].code == 550


async def test_a_wrong_password_is_refused_by_both_servers(box: Sandbox) -> None:
    with pytest.raises(aiosmtplib.SMTPAuthenticationError):
        await send(box, password="wrong")

    def sign_in() -> None:
        with mailbox(box, "wrong"):
            pass

    with pytest.raises(imap_tools.MailboxLoginError):
        await asyncio.to_thread(sign_in)


async def test_idle_is_told_of_a_mail_as_it_comes(box: Sandbox) -> None:
    def wait() -> list[bytes]:
        with mailbox(box) as client, client.idle as idle:
            loop.call_soon_threadsafe(idling.set)
            return idle.poll(5)

    loop, idling = asyncio.get_running_loop(), asyncio.Event()
    waiting = asyncio.create_task(asyncio.to_thread(wait))
    await idling.wait()
    box.mail.write(ANA, "Hello", "are you there?")
    assert b"* 1 EXISTS" in await waiting


async def test_mails_are_found_marked_and_deleted(box: Sandbox) -> None:
    for number in range(3):
        box.mail.write(ANA, f"Mail {number}", "…")

    def work() -> tuple[object, ...]:
        with mailbox(box) as client:
            every = client.uids("ALL")
            client.flag(every[0], imap_tools.MailMessageFlags.SEEN, True)
            unseen = client.uids(imap_tools.AND(seen=False))
            named = client.uids(imap_tools.AND(subject="Mail 2", from_="ana@"))
            either = client.uids("OR UID 1 (NOT UID 1:2 SUBJECT Mail)")
            client.delete(every[1])
            status = client.folder.status("INBOX", ["MESSAGES", "UIDNEXT", "UNSEEN"])
            return every, unseen, named, either, client.uids("ALL"), status, len(client.folder.list())

    assert await asyncio.to_thread(work) == (
        ["1", "2", "3"],
        ["2", "3"],
        ["3"],
        ["1", "3"],
        ["1", "3"],
        {"MESSAGES": 2, "UIDNEXT": 4, "UNSEEN": 1},
        1,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("FETCH", "1:5", "(ENVELOPE)"),
        ("FETCH", "7", "(FLAGS)"),
        ("SEARCH", "WISDOM"),
        ("SEARCH", "((((("),
        ("SEARCH", "SINCE", "tomorrow"),
        ("SEARCH", "NOT " * 5000),
        ("STORE", "1", "XFLAGS", r"(\Seen)"),
    ],
)
async def test_a_command_that_is_not_understood_is_told_so_and_ends_nothing(
    box: Sandbox, command: tuple[str, ...]
) -> None:
    box.mail.write(ANA, "Hello", "…")

    def work() -> str:
        with mailbox(box) as client:
            with pytest.raises(imaplib.IMAP4.error, match="BAD"):
                client.client._simple_command(*command)
            return str(client.client.noop()[0])

    assert await asyncio.to_thread(work) == "OK"


@pytest.mark.parametrize("kind", [FaultKind.DOWN, FaultKind.REFUSED])
async def test_while_mail_is_down_nothing_is_taken_and_nothing_can_be_read(
    box: Sandbox, kind: FaultKind
) -> None:
    box.switch(ServiceName.MAIL, kind, True)
    with pytest.raises((aiosmtplib.SMTPException, OSError)):
        await send(box)
    with pytest.raises((imaplib.IMAP4.error, OSError)):
        await read(box)
    box.switch(ServiceName.MAIL, kind, False)
    await send(box)
    assert len(box.mail.received(ANA)) == 1 and await read(box) == []


@dataclass
class Coming:
    """A mailbox in which a mail comes just while another is being told, and the line it is told on."""

    changes: Changes = field(default_factory=Changes)
    news_left: list[str] = field(default_factory=lambda: ["* 1 EXISTS"])
    told: list[str] = field(default_factory=list)

    def news(self, *, gone: bool) -> list[str]:
        found, self.news_left = self.news_left, []
        return found

    async def say(self, *rows: str) -> None:
        self.told += rows
        if "* 1 EXISTS" in rows:
            self.news_left = ["* 2 EXISTS"]
        if rows:
            self.changes.touch()

    async def read(self) -> bytes:
        await self.changes.wait_for(lambda: "* 2 EXISTS" in self.told, 5)
        return b"DONE"

    def is_on(self, kind: FaultKind) -> bool:
        return False

    @property
    def faults(self) -> "Coming":
        return self


async def test_a_mail_that_comes_while_another_is_told_is_told_too() -> None:
    coming: Any = Coming()
    reading = Reading(coming, coming)
    reading._view = coming
    async with asyncio.timeout(5):
        await reading._idle("IDLE", [])
    assert coming.told == ["+ idling", "* 1 EXISTS", "* 2 EXISTS"]


async def test_going_down_ends_whoever_idles(box: Sandbox) -> None:
    def wait() -> object:
        with mailbox(box) as client:
            client.idle.start()
            loop.call_soon_threadsafe(idling.set)
            with contextlib.suppress(imaplib.IMAP4.abort):
                while True:
                    client.client._get_response()
            return client.client.untagged_responses["BYE"]

    loop, idling = asyncio.get_running_loop(), asyncio.Event()
    waiting = asyncio.create_task(asyncio.to_thread(wait))
    await idling.wait()
    box.switch(ServiceName.MAIL, FaultKind.DOWN, True)
    assert await waiting == [b"[UNAVAILABLE] the server is down"]


async def test_a_lost_answer_leaves_the_mail_delivered_and_the_sender_in_the_dark(box: Sandbox) -> None:
    box.mail.fail(FaultKind.DROPPED, method="send")
    with pytest.raises((aiosmtplib.SMTPException, OSError)):
        await send(box)
    assert len(box.mail.received(ANA)) == 1
    await send(box)
    assert len(box.mail.received(ANA)) == 2


async def test_too_many_mails_are_told_to_wait_and_a_duplicate_comes_twice(box: Sandbox) -> None:
    box.mail.fail(FaultKind.RATE_LIMITED, method="send")
    with pytest.raises(aiosmtplib.SMTPSenderRefused) as caught:
        await send(box)
    assert caught.value.code == 451
    box.mail.fail(FaultKind.DUPLICATE)
    box.mail.write(ANA, "Hello", "…")
    assert [mail.uid for mail in await read(box)] == ["1", "2"]


async def test_what_a_person_cannot_do_is_an_error(box: Sandbox) -> None:
    for deed in (
        lambda: box.mail.reply(ANA, "<none@x.test>", "yes"),
        lambda: box.mail.messages("nobody@people.test"),
        lambda: box.mail.add_person(ANA, "Ana"),
        lambda: box.mail.add_person("a@b\r\nc", "Ana"),
        lambda: box.mail.write(ANA, "Hello", "…", to="nobody@people.test"),
    ):
        with pytest.raises(SandboxError):
            deed()


async def test_a_browser_that_was_sent_to_the_mail_servers_gets_nowhere(box: Sandbox) -> None:
    for port, refusal in ((box.mail.smtp_port, b"500 5.5.2"), (box.mail.imap_port, b"POST BAD")):
        reader, writer = await asyncio.open_connection(box.mail.host, port)
        writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\na NOOP\r\n")
        _, *said = (await reader.read()).splitlines()
        assert len(said) == 1 and said[0].startswith(refusal)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
