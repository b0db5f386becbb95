"""Thumbs in a storm: they answer whatever stands open on a phone, on three services."""

import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from answerback_sandbox import Message, Sandbox
from answerback_sandbox.mail.letters import letter
from answerback_sandbox.mail.state import Kept, Letter, Style
from answerback_sandbox.people import Reach
from answerback_sandbox.twilio.state import Note

STEPS = ("First", "Second")
COLOURS = ("Red", "Green", "Blue", "Gold")
NAMED = re.compile(rf"({'|'.join(STEPS)}) of (t\d+-\d+)\?")
GLANCE = 0.2  # seconds at most between two looks at the phone
AGAIN = (0.05, 1.5, 3.0)  # seconds after which somebody answers once more what seems to be open


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that may ask something, and how it is answered there."""

    key: str
    text: str
    answer: Callable[[str], None]


class Thumbs:
    """`said`: what was ever said to messages that name a step of a thread."""

    def __init__(self, box: Sandbox, chance: random.Random) -> None:
        self._box, self._chance = box, chance
        self._letters: dict[int, Letter] = {}  # to read all of a mailbox at every look would take too long
        self.said: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.done: set[str] = set()  # threads whose run has ended
        self.complaints: list[str] = []  # what went wrong with the people themselves

    async def of(self, person: Reach) -> None:
        """Look and answer, for ever."""
        rests: dict[str, float] = {}
        while True:
            await asyncio.sleep(self._chance.uniform(0, GLANCE))
            for asked in self._asked(person):
                named = NAMED.search(asked.text)
                if named is None or named[2] in self.done or rests.get(asked.key, 0) > time.monotonic():
                    continue
                rests[asked.key] = time.monotonic() + self._chance.choice(AGAIN)
                colour = self._chance.choice(COLOURS)
                self.said[named[2], named[1]].add(colour.lower())
                asked.answer(colour)

    def letters(self, person: Reach) -> Iterator[Letter]:
        """All mails that came to somebody."""
        return map(self._letter, self._box.mail.world.box(person.mail).inbox)

    def _asked(self, person: Reach) -> Iterator[Asked]:
        for message in self._box.received(person.id):
            if message.buttons:
                yield Asked(f"telegram {message.id}", message.text, self._on_telegram(person, message))
        for note in self._box.twilio.received(person.whatsapp):
            yield Asked(note.sid, note.body, self._on_whatsapp(person, note))
        for mail in self.letters(person):
            if mail.reply_to:
                yield Asked(mail.message_id, mail.text, self._by_mail(person, mail))

    def _letter(self, kept: Kept) -> Letter:
        if id(kept) not in self._letters:
            self._letters[id(kept)] = letter(kept)
        return self._letters[id(kept)]

    def _taps(self) -> bool:
        return self._chance.random() < 0.6

    def _on_telegram(self, person: Reach, message: Message) -> Callable[[str], None]:
        def answer(colour: str) -> None:
            if self._taps():
                self._box.tap(person.id, message.id, colour)
            else:
                self._box.type(person.id, colour, reply_to=message.id)

        return answer

    def _on_whatsapp(self, person: Reach, note: Note) -> Callable[[str], None]:
        def answer(colour: str) -> None:
            if note.buttons and self._taps():
                self._box.twilio.tap(person.whatsapp, note.sid, colour)
            else:
                self._box.twilio.type(person.whatsapp, colour, note.sid)

        return answer

    def _by_mail(self, person: Reach, mail: Letter) -> Callable[[str], None]:
        def answer(colour: str) -> None:
            self._box.mail.reply(person.mail, mail.message_id, colour, self._chance.choice(list(Style)))

        return answer
