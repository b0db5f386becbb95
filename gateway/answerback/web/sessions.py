"""Who is signed in to the inbox: a cookie that says with which key and since when, under that key's own MAC.

Nothing is stored: whoever takes a key out of the configuration ends its sessions. The cookie is for requests
from our own pages only (SameSite=Strict), and each form carries a proof that it was made for this session.
Who is known without a key has no cookie: their forms carry a proof that they were made for them, not before
yesterday.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from answerback.web.services import ApiKey, Caller

COOKIE, PATH = "answerback_inbox", "/inbox"
MONTH = 30 * 86_400  # seconds
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Session:
    """Who somebody is, since when (microseconds), and the proof that their forms carry.

    `earlier` is the proof of forms that they were shown before; `ends`: whether they can sign out here.
    """

    caller: Caller
    since: int
    proof: str
    earlier: str = ""
    ends: bool = True


def begin(response: Response, key: ApiKey, since: int, *, secure: bool) -> None:
    """Sign in."""
    name = base64.urlsafe_b64encode(key.name.encode()).decode()
    value = f"{name}.{since}.{_mac(key, since, b'session')}"
    response.set_cookie(COOKIE, value, MONTH, path=PATH, secure=secure, httponly=True, samesite="strict")


def end(response: Response) -> None:
    """Sign out."""
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")


def session_of(request: Request, keys: Sequence[ApiKey]) -> Session | None:
    """Who is signed in; None for nobody, and for what is not ours."""
    name, _, rest = request.cookies.get(COOKIE, "").partition(".")
    since, _, mac = rest.partition(".")
    if not since.isascii() or not since.isdigit() or len(since) > 18:
        return None
    for key in keys:
        ours = base64.urlsafe_b64encode(key.name.encode()).decode() == name
        if ours and _same(_mac(key, int(since), b"session"), mac):
            return Session(key, int(since), _mac(key, int(since), b"form"))
    return None


def without_key(caller: Caller, now: int, secret: bytes) -> Session:
    """The session of somebody who is known anew with each request."""
    today = now // DAY
    proof, earlier = _proof(caller, today, secret), _proof(caller, today - 1, secret)
    return Session(caller, now, proof, earlier, ends=False)


def genuine(session: Session, field: str) -> bool:
    """Whether a post was made from a page that was shown in this session."""
    return _same(session.proof, field) or (bool(session.earlier) and _same(session.earlier, field))


def _mac(key: ApiKey, since: int, purpose: bytes) -> str:
    secret = key.sha256.strip().lower().encode()
    said = b"answerback inbox\0%b\0%b\0%d" % (purpose, key.name.encode(), since)
    return hmac.digest(secret, said, "sha256").hex()


def _proof(caller: Caller, day: int, secret: bytes) -> str:
    whose = hashlib.sha256(caller.name.encode()).digest() + hashlib.sha256(caller.contact.encode()).digest()
    return hmac.digest(secret, b"answerback inbox\0known\0%b\0%d" % (whose, day), "sha256").hex()


def _same(made: str, given: str) -> bool:
    return hmac.compare_digest(made.encode(), given.encode("utf-8", "replace"))
