"""A message as Telegram shows it: plain text, entities over UTF-16 offsets, parts, inline keyboard."""

import bisect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity

from answerback.provider import Button, Message, MessageKind, labelled, shorten
from answerback_providers.telegram.line import is_loopback

LIMIT = 4096  # UTF-16 units of one message: core.telegram.org/bots/api#sendmessage
MOST = 2 * LIMIT - 512  # a longer text is shortened to this: two parts as a rule, four at worst
MAX_ENTITIES = 100  # of one message; Telegram ignores the rest
MAX_DATA = 64  # bytes of callback_data
MAX_LABEL = 120
ROW_WIDTH = 28  # characters of labels that fit side by side on a narrow phone
ROW_BUTTONS = 4


@dataclass(frozen=True, slots=True)
class Span:
    """A kind of MessageEntity over code points [start, end) of the text it belongs to."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """One message: its text of at most LIMIT UTF-16 units and the entities in it."""

    text: str
    entities: tuple[MessageEntity, ...] = ()


def units(text: str) -> int:
    """UTF-16 code units, in which Telegram counts lengths and offsets."""
    return len(text) + sum(character > "\uffff" for character in text)


def word(message: Message, *, plain: bool = False, most: int = MOST) -> tuple[Part, ...]:
    """The message in one or more parts; with `most` = LIMIT in one. Never empty, never refused.

    `plain` is the way that always passes: no entities, and links as text instead of as buttons.
    """
    text, spans = _compose(message, plain=plain, most=most)
    return split(text, () if plain else spans)


def split(text: str, spans: Iterable[Span] = (), limit: int = LIMIT) -> tuple[Part, ...]:
    """Cut a text between characters, at a line or a word if one ends in the second half of a part.

    The parts put together are the text, but for parts of nothing but white space, which Telegram
    refuses. `limit` is at least 2: a character outside the basic plane has two units.
    """
    offsets = [0, *itertools.accumulate(2 if character > "\uffff" else 1 for character in text)]
    parts, start = [], 0
    while start < len(text):
        end = bisect.bisect_right(offsets, offsets[start] + limit) - 1
        if end < len(text):
            end = _seam(text, bisect.bisect_right(offsets, offsets[start] + limit // 2), end)
        if text[start:end].strip():
            parts.append(Part(text[start:end], _entities(spans, offsets, start, end)))
        start = end
    return tuple(parts) or (Part("…"),)


def keyboard(buttons: Iterable[Button]) -> InlineKeyboardMarkup | None:
    """The buttons that Telegram takes, side by side where they fit; None if there is none."""
    rows: list[list[InlineKeyboardButton]] = []
    width = ROW_WIDTH + 1
    for button in buttons:
        if not fits(button):
            continue
        label = shorten(clean(button.label).strip() or "…", MAX_LABEL, utf16=True)
        width += len(label) + 2
        if width > ROW_WIDTH or len(rows[-1]) == ROW_BUTTONS:
            rows.append([])
            width = len(label)
        rows[-1].append(
            InlineKeyboardButton(label, url=button.url)
            if button.url
            else InlineKeyboardButton(label, callback_data=button.data)
        )
    return InlineKeyboardMarkup(rows) if rows else None


def fits(button: Button) -> bool:
    """Whether Telegram takes it: data within its limit, or a link that works on another machine.

    A link to this machine or to a bare host name is refused, and with it the whole message.
    """
    if not button.url:
        return 0 < len(button.data.encode("utf-8", "replace")) <= MAX_DATA
    try:
        address = urlsplit(button.url)
        host = address.hostname or ""
    except ValueError:
        return False
    return address.scheme in ("http", "https") and ("." in host or ":" in host) and not is_loopback(host)


def clean(text: str) -> str:
    """Lone surrogates cannot be sent as UTF-8: each becomes the replacement character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _compose(message: Message, *, plain: bool, most: int) -> tuple[str, tuple[Span, ...]]:
    asks = message.kind in (MessageKind.QUESTION, MessageKind.REMINDER)
    lines: list[list[tuple[str, str]]] = [
        [(message.heading, "")],
        [(message.title, MessageEntity.BOLD if asks else "")],
        # Values as code: exactly what is meant, and no part of it turns into a link.
        *(_field(label, value) for label, value in message.fields),
        [(message.body, "")],
        *([(_as_text(button), "")] for button in message.buttons if plain or not fits(button)),
    ]
    head, spans = _join(lines)
    tail = clean(message.footer)
    # What must go goes from the end of the head: what silence does, and the code, stay readable.
    tail = shorten(tail, most // 4, utf16=True)
    room = most - (units(tail) + 2 if tail else 0)
    short = shorten(head, room, clean(message.form_url), utf16=True)
    kept = len(short) if short == head else _common(short, head)
    cut = [Span(span.kind, span.start, min(span.end, kept)) for span in spans if span.start < kept]
    if not tail:
        return short, tuple(cut)
    start = len(short) + 2 if short else 0
    footer = Span(MessageEntity.ITALIC, start, start + len(tail))
    return f"{short}\n\n{tail}" if short else tail, (*cut, footer)


def _field(label: str, value: str) -> list[tuple[str, str]]:
    lead, shown = labelled(label, value)
    return [(lead, ""), (shown, MessageEntity.CODE)]


def _join(lines: Iterable[list[tuple[str, str]]]) -> tuple[str, list[Span]]:
    text, spans = "", list[Span]()
    for pieces in lines:
        if not any(piece for piece, _ in pieces):
            continue
        text += "\n" if text else ""
        for piece, kind in pieces:
            start, text = len(text), text + clean(piece)
            if kind and len(text) > start:
                spans.append(Span(kind, start, len(text)))
    return text, spans


def _as_text(button: Button) -> str:
    """A button that cannot be one: the link to open, or the words to write."""
    return f"{button.label}: {button.url}" if button.url else f"• {button.label}" if not fits(button) else ""


def _common(short: str, whole: str) -> int:
    """How many code points both begin with: where the ellipsis stands."""
    pairs = enumerate(zip(short, whole, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(short), len(whole)))


def _seam(text: str, first: int, end: int) -> int:
    """The best place in [first, end] to cut: after a blank line, a line, a word; else at `end`."""
    for mark in ("\n\n", "\n", " "):
        place = text.rfind(mark, first - len(mark), end)
        if place >= 0 and first <= place + len(mark):
            return place + len(mark)
    return end


def _entities(spans: Iterable[Span], offsets: list[int], start: int, end: int) -> tuple[MessageEntity, ...]:
    found = []
    for span in spans:
        first, last = max(span.start, start), min(span.end, end)
        if first < last:
            offset, length = offsets[first] - offsets[start], offsets[last] - offsets[first]
            found.append(MessageEntity(span.kind, offset, length))
    return tuple(found[:MAX_ENTITIES])
