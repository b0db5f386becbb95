"""Tokens: unguessable per-delivery secrets, derived from the installation's secret and stored hashed."""

import base64
import functools
import hashlib
import hmac
import secrets

LENGTH = 26  # base32 of 128 bits, without padding


class Tokens:
    """Derives a delivery's token, so that a retry or a reminder carries the same one."""

    def __init__(self, secret: bytes, public_url: str) -> None:
        self._secret, self._public_url = secret, public_url.rstrip("/")
        self._recent = functools.lru_cache(maxsize=1024)(self._made)  # a message needs its token five times

    def of(self, delivery_id: str) -> str:
        """128 bits as 26 lower-case letters and digits: mail servers lower-case local parts."""
        return self._recent(delivery_id)

    def _made(self, delivery_id: str) -> str:
        raw = hmac.digest(self._secret, b"delivery:" + delivery_id.encode(), "sha256")[:16]
        return base64.b32encode(raw).decode().rstrip("=").lower()

    def form_url(self, delivery_id: str) -> str:
        return f"{self._public_url}/f/{self.of(delivery_id)}"

    @property
    def signing_key(self) -> bytes:
        """What signs events for others, unless the configuration has a key for that: 32 bytes."""
        return hmac.digest(self._secret, b"signing", "sha256")

    @property
    def form_key(self) -> bytes:
        """What marks the forms of pages that are shown to somebody who has no session: 32 bytes."""
        return hmac.digest(self._secret, b"forms", "sha256")

    @property
    def fingerprint(self) -> str:
        """Tells two secrets apart without telling either."""
        return hmac.digest(self._secret, b"fingerprint", "sha256").hex()[:32]


def hashed(token: str) -> str:
    """How a token is stored and looked up. Hex; the token has 128 bits, so a plain SHA-256 does."""
    return hashlib.sha256(token.lower().encode()).hexdigest()


def hashed_code(delivery_id: str, code: str) -> str:
    """How a six-digit code is stored: salted with its delivery."""
    return hashlib.sha256(f"{delivery_id}:{code}".encode()).hexdigest()


def new_secret() -> str:
    """128 random bits, URL-safe."""
    return secrets.token_urlsafe(16)


def six_digits() -> str:
    return f"{secrets.randbelow(1_000_000):06d}"
