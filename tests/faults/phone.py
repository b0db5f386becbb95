"""A phone whose owner may tap or reply to any message that ever stood on it, and what became of it."""

from sqlalchemy import select

from answerback.provider import Inbound
from answerback.store import Row, Tx
from answerback.store.query import Query
from answerback.tables import ReplyRow
from answerback.testing import MemoryProvider
from answerback.testing.providers import Shown
from tests.support.gateway import Gateway

REPLIES = Query(select(ReplyRow.__table__).order_by(ReplyRow.__table__.c.id))  # type: ignore[attr-defined]


class Phone(MemoryProvider):
    """Beside `shown`, the messages as they are now, `sent` keeps each as it was when it was sent."""

    def __init__(self, name: str = "memory") -> None:
        super().__init__(name)
        self.sent: list[Shown] = []

    async def send(self, message):
        before = len(self.shown)
        done = await super().send(message)
        self.sent += self.shown[before:]
        return done

    def tap(self, who: str, message: Shown, label: str) -> Inbound:
        """A tap on this very message, whatever has become of it."""
        data = next(button.data for button in message.message.buttons if button.label == label)
        return self._event(sender=who, data=data, references=[message.id])

    def reply(self, who: str, message: Shown, text: str) -> Inbound:
        """A text that replies to this very message."""
        return self.typed(who, text, references=[message.id])

    def asked(self, interaction_id: str, who: str | None = None) -> list[Shown]:
        """The messages that asked this question (of one person), as they were sent."""
        return [
            shown
            for shown in self.sent
            if shown.message.interaction_id == interaction_id
            and shown.message.kind in ("question", "reminder")
            and who in (None, shown.message.to.place)
        ]

    def is_edited(self, message: Shown) -> bool:
        """Whether it says how its question ended."""
        return next(shown.edited for shown in self.shown if shown.id == message.id)


async def outcomes(g: Gateway) -> dict[str, str]:
    """What became of each event that came in, by event id."""

    def tx(tx: Tx) -> dict[str, str]:
        return {row["event_id"]: row["outcome"] for row in tx.all(REPLIES)}

    return await g.app.context.store.read(tx)


async def rows(g: Gateway, query: Query, **values: object) -> list[Row]:
    """Rows as they are."""
    return await g.app.context.store.read(lambda tx: tx.all(query, **values))
