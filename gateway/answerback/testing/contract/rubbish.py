"""What anybody on the internet may post to a webhook, and what becomes of a good request on a bad line."""

import base64
import dataclasses
import hashlib
from collections.abc import Iterator

from answerback.provider import Inbound

URL = "https://ask.example.org/in/contract"
BODIES = (
    b"",
    b" ",
    b"\x00\xff\xfe",
    b"null",
    b"0",
    b'"text"',
    b"[]",
    b"{}",
    b"[[]]",
    b'[{"a": null}]',
    b"{",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"9" * 5000,
    b'{"update_id": 1e999, "id": NaN, "message": [], "data": 7, "type": {}, "event": "\\ud800"}',
    b'{"a": 1, "a": 2}',
    b"a=1&a=2&=&&%ff%00",
    b"a=" + b"b" * 500_000,
    b"From: a\r\n\r\n\r\n",
    b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    base64.b85encode(hashlib.sha512(b"rubbish").digest() * 50),
)
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"content-type": "application/json", "authorization": "Bearer x", "x-signature": "sha256=00"},
    {"content-type": "é\x00", "x-hub-signature-256": "sha256=é", "x-slack-signature": "v0=", "date": "soon"},
)


def requests() -> Iterator[Inbound]:
    """Requests that nobody signed."""
    for number, body in enumerate(BODIES):
        headers = dict(HEADERS[number % len(HEADERS)])
        yield Inbound(body, url=f"{URL}?x=%00", headers=headers, query=(("x", "\x00"),), received_at=1)


def unsigned(good: Inbound) -> list[Inbound]:
    """A request without what proves where it comes from, and with something else in its place."""
    bare = dataclasses.replace(good, headers={}, query=(), url=good.url.partition("?")[0])
    others = {name: f"{value[::-1]}x" for name, value in good.headers.items()}
    changed = dataclasses.replace(good, headers=others, query=tuple((k, v[::-1]) for k, v in good.query))
    strange = dataclasses.replace(changed, headers=dict.fromkeys(good.headers, "é, \x00"))
    return [bare, changed, strange]


def tampered(good: Inbound) -> list[Inbound]:
    """A request whose body was changed on its way."""
    body = good.body
    return [
        dataclasses.replace(good, body=body + b" "),
        dataclasses.replace(good, body=body[:-1]),
        dataclasses.replace(good, body=b""),
        dataclasses.replace(good, body=_flipped(body, len(body) // 2)),
    ]


def damaged(good: Inbound) -> Iterator[Inbound]:
    """What a bug at the service, or a new version of it, might send in the place of a good event."""
    body = good.body
    step = max(1, len(body) // 40)
    for place in range(0, len(body), step):
        yield dataclasses.replace(good, body=body[:place])
        yield dataclasses.replace(good, body=_flipped(body, place))
    for value in (b"null", b"{}", b"[]", b"-1", b"true", b'"\\u0000"'):
        yield dataclasses.replace(good, body=body.replace(b'"', value, 1))


def _flipped(body: bytes, place: int) -> bytes:
    return body[:place] + bytes([body[place] ^ 0x15]) + body[place + 1 :] if body else b"x"
