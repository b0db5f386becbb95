"""The terminal as a provider: shows what Alice is asked, and takes what is typed as her reply."""

import json
import uuid
from typing import Any

from answerback.provider import (
    Address,
    Batch,
    Inbound,
    Message,
    MessageKind,
    Provider,
    ProviderContext,
    Receipt,
    Reply,
    Sent,
)
from answerback_demo.screen import Screen

WHO = "here"
ASKS = (MessageKind.QUESTION, MessageKind.REMINDER)


class Console(Provider):
    """One terminal, one person. The screen is handed in as `context.extra["screen"]`."""

    def __init__(self, name: str, settings: Any, context: ProviderContext) -> None:
        super().__init__(name, settings, context)
        self._screen: Screen = context.extra["screen"]

    async def send(self, message: Message) -> Sent:
        if message.kind in ASKS:
            self._screen.question(message)
        else:
            self._screen.said(message)
        return Sent((message.delivery_id,))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        """What stands on a terminal stays there: the outcome is a line of its own."""
        self._screen.outcome(message)

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """A line that was typed while a question was open."""
        if wait == 0:
            return Batch((), cursor)
        text = await self._screen.typed.get()
        event = {"id": uuid.uuid4().hex, "text": text}
        return Batch((Inbound(json.dumps(event).encode()),), cursor)

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        event = json.loads(inbound.body)
        return [Reply(event["id"], WHO, WHO, event["text"])]
