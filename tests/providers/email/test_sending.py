"""Sending, against a real SMTP server: what arrives, how it is protected, and what each refusal means."""

import asyncio
import ssl
import traceback

import pytest
import trustme

from answerback.provider import Address, ConfigurationError, ProviderError, TryLater, Undeliverable
from answerback_providers.email import Email
from answerback_providers.email.provider import relay_id
from tests.providers.email.support import (
    PASSWORD,
    QUESTION,
    TOKEN,
    Mailroom,
    drop,
    email,
    hang,
    listener,
    mail_server,
    question,
    settings,
)


async def refused(provider: Email) -> ProviderError:
    """The error of one attempt; never with a secret or an address in its text or behind it."""
    with pytest.raises(ProviderError) as caught:
        await provider.send(QUESTION)
    told = "".join(traceback.format_exception(caught.value))
    for secret in (TOKEN, PASSWORD, "alice", "agent@"):
        assert secret not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


# ── what arrives ─────────────────────────────────────────────────────────────────────────────────


async def test_a_mail_arrives_as_it_was_built(plain_server: Mailroom) -> None:
    sent = await email(settings(port=plain_server.port)).send(
        question(title=".\n.dots and\r\n\r\nempty lines")
    )
    (mail,) = plain_server.mails
    assert mail.rcpt_tos == ["alice@example.org"]
    assert f"Message-ID: {sent.message_ids[0]}".encode() in mail.content
    assert b"\r\n.\r\n.dots and\r\n\r\nempty lines\r\n" in mail.content


async def test_bounces_come_back_to_an_address_that_names_the_delivery(plain_server: Mailroom) -> None:
    await email(settings(port=plain_server.port)).send(QUESTION)
    assert plain_server.mails[0].mail_from == f"agent+bounce-{TOKEN}@example.org"


async def test_two_mails_at_once_have_a_connection_each(plain_server: Mailroom) -> None:
    provider = email(settings(port=plain_server.port))
    await asyncio.gather(*(provider.send(question(delivery_id=str(n))) for n in range(5)))
    assert len(plain_server.mails) == 5


async def test_an_address_beyond_ascii_is_written_to_where_the_server_can() -> None:
    to = Address("email", "x", "jörg@bücher.example")
    async with mail_server(utf8=True) as room:
        await email(settings(port=room.port)).send(question(to=to))
    assert room.mails[0].rcpt_tos == ["jörg@xn--bcher-kva.example"]
    assert "SMTPUTF8" in room.mails[0].mail_options
    assert "\r\nTo: jörg@xn--bcher-kva.example\r\n".encode() in (room.mails[0].original_content or b"")


async def test_an_address_beyond_ascii_is_undeliverable_where_the_server_cannot(
    plain_server: Mailroom,
) -> None:
    with pytest.raises(Undeliverable, match="SMTPUTF8"):
        await email(settings(port=plain_server.port)).send(
            question(to=Address("email", "x", "jörg@b.example"))
        )
    assert plain_server.verbs == ["QUIT"]


@pytest.mark.parametrize(
    "place", ["", "alice", "a@b@c", "a b@c.example", "a@b.example\r\nRCPT TO:<x@y>", "<a@b>"]
)
async def test_what_is_not_an_address_is_never_sent_anywhere(plain_server: Mailroom, place: str) -> None:
    with pytest.raises(Undeliverable) as caught:
        await email(settings(port=plain_server.port)).send(question(to=Address("email", "x", place)))
    assert caught.value.address_dead
    assert not plain_server.verbs


async def test_a_failing_goodbye_changes_nothing(plain_server: Mailroom) -> None:
    plain_server.answers["QUIT"] = drop
    assert (await email(settings(port=plain_server.port)).send(QUESTION)).message_ids


def test_the_id_that_amazon_gives_a_mail_is_known_too() -> None:
    receipt = "Ok 0100019a3f2b4c5d-0a1b2c3d-000000"
    assert (
        relay_id("email-smtp.eu-west-1.amazonaws.com", receipt) == f"<{receipt[3:]}@eu-west-1.amazonses.com>"
    )
    assert relay_id("email-smtp.us-east-1.amazonaws.com", receipt) == f"<{receipt[3:]}@email.amazonses.com>"
    assert relay_id("mail.example.org", receipt) == ""
    assert relay_id("email-smtp.eu-west-1.amazonaws.com", "2.0.0 queued as 4B2F") == ""


# ── protection ───────────────────────────────────────────────────────────────────────────────────


