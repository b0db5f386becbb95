"""The webhook: updates are posted to the bot one after the other, each until it is answered with 2xx.

https://core.telegram.org/bots/api#setwebhook
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import Faults
from answerback_sandbox.loopback import host_of, is_loopback
from answerback_sandbox.telegram.errors import bad_request
from answerback_sandbox.telegram.updates import WEBHOOK_SET, Updates
from answerback_sandbox.telegram.wire import Json, seconds

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where updates go; `secret` is kept out of the repr."""

    url: str
    secret: str = ""
    max_connections: int = 40

    def __repr__(self) -> str:
        return f"Webhook(max_connections={self.max_connections})"


def checked(url: str, secret: str, max_connections: int) -> Webhook:
    """A webhook for these arguments. Raises ApiError 400.

    Telegram asks for https; here it is http or https to loopback, so that nothing ever leaves the machine.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in ("http", "https") or not is_loopback(host_of(rest.partition("/")[0])):
        raise bad_request("bad webhook: the sandbox posts to loopback addresses only")
    if len(secret) > 256:
        raise bad_request("secret token is too long")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", secret):
        raise bad_request("secret token contains unallowed characters")
    return Webhook(url, secret, max_connections)


class Courier:
    """Posts updates to the webhook that is set, in order, and remembers the last failure."""

    def __init__(
        self,
        updates: Updates,
        changes: Changes,
        faults: Faults,
        clock: Callable[[], int],
        retry_seconds: float,
    ) -> None:
        self._updates = updates
        self._changes = changes
        self._faults = faults
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._last_error: tuple[int, str] | None = None
        self.webhook: Webhook | None = None

    def set(self, webhook: Webhook | None) -> None:
        """From now on post to this webhook, or to none."""
        if webhook is not None:
            self._updates.end_poll(WEBHOOK_SET)
        self.webhook, self._last_error = webhook, None
        self._changes.touch()

    def info(self) -> Json:
        """https://core.telegram.org/bots/api#webhookinfo"""
        fields: Json = {
            "url": self.webhook.url if self.webhook else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self._updates),
        }
        if self.webhook is not None:
            fields |= {"max_connections": self.webhook.max_connections, "ip_address": "127.0.0.1"}
        if self._last_error is not None:
            fields |= {
                "last_error_date": seconds(self._last_error[0]),
                "last_error_message": self._last_error[1],
            }
        if self._updates.allowed:
            fields["allowed_updates"] = list(self._updates.allowed)
        return fields

    async def run(self) -> None:
        """Deliver until the sandbox closes."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
            while True:
                await self._changes.wait_for(self._has_work, None)
                if self._changes.closed:
                    return
                await self._deliver_first(session)

    def _has_work(self) -> bool:
        return self._changes.closed or (self.webhook is not None and len(self._updates) > 0)

    async def _deliver_first(self, session: aiohttp.ClientSession) -> None:
        webhook, update = self.webhook, self._updates.first()
        wait = 0.0
        while webhook is not None and update is not None and not self._changes.closed:
            asked_to_wait = await self._post(session, webhook, update)
            if asked_to_wait is None:
                if self._faults.take_duplicate():
                    await self._post(session, webhook, update)
                return self._updates.confirm(update["update_id"])
            await self._pause(asked_to_wait or wait, webhook)
            wait = min(LONGEST_WAIT, wait * 2 or self._retry_seconds)
            webhook, update = self.webhook, self._updates.first()

    async def _post(
        self, session: aiohttp.ClientSession, webhook: Webhook, update: dict[str, Any]
    ) -> float | None:
        """None if the bot took the update, else how many seconds it asks to wait (0 if it does not say)."""
        headers = {SECRET_HEADER: webhook.secret} if webhook.secret else {}
        try:
            async with session.post(
                webhook.url, json=update, headers=headers, allow_redirects=False
            ) as response:
                if 200 <= response.status <= 299:
                    return None
                self._failed(f"Wrong response from the webhook: {response.status} {response.reason}")
                asked = response.headers.get("Retry-After", "")
                return min(float(asked), 3600.0) if asked.isdecimal() else 0.0
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._failed("Connection refused" if isinstance(error, OSError) else "Webhook connection closed")
            return 0.0

    def _failed(self, reason: str) -> None:
        self._last_error = (self._clock(), reason)
        self._changes.touch()

    async def _pause(self, wait: float, webhook: Webhook) -> None:
        try:
            await self._changes.wait_for(lambda: self._changes.closed or self.webhook is not webhook, wait)
        except TimeoutError:
            return
