"""Somebody who answers on the phone, as a browser does it: through the phone's own interface over HTTP."""

import random
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


class Person:
    """One person with a phone at `url`."""

    def __init__(self, url: str, person: int, session: aiohttp.ClientSession) -> None:
        self._at, self._events = f"{url}/phone/api/people/{person}", f"{url}/phone/api/events"
        self._session = session

    async def sees(self, words: str, *, message_id: int | None = None) -> dict[str, Any]:
        """The newest message of the bot that has these words (and this id), as soon as it is there."""
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with self._session.get(self._events, timeout=timeout) as events:
            async for line in events.content:
                if line.startswith(b"data:") and (found := await self._newest(words, message_id)):
                    return found
        raise TimeoutError("the phone is gone")

    async def writes(self, text: str, reply_to: int | None = None) -> None:
        """Send a text, as a reply to a message or just so."""
        body = {"text": text, **({"reply_to": reply_to} if reply_to is not None else {})}
        async with self._session.post(f"{self._at}/type", json=body) as answer:
            answer.raise_for_status()

    async def _newest(self, words: str, message_id: int | None) -> dict[str, Any] | None:
        async with self._session.get(self._at) as answer:
            shown = await answer.json()
        messages = [message for chat in shown["chats"] for message in chat["messages"] if message["bot"]]
        fitting = [
            message
            for message in messages
            if words in message["text"] and message_id in (None, message["id"])
        ]
        return fitting[-1] if fitting else None
