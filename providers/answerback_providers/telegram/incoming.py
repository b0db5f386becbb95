"""One raw update to replies: tolerant, pure, and silent about everything that is not a person's answer.

The fields are those of https://core.telegram.org/bots/api#update. None of them is believed to be there:
python-telegram-bot's classes raise on what they do not expect, so they are not used here.
"""

import json

from answerback.provider import Attachment, Json, Reply

FILES = ("document", "voice", "audio", "video", "video_note", "animation", "sticker")
# Written by a person although there is no text: it does not fit, and they should hear so.
OTHER = ("location", "venue", "contact", "poll", "dice", "story", "checklist")
ID_DIGITS = 19  # ids have at most 52 bits; nothing longer is one


def replies(body: bytes, bot_id: int) -> list[Reply]:
    """What a person wrote or tapped in this update: one reply or none.

    Raises ValueError if the body is not JSON; never for JSON that makes no sense.
    """
    try:
        update = _object(json.loads(body, parse_int=_integer))
    except RecursionError:
        return []
    number = _id(update.get("update_id"))
    if number is None:
        return []
    if query := _object(update.get("callback_query")):
        reply = _tap(f"{number}", query)
    else:  # an edited message changes nothing: the answer that was accepted stands
        reply = _message(f"{number}", _object(update.get("message")), bot_id)
    return [reply] if reply else []


def _tap(event_id: str, query: dict[str, Json]) -> Reply | None:
    person, message = _object(query.get("from")), _object(query.get("message"))
    chat = _object(message.get("chat"))
    sender, place, number = _id(person.get("id")), _id(chat.get("id")), _id(message.get("message_id"))
    handle, data = _text(query.get("id")), _text(query.get("data"))
    if sender is None or place is None or number is None or not handle or not data or person.get("is_bot"):
        return None
    return Reply(
        event_id=event_id,
        sender=str(sender),
        place=str(place),
        data=data,
        references=(f"{place}:{number}",),
        private=chat.get("type") == "private",
        name=_text(person.get("first_name")),
        handle=handle,
    )


def _message(event_id: str, message: dict[str, Json], bot_id: int) -> Reply | None:
    person, chat = _object(message.get("from")), _object(message.get("chat"))
    sender, place = _id(person.get("id")), _id(chat.get("id"))
    if sender is None or place is None or not _is_answer(message, person):
        return None
    text = _text(message.get("text")) or _text(message.get("caption"))
    attachments = _attachments(message)
    if not text and not attachments and not any(key in message for key in OTHER):
        return None  # a service message: someone joined, a title changed
    return Reply(
        event_id=event_id,
        sender=str(sender),
        place=str(place),
        text=text,
        references=_references(place, _object(message.get("reply_to_message")), bot_id),
        sent_at=_moment(message.get("date")),
        private=chat.get("type") == "private",
        name=_text(person.get("first_name")),
        attachments=attachments,
    )


def _is_answer(message: dict[str, Json], person: dict[str, Json]) -> bool:
    """Not what someone else wrote (forwarded), nor what nobody in particular did (a bot, a channel,
    an anonymous administrator: these have `sender_chat`)."""
    forwarded = any(key in message for key in ("forward_origin", "forward_date", "forward_from"))
    return not forwarded and "sender_chat" not in message and not person.get("is_bot")


def _references(place: int, earlier: dict[str, Json], bot_id: int) -> tuple[str, ...]:
    number = _id(earlier.get("message_id"))
    ours = _id(_object(earlier.get("from")).get("id")) == bot_id
    return (f"{place}:{number}",) if ours and number is not None else ()


def _attachments(message: dict[str, Json]) -> tuple[Attachment, ...]:
    photos = message.get("photo")
    largest = _object(photos[-1]) if isinstance(photos, list) and photos else {}
    files = [("photo", largest), *((kind, _object(message.get(kind))) for kind in FILES)]
    return tuple(
        Attachment(
            id=_text(file.get("file_id")),
            name=_text(file.get("file_name")) or kind,
            content_type=_text(file.get("mime_type")) or ("image/jpeg" if kind == "photo" else ""),
            size=_id(file.get("file_size")),
        )
        for kind, file in files
        if _text(file.get("file_id"))
    )


def _moment(date: Json) -> int | None:
    """Seconds of the service to our microseconds; None for what is no time ("inaccessible": 0)."""
    seconds = _id(date)
    return seconds * 1_000_000 if seconds is not None and 0 < seconds < 2**40 else None


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= ID_DIGITS else None


def _id(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
