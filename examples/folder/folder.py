"""A question is a file in its person's folder; what they write beside it, into NAME.answer, is the reply."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

from answerback.provider import (
    Address,
    Batch,
    Inbound,
    Message,
    Provider,
    Reply,
    Sent,
    Settings,
    Undeliverable,
)


class FolderSettings(Settings):
    path: Path


class Folder(Provider):
    """Who may write into a person's folder answers for them: the system's permissions say who that is."""

    Settings = FolderSettings
    settings: FolderSettings

    async def send(self, message: Message) -> Sent:
        name = message.code or message.delivery_id
        return Sent((self._write(message.to, name, message),))

    async def update(self, to: Address, message_id: str, message: Message) -> None:
        self._write(to, message_id, message)

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """What was written since the time that the cursor says. The gateway keeps the cursor."""
        until = time.monotonic() + (5 if wait is None else wait)
        while not (found := sorted(self._written(int(cursor or 0)))) and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        events = tuple(Inbound(json.dumps(event).encode()) for event in found)
        return Batch(events, str(found[-1][0]) if found else cursor)

    def parse(self, inbound: Inbound) -> list[Reply]:
        at, person, name, text = json.loads(inbound.body)
        return [Reply(f"{person}/{name}/{at}", person, person, text, references=(name,))]

    def _write(self, to: Address, name: str, message: Message) -> str:
        """The name. One that goes wrong raises `Undeliverable`, and the person's next provider is asked."""
        labels = "".join(f"\n  {number}  {button.label}" for number, button in enumerate(message.buttons, 1))
        how = f"\n\nTo answer: echo … >{name}.answer" if message.token else ""
        try:
            (self._root / to.place / f"{name}.txt").write_text(f"{message.text}\n{labels}{how}\n")
        except OSError as error:
            raise Undeliverable(f"The folder cannot be written to: {error.strerror}.") from None
        return name

    def _written(self, after: int) -> Iterator[tuple[int, str, str, str]]:
        for file in self._root.glob("*/*.answer"):
            if (at := file.stat().st_mtime_ns) > after and (text := file.read_text().strip()):
                yield at, file.parent.name, file.stem, text

    @property
    def _root(self) -> Path:
        return Path(self.context.base_dir) / self.settings.path
