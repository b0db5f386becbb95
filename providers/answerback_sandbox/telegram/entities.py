"""Stretches of text: counted in UTF-16 code units, checked when given, found when not.

https://core.telegram.org/bots/api#messageentity
"""

import re
from collections.abc import Iterable

from answerback_sandbox.telegram.errors import bad_request
from answerback_sandbox.telegram.state import Entity

KNOWN = frozenset(
    "mention hashtag cashtag bot_command url email phone_number bold italic underline strikethrough spoiler "
    "blockquote expandable_blockquote code pre text_link text_mention custom_emoji date_time".split()
)
EXTRAS = ("url", "user", "language", "custom_emoji_id", "unix_time", "date_time_format")
_FOUND = re.compile(
    r"(?P<bot_command>(?<![\w/])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{5,32})?(?![\w/]))"
    r"|(?P<url>https?://[^\s<>\"]*[^\s<>\".,;:!?)\]’”])"
    r"|(?P<mention>(?<![\w@])@[A-Za-z][A-Za-z0-9_]{3,31}\b)"
)


def utf16_length(text: str) -> int:
    """The length of `text` in UTF-16 code units, the unit of all offsets in the Bot API."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def given(text: str, items: object) -> tuple[Entity, ...]:
    """The entities of a call's `entities` argument, checked against `text`.

    Raises ApiError 400 for what is no array of objects with a known type, and for offsets outside of it.
    """
    if items is None:
        return ()
    if not isinstance(items, list):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    return _sorted(_one(text, item) for item in items)


def _one(text: str, item: object) -> Entity:
    if not isinstance(item, dict):
        raise bad_request("can't parse MessageEntity: MessageEntity must be an Object")
    kind, offset, length = item.get("type"), item.get("offset"), item.get("length")
    if kind not in KNOWN:
        raise bad_request("can't parse MessageEntity: type is unknown")
    if not isinstance(offset, int) or not isinstance(length, int):
        raise bad_request("can't parse MessageEntity: offset and length must be Integers")
    if offset < 0:
        raise bad_request(f"receive an entity with incorrect offset {offset}")
    if length < 0:
        raise bad_request(f"receive an entity with incorrect length {length}")
    size = utf16_length(text)
    if offset > size:
        raise bad_request(f"entity begins after the end of the text at UTF-16 offset {offset}")
    if offset + length > size:
        raise bad_request(
            f"entity beginning at UTF-16 offset {offset} ends after the end of the text "
            f"at UTF-16 offset {offset + length}"
        )
    return Entity(kind, offset, length, {name: item[name] for name in EXTRAS if name in item})


def found(text: str, beside: Iterable[Entity] = ()) -> tuple[Entity, ...]:
    """`beside`, and the commands, links and mentions that Telegram itself finds in the rest of `text`."""
    all_of_them = list(beside)
    taken = [(entity.offset, entity.offset + entity.length) for entity in all_of_them]
    for match in _FOUND.finditer(text):
        start, length = utf16_length(text[: match.start()]), utf16_length(match.group())
        if not any(start < end and begin < start + length for begin, end in taken):
            all_of_them.append(Entity(match.lastgroup or "", start, length))
    return _sorted(all_of_them)


def _sorted(items: Iterable[Entity]) -> tuple[Entity, ...]:
    return tuple(sorted(items, key=lambda entity: (entity.offset, -entity.length)))
