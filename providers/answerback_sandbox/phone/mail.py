"""Mail on the phone: an inbox as JSON, each mail as a page of its own, and what a person does there."""

import hashlib
import re
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.mail import far
from answerback_sandbox.mail.state import File, Letter, Style
from answerback_sandbox.people import Reach
from answerback_sandbox.phone.files import kind_of, shown, upload
from answerback_sandbox.phone.http import PLAIN, Act, Json, text

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
PLUS = re.compile(r"\+[^@]*@")  # what stands behind it says which question is answered
ABOVE = re.compile(r"^-{3} .*", re.MULTILINE)  # the line above which people write
QUOTED = re.compile(r"^(>|_{20}|On .* wrote:).*", re.MULTILINE | re.DOTALL)


class Mail:
    """The app on everybody's phone."""

    def __init__(self, far: far.Mail, reach: Callable[[int], Reach]) -> None:
        self._far, self._reach = far, reach

    @property
    def actions(self) -> dict[str, Act]:
        """What a person can do, by the name it has in the address."""
        return {
            "reply": self._reply,
            "write": self._write,
            "forge": self._forge,
            "bounce": self._bounce,
            "seen": self._look,
            "away": self._go_away,
        }

    def shows(self, person: int) -> Json:
        """The mailbox, newest first. Times are seconds since the Unix epoch. Raises SandboxError."""
        box = self._far.world.box(self._reach(person).mail)
        letters = [_letter(one) for one in reversed(self._far.messages(box.address))]
        agent = self._far.address
        return {"address": box.address, "agent": agent, "away": bool(box.away), "letters": letters}

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
        words, style = _words(body, "a reply"), Style(body.get("style", Style.GMAIL))
        letter = self._find(person, text(body, "id"))
        sent = self._far.reply(self._reach(person).mail, letter.message_id, words, style)
        return {"id": _id(sent)}

    def send_file(self, person: int, body: Json) -> Json:
        """A reply with a file, perhaps without a text; in its own route, because it is long."""
        sent, words, style = upload(body), text(body, "text"), Style(body.get("style", Style.GMAIL))
        letter, file = self._find(person, text(body, "id")), File(sent.name, sent.content_type, sent.content)
        return {"id": _id(self._far.reply(self._reach(person).mail, letter.message_id, words, style, [file]))}

    def _write(self, person: int, body: Json) -> Json:
        """A new mail to the agent."""
        words, subject = _words(body, "a mail"), text(body, "subject")
        return {"id": _id(self._far.write(self._reach(person).mail, subject, words))}

    def _forge(self, person: int, body: Json) -> Json:
        """Somebody else answers in this person's name; nothing of it lies in the mailbox."""
        words, letter = _words(body, "a reply"), self._find_received(person, text(body, "id"))
        self._far.forge(self._reach(person).mail, letter.message_id, words)
        return {}

    def _bounce(self, person: int, body: Json) -> Json:
        """A mail that had been taken comes back to whoever sent it, as one that never arrived."""
        letter = self._find_received(person, text(body, "id"))
        if not letter.headers.get("return-path", "").strip("<> "):
            raise SandboxError("this mail has no return path, so that nobody can be told")
        self._far.bounce(self._reach(person).mail, letter.message_id)
        return {}

    def _look(self, person: int, body: Json) -> Json:
        letter = self._find(person, text(body, "id"))
        self._far.opens(self._reach(person).mail, letter.message_id)
        return {}

    def _go_away(self, person: int, body: Json) -> Json:
        """From now on, or no longer, every mail gets an answer that says that nobody reads it."""
        away = body["away"]
        if not isinstance(away, bool):
            raise TypeError
        self._far.set_away(self._reach(person).mail, away)
        return {}

    def _find_received(self, person: int, id: str) -> Letter:
        letter = self._find(person, id)
        if letter.mine:
            raise SandboxError("this mail was sent from here")
        return letter

    def _find(self, person: int, id: str) -> Letter:
        for letter in self._far.messages(self._reach(person).mail):
            if _id(letter) == id:
                return letter
        raise SandboxError("there is no such mail")


def _words(body: Json, what: str) -> str:
    words = text(body, "text")
    if not words.strip():
        raise SandboxError(f"{what} needs a text")
    return words


def _id(letter: Letter) -> str:
    """A name for addresses and elements, in which no character of a Message-ID can do harm."""
    return hashlib.sha256(f"{letter.uid} {letter.message_id}".encode()).hexdigest()[:16]


def _letter(letter: Letter) -> Json:
    written = QUOTED.sub("", ABOVE.sub("", letter.text))
    return {
        "id": _id(letter),
        "subject": letter.subject,
        "name": letter.sender_name,
        "address": letter.sender,
        "to": PLUS.sub("@", letter.to),
        "text": letter.text,
        "html": bool(letter.html),
        "files": [
            shown(kind_of(file.content_type), file.content_type, file.content, file.name)
            for file in letter.files
        ],
        "start": " ".join(written.split())[:START],
        "at": letter.at // SECOND,
        "mine": letter.mine,
        "read": letter.read,
    }
