"""Somebody who answers on the phone, as a browser does it: through the phone's own interface over HTTP."""

import random
from dataclasses import dataclass
from typing import Any

import aiohttp

from answerback.read import is_command
from answerback_agents.research.collection import collection
from answerback_agents.research.terms import STOP_WORDS

SHORTEST = 4  # letters of a word that is worth searching for
SECONDS = 60.0  # for anything to happen


def draw(chance: random.Random) -> str:
    """A word of the collection, any with the same chance, that is neither a common word nor a command."""
    words = [
        word
        for word in sorted(collection().vocabulary)
        if len(word) >= SHORTEST and word.isalpha() and word not in STOP_WORDS and not is_command(word)
    ]
    return chance.choice(words)


@dataclass(frozen=True, slots=True)
class Seen:
    """What an app shows of one message that came in; `labels` are its buttons."""

    id: Any
    text: str
    labels: tuple[str, ...] = ()


class Person:
    """One person with a phone at `url`, who looks at one of its apps: telegram, whatsapp or mail."""

    def __init__(self, url: str, person: int, app: str, session: aiohttp.ClientSession) -> None:
        self._at, self._events = f"{url}/phone/api/people/{person}", f"{url}/phone/api/events"
        self._app, self._session = app, session

    async def sees(self, words: str) -> Seen:
        """The newest message that came in and has these words, as soon as it is there."""
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with self._session.get(self._events, timeout=timeout) as events:
            async for line in events.content:
                if line.startswith(b"data:") and (found := await self._newest(words)):
                    return found
        raise TimeoutError("the phone is gone")

    async def answers(self, text: str, reply_to: Seen | None) -> None:
        """Send a text, as a reply to a message or just so; a mail is always a reply."""
        if self._app == "mail":
            if reply_to is None:
                raise ValueError("which mail is replied to?")
            await self._post("mail/reply", id=reply_to.id, text=text)
            return
        what = "type" if self._app == "telegram" else "whatsapp/type"
        await self._post(what, text=text, **({"reply_to": reply_to.id} if reply_to else {}))

    async def _post(self, what: str, **body: Any) -> None:
        async with self._session.post(f"{self._at}/{what}", json=body) as answer:
            answer.raise_for_status()

    async def _newest(self, words: str) -> Seen | None:
        async with self._session.get(self._at) as answer:
            shown = await answer.json()
        fitting = [seen for seen in _came_in(self._app, shown) if words in seen.text]
        return fitting[-1] if fitting else None


def _came_in(app: str, shown: dict[str, Any]) -> list[Seen]:
    """What an app got, oldest first."""
    if app == "mail":
        return [
            Seen(letter["id"], letter["text"])
            for letter in reversed(shown["mail"]["letters"])
            if not letter["mine"]
        ]
    if app == "whatsapp":
        return [
            Seen(note["id"], note["text"], tuple(note["buttons"]))
            for note in shown["whatsapp"]["messages"]
            if not note["mine"] and not note["error"]
        ]
    return [
        Seen(item["id"], item["text"], tuple(button["text"] for row in item["rows"] for button in row))
        for chat in shown["chats"]
        for item in chat["messages"]
        if item["bot"]
    ]
