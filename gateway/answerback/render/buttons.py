"""The buttons under a question. `data` is `{token}:{question}.{what}`, at most 64 bytes."""

import functools
import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from answerback.model import Question, QuestionKind
from answerback.provider import Button
from answerback.render.visible import line
from answerback.sentences import say

MOST_DATA = 64  # bytes: the least that any service takes (Telegram's callback_data)
DECISIVE = ("yes", "no", "approve", "reject")
DEFAULT_DECISIONS = ("approve", "reject")
ORDER = ("approve", "reject", "edit", "respond")  # those that a tap decides come first


@dataclass(frozen=True, slots=True)
class Room:
    """What a service has room for below a message: how many buttons, and how many characters on each."""

    buttons: int = 10
    label: int = 40


@dataclass(frozen=True, slots=True)
class Offer:
    """The buttons, and what must stand in the text because no button says it: numbered labels, a hint."""

    buttons: tuple[Button, ...] = ()
    numbered: tuple[str, ...] = ()
    hint: str = ""


def offer(question: Question, index: int, *, token: str, form_url: str, room: Room, language: str) -> Offer:
    """What a person can tap for one question, where there is `room` for it (0 buttons: for none)."""
    match question.kind:
        case QuestionKind.CONFIRM:
            pair = (
                _button("yes", f"{index}.y", token, language),
                _button("no", f"{index}.n", token, language),
            )
            return _all_or_hint(pair, room, "hint_confirm", form_url, language)
        case QuestionKind.REVIEW:
            buttons = _review(question, index, token, form_url, language)
            return _all_or_hint(buttons, room, "hint_review", form_url, language)
        case QuestionKind.CHOICE:
            return _choice(question, index, token, form_url, room, language)
        case QuestionKind.CHOICES:
            labels = tuple(line(choice.label) for choice in question.choices)
            return Offer(
                _form("answer_form", form_url, room, language), labels, say("hint_choices", language)
            )
        case _:
            return Offer()


def link_button(key: str, form_url: str, language: str) -> tuple[Button, ...]:
    """A button that opens the form, if the link works anywhere but on this machine."""
    return (Button(say(key, language), url=form_url),) if reachable(form_url) else ()


def reachable(url: str) -> bool:
    """Whether a link can be opened on another machine: http or https, and not to a loopback address."""
    return _is_elsewhere("/".join(url.split("/", 3)[:3]))


@functools.lru_cache(maxsize=64)
def _is_elsewhere(start: str) -> bool:
    """`reachable`, of a link up to its path: the links to our forms all begin alike."""
    try:
        address = urlsplit(start)
        host = (address.hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if (
        address.scheme not in ("http", "https")
        or not host
        or host == "localhost"
        or host.endswith(".localhost")
    ):
        return False
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return True
    return not (number.is_loopback or number.is_unspecified)


def data(token: str, payload: str) -> str:
    """A button's data: the delivery's token and what the tap means."""
    return f"{token}:{payload}"


def _choice(question: Question, index: int, token: str, form_url: str, room: Room, language: str) -> Offer:
    labels = tuple(line(choice.label) or line(choice.id) or "…" for choice in question.choices)
    extra = _other("other", f"{index}.other", token, form_url, language) if question.free_text else ()
    if not labels or len(labels) + len(extra) > room.buttons:
        hint = say("hint_choice_free" if question.free_text else "hint_choice", language) if labels else ""
        return Offer(_form("answer_form", form_url, room, language), labels, hint)
    long = any(len(label) > room.label for label in labels)
    taps = tuple(
        Button(str(place + 1) if long else label, data(token, f"{index}.{place}"))
        for place, label in enumerate(labels)
    )
    return Offer(_fitting(taps + extra), labels if long else ())


def _review(question: Question, index: int, token: str, form_url: str, language: str) -> tuple[Button, ...]:
    """Approve is never the only button: where nothing else is allowed, the other opens the form."""
    buttons: tuple[Button, ...] = ()
    allowed = question.decisions or DEFAULT_DECISIONS
    for decision in (each for each in ORDER if each in allowed):
        if decision in ("approve", "reject"):
            buttons += (_button(decision, f"{index}.{decision}", token, language),)
        else:
            buttons += _other(decision, f"{index}.{decision}", token, form_url, language)
    if len(buttons) == 1 and "approve" in allowed:
        buttons += _other("other", f"{index}.other", token, form_url, language)
    return buttons


def _other(key: str, payload: str, token: str, form_url: str, language: str) -> tuple[Button, ...]:
    """A button for what a tap cannot say: the form, or a tap that asks for words. A reply is written here."""
    if key != "respond" and reachable(form_url):
        return link_button(key, form_url, language)
    return (_button(key, payload, token, language),)


def _button(key: str, payload: str, token: str, language: str) -> Button:
    return Button(say(key, language), data(token, payload), means=key if key in DECISIVE else "")


def _all_or_hint(buttons: tuple[Button, ...], room: Room, hint: str, form_url: str, language: str) -> Offer:
    """Where not all fit, both that decide: whatever else there is can be written, or done on the form."""
    fitting = _fitting(buttons)
    form = _form("answer_form", form_url, room, language)
    if len(fitting) == len(buttons) <= room.buttons:
        return Offer(fitting)
    decisive = tuple(button for button in fitting if button.means)
    if len(decisive) == 2 and len(decisive + form) <= room.buttons:
        return Offer(decisive + form)
    return Offer(form, hint=say(hint, language))


def _form(key: str, form_url: str, room: Room, language: str) -> tuple[Button, ...]:
    return link_button(key, form_url, language) if room.buttons > 0 else ()


def _fitting(buttons: tuple[Button, ...]) -> tuple[Button, ...]:
    return tuple(button for button in buttons if len(button.data.encode()) <= MOST_DATA)
