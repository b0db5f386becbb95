"""The mail that is built: its headers are ours and only ours, whatever a message contains."""

import email
import email.policy
import re
from email.message import EmailMessage

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerback.provider import Address, MessageKind, Undeliverable
from answerback_providers.email import EmailSettings
from answerback_providers.email.compose import Mail, compose, subject
from tests.providers.email.support import QUESTION, TOKEN, question, settings

AT = 1_760_000_000_000_000  # 2025-10-09 08:53:20 UTC
OWN = settings()


def read(mail: Mail) -> EmailMessage:
    return email.message_from_bytes(mail.content, policy=email.policy.default)


def named(name: str) -> EmailSettings:
    return OWN.model_copy(update={"name": name})


# ── headers ──────────────────────────────────────────────────────────────────────────────────────


def test_the_headers_are_these() -> None:
    earlier = ("<one@example.org>", "<two@example.org>")
    mail = compose(question(reply_to=earlier), named("Research agent"), AT)
    assert [(name, str(value)) for name, value in read(mail).items()][:-2] == [
        ("From", "Research agent <agent@example.org>"),
        ("Subject", "Search for “PSR best costing practices”? [#K7Q2]"),
        ("To", "alice@example.org"),
        ("Reply-To", f"agent+{TOKEN}@example.org"),
        ("Date", "Thu, 09 Oct 2025 08:53:20 +0000"),
        ("Message-ID", mail.id),
        ("In-Reply-To", "<two@example.org>"),
        ("References", "<one@example.org> <two@example.org>"),
        ("Auto-Submitted", "auto-generated"),
        ("X-Auto-Response-Suppress", "OOF, AutoReply"),
    ]


def test_the_envelope_takes_bounces_back_to_the_delivery() -> None:
    mail = compose(QUESTION, OWN, AT)
    assert (mail.sender, mail.recipient) == (f"agent+bounce-{TOKEN}@example.org", "alice@example.org")


def test_without_a_token_replies_and_bounces_come_back_to_the_address_itself() -> None:
    mail = compose(question(token=""), OWN, AT)
    assert mail.sender == "agent@example.org"
    assert "Reply-To" not in read(mail)


def test_tokens_and_addresses_are_not_in_the_repr() -> None:
    shown = repr(compose(QUESTION, OWN, AT))
    assert TOKEN not in shown
    assert "alice" not in shown


def test_the_id_is_the_same_each_time_a_delivery_is_tried_and_differs_between_deliveries() -> None:
    first, again = compose(QUESTION, OWN, AT), compose(QUESTION, OWN, AT + 1)
    other = compose(question(delivery_id="delivery-2"), OWN, AT)
    unknown = compose(question(delivery_id=""), OWN, AT), compose(question(delivery_id=""), OWN, AT)
    assert first.id == again.id
    assert len({first.id, other.id, unknown[0].id, unknown[1].id}) == 4
    assert first.id.endswith("@example.org>")


def test_long_ids_stay_whole_so_that_threads_do_not_break() -> None:
    ids = tuple(f"<{'x' * 200}.{n}@email.example>" for n in range(5))
    mail = compose(question(reply_to=ids), OWN, AT)
    for known in ids:
        assert f"{known}\r\n".encode() in mail.content
    assert read(mail)["References"].split() == list(ids)


def test_what_is_not_a_message_id_is_no_reference() -> None:
    mail = compose(question(reply_to=("17", "<a@b>\r\nBcc: x@y.example", "")), OWN, AT)
    assert "References" not in read(mail)
    assert "In-Reply-To" not in read(mail)


def test_lines_with_encoded_words_have_at_most_76_characters() -> None:
    mail = compose(question(title="Почему так? " * 9), named("Ünïcode Näme, Ltd. " * 5), AT)
    head = mail.content.partition(b"\r\n\r\n")[0]
    assert max(len(row) for row in head.split(b"\r\n") if b"=?" in row) <= 76
    assert max(len(row) for row in mail.content.partition(b"\r\n\r\n")[2].split(b"\r\n")) <= 76
    assert mail.content.isascii()


@pytest.mark.parametrize("token", ["a b", "a@b", "é", "a\r\nb", "x" * 60])
def test_a_token_that_fits_no_address_is_refused_without_being_quoted(token: str) -> None:
    with pytest.raises(Undeliverable) as caught:
        compose(question(token=token), OWN, AT)
    assert token not in str(caught.value)


# ── the subject ──────────────────────────────────────────────────────────────────────────────────


