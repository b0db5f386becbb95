"""Mail on the phone: an inbox as JSON, each mail as a page of its own, and what a person does there."""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.mail.state import Letter, Style
from answerback_sandbox.phone.http import PLAIN, Act, Json, text
from answerback_sandbox.phone.owners import Owner

START = 140  # characters of a mail that its line in the inbox shows
SECOND = 1_000_000
# A mail is somebody else's page: no script, no form, no other host, and its links open a page of their own.
BODY_HEADERS = PLAIN | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    ),
}
ANCHOR = re.compile(r"<a\s", re.IGNORECASE)
QUOTED = re.compile(r"^(>|-{3}).*$", re.MULTILINE)


class Far(Protocol):
    """What the page needs of the mail's far side."""

    def messages(self, address: str) -> Sequence[Letter]: ...
    def reply(self, address: str, message_id: str, text: str, style: Style) -> Letter: ...
    def opened(self, address: str, message_id: str) -> None: ...


class Mail:
    """The app on everybody's phone."""

    def __init__(self, far: Far, owner: Callable[[int], Owner]) -> None:
        self._far, self._owner = far, owner

    @property
    def actions(self) -> dict[str, Act]:
        """What a person can do, by the name it has in the address."""
        return {"reply": self._reply, "seen": self._look}

    def shows(self, person: int) -> Json:
        """The mailbox, newest first. Times are seconds since the Unix epoch. Raises SandboxError."""
        address = self._owner(person).mail
        letters = [_letter(one) for one in reversed(self._far.messages(address))]
        return {"address": address, "letters": letters}

    async def body(self, request: Request) -> Response:
        """The HTML of one mail, for a frame that may do nothing but show it."""
        try:
            letter = self._find(request.path_params["person"], request.path_params["id"])
        except SandboxError as error:
            return Response(str(error), 404, headers=BODY_HEADERS, media_type="text/plain")
        return Response(
            ANCHOR.sub('<a target="_blank" rel="noopener noreferrer" ', letter.html),
            headers=BODY_HEADERS,
            media_type="text/html; charset=utf-8",
        )

    def _reply(self, person: int, body: Json) -> Json:
        words, style = text(body, "text"), Style(body.get("style", Style.GMAIL))
        if not words.strip():
            raise SandboxError("a reply needs a text")
        letter = self._find(person, text(body, "id"))
        sent = self._far.reply(self._owner(person).mail, letter.message_id, words, style)
        return {"id": _id(sent)}

    def _look(self, person: int, body: Json) -> Json:
        letter = self._find(person, text(body, "id"))
        self._far.opened(self._owner(person).mail, letter.message_id)
        return {}

    def _find(self, person: int, id: str) -> Letter:
        for letter in self._far.messages(self._owner(person).mail):
            if _id(letter) == id:
                return letter
        raise SandboxError("there is no such mail")


def _id(letter: Letter) -> str:
    """A name for addresses and elements, in which no character of a Message-ID can do harm."""
    return hashlib.sha256(f"{letter.uid} {letter.message_id}".encode()).hexdigest()[:16]


def _letter(letter: Letter) -> Json:
    written = QUOTED.sub("", letter.text)
    return {
        "id": _id(letter),
        "subject": letter.subject,
        "name": letter.sender_name,
        "address": letter.sender,
        "to": letter.to,
        "text": letter.text,
        "html": bool(letter.html),
        "start": " ".join(written.split())[:START],
        "at": letter.at // SECOND,
        "mine": letter.mine,
        "read": letter.read,
    }
