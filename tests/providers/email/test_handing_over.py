"""Mail that a mail server hands over by LMTP: it hears 250 after the commit, and not before."""

import asyncio
import contextlib
import smtplib
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from answerback.provider import Inbound, Reply, TryLater
from answerback_providers.email import Email, lmtp
from answerback_providers.email.counter import MOST_CONVERSATIONS, Counter
from answerback_providers.email.head import LONGEST_MAIL
from tests.providers.email.handing import AGENT, ANA, mail_server_at, stuffed
from tests.providers.email.mailbox import reads
from tests.providers.email.replies import OWN, vouched
from tests.support.ports import free_port


class Core:
    """What the gateway does with a mail: keeps it, or cannot."""

    def __init__(self) -> None:
        self.events: list[Inbound] = []
        self.error: Exception | None = None
        self.asked = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def take(self, event: Inbound) -> None:
        self.asked.set()
        await self.may_go_on.wait()
        if self.error is not None:
            raise self.error
        self.events.append(event)


@pytest.fixture
def core() -> Core:
    return Core()


@contextlib.asynccontextmanager
async def taking(place: str, core: Core) -> AsyncIterator[Email]:
    """A provider that mail is handed to at this place."""
    provider = reads(1, imap=None, lmtp={"listen": place})
    assert provider._counter is not None
    await provider._counter.open()
    listening = asyncio.create_task(provider.listen(core.take))
    try:
        yield provider
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await provider.close()


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "lmtp")


@pytest.fixture
async def provider(place: str, core: Core) -> AsyncIterator[Email]:
    async with taking(place, core) as running:
        yield running


def replies(provider: Email, core: Core) -> list[Reply]:
    found = [each for event in core.events for each in provider.parse(event)]
    return [each for each in found if isinstance(each, Reply)]


def hands_over(*place: str | int, mail: bytes) -> dict[str, tuple[int, bytes]]:
    """As the client of Python's own library does; the recipients that were refused."""
    with smtplib.LMTP(*place) as server:
        return server.sendmail(ANA, [AGENT], mail, mail_options=["SMTPUTF8", "BODY=8BITMIME"])


async def test_a_mail_handed_over_to_a_socket_is_read_as_one_from_the_mailbox(
    provider: Email, core: Core, place: str
) -> None:
    assert await asyncio.to_thread(hands_over, place, mail=vouched("yes\n.\n..dots")) == {}
    (found,) = replies(provider, core)
    assert (found.sender, found.text, found.trusted) == (ANA, "yes\n.\n..dots", True)
    assert core.events[0].body.startswith(
        b"Return-Path: <ana@x.org>\r\nDelivered-To: <agent@example.org>\r\n"
    )


async def test_a_port_of_this_machine_does_too(core: Core) -> None:
    port = free_port()
    async with taking(f"localhost:{port}", core) as provider:
        assert await asyncio.to_thread(hands_over, "127.0.0.1", port, mail=vouched("yes")) == {}
        assert [each.text for each in replies(provider, core)] == ["yes"]


async def test_nobody_hears_250_before_the_commit(provider: Email, core: Core, place: str) -> None:
    core.may_go_on.clear()
    async with mail_server_at(place) as server:
        handing = asyncio.create_task(server.hands_over(vouched()))
        await core.asked.wait()
        assert not handing.done()
        core.may_go_on.set()
        assert await handing == ["250 2.0.0 Ok"]


