"""The fields of an update, each as what it should be or as nothing: nobody vouches for their types."""

from answerback.provider import Attachment, Json

Fields = dict[str, Json]
FILES = ("document", "voice", "audio", "video", "video_note", "animation", "sticker")
ID_DIGITS = 19  # ids have at most 52 bits; nothing longer is one


def attachments(message: Fields) -> tuple[Attachment, ...]:
    """The files of a message, each once: an animation stands there as a document too."""
    photos = message.get("photo")
    largest = obj(photos[-1]) if isinstance(photos, list) and photos else {}
    files = [("photo", largest), *((kind, obj(message.get(kind))) for kind in FILES)]
    found = [
        Attachment(
            id=string(file.get("file_id")),
            name=string(file.get("file_name")) or kind,
            content_type=string(file.get("mime_type")) or ("image/jpeg" if kind == "photo" else ""),
            size=number(file.get("file_size")),
        )
        for kind, file in files
        if string(file.get("file_id"))
    ]
    return tuple({file.id: file for file in reversed(found)}.values())[::-1]


def moment(date: Json) -> int | None:
    """Seconds of the service to our microseconds; None for what is no time ("inaccessible": 0)."""
    seconds = number(date)
    return seconds * 1_000_000 if seconds is not None and 0 < seconds < 2**40 else None


def integer(digits: str) -> int | None:
    """What `json` reads a whole number as: None for one that no database keeps."""
    return int(digits) if len(digits) <= ID_DIGITS else None


def number(value: Json) -> int | None:
    """A whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def obj(value: Json) -> Fields:
    """An object, else an empty one."""
    return value if isinstance(value, dict) else {}


def array(value: Json) -> list[Json]:
    """A list, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Json) -> str:
    """A string, else the empty one."""
    return value if isinstance(value, str) else ""