async def test_starttls_is_used_and_the_certificate_checked(starttls_server: Mailroom, ca_file: str) -> None:
    server = {"port": starttls_server.port, "security": "starttls", "ca_file": ca_file}
    await email(settings(**server, username="agent", password=PASSWORD)).send(QUESTION)
    assert starttls_server.encrypted
    assert starttls_server.verbs == ["AUTH", "MAIL", "RCPT", "DATA", "QUIT"]


async def test_tls_from_the_first_byte(tls_server: Mailroom, ca_file: str) -> None:
    await email(settings(port=tls_server.port, security="tls", ca_file=ca_file)).send(QUESTION)
    assert tls_server.encrypted
    assert len(tls_server.mails) == 1


@pytest.mark.parametrize("refusal", [None, "502 5.5.1 not here", "454 4.7.0 not now"])
async def test_without_starttls_nothing_is_sent_in_clear(refusal: str | None) -> None:
    offer = "250-old.test\r\n250-STARTTLS\r\n250 AUTH PLAIN" if refusal else "250-old.test\r\n250 AUTH PLAIN"
    script = {"EHLO": offer, "STARTTLS": refusal or "", "QUIT": "221 bye"}
    async with listener(script) as (port, heard):
        sure = settings(port=port, security="starttls", username="agent", password=PASSWORD)
        error = await refused(email(sure))
    assert isinstance(error, TryLater)
    assert "STARTTLS" in error.reason
    assert {line.split()[0] for line in heard} <= {"EHLO", "STARTTLS", "QUIT"}


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_of_a_stranger_is_refused(certificate: ssl.SSLContext, security: str) -> None:
    async with mail_server(**{security: certificate}) as room:
        error = await refused(
            email(settings(port=room.port, security=security, username="a", password=PASSWORD))
        )
    assert isinstance(error, TryLater)
    assert "certificate" in error.reason
    assert room.verbs == []


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_for_another_name_is_refused(
    authority: trustme.CA, ca_file: str, security: str
) -> None:
    other = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("mail.elsewhere.example").configure_cert(other)
    async with mail_server(**{security: other}) as room:
        error = await refused(email(settings(port=room.port, security=security, ca_file=ca_file)))
    assert "certificate" in str(error)
    assert room.verbs == []


async def test_a_ca_file_that_cannot_be_read_is_a_fault_of_the_configuration(tmp_path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for path in (str(empty), str(tmp_path / "missing.pem")):
        with pytest.raises(ConfigurationError, match=r"providers\.email\.smtp\.ca_file"):
            await email(settings(ca_file=path)).open()


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", ["MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize(
    "code", ["421 4.3.2 going down", "450 4.2.0 greylisted <alice@example.org>", "451", "452"]
)
async def test_a_temporary_refusal_is_tried_again(plain_server: Mailroom, verb: str, code: str) -> None:
    plain_server.answers[verb] = code
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, TryLater)
    assert not error.maybe_sent
    assert error.seconds >= 30
    assert code[:3] in error.reason


@pytest.mark.parametrize(
    "answer",
    [
        "550 5.1.1 <alice@example.org>: no such user",
        "550 no such user",
        "551 moved away",
        "553 mailbox name not allowed",
        "550 5.2.1 mailbox disabled",
        "556 5.1.10 accepts no mail",
    ],
)
async def test_an_unknown_recipient_is_a_dead_address(plain_server: Mailroom, answer: str) -> None:
    plain_server.answers["RCPT"] = answer
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, Undeliverable)
    assert error.address_dead


@pytest.mark.parametrize(
    "answer", ["550 5.7.1 relaying denied", "552 5.2.2 mailbox full", "554 5.7.1 blocked", "501 syntax"]
)
async def test_a_refusal_for_another_reason_leaves_the_address_alive(
    plain_server: Mailroom, answer: str
) -> None:
    plain_server.answers["RCPT"] = answer
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, Undeliverable)
    assert not error.address_dead


async def test_a_refused_content_will_never_arrive(plain_server: Mailroom) -> None:
    plain_server.answers["DATA"] = "554 5.7.1 looks like spam"
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, Undeliverable)
    assert not error.address_dead
    plain_server.answers["DATA"] = "550 5.1.1 no such user"
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, Undeliverable)
    assert error.address_dead


async def test_a_refused_sender_waits_for_somebody_to_repair_it(plain_server: Mailroom) -> None:
    plain_server.answers["MAIL"] = f"553 5.7.1 <agent+bounce-{TOKEN}@example.org> not owned by user"
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, TryLater)
    assert error.seconds >= 600
    assert "may send from the configured address" in error.reason


