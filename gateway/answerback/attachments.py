"""Files that came with an answer: kept by reference, fetched from their service when somebody wants them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from answerback.context import Context
from answerback.errors import Gone, NotFound, TooLarge, TryLater, Undeliverable
from answerback.model import Attachment, Interaction
from answerback.provider import Stored
from answerback.store import Store, replies
from answerback.values import unstorable

MOST = 20  # files with one answer; more are not kept
LONGEST_ID, LONGEST_NAME = 2000, 200  # characters
AT_ONCE = 4  # files of one source under way, each in memory as a whole
SECONDS = 60.0  # until a service counts as away
BROKEN = dict.fromkeys([0, *range(0xD800, 0xE000)], "\ufffd")  # what no store can keep, in a file's name


@dataclass(frozen=True, slots=True)
class File:
    """A fetched file. Its name and type are what its sender says: believe neither."""

    name: str
    content_type: str
    content: bytes


def kept(provider: str, interaction_id: str, found: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    """What is stored with an answer: each file once, with where it can be fetched."""
    usable = {each.id: each for each in found if 0 < len(each.id) <= LONGEST_ID and not unstorable(each.id)}
    return tuple(
        replace(
            each,
            name=_storable(each.name),
            content_type=_storable(each.content_type),
            provider=provider,
            href=f"/v1/interactions/{interaction_id}/attachments/{place}",
        )
        for place, each in enumerate(list(usable.values())[:MOST])
    )


def stored_in(store: Store) -> Stored:
    """What a provider is given to reach the events that it brought in: a mail has its files in itself."""

    async def stored(provider: str, event_id: str) -> bytes | None:
        row = await store.read(lambda tx: replies.first(tx, provider, event_id))
        return bytes(row["raw"]) or None if row is not None else None

    return stored


class Source(Protocol):
    """Where files are fetched from: a provider, or the form."""

    async def fetch(self, attachment: Attachment, /) -> bytes: ...


class Attachments:
    """Brings what was sent; `attachment_bytes` is the most that is brought."""

    def __init__(self, context: Context, sources: Mapping[str, Source]) -> None:
        self._limit, self._sources = context.settings.limits.attachment_bytes, sources
        # Each source has its own: one that hangs keeps no file of another waiting.
        self._gates = {name: asyncio.Semaphore(AT_ONCE) for name in sources}

    async def fetch(self, interaction: Interaction, number: int) -> File:
        """File `number` of an answer, from 0. Raises `NotFound`, `TooLarge`, `Gone` or `TryLater`."""
        found = interaction.answer.attachments if interaction.answer is not None else ()
        if not 0 <= number < len(found):
            raise NotFound("This answer has no such file.")
        wanted = found[number]
        source = self._sources.get(wanted.provider)
        if source is None:
            raise NotFound(f"The file came through {wanted.provider}, which is not configured here.")
        if wanted.size is not None and wanted.size > self._limit:
            raise self._too_large()
        async with self._gates[wanted.provider]:
            content = await _brought(source, wanted)
        if len(content) > self._limit:
            raise self._too_large()
        return File(wanted.name, wanted.content_type, content)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The file is larger than {self._limit} bytes (limits.attachment_bytes).")


async def _brought(source: Source, wanted: Attachment) -> bytes:
    try:
        async with asyncio.timeout(SECONDS):
            return await source.fetch(wanted)
    except Undeliverable as error:
        raise Gone(f"The file cannot be fetched: {error.reason}") from None
    except (TimeoutError, OSError):
        raise TryLater(5, "The service does not answer.") from None


def _storable(text: str) -> str:
    return text.translate(BROKEN)[:LONGEST_NAME]
