"""Signatures of what is posted to others: Standard Webhooks 1.0.0 (standard-webhooks.md), symmetric."""

import base64
import binascii
import hmac

PREFIX = "whsec_"
SHORTEST, LONGEST = 24, 64  # bytes of a key: standard-webhooks.md, "Signature scheme"


def key_of(secret: str) -> bytes:
    """The key in a secret such as `whsec_…` (base64). Raises ValueError for what is none."""
    text = secret.strip()
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(PREFIX) or not SHORTEST <= len(key) <= LONGEST:
        raise ValueError(f"a signing secret is {PREFIX} and {SHORTEST} to {LONGEST} random bytes in base64.")
    return key


def secret_of(key: bytes) -> str:
    """A key as it is handed to a receiver."""
    return PREFIX + base64.b64encode(key).decode()


def headers(key: bytes, id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The three headers of one event. `id` is the event's own, `seconds` the time of this attempt."""
    signed = b".".join((id.encode(), str(seconds).encode(), body))
    signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{signature}",
    }
