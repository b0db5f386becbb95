"""Proof that a form post comes from our own page: a cookie of this browser, bound to this link.

A double submit: the page carries an HMAC of the link's token under the cookie's secret, so a page of
another site can neither read nor make it. The browser's own word (Sec-Fetch-Site, Origin) is checked
first. Our pages set `Referrer-Policy: no-referrer`, for which browsers send `Origin: null` with a
form post (Fetch, section 3.2), so a null origin proves nothing and refutes nothing.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

_SECRET = re.compile(r"[A-Za-z0-9_-]{32,64}")


@dataclass(frozen=True, slots=True)
class Proof:
    """What one page and its cookie carry. `fresh`: the browser does not have the cookie yet."""

    cookie: str
    secret: str
    field: str
    fresh: bool


def proof(request: Request, token: str) -> Proof:
    """The proof for a page about to be shown, with the browser's cookie if it has one for this link."""
    cookie = "answerback_" + hashlib.sha256(token.encode()).hexdigest()[:12]
    had = request.cookies.get(cookie, "")
    secret = had if _SECRET.fullmatch(had) else secrets.token_urlsafe(24)
    return Proof(cookie, secret, _field(secret, token), fresh=secret != had)


def set_cookie(response: Response, made: Proof, *, secure: bool) -> None:
    """Give the browser its cookie, for form pages only, never for requests from elsewhere."""
    if made.fresh:
        response.set_cookie(
            made.cookie, made.secret, path="/f/", secure=secure, httponly=True, samesite="strict"
        )


def genuine(request: Request, token: str, field: str, public_url: str) -> bool:
    """Whether a post comes from our page for `token`, in the browser that the page was shown in."""
    made = proof(request, token)
    return from_our_page(request, public_url) and not made.fresh and _same(made.field, field)


def from_our_page(request: Request, public_url: str) -> bool:
    """False if the browser itself says that another site posted this."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin", "null")
    return origin == "null" or origin == _origin(public_url)


def from_elsewhere(request: Request, public_url: str) -> bool:
    """Whether a browser sent this from a page that is not ours; programs say nothing about that."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    return site != "same-origin" or request.headers.get("origin", _origin(public_url)) != _origin(public_url)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _field(secret: str, token: str) -> str:
    return hmac.digest(secret.encode(), b"answerback form\0" + token.encode(), "sha256").hex()


def _same(made: str, given: str) -> bool:
    return hmac.compare_digest(made.encode(), given.encode("utf-8", "replace"))