async def test_a_mail_that_could_not_be_stored_stays_with_its_mail_server(
    provider: Email, core: Core, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    core.error = RuntimeError("secret words of the database")
    async with mail_server_at(place) as server:
        (answer,) = await server.hands_over(vouched("secret words of the mail"))
        assert answer.startswith("451 4.3.0 ") and "secret" not in answer
        core.error = None
        assert await server.hands_over(vouched("x")) == ["250 2.0.0 Ok"]
    assert "a mail was not stored, and is left with its mail server: RuntimeError" in caplog.messages
    assert "secret" not in caplog.text and ANA not in caplog.text


async def test_what_is_handed_over_twice_is_one_event(provider: Email, core: Core, place: str) -> None:
    """The mail server did not hear the 250: what it brings again has the same id, whatever its envelope."""
    async with mail_server_at(place) as server:
        await server.hands_over(vouched(), AGENT)
        await server.hands_over(vouched(), "Agent+x@example.org")
    first, second = replies(provider, core)
    assert first.event_id == second.event_id


async def test_each_recipient_that_was_accepted_is_answered_for(
    provider: Email, core: Core, place: str
) -> None:
    async with mail_server_at(place) as server:
        mine = ["agent@example.org", "AGENT+token@Example.org", "agent+token@example.org"]
        answers = await server.hands_over(vouched(), mine[0], "ben@example.org", mine[1], mine[2])
        assert [answer[:9] for answer in answers] == ["550 5.1.1", "250 2.0.0", "250 2.0.0", "250 2.0.0"]
        core.error = RuntimeError()
        assert [answer[:3] for answer in await server.hands_over(vouched(), *mine)] == ["451", "451", "451"]
    assert len(core.events) == 1


@pytest.mark.parametrize(
    "name",
    [
        "ben@example.org",
        "agent@example.com",
        "agent",
        "",
        "agentx@example.org",
        '"a b"@x',
        "@x:agent@example.org",
    ],
)
async def test_only_mail_for_our_own_address_is_taken(provider: Email, place: str, name: str) -> None:
    async with mail_server_at(place) as server:
        await server.says("MAIL FROM:<ana@x.org>")
        assert (await server.says(f"RCPT TO:<{name}>")).startswith("550 5.1.1 ")
        assert (await server.says("DATA")).startswith("503 5.5.1 ")


async def test_a_bounce_comes_from_nobody_and_counts_as_one(provider: Email, core: Core, place: str) -> None:
    mail = b"From: MAILER-DAEMON@x.org\r\nTo: agent+bounce-abc@example.org\r\n\r\nno such user\r\n"
    async with mail_server_at(place) as server:
        assert await server.hands_over(mail, "agent+bounce-abc@example.org", sender="") == ["250 2.0.0 Ok"]
        assert await server.hands_over(vouched(), sender="") == ["250 2.0.0 Ok"]
    assert [getattr(each, "status", "") for each in provider.parse(core.events[0])] == ["failed"]
    assert provider.parse(core.events[1]) == []  # nobody's mail answers nothing


async def test_several_commands_may_come_at_once(provider: Email, core: Core, place: str) -> None:
    """RFC 2033 section 5 asks for PIPELINING, and for codes by which a mail server knows what is wrong."""
    async with mail_server_at(place) as server:
        offered = await server.says("LHLO mx.example.org")
        assert {line[4:] for line in offered.splitlines()} >= {
            "PIPELINING",
            "ENHANCEDSTATUSCODES",
            "8BITMIME",
            f"SIZE {lmtp.LONGEST_HANDED}",
        }
        server.writes(b"MAIL FROM:<ana@x.org> SIZE=99\r\nRCPT TO:<agent@example.org>\r\nDATA\r\n")
        assert [(await server.heard())[:3] for _ in range(3)] == ["250", "250", "354"]
        server.writes(stuffed(vouched()) + b"RSET\r\nNOOP\r\nVRFY x\r\nQUIT\r\n")
        assert [(await server.heard())[:3] for _ in range(5)] == ["250", "250", "250", "252", "221"]
        assert await server.reader.read() == b""


# What does not fit, or makes no sense


async def test_a_mail_that_says_it_is_too_long_is_refused_before_it_comes(
    provider: Email, place: str
) -> None:
    async with mail_server_at(place) as server:
        much = lmtp.LONGEST_HANDED + 1
        assert (await server.says(f"MAIL FROM:<ana@x.org> SIZE={much}")).startswith("552 5.3.4 ")
        assert (await server.says(f"MAIL FROM:<ana@x.org> SIZE={much - 1}")).startswith("250 ")


async def test_a_mail_that_turns_out_too_long_is_refused_for_each_recipient(
    provider: Email, core: Core, place: str
) -> None:
    async with mail_server_at(place) as server:
        for line in ("MAIL FROM:<ana@x.org>", f"RCPT TO:<{AGENT}>", "RCPT TO:<agent+x@example.org>", "DATA"):
            await server.says(line)
        for _ in range(33):
            server.writes((b"x" * 1022 + b"\r\n") * 1024)
            await server.writer.drain()
        server.writes(b".\r\n")
        assert [(await server.heard())[:9] for _ in range(2)] == ["552 5.3.4", "552 5.3.4"]
        assert await server.hands_over(vouched()) == ["250 2.0.0 Ok"]  # and the next one is taken
    assert len(core.events) == 1


async def test_of_a_long_mail_only_the_beginning_is_kept_and_it_decides_nothing(
    provider: Email, core: Core, place: str
) -> None:
    async with mail_server_at(place) as server:
        assert await server.hands_over(vouched("yes\r\n" + "x" * LONGEST_MAIL)) == ["250 2.0.0 Ok"]
    assert len(core.events[0].body) == LONGEST_MAIL + 1
    assert [each.trusted for each in replies(provider, core)] == [False]


async def test_a_dot_ends_a_mail_only_in_a_line_of_its_own(provider: Email, core: Core, place: str) -> None:
    """Neither a bare line feed nor a bare carriage return begins a line: no mail hides in another."""
    hidden = b"\n.\nMAIL FROM:<ana@x.org>\r\n\r.\r\n" + b"y" * 200_000 + b".\r\nend"
    async with mail_server_at(place) as server:
        assert await server.hands_over(vouched("x").removesuffix(b"x") + hidden) == ["250 2.0.0 Ok"]
        assert (await server.says("NOOP")).startswith("250 ")
    assert core.events[0].body.endswith(hidden + b"\r\n")


async def test_an_address_cannot_write_a_header(provider: Email, core: Core, place: str) -> None:
    async with mail_server_at(place) as server:
        server.writes(b"MAIL FROM:<a@b\nAuthentication-Results: mx.example.org; dmarc=pass>\r\n")
        assert (await server.heard()).startswith("501 ")
        assert (await server.says("MAIL FROM:<a@b>")).startswith("250 ")
        server.writes(b"RCPT TO:<agent+x\n@example.org>\r\n")
        assert (await server.heard()).startswith("501 ")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("EHLO x", "500 5.5.1"),
        ("HELO x", "500 5.5.1"),
        ("STARTTLS", "500 5.5.2"),
        ("", "500 5.5.2"),
        ("\x00\x00", "500 5.5.2"),
        ("x" * 100_000, "500 5.5.2"),
        ("RCPT TO:<agent@example.org>", "503 5.5.1"),
        ("DATA", "503 5.5.1"),
        ("DATA x", "501 5.5.4"),
        ("MAIL ana@x.org", "501 5.5.4"),
        ("MAIL FROM:<ana@x.org> RET=FULL", "555 5.5.4"),
        ("MAIL FROM:<ana@x.org> SIZE=x", "555 5.5.4"),
    ],
)
async def test_what_makes_no_sense_is_answered_and_forgotten(
    provider: Email, core: Core, place: str, line: str, code: str
) -> None:
    async with mail_server_at(place) as server:
        assert (await server.says(line)).startswith(code)
        assert await server.hands_over(vouched()) == ["250 2.0.0 Ok"]


