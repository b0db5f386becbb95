"""A provider in memory: remembers what it sent and edited, fails when told to, and takes replies."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from answerback.provider import (
    Address,
    Event,
    Inbound,
    Message,
    Outcome,
    Provider,
    ProviderContext,
    Reply,
    Sent,
    Settings,
    Undeliverable,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as the person sees it now."""

    id: str
    message: Message
    edited: bool = False


class MemoryProvider(Provider):
    """`failures` are raised by the next sends, in order; `shown` is what is on the phones now.

    `clock`: the service says when it took a message; microseconds since the epoch.
    """

    tappable: ClassVar[bool] = True

    def __init__(self, name: str = "memory", clock: Callable[[], int] | None = None) -> None:
        super().__init__(name, Settings(), ProviderContext())
        self.clock = clock
        self.shown: list[Shown] = []
        self.given: list[Message] = []  # all that was ever sent or edited
        self.failures: deque[Exception] = deque()
        self.toasts: list[tuple[Outcome, str]] = []
        self.hang: asyncio.Event | None = None  # sends wait for it
        self.held_up = 0  # sends that have begun to wait for it
        self._events = 0

    async def send(self, message: Message) -> Sent:
        if self.hang is not None:
            self.held_up += 1
            await self.hang.wait()
        if self.failures:
            raise self.failures.popleft()
        id = f"m{len(self.shown) + 1}"
        self.given.append(message)
        self.shown.append(Shown(id, message))
        return Sent((id,), sent_at=self.clock() if self.clock is not None else None)

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        self.given.append(message)
        for index, shown in enumerate(self.shown):
            if shown.id == message_id:
                self.shown[index] = Shown(message_id, message, edited=True)
                return
        raise Undeliverable("message to edit not found")

    async def verify(self, inbound: Inbound) -> None:
        """Everything is believed: this is for tests."""

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        """The body is what `typed` and `tapped` make: the arguments of a `Reply`, as JSON."""
        fields = json.loads(inbound.body)
        if fields.get("text") == "raise while parsing":
            raise ValueError("an event that cannot be parsed")
        return [Reply(**{**fields, "references": tuple(fields.get("references", ()))})]

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        self.toasts.append((outcome, text))

    # -- the person

    def typed(self, who: str, text: str, **more: object) -> Inbound:
        """Somebody writes `text`; `references`, `sent_at`, `private` and so on as in `Reply`."""
        return self._event(sender=who, text=text, **more)

    def tapped(self, who: str, label: str, **more: object) -> Inbound:
        """Somebody taps the newest button with this label in their own chat."""
        for shown in reversed(self.shown):
            for button in shown.message.buttons:
                if button.label == label and more.get("place", who) == shown.message.to.place:
                    return self._event(sender=who, data=button.data, references=[shown.id], **more)
        raise LookupError(f"no button {label!r} is on the phone of {who}")

    def titles(self, who: str) -> list[str]:
        """What stands on somebody's phone, oldest first."""
        return [shown.message.title for shown in self.shown if shown.message.to.place == who]

    def _event(self, **fields: object) -> Inbound:
        self._events += 1
        body = {"event_id": f"e{self._events}", "place": fields.get("sender"), **fields}
        return Inbound(json.dumps(body).encode())
