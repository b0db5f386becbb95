"""What a mail of ours is known by when something comes back: its id, and the token of its delivery."""

import hashlib
import re

MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,900}>")
TOKEN = re.compile(r"[a-z0-9_-]+")


def bounce_id(token: str) -> str:
    """What a mail is known by when it comes back, stored beside its Message-ID: no token."""
    return f"bounce:{hashlib.sha256(b'bounce:' + token.lower().encode()).hexdigest()[:32]}"