async def test_whoever_only_talks_nonsense_is_left(provider: Email, place: str) -> None:
    async with mail_server_at(place) as server:
        server.writes(b"GET / HTTP/1.1\r\n" * lmtp.MOST_FAULTS)
        answers = (await server.reader.read()).decode().splitlines()
    assert len(answers) == lmtp.MOST_FAULTS + 1 and answers[-1].startswith("421 ")


async def test_a_mail_without_a_greeting_is_not_taken(provider: Email, place: str) -> None:
    reader, writer = await asyncio.open_unix_connection(place)
    await reader.readline()
    writer.write(b"MAIL FROM:<ana@x.org>\r\n")
    assert (await reader.readline()).startswith(b"503 ")
    writer.close()
    await writer.wait_closed()


async def test_half_a_mail_is_none(provider: Email, core: Core, place: str) -> None:
    async with mail_server_at(place) as server:
        for line in ("MAIL FROM:<ana@x.org>", f"RCPT TO:<{AGENT}>", "DATA"):
            await server.says(line)
        server.writes(stuffed(vouched())[:-1])
    async with mail_server_at(place) as server:
        assert await server.hands_over(vouched()) == ["250 2.0.0 Ok"]
    assert len(core.events) == 1


async def test_more_conversations_than_we_can_hold_are_put_off(provider: Email, place: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(MOST_CONVERSATIONS):
            await stack.enter_async_context(mail_server_at(place))
        reader, writer = await asyncio.open_unix_connection(place)
        assert (await reader.readline()).startswith(b"421 ")
        writer.close()
        await writer.wait_closed()


async def test_a_mail_that_cannot_be_read_is_kept_as_an_error_and_not_brought_again(
    provider: Email, core: Core, place: str
) -> None:
    async with mail_server_at(place) as server:
        assert await server.hands_over(b"no header at all\r\n") == ["250 2.0.0 Ok"]
    with pytest.raises(ValueError, match="could not be read"):
        provider.parse(core.events[0])


# The place


async def test_only_the_group_of_the_folder_may_hand_mail_over(provider: Email, place: str) -> None:
    mode = Path(place).stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660


async def test_the_socket_of_a_process_that_was_killed_is_taken_over(place: str, core: Core) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(place)
    left.close()
    async with taking(place, core), mail_server_at(place) as server:
        assert await server.hands_over(vouched()) == ["250 2.0.0 Ok"]
    assert not Path(place).exists()


async def test_the_socket_of_a_process_that_lives_is_left_alone(
    provider: Email, core: Core, place: str
) -> None:
    other = Counter(place, OWN)
    with pytest.raises(TryLater, match="another process listens there"):
        await other.open()
    await other.close()
    async with mail_server_at(place) as server:
        assert await server.hands_over(vouched()) == ["250 2.0.0 Ok"]


async def test_a_place_that_cannot_be_taken_is_tried_again_later(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for where, why in (("none/lmtp", "No such file"), ("file", "in use")):
        with pytest.raises(TryLater, match=why):
            await Counter(str(tmp_path / where), OWN).open()
    assert (tmp_path / "file").read_text() == "mine"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(TryLater, match="in use"):
            await Counter(f"127.0.0.1:{other.getsockname()[1]}", OWN).open()


@pytest.mark.parametrize(
    "listen",
    ["0.0.0.0:24", "192.0.2.1:24", "[::]:24", "mail.example.org:24", "127.0.0.1.example.org:24", "*:24"],
)
def test_only_this_machine_may_hand_mail_over(listen: str) -> None:
    with pytest.raises(ValidationError, match="this machine only"):
        reads(1, imap=None, lmtp={"listen": listen})


@pytest.mark.parametrize("listen", ["", "x", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":24"])
def test_a_place_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(ValidationError, match="the path of a unix socket"):
        reads(1, imap=None, lmtp={"listen": listen})


def test_a_path_that_no_socket_can_have_is_refused() -> None:
    with pytest.raises(ValidationError, match="at most 107"):
        reads(1, imap=None, lmtp={"listen": "/" + "x" * 107})


@pytest.mark.parametrize("listen", ["/run/answerback/lmtp", "127.0.0.1:24", "localhost:24", "[::1]:24"])
def test_these_are_places_of_this_machine(listen: str) -> None:
    provider = reads(1, imap=None, lmtp={"listen": listen})
    assert (provider.listens, provider.polls) == (True, False)


def test_there_is_one_intake() -> None:
    with pytest.raises(ValidationError, match="one of the two"):
        reads(1, lmtp={"listen": "127.0.0.1:24"})


async def test_without_one_nobody_listens(provider: Email) -> None:
    assert (reads(1).listens, reads(1).polls) == (False, True)
