"""Mail that was made to do harm: each is refused or survived, in a process that can be ended."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator

import pytest

from answerback.provider import Inbound
from answerback_providers.email.parts import LONGEST_BODY
from answerback_providers.email.provider import READING
from answerback_providers.email.reader import Reader
from answerback_providers.email.reading import LONGEST_TEXT, MOST_LINES, Kind, Reading
from tests.providers.email.mailbox import reads
from tests.providers.email.replies import reply, vouched

LONG = 30  # seconds: given up for good; what takes more than two is ended by the reader itself

NESTED = "".join(f"--{n}\nContent-Type: multipart/mixed; boundary={n + 1}\n\n" for n in range(1000))
DEEP = "Content-Type: message/rfc822\n\n" * 2000
PARTS = "--b\n\nx\n" * 30_000
WORDS = "=?utf-8?q?=41?= " * 28_000
HOSTILE = {
    "448 KB of encoded words in the subject": vouched(Subject=WORDS),
    "8 KB of encoded words in each of many headers": vouched(**{f"X-{n}": WORDS[:8000] for n in range(7)}),
    "encoded words in From": vouched(From=WORDS[:8000] + "<ana@x.org>"),
    "1000 nested comments in From": vouched(From="(" * 1000 + ")" * 1000 + " ana@x.org"),
    "an open quotation in From": vouched(From='"' + '\\"' * 4000),
    "many quotations in To": vouched(To='"' * 8000),
    "many addresses in To": vouched(To="a@b.cd, " * 1000),
    "1000 nested comments in what our server found": reply(above=f"Authentication-Results: {'(' * 4000}\n"),
    "an empty Message-ID": vouched(Message_ID="<>"),
    "many ids": vouched(References="<a@b> " * 1300),
    "an open id": vouched(References="<" * 8000),
    "a date that is none": vouched(Date="Sun, 99 Foo 99999999999999999999 99:99:99 +999999"),
    "an unknown charset": vouched(Content_Type="text/plain; charset=x-none"),
    "a parameter in pieces": vouched(Content_Type="text/plain; " + "".join(f"a*{n}=x;" for n in range(900))),
    "a charset in pieces": vouched(Content_Type="text/plain; charset*0*=x-none'en'%ff; charset*2=y"),
    "1000 nested parts": vouched(NESTED, Content_Type="multipart/mixed; boundary=0"),
    "2000 nested mails": vouched(DEEP, Content_Type="message/rfc822"),
    "30,000 parts": vouched(PARTS, Content_Type="multipart/mixed; boundary=b"),
    "no boundary": vouched(PARTS, Content_Type="multipart/mixed"),
    "an empty boundary": vouched(PARTS, Content_Type='multipart/mixed; boundary=""'),
    "400,000 lines": vouched("a\n" * 400_000),
    "450,000 empty lines": vouched("\n" * 450_000 + "x"),
    "100,000 beginnings of a quotation": vouched("On x wrote:\n" * 70_000),
    "800 KB in one line": vouched("x" * 800_000),
    "800 KB of html tags that stay open": vouched("<a " * 260_000, Content_Type="text/html"),
    "800 KB of html comments that stay open": vouched("<!--" * 200_000, Content_Type="text/html"),
    "800 KB of opened quotations": vouched("<blockquote>x" * 60_000, Content_Type="text/html"),
    "800 KB of html entities": vouched("&amp;&#" * 100_000, Content_Type="text/html"),
    "800 KB of quotation marks": vouched(">" * 800_000, Content_Type="text/plain; format=flowed"),
    "broken base64": vouched("=" * 90_000, Content_Transfer_Encoding="base64"),
    "broken quoted-printable": vouched("=" * 90_000, Content_Transfer_Encoding="quoted-printable"),
    "uuencoded": vouched("begin 644 x\n" + "M" * 90_000, Content_Transfer_Encoding="x-uuencode"),
    "a megabyte of headers": b"X: y\r\n" * 170_000,
    "a header without a name": vouched(Subject="x\n: y"),
    "no header at all": b"\x00" * 1000,
    "nothing": b"",
    "carriage returns alone": vouched().replace(b"\r\n", b"\r"),
    "all octets": bytes(range(256)) * 1000,
    "a picture": vouched(base64.b64encode(bytes(600_000)).decode(), Content_Type="image/png"),
}


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    one = Reader(reads(1).settings)
    yield one
    await one.close()


async def test_every_hostile_mail_is_refused_or_survived_while_the_gateway_goes_on(reader: Reader) -> None:
    """One process for all of them: what one mail does must not show in the next."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    other = asyncio.create_task(tick())
    for name, mail in HOSTILE.items():
        before = ticks
        began = time.monotonic()
        found = await reader.read(mail)
        assert found is None or isinstance(found, Reading), name
        assert ticks > before, name  # others had their turn meanwhile
        assert time.monotonic() - began < LONG, name
        after = await reader.read(vouched("fine"))
        assert after is not None and after.text == "fine", name
    other.cancel()


async def test_what_is_left_of_a_hostile_mail_is_short_enough_for_the_core(reader: Reader) -> None:
    """It separates what is new from what is quoted while nobody else can write."""
    for name, mail in HOSTILE.items():
        found = await reader.read(mail)
        if found is not None:
            assert len(found.text) <= LONGEST_TEXT and found.text.count("\n") <= MOST_LINES, name


async def test_a_text_that_is_no_answer_any_more_decides_nothing(reader: Reader) -> None:
    long = "x" * (LONGEST_TEXT + 1), "x\n" * (MOST_LINES + 2), "<p>\n" * (LONGEST_BODY // 4)
    for text, kind in zip(long, ("text/plain", "text/plain", "text/html"), strict=True):
        found = await reader.read(vouched(text, Content_Type=kind))
        assert found is not None and (found.trusted, found.text, found.whole) == (False, "", False)
    found = await reader.read(vouched("yes\n" + "> x\n" * (MOST_LINES - 10)))
    assert found is not None and found.trusted and found.text.startswith("yes\n")


async def test_a_mail_that_takes_too_long_is_ended_and_the_next_is_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = Reader(reads(1).settings, patience=0)
    assert await reader.read(vouched("secret words")) is None
    assert "a mail could not be read: no answer within 0 s" in caplog.messages
    assert "secret" not in caplog.text
    reader.patience = LONG
    found = await reader.read(vouched("fine"))
    assert found is not None and found.text == "fine"
    await reader.close()


async def test_a_process_that_dies_is_started_again(reader: Reader) -> None:
    await reader.read(vouched())
    reader._process.kill()
    await reader._process.wait()
    found = await reader.read(vouched("fine"))
    assert found is not None and found.text == "fine"


async def test_a_reader_that_is_given_up_gives_no_answer_to_the_next(reader: Reader) -> None:
    await reader.read(vouched())
    task = asyncio.create_task(reader.read(vouched("first")))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    found = await reader.read(vouched("second"))
    assert found is not None and found.text == "second"


def test_what_could_not_be_read_is_an_error_that_can_be_replayed_and_then_proves_nothing() -> None:
    provider = reads(1)
    with pytest.raises(ValueError, match="could not be read"):
        provider.parse(Inbound(vouched(), headers={READING: ""}))
    (found,) = provider.parse(Inbound(vouched("yes")))
    assert not found.trusted


def test_a_header_of_the_mail_cannot_pretend_to_be_the_reading() -> None:
    forged = Reading(Kind.REPLY, "mail:x", sender="ana@x.org", text="yes", trusted=True).dump()
    (found,) = reads(1).parse(Inbound(reply(above=f"{READING}: {forged}\n")))
    assert not found.trusted
