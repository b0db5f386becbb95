"""WhatsApp on the phone: what its one chat shows, as JSON, and what a person does there."""

from collections.abc import Callable

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.people import Reach
from answerback_sandbox.phone.files import kind_of, shown, upload
from answerback_sandbox.phone.http import Act, Json, text
from answerback_sandbox.twilio.far import Twilio
from answerback_sandbox.twilio.state import File, Note, Status
from answerback_sandbox.twilio.world import WINDOW

SECOND = 1_000_000


class WhatsApp:
    """The app on everybody's phone. `name`: how the sender's business profile calls itself."""

    def __init__(self, far: Twilio, reach: Callable[[int], Reach], name: str) -> None:
        self._far, self._reach, self._name = far, reach, name

    @property
    def actions(self) -> dict[str, Act]:
        """What a person can do, by the name it has in the address."""
        return {
            "type": self._type,
            "tap": self._tap,
            "seen": self._look,
            "day": self._day,
            "block": self._block,
            "unblock": self._unblock,
        }

    def shows(self, person: int) -> Json:
        """The chat with the sender. Times are seconds since the Unix epoch. Raises SandboxError."""
        world = self._far.world
        handset = world.handset(self._reach(person).whatsapp)
        wrote = handset.last_wrote_at
        return {
            "address": handset.address,
            "name": self._name,
            "sender": self._far.sender,
            "blocked": handset.blocked,
            "open": world.is_open(handset),
            "open_until": 0 if wrote is None else (wrote + WINDOW) // SECOND,
            "unread": sum(_is_unread(note) for note in handset.notes.values()),
            "messages": [self._message(note) for note in handset.notes.values()],
        }

    def _message(self, note: Note) -> Json:
        mine = note.mine
        return {
            "id": note.sid,
            "mine": mine,
            "sender": self._name,
            "text": note.body,
            "at": note.at // SECOND,
            "status": self._far.courier.status_of(note) if mine else str(note.status),
            "error": note.error,
            "template": bool(note.content_sid and self._far.world.contents[note.content_sid].approved),
            "reply_to": note.reply_to or None,
            "buttons": [button.title for button in note.buttons],
            "files": [_file(file) for file in note.files],
        }

    def _type(self, person: int, body: Json) -> Json:
        words, reply_to = text(body, "text"), str(body.get("reply_to") or "")
        at = self._at(person)
        if not words.strip():
            raise SandboxError("a message needs a text or a file")
        return {"message_id": self._far.type(at, words, reply_to).sid}

    def send_file(self, person: int, body: Json) -> Json:
        """A person sends a file, perhaps with a text; in its own route, because it is long."""
        sent, words, reply_to = upload(body), text(body, "text"), str(body.get("reply_to") or "")
        note = self._far.send_file(self._at(person), sent.content, sent.content_type, words, reply_to)
        return {"message_id": note.sid}

    def _tap(self, person: int, body: Json) -> Json:
        button = body["button"]
        if not isinstance(button, int | str):
            raise TypeError
        return {"title": self._far.tap(self._at(person), text(body, "message_id"), button).title}

    def _look(self, person: int, body: Json) -> Json:
        self._far.reads(self._at(person))
        return {}

    def _day(self, person: int, body: Json) -> Json:
        """A day passes without a word: the 24 hours in which anything may be sent are over."""
        self._far.let_a_day_pass(self._at(person))
        return {}

    def _block(self, person: int, body: Json) -> Json:
        return self._shut(person, blocked=True)

    def _unblock(self, person: int, body: Json) -> Json:
        return self._shut(person, blocked=False)

    def _shut(self, person: int, *, blocked: bool) -> Json:
        self._far.block(self._at(person), blocked)
        return {}

    def _at(self, person: int) -> str:
        return self._reach(person).whatsapp


def _file(file: File) -> Json:
    return shown(kind_of(file.content_type), file.content_type, file.content)


def _is_unread(note: Note) -> bool:
    return not note.mine and note.status is Status.DELIVERED
