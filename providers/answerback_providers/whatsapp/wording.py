"""From a message to what WhatsApp takes: a text, a text with buttons, or a template's variables.

Limits: https://www.twilio.com/docs/content/twilio-quick-reply and
https://www.twilio.com/docs/messaging/api/message-resource (Body).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from answerback.provider import Button, Message, MessageKind, labelled, shorten

BODY_LIMIT = 1600  # characters of a text message
BUTTONS_BODY_LIMIT = 1024  # of the text above buttons, and of a template with its variables filled in
MOST_BUTTONS = 3  # in a conversation that is open; a template may have ten
TITLE_LIMIT = 20
VARIABLE_LIMIT = 600
TEMPLATE_LIMIT = 200  # of the template's own words, which are its author's
LEAST = 100  # of a question, however much stands around it
APART = " · "
KEPT = "\n\t\u200d\u2068\u2069"  # what joins pictures, and sets apart what reads from right to left
SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # of another width, or unbreakable
SPACE = re.compile(r"\s+")  # WhatsApp takes no line break and no run of spaces in a variable


@dataclass(frozen=True, slots=True)
class Buttons:
    """A text with quick replies, as a content resource that Twilio must be told of beforehand.

    Only the labels are part of it; the text and the ids are variables, so that one serves all questions
    with the same labels.
    """

    labels: tuple[str, ...]
    variables: dict[str, str]

    @property
    def name(self) -> str:
        """The same for the same labels, on every process."""
        digest = hashlib.sha256(json.dumps(self.labels).encode()).hexdigest()[:16]
        return f"answerback_{digest}"


def text(message: Message) -> str:
    """The whole message, with what else can be said where there are no buttons."""
    asks = message.kind is not MessageKind.NOTICE  # nobody can say "try again" in writing: its page can
    taps = [button.label for button in message.buttons if button.data and asks]
    links = [f"{button.label}: {button.url}" for button in message.buttons if button.url]
    choices = "" if _stand_in(message.text, taps) else " / ".join(taps)
    whole = "\n\n".join(part for part in (message.text, choices, *links) if part)
    return shorten(clean(whole), BODY_LIMIT, message.form_url)


def buttons(message: Message) -> Buttons | None:
    """The same with quick replies; None where they do not fit."""
    taps = tuple(button for button in message.buttons if button.data)
    if not taps or len(taps) > MOST_BUTTONS or len({_label(one) for one in taps}) < len(taps):
        return None
    if any(len(_label(button)) > TITLE_LIMIT for button in taps):
        return None
    links = [f"{button.label}: {button.url}" for button in message.buttons if button.url]
    whole = clean("\n\n".join((message.text, *links)))
    if len(whole) > BUTTONS_BODY_LIMIT:
        return None  # all of it matters more than a tap
    variables = {"1": whole} | {str(place): button.data for place, button in enumerate(taps, start=2)}
    return Buttons(tuple(_label(button) for button in taps), variables)


def template(message: Message) -> dict[str, str]:
    """What the approved template says: who asks, what (and how it may be answered), and the link."""
    taps = [button.label for button in message.buttons if button.data]
    return _variables(message, "" if _stand_in(message.text, taps) else f"({' / '.join(taps)})")


def _variables(message: Message, choices: str) -> dict[str, str]:
    return {
        "1": _variable(message.heading) or "-",
        "2": _asked(message, choices) or "-",
        "3": message.form_url or "-",
    }


def confirmation(message: Message) -> dict[str, str] | None:
    """The variables of the template for yes and no; None when the message is no such question."""
    taps = {button.means: button.data for button in message.buttons if button.data}
    if taps.keys() != {"yes", "no"}:
        return None
    return _variables(message, "") | {"4": taps["yes"], "5": taps["no"]}


def clean(value: str) -> str:
    """Without the characters that a service may refuse or cut a text at; a space of any width stays one."""
    spaced = SPACES.sub(" ", value)
    return "".join(each for each in spaced if each in KEPT or each.isprintable())


def _asked(message: Message, choices: str) -> str:
    """What is asked and all that stands below it, in one line; what has no room is on the form.

    What sets its parts apart stands in none of them: no value can pass for another one.
    """
    rows = ["".join(labelled(label, value)) for label, value in message.fields]
    lines = [message.title, *(line for part in (*rows, message.body) for line in part.splitlines())]
    shown = APART.join(said for line in lines if (said := _variable(line.replace(APART.strip(), "-"))))
    ending = f" {_variable(choices)}" if choices else ""
    around = TEMPLATE_LIMIT + len(_variable(message.heading)) + len(message.form_url) + len(ending)
    room = max(min(VARIABLE_LIMIT - len(ending), BUTTONS_BODY_LIMIT - around), LEAST)
    return shorten(shown, room) + ending


def _stand_in(text: str, labels: Sequence[str]) -> bool:
    """Whether each of the labels begins a line of the text: "1" does in "1. Vienna"."""
    begun = {line.split(" ")[0].rstrip(".") for line in text.splitlines()}
    return begun.issuperset(labels)


def _label(button: Button) -> str:
    return _variable(button.label)


def _variable(value: str) -> str:
    return shorten(SPACE.sub(" ", clean(value)).strip(), VARIABLE_LIMIT)
