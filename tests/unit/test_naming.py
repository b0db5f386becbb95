"""Whether an account stands in raw bytes: as a whole, however the services write it."""

import pytest

from answerback.naming import stands_in


@pytest.mark.parametrize(
    ("raw", "id"),
    [
        (b'{"from":{"id":660700123,"is_bot":false}}', "660700123"),
        (b'{"message":"7000000001:660700123:9"}', "660700123"),
        (b"From=whatsapp%3A%2B43660700123&To=x", "+43660700123"),
        (b"To=whatsapp:+43660700123", "+43660700123"),
        (b'{"message_id":"+43 660 700/99"}', "+43 660 700"),
        (b"From: Carol <Carol@X.org>\r\n", "carol@x.org"),
        (b"Return-Path: <carol=x.org@lists.test>", "carol@x.org"),
        (b"mail of carol@x.org.", "carol@x.org"),
        (b'{"text":"ask\\ncarol@x.org"}', "carol@x.org"),
        (b'"\\u003ccarol@x.org\\u003e"', "carol@x.org"),
        (b"user%3AU12345&", "U12345"),
        ("von käthe@x.org".encode(), "käthe@x.org"),
        (b'"k\\u00e4the@x.org"', "käthe@x.org"),
        (b"xcarol@x.org carol@x.org", "carol@x.org"),
    ],
)
def test_an_account_that_stands_there_is_found(raw: bytes, id: str) -> None:
    assert stands_in(raw, id)


@pytest.mark.parametrize(
    ("raw", "id"),
    [
        (b'{"id":6607001234}', "660700123"),
        (b'{"id":1660700123}', "660700123"),
        (b'{"id":-660700123}', "660700123"),
        (b"To=whatsapp%3A%2B436607001234&", "+43660700123"),
        (b"<hi.carol@x.org> <hi-carol@x.org> <carol+carol@x.org>", "carol@x.org"),
        (b"<carol@x.org.uk> <carol@x.organic> <carol@x.org-x.test>", "carol@x.org"),
        (b'{"id":1001}', "1001"),
        (b"", "660700123"),
    ],
)
def test_one_that_is_only_a_piece_of_another_or_too_short_is_not(raw: bytes, id: str) -> None:
    assert not stands_in(raw, id)
