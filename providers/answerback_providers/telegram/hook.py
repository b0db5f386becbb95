"""Our webhook at Telegram: set, and whether what people say gets here by it."""

import contextlib
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from pydantic import SecretStr
from telegram import Bot, WebhookInfo

from answerback_providers.telegram.faults import scrub

LATELY = timedelta(hours=1)  # Telegram tries what it could not bring again and again, more and more seldom
log = logging.getLogger(__name__)


async def set_webhook(bot: Bot, url: str, secret: SecretStr | None, updates: Sequence[str]) -> None:
    """Have these kinds of updates posted to `url`. Raises what the library does."""
    await bot.set_webhook(
        url,
        allowed_updates=updates,
        drop_pending_updates=False,
        secret_token=secret.get_secret_value() if secret else None,
    )


async def looked_after(
    bot: Bot, name: str, url: str, secret: SecretStr | None, updates: Sequence[str]
) -> str:
    """Why updates do not come; one that is gone is set again: whoever has the token can take it away."""
    info = await bot.get_webhook_info()
    if info.url:
        return trouble(info, url, bot.token, datetime.now(UTC))
    log.warning("%s: its webhook was gone, and is set again", name)
    await set_webhook(bot, url, secret, updates)
    return ""


def trouble(info: WebhookInfo, url: str, token: str, now: datetime) -> str:
    """Why updates do not come to `url`, as a sentence; "" if they do, as far as Telegram knows."""
    if _place(info.url) != _place(url):
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


def _place(url: str) -> tuple[str, str, int | None, str]:
    """What an address says, however its host is written: in capitals, with umlauts, with its port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode()
    port = None if parts.port == {"https": 443, "http": 80}.get(parts.scheme) else parts.port
    return parts.scheme, host, port, parts.path
