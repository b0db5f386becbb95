"""Reads for callers: one interaction, lists of them, and waiting for an answer."""

from answerback.context import Context
from answerback.errors import NotFound
from answerback.metrics import Gauge
from answerback.model import Contact, Interaction, InteractionStatus, Json
from answerback.paging import Page, page_of
from answerback.store import contacts, interactions

COUNTED = 10_000  # a million would take up to a second of a reading connection
LOOK_AGAIN = 2.0  # seconds: another process may have taken the answer


class Reader:
    """Reads only."""

    def __init__(self, context: Context, look_again: float = LOOK_AGAIN) -> None:
        self._context, self._look_again = context, look_again

    async def interaction(self, id: str) -> Interaction:
        """A record, or `NotFound`."""
        record = await self._context.store.read(lambda tx: interactions.get(tx, id))
        if record is None:
            raise NotFound("There is no interaction with this id.")
        return record

    async def state(self, id: str) -> Json:
        """What its asker had kept with it; None if nothing, or not any more."""
        return await self._context.store.read(lambda tx: interactions.state(tx, id))

    async def interactions(
        self, status: str | None = None, limit: int = 50, after: str | None = None, user: str = ""
    ) -> Page[Interaction]:
        """Keyset-paged, oldest first; `user`: only what was asked for them."""
        items = await self._context.store.read(
            lambda tx: interactions.page(tx, status, limit, after or "", user)
        )
        return page_of(items, limit)

    async def wait(self, id: str, timeout: float) -> Interaction:
        """The record as soon as it is not pending any more, or as it is after `timeout` seconds."""
        return await self._context.signals.until(
            id,
            lambda record: record.status is not InteractionStatus.PENDING,
            lambda: self.interaction(id),
            timeout,
            self._look_again,
        )

    async def gauges(self) -> dict[Gauge, int]:
        """What is told of the database as it is now."""
        row = await self._context.store.read(lambda tx: tx.one(interactions.PENDING_NOW, most=COUNTED))
        return {Gauge.PENDING: row["number"]} if row is not None else {}

    async def contacts(self) -> list[Contact]:
        """Everybody, with addresses."""
        return await self._context.store.read(contacts.contacts)