async def test_a_wrong_password_waits_for_somebody_to_repair_it(
    starttls_server: Mailroom, ca_file: str
) -> None:
    server = {"port": starttls_server.port, "security": "starttls", "ca_file": ca_file}
    error = await refused(email(settings(**server, username="agent", password="wrong")))
    assert isinstance(error, TryLater)
    assert error.seconds >= 600
    assert "Check username and password" in error.reason
    assert "MAIL" not in starttls_server.verbs


async def test_a_server_that_wants_a_sign_in_says_so(plain_server: Mailroom) -> None:
    plain_server.needs_sign_in = True
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, TryLater)
    assert "530 5.7.0" in error.reason


async def test_a_server_that_knows_no_sign_in_says_so() -> None:
    async with listener({"EHLO": "250 old.test", "QUIT": "221 bye"}) as (port, heard):
        error = await refused(email(settings(port=port, username="agent", password=PASSWORD)))
    assert isinstance(error, TryLater)
    assert "no way to sign in" in error.reason
    assert len(heard) == 1


# ── silence ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_connection_that_breaks_before_the_content_was_not_sent(plain_server: Mailroom) -> None:
    for verb in ("MAIL", "RCPT"):
        plain_server.answers = {verb: drop}
        error = await refused(email(settings(port=plain_server.port)))
        assert isinstance(error, TryLater)
        assert not error.maybe_sent


async def test_a_connection_that_breaks_after_the_content_may_have_been_sent(plain_server: Mailroom) -> None:
    plain_server.answers["DATA"] = drop
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, TryLater)
    assert error.maybe_sent


async def test_a_server_that_hangs_after_the_content_may_have_it(plain_server: Mailroom) -> None:
    plain_server.answers["DATA"] = hang
    error = await refused(email(settings(port=plain_server.port, timeout=0.5)))
    assert isinstance(error, TryLater)
    assert error.maybe_sent


async def test_a_server_that_hangs_at_the_recipient_does_not_have_it(plain_server: Mailroom) -> None:
    plain_server.answers["RCPT"] = hang
    error = await refused(email(settings(port=plain_server.port, timeout=0.5)))
    assert isinstance(error, TryLater)
    assert not error.maybe_sent


async def test_a_server_that_is_not_there_is_tried_again(plain_server: Mailroom) -> None:
    async with listener({}) as (port, _):
        pass  # closed again: nobody listens on this port now
    error = await refused(email(settings(port=port)))
    assert isinstance(error, TryLater)
    assert f"localhost:{port} cannot be reached" in error.reason


@pytest.mark.parametrize(
    "greeting", ["421 too many connections", "554 no mail from you", "hello?", "220-" + "x" * 9000]
)
async def test_a_strange_greeting_is_tried_again(greeting: str) -> None:
    async with listener({}, greeting) as (port, heard):
        assert isinstance(await refused(email(settings(port=port))), TryLater)
    assert not heard


async def test_a_strange_answer_to_the_content_may_have_been_a_yes(plain_server: Mailroom) -> None:
    plain_server.answers["DATA"] = "299 fine, I think"
    error = await refused(email(settings(port=plain_server.port)))
    assert isinstance(error, TryLater)
    assert error.maybe_sent


# ── before anything is sent ──────────────────────────────────────────────────────────────────────


async def test_opening_signs_in_and_sends_nothing(plain_server: Mailroom) -> None:
    provider = email(settings(port=plain_server.port))
    await provider.open()
    assert plain_server.verbs == ["QUIT"]
    await provider.close()


async def test_opening_without_a_server_is_tried_again() -> None:
    async with listener({}) as (port, _):
        pass
    with pytest.raises(TryLater, match="cannot be reached"):
        await email(settings(port=port)).open()


async def test_probe_says_how_the_server_is_reached_and_that_mail_is_not_read(
    starttls_server: Mailroom, ca_file: str
) -> None:
    server = {"port": starttls_server.port, "security": "starttls", "ca_file": ca_file}
    said = await email(settings(**server, username="agent", password=PASSWORD)).probe()
    assert said == (
        f"localhost:{starttls_server.port} answers: STARTTLS with a valid certificate, signed in. "
        "Mail is sent, but not read: answers come through the form."
    )
    assert starttls_server.verbs == ["AUTH", "QUIT"]


def test_what_the_provider_can_do_is_what_it_overrides() -> None:
    assert not any(Email.can(it) for it in ("update", "verify", "acknowledge"))
    assert all(Email.can(it) for it in ("probe", "poll", "parse", "fetch"))


def test_a_provider_without_a_mailbox_is_not_polled() -> None:
    assert not email(settings()).polls
