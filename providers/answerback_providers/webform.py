"""The form alone: with no other provider, a question's link is printed where the gateway runs.

This is the one place that shows a link, and with it a token, to the operator: it writes to the terminal
itself (or to the stream given as `context.extra["echo"]`), never to a log.
"""

import select
import sys
from typing import TextIO

from answerback.provider import Message, MessageKind, Provider, Sent, TryLater, Undeliverable

QUESTIONS = frozenset({MessageKind.QUESTION, MessageKind.REMINDER})
SOON = 5.0  # seconds
ASKING = QUESTIONS | {MessageKind.CONVERSATION}


class WebForm(Provider):
    """Prints each message once; a question as its title and, below it, `Answer here: URL`."""

    needs_address = False

    async def send(self, message: Message) -> Sent:
        """Print one message. Raises `Undeliverable` when there is no link, or nowhere to print."""
        if message.kind in QUESTIONS and not message.form_url:
            raise Undeliverable("This question has no form link: set public_url.")
        stream: TextIO = self.context.extra.get("echo") or sys.stderr
        failed = False
        try:
            if not takes_text(stream):
                raise TryLater(SOON, "Nobody reads what is printed where the gateway runs.")
            print("", *shown(message), sep="\n", file=stream, flush=True)
        except (OSError, ValueError):  # closed, or gone together with its terminal
            failed = True
        if failed:  # outside the handler: an encoding error quotes the text, and with it the token
            raise Undeliverable("The terminal that the form link is printed to is gone.")
        return Sent()


def takes_text(stream: TextIO) -> bool:
    """Whether somebody reads it at the moment: a terminal after Ctrl-S would hold up the gateway."""
    try:
        number = stream.fileno()
    except OSError:  # not the system's
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return bool(poll.poll(0))


def shown(message: Message) -> list[str]:
    """The lines to print: who asks, the question, the link; of other messages the text."""
    if message.kind not in ASKING or not message.form_url:
        links = [f"{button.label}: {button.url}" for button in message.buttons if button.url]
        return [printable(row) for row in (*message.text.splitlines(), *links) if row.strip()]
    rows = (*message.heading.splitlines(), message.title, f"Answer here: {message.form_url}")
    return [printable(row) for row in rows if row]


def printable(text: str) -> str:
    """One line that cannot steer a terminal: escapes, and other characters without a glyph, are dropped."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())
