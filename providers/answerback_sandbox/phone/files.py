"""Files that a person sends from the page: as they come in, and as a bubble shows them."""

import base64
import re
from dataclasses import dataclass, field

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.phone.http import Json, text

LARGEST = 10 * 1024 * 1024  # bytes; Telegram's bots may download twice as much, and Twilio takes 16 MB
MOST_BODY = LARGEST * 4 // 3 + (1 << 16)  # in Base64, with the caption and all
LONGEST_NAME = 200
UNKNOWN = "application/octet-stream"
TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}/[a-z0-9][a-z0-9.+-]{0,63}")  # it becomes a header
UNFIT = re.compile(r"[\x00-\x1f\x7f\u0085\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file on its way. `content_type` is what the browser takes it for, without parameters."""

    name: str
    content_type: str
    content: bytes = field(repr=False)


def upload(body: Json) -> Upload:
    """`{"name", "type", "content"}`, the content in Base64.

    Raises SandboxError for a file that is empty or too large, KeyError, TypeError or ValueError for no file.
    """
    content = base64.b64decode(text(body, "content"), validate=True)
    if not content:
        raise SandboxError("the file is empty")
    if len(content) > LARGEST:
        raise SandboxError(f"a file has at most {LARGEST >> 20} MB here")
    name = UNFIT.sub("", text(body, "name")).replace("\\", "/").rpartition("/")[2].strip()[:LONGEST_NAME]
    kind = text(body, "type").partition(";")[0].strip().lower()
    return Upload(name or "file", kind if TYPE.fullmatch(kind) else UNKNOWN, content)


def shown(kind: str, content_type: str, content: bytes, name: str = "") -> Json:
    """A file in a bubble: photo, voice, video or document, its name where the service tells it, its bytes."""
    return {"kind": kind, "type": content_type, "name": name, "size": len(content)}


def telegram_kind(content_type: str) -> str:
    """As what Telegram's app sends it; it makes a picture a JPEG, and here what is none is a document."""
    return {"image/jpeg": "photo", "audio/ogg": "voice", "video/mp4": "video"}.get(content_type, "document")


def kind_of(content_type: str) -> str:
    """What WhatsApp and a mail program show a file as."""
    kinds = {"image": "photo", "audio": "voice", "video": "video"}
    return kinds.get(content_type.partition("/")[0], "document")
