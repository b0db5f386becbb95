"""What Telegram says of our webhook: whether what people write gets here. Pure."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from telegram import WebhookInfo

from answerback_providers.telegram.faults import scrub

LATELY = timedelta(hours=1)  # Telegram tries what it could not bring again and again, more and more seldom


def trouble(info: WebhookInfo, url: str, token: str, now: datetime) -> str:
    """Why updates do not come to `url`, as a sentence; "" if they do, as far as Telegram knows."""
    if info.url != url:
        there = urlsplit(info.url).hostname or "another address"
        return (
            f"Another program has Telegram bring what people say to {there}. One bot serves one gateway: "
            "stop the other one, or give it a bot of its own."
        )
    failed = info.last_error_date
    if not info.pending_update_count or failed is None or now - failed.astimezone(UTC) > LATELY:
        return ""
    why = scrub(info.last_error_message or "no reason", token)
    return (
        f"Telegram cannot bring what people say to {url} ({why}). {info.pending_update_count} "
        "wait there. Check public_url, and that it can be reached from outside."
    )
