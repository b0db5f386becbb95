"""A mailbox is read over a connection that is protected as configured, or not at all (a real Dovecot)."""

import pytest

from answerback.provider import TryLater
from answerback_providers.email import Email
from tests.providers.email.dovecot import EXPIRED, GOOD, PASSWORD, SELF_SIGNED, Box
from tests.providers.email.mailbox import Gate, gate, reads, signs_in, texts
from tests.providers.email.replies import vouched
from tests.providers.email.support import listener

SECURE = pytest.mark.parametrize("security", ["tls", "starttls"])


def sure(mailbox: Box, security: str, host: str = "localhost", **more: str | int) -> Email:
    """A provider that trusts the authority of the test's server, unless told otherwise."""
    port = mailbox.server.imaps if security == "tls" else mailbox.server.imap
    given = {"port": port, "ca_file": mailbox.server.ca_file, **more}
    return reads(1, imap=signs_in(mailbox.user, host=host, security=security, **given))


async def refused(provider: Email) -> TryLater:
    """Why nothing can be read; never with the password in it or behind it."""
    with pytest.raises(TryLater) as caught:
        await provider.poll("", 0)
    await provider.close()
    assert PASSWORD not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    return caught.value


@SECURE
async def test_a_mailbox_is_read_over_tls_with_the_authority_that_ca_file_names(
    mailbox: Box, security: str
) -> None:
    await mailbox.deliver(vouched("yes"))
    provider = sure(mailbox, security)
    assert texts(provider, await provider.poll("", 0)) == ["yes"]
    await provider.close()


async def test_nothing_passes_in_clear_after_starttls(mailbox: Box) -> None:
    async with gate(mailbox) as way:
        await mailbox.deliver(vouched("yes"))
        provider = sure(mailbox, "starttls", port=way.port)
        assert texts(provider, await provider.poll("", 0)) == ["yes"]
        await provider.close()
    assert b"STARTTLS" in spoken(way) <= {b"CAPABILITY", b"STARTTLS"}
    assert PASSWORD.encode() not in way.heard and mailbox.user.encode() not in way.heard


@SECURE
@pytest.mark.parametrize(
    ("host", "why", "remedy"),
    [
        (GOOD, "it is for another name", "issued for as host"),
        (EXPIRED, "it has expired", "renewed on the mail server"),
        (SELF_SIGNED, "nobody whom this machine trusts vouches for it", "in ca_file"),
    ],
    ids=["another name", "expired", "self-signed"],
)
async def test_a_certificate_that_proves_nothing_is_refused_with_what_to_do(
    mailbox: Box, security: str, host: str, why: str, remedy: str
) -> None:
    error = await refused(sure(mailbox, security, host))
    assert f"is not accepted: {why}. Nothing was sent. " in str(error) and remedy in str(error)
    assert error.seconds >= 600  # somebody has to repair it


@SECURE
async def test_the_certificate_of_an_authority_of_your_own_is_not_trusted_unless_told(
    mailbox: Box, security: str
) -> None:
    assert "vouches for it" in str(await refused(sure(mailbox, security, ca_file="")))


async def test_before_a_certificate_is_accepted_nothing_is_said_but_starttls(mailbox: Box) -> None:
    async with gate(mailbox) as way:
        await refused(sure(mailbox, "starttls", GOOD, port=way.port))
    assert b"STARTTLS" in spoken(way) <= {b"CAPABILITY", b"STARTTLS"}
    assert PASSWORD.encode() not in way.heard


async def test_whoever_takes_starttls_away_on_the_line_learns_nothing(mailbox: Box) -> None:
    async with gate(mailbox, b"STARTTLS", b"XSTARTTL") as way:
        error = await refused(sure(mailbox, "starttls", port=way.port))
    assert "does not offer STARTTLS; nothing was sent in clear" in str(error)
    assert spoken(way) <= {b"CAPABILITY", b"LOGOUT"}


async def test_a_port_that_speaks_no_tls_is_told_from_one_that_is_away(mailbox: Box) -> None:
    error = await refused(sure(mailbox, "tls", port=mailbox.server.imap))
    assert "Check the port and security" in str(error)


@SECURE
async def test_a_server_that_promises_tls_and_then_talks_in_clear_hears_no_password(
    mailbox: Box, security: str
) -> None:
    async with listener({}, "* OK [CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN] ready") as (port, heard):
        await refused(sure(mailbox, security, port=port))
    assert PASSWORD not in "".join(heard) and mailbox.user not in "".join(heard)


def spoken(way: Gate) -> set[bytes]:
    """The commands that passed in clear."""
    lines = [line.split() for line in way.heard.split(b"\r\n")]
    return {words[1].upper() for words in lines if len(words) == 2 and words[1].isalpha()}
