"""uploads: files that came with a form: no service has them, so what came is kept, as other events are."""

from dataclasses import dataclass, field

from answerback.attachments import kept
from answerback.errors import Undeliverable
from answerback.model import Attachment, Interaction, Outcome
from answerback.outbox import FORM
from answerback.provider import Stored
from answerback.store import Tx, replies
from answerback.store.ids import new_id


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as a browser sent it. Believe neither its name nor its type."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


def store(tx: Tx, record: Interaction, uploads: tuple[Upload, ...]) -> tuple[Attachment, ...]:
    """Keep the bytes of each, and say how it stands with the answer."""
    files = tuple(Attachment(new_id(), each.name, each.content_type, len(each.content)) for each in uploads)
    for file, upload in zip(files, uploads, strict=True):
        replies.add(tx, FORM, file.id, upload.content)
    return kept(FORM, record.id, files)


def decided(tx: Tx, record: Interaction, files: tuple[Attachment, ...], outcome: Outcome) -> None:
    """Note what became of the answer that they came with."""
    for file in files:
        replies.decided(tx, FORM, file.id, outcome, record.id)


class Uploaded:
    """Gives back what came with a form, as a provider's `fetch` does."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    async def fetch(self, attachment: Attachment) -> bytes:
        """The bytes. Raises `Undeliverable` once they are erased."""
        content = await self._stored(FORM, attachment.id)
        if content is None and attachment.size:
            raise Undeliverable("it is not kept any more.")
        return content or b""
