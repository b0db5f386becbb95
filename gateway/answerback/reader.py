"""Reads for callers: one interaction, lists of them, and waiting for an answer."""

from dataclasses import dataclass

from answerback.context import Context
from answerback.errors import NotFound
from answerback.model import Contact, Interaction, InteractionStatus
from answerback.store import Tx, contacts, interactions

LOOK_AGAIN = 2.0  # seconds: another process may have taken the answer


@dataclass(frozen=True, slots=True)
class Page:
    """Some interactions, oldest first, and the id to go on after."""

    items: tuple[Interaction, ...]
    next: str | None


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

    async def interactions(
        self, status: str | None = None, limit: int = 50, after: str | None = None
    ) -> Page:
        """Keyset-paged, oldest first."""

        def tx_(tx: Tx) -> tuple[Interaction, ...]:
            return tuple(interactions.page(tx, status, limit, after or ""))

        items = await self._context.store.read(tx_)
        return Page(items, items[-1].id if len(items) == limit else None)

    async def wait(self, id: str, timeout: float) -> Interaction:
        """The record as soon as it is not pending any more, or as it is after `timeout` seconds."""
        left = timeout
        while True:
            record = await self.interaction(id)
            if record.status is not InteractionStatus.PENDING or left <= 0:
                return record
            await self._context.signals.wait(id, min(left, self._look_again))
            left -= self._look_again  # an early wake-up that changed nothing costs a little of the time

    async def contacts(self) -> list[Contact]:
        """Everybody, with addresses."""
        return await self._context.store.read(contacts.contacts)
