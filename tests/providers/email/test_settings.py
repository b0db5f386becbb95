"""The settings of the mail provider: what is accepted, and what is said about the rest."""

from typing import Any

import pytest
from pydantic import ValidationError

from answerback_providers.email import EmailSettings, Security
from answerback_providers.email.addresses import mailbox

SMTP = {"host": "mail.example.org"}


def read(**values: Any) -> EmailSettings:
    return EmailSettings.model_validate({"address": "agent@example.org", "smtp": SMTP, **values})


def test_the_shortest_configuration_is_protected() -> None:
    smtp = read().smtp
    assert (smtp.security, smtp.at, smtp.timeout) == (Security.STARTTLS, 587, 25)


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("plain", 25)])
def test_each_protection_has_its_usual_port(security: str, port: int) -> None:
    assert read(smtp=SMTP | {"security": security}).smtp.at == port
    assert read(smtp=SMTP | {"security": security, "port": "2525"}).smtp.at == 2525


def test_values_are_converted_from_the_strings_of_a_file() -> None:
    smtp = read(smtp=SMTP | {"port": "587", "timeout": "12.5"}).smtp
    assert (smtp.port, smtp.timeout) == (587, 12.5)


def test_a_mailbox_for_answers_is_accepted_and_checked() -> None:
    imap = {"host": "mail.example.org", "username": "agent", "password": "secret"}
    accepted = read(authserv_id="mx.example.org", imap=imap).imap
    assert accepted is not None
    assert (accepted.security, accepted.at) == (Security.TLS, 993)
    with pytest.raises(ValidationError):
        read(imap=imap | {"folder": "INBOX"})


def test_passwords_are_not_shown() -> None:
    login = SMTP | {"username": "agent", "password": "hunter2"}
    assert "hunter2" not in repr(read(smtp=login, imap=login))
    with pytest.raises(ValidationError) as caught:
        read(smtp=login | {"port": "hunter3"})
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"address": "agent"},
        {"address": "Agent <agent@example.org>"},
        {"address": "agent@example.org\r\nBcc: x@y.example"},
        {"address": "jörg@example.org"},
        {"address": "a-very-long-name-for-a-mailbox@example.org"},
        {"smtp": {}},
        {"smtp": SMTP | {"security": "maybe"}},
        {"smtp": SMTP | {"port": "0"}},
        {"smtp": SMTP | {"port": "70000"}},
        {"smtp": SMTP | {"timeout": "0"}},
        {"smtp": SMTP | {"timeout": "60"}},
        {"smtp": SMTP | {"username": "agent"}},
        {"smtp": SMTP | {"password": "secret"}},
        {"smtp": {"host": "https://mail.example.org"}},
        {"smtp": {"host": "mail.example.org:587"}},
        {"smtp": {"host": "mail.example.org\r\nQUIT"}},
        {"smtp": SMTP | {"tls": "yes"}},
        {"subject": "x"},
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_sent(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(**values)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("alice@example.org", "alice@example.org"),
        (" Alice.B+x@EXAMPLE.org ", "Alice.B+x@example.org"),
        ("o'neil@example.org", "o'neil@example.org"),
        ("root@localhost", "root@localhost"),
        ("jörg@bücher.example", "jörg@xn--bcher-kva.example"),
    ],
)
def test_an_address_is_read_as_it_is_meant(written: str, meant: str) -> None:
    assert str(mailbox(written)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "a@",
        "@b",
        "a b@c.example",
        "a@b@c.example",
        '"a b"@c.example',
        "a..b@c.example",
        ".a@c.example",
        "a@-c.example",
        "a@c..example",
        "a@c.example.",
        "a@[127.0.0.1]",
        "=?utf-8?q?a?=@c.example",
        "a\u200b@c.example",
        "a\u202e@c.example",
        "a\x00@c.example",
        "\ud800@c.example",
        "a@\ud800.example",
        "x" * 65 + "@c.example",
        "a@" + "x" * 64 + ".example",
        "a@" + "xx." * 90 + "example",
        "a@straße.example",  # two standards spell this domain in two ways
    ],
)
def test_what_could_be_read_in_two_ways_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|domain|part before") as caught:
        mailbox(text)
    assert len(text) < 3 or text not in str(caught.value)