def test_the_subject_is_the_question_and_the_code() -> None:
    assert subject(question(title="Deploy now?")) == "Deploy now? [#K7Q2]"


def test_a_subject_that_already_has_the_code_has_it_once() -> None:
    assert subject(question(subject="Deploy now? [#K7Q2]")) == "Deploy now? [#K7Q2]"


def test_a_long_question_is_cut_at_60_characters() -> None:
    long = subject(question(title="Which of these should I take? " * 10))
    assert long.endswith("… [#K7Q2]")
    assert len(long.removesuffix(" [#K7Q2]")) <= 60


def test_without_a_code_the_subject_is_the_question_alone() -> None:
    assert subject(question(title="Report ready", code="")) == "Report ready"


# ── nothing can be injected ──────────────────────────────────────────────────────────────────────

HOSTILE = st.sampled_from(
    [
        "\r\nBcc: evil@x.example\r\n",
        "\nBcc: evil@x.example",
        "\rTo: evil@x.example",
        "\x0bBcc: evil@x.example",
        "\x85Bcc: evil@x.example",
        "\u2028Bcc: evil@x.example",
        "=?utf-8?q?x=0D=0ABcc:_evil@x.example?=",
        "=?utf-8?b?eA0KQmNjOiBldmlsQHgub3Jn?=",
        "=?",
        "?=",
        "=",
        "?",
        "\r\n\r\n",
        "\r\n.\r\nMAIL FROM:<evil@x.example>\r\n",
        '"<evil@x.example>, ',
        "\\",
        ",",
        ";",
        "(",
        "\x00",
        "\ud800",
        "\udc80",
        "\x1b[2J",
        "é",
        "🟦",
        " ",
        "\t",
        "a" * 70,
        "я" * 30,
    ]
)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
TEXT = st.lists(st.one_of(HOSTILE, ANYTHING), max_size=5).map("".join)


@hypothesis.settings(deadline=None)
@given(title=TEXT, heading=TEXT, about=TEXT, name=TEXT, code=TEXT, language=TEXT, reference=TEXT)
def test_no_text_anywhere_changes_the_headers(
    title: str, heading: str, about: str, name: str, code: str, language: str, reference: str
) -> None:
    message = question(
        title=title,
        heading=heading,
        subject=about,
        code=code,
        language=language,
        body=title,
        footer=heading,
        placeholder=about,
        fields=((name, code),),
        reply_to=(reference, "<one@example.org>"),
    )
    mail = compose(message, named(name), AT)
    parsed = read(mail)
    expected = ["From", "Subject", "To", "Reply-To", "Date", "Message-ID", "In-Reply-To", "References"]
    expected += ["Auto-Submitted", "X-Auto-Response-Suppress", "Content-Type", "MIME-Version"]
    head = mail.content.partition(b"\r\n\r\n")[0]
    fields = [row.partition(b":")[0].decode() for row in head.split(b"\r\n") if row[:1] not in (b" ", b"\t")]
    assert sorted(fields) == sorted(parsed.keys()) == sorted(expected)
    assert [one.addr_spec for one in parsed["From"].addresses] == ["agent@example.org"]
    assert [one.addr_spec for one in parsed["To"].addresses] == ["alice@example.org"]
    assert [one.addr_spec for one in parsed["Reply-To"].addresses] == [f"agent+{TOKEN}@example.org"]
    assert str(parsed["Subject"]).split() == subject(message).split()
    assert mail.content.isascii()
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", mail.content)
    assert max(map(len, mail.content.split(b"\r\n"))) <= 998


@hypothesis.settings(deadline=None)
@given(place=TEXT)
def test_no_text_for_an_address_reaches_another_one(place: str) -> None:
    try:
        mail = compose(question(to=Address("email", "x", place)), OWN, AT)
    except Undeliverable:
        return
    parsed = email.message_from_bytes(mail.content, policy=email.policy.SMTPUTF8)
    assert len(parsed["To"].addresses) == 1
    assert mail.recipient.count("@") == 1
    assert not re.search(r"[\s<>,;:\"\\()]", mail.recipient)


@hypothesis.settings(deadline=None)
@given(text=TEXT)
def test_what_is_read_in_the_body_is_what_was_written(text: str) -> None:
    plain = read(compose(question(kind=MessageKind.NOTICE, body=text), OWN, AT)).get_body(("plain",))
    assert plain is not None
    words = [word for word in re.split(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+", text) if word]
    assert all(word in plain.get_content() for word in words)
