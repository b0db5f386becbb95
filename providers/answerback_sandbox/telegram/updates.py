"""The updates that wait for the bot: a queue with the Bot API's offset, and the long poll on it."""

from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from typing import Any

from answerback_sandbox.changes import Changes
from answerback_sandbox.telegram.errors import ApiError, conflict

RETENTION = 24 * 3600 * 1_000_000
LONG_POLL_MAX = 50
KEPT = 1000
NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
OTHER_POLLER = "terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_SET = "terminated by setWebhook request"


class Updates:
    """Updates in the order of their ids, kept for 24 hours (https://core.telegram.org/bots/api#getting-updates).

    `clock` gives microseconds since the Unix epoch.
    """

    def __init__(self, changes: Changes, clock: Callable[[], int], first_id: int) -> None:
        self._changes = changes
        self._clock = clock
        self._next_id = first_id
        self._waiting: OrderedDict[int, tuple[int, dict[str, Any]]] = OrderedDict()
        self._poller: object | None = None
        self._poller_ended = ""
        self.allowed: Collection[str] | None = None
        self.every: deque[dict[str, Any]] = deque(maxlen=KEPT)  # confirmed or not

    def __len__(self) -> int:
        self._forget_old()
        return len(self._waiting)

    @property
    def is_polled(self) -> bool:
        """Whether a long poll waits now."""
        return self._poller is not None

    def allows(self, kind: str) -> bool:
        """Whether the bot asked for updates of this kind; by default all but a few."""
        return kind in self.allowed if self.allowed else kind not in NOT_BY_DEFAULT

    def put(self, kind: str, body: dict[str, Any]) -> None:
        """Queue one update, unless the bot did not ask for its kind."""
        if self.allows(kind):
            update_id = self._next_id
            self._next_id += 1
            update = {"update_id": update_id, kind: body}
            self._waiting[update_id] = (self._clock(), update)
            self.every.append(update)
        self._changes.touch()

    def first(self) -> dict[str, Any] | None:
        """The oldest update, still unconfirmed."""
        self._forget_old()
        return next((update for _, update in self._waiting.values()), None)

    def confirm(self, update_id: int) -> None:
        """Forget one update: the webhook took it."""
        if self._waiting.pop(update_id, None) is not None:
            self._changes.touch()

    def clear(self) -> None:
        """Forget all updates (`drop_pending_updates`)."""
        self._waiting.clear()
        self._changes.touch()

    def read(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Up to `limit` updates from `offset` on; what is before a positive offset is confirmed.

        A negative offset keeps only that many from the end. An offset more than ten beyond the end counts as
        none, as in the Bot API server's queue.
        """
        self._forget_old()
        if offset < 0:
            self._drop(list(self._waiting)[:offset])
        elif 0 < offset <= self._next_id + 10:
            self._drop([update_id for update_id in self._waiting if update_id < offset])
        return [update for _, update in list(self._waiting.values())[:limit]]

    async def poll(self, offset: int, limit: int, timeout: int) -> list[dict[str, Any]]:
        """As `read`, waiting up to `timeout` seconds for the first update.

        Of two that wait, the newer goes on and the older ends with 409, as does any when a webhook is set.
        """
        updates = self.read(offset, limit)
        if updates or timeout <= 0:
            return updates
        self.end_poll(OTHER_POLLER)
        me = self._poller = object()
        self._changes.touch()
        try:
            await self._changes.wait_for(
                lambda: self._poller is not me or self._waiting or self._changes.closed,
                min(timeout, LONG_POLL_MAX),
            )
        except TimeoutError:
            return []
        else:
            self._check_still(me)
            return self.read(offset, limit)
        finally:
            if self._poller is me:
                self._poller = None

    def end_poll(self, reason: str) -> None:
        """End the long poll that waits, if any, with 409 and this reason."""
        if self._poller is not None:
            self._poller, self._poller_ended = None, reason
            self._changes.touch()

    def _check_still(self, me: object) -> None:
        if self._changes.closed:
            raise ApiError(500, "Internal Server Error: restart")
        if self._poller is not me:
            raise conflict(self._poller_ended)

    def _drop(self, update_ids: list[int]) -> None:
        for update_id in update_ids:
            del self._waiting[update_id]
        if update_ids:
            self._changes.touch()

    def _forget_old(self) -> None:
        horizon = self._clock() - RETENTION
        self._drop([update_id for update_id, (at, _) in self._waiting.items() if at < horizon])
