"""The world on Twilio's side of WhatsApp: one sender, the handsets, their messages, and the 24 hours.

https://www.twilio.com/docs/whatsapp/key-concepts#the-24-hour-session-window
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from answerback_sandbox.changes import Changes
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.twilio.courier import Event, Mail
from answerback_sandbox.twilio.errors import TwilioError, not_found
from answerback_sandbox.twilio.state import Content, File, Handset, Note, QuickReply, Status

WINDOW = 24 * 3600 * 1_000_000
BODY_LIMIT = 1600
MOST_BUTTONS = 3  # outside a template; an approved one may have ten
TITLE_LIMIT = 20
OUTSIDE_WINDOW = 63016
BLOCKED = 63024
VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class World:
    """All of it in memory, changed only from the one event loop. `clock`: microseconds since the epoch."""

    def __init__(
        self, changes: Changes, clock: Callable[[], int], mail: Mail, *, account: str, sender: str
    ) -> None:
        self.changes, self.clock, self._mail = changes, clock, mail
        self.account, self.sender = account, sender
        self.handsets: dict[str, Handset] = {}
        self.contents: dict[str, Content] = {}
        self._sids = itertools.count(1)
        self.started_at = clock()

    # ── people ──

    def add_handset(self, address: str, name: str) -> Handset:
        """Someone with WhatsApp. Raises SandboxError if the address is taken or empty."""
        if not address or address in self.handsets:
            raise SandboxError(f"the address {address!r} cannot be used for another person")
        handset = self.handsets[address] = Handset(address, name)
        self.changes.touch()
        return handset

    def handset(self, address: str) -> Handset:
        """Raises SandboxError if there is no such handset."""
        if address not in self.handsets:
            raise SandboxError(f"there is no handset {address!r}")
        return self.handsets[address]

    def is_open(self, handset: Handset) -> bool:
        """Whether the sender may write free text: within 24 hours after this person wrote."""
        return handset.last_wrote_at is not None and self.clock() - handset.last_wrote_at < WINDOW

    def write(
        self,
        address: str,
        body: str,
        *,
        reply_to: str = "",
        files: Sequence[File] = (),
        tapped: QuickReply | None = None,
    ) -> Note:
        """A person sends something to the sender, who is told by webhook. Raises SandboxError."""
        handset = self.handset(address)
        if handset.blocked:
            raise SandboxError("the sender is blocked here")
        if not body and not files:
            raise SandboxError("a message needs a text or a file")
        if reply_to and reply_to not in handset.notes:
            raise SandboxError(f"there is no message {reply_to} to reply to")
        note = Note(
            self._sid("SM"), address, True, body, self.clock(), Status.RECEIVED,
            files=tuple(files), reply_to=reply_to, tapped=tapped,
        )  # fmt: skip
        handset.last_wrote_at = note.at
        self._put(note)
        self._mail.put(Event.inbound(note, handset))
        return note

    def tap(self, address: str, sid: str, button: str | int) -> QuickReply:
        """A person taps a quick reply, by title or place from 0. Raises SandboxError."""
        note = self.handset(address).notes.get(sid)
        if note is None or not note.buttons:
            raise SandboxError(f"message {sid} has no buttons")
        if isinstance(button, int):
            if not 0 <= button < len(note.buttons):
                raise SandboxError(f"message {sid} has no button {button}")
            chosen = note.buttons[button]
        else:
            named = [item for item in note.buttons if item.title == button]
            if not named:
                titles = [item.title for item in note.buttons]
                raise SandboxError(f"message {sid} has no button {button!r}, but {titles}")
            chosen = named[0]
        self.write(address, chosen.title, reply_to=sid, tapped=chosen)
        return chosen

    def attach(self, content: bytes, content_type: str) -> File:
        """A file that a person is about to send."""
        return File(self._sid("ME"), content_type, content)

    def reads(self, address: str) -> None:
        """A person opens the chat: what was delivered is read."""
        for note in tuple(self.handset(address).notes.values()):
            if not note.mine and note.status is Status.DELIVERED:
                self.moves(note, Status.READ)

    # ── the sender ──

    def send(self, to: str, body: str, callback: str) -> Note:
        """Free text from the sender. Outside the 24 hours it is accepted, and fails afterwards."""
        if not body:
            raise TwilioError(400, 21619, "A text message body or media urls must be specified.")
        if len(body) > BODY_LIMIT:
            raise TwilioError(400, 21617, "The concatenated message body exceeds the 1600 character limit")
        handset = self._reached(to)
        outside = not self.is_open(handset)
        return self._post(handset, body, (), "", callback, OUTSIDE_WINDOW if outside else 0)

    def send_content(self, to: str, sid: str, variables: Mapping[str, str], callback: str) -> Note:
        """A content resource from the sender; one that is not approved is taken within the 24 hours only."""
        content = self.contents.get(sid)
        if content is None:
            raise TwilioError(400, 21655, f"The ContentSid {sid} is invalid")
        values = dict(content.variables) | dict(variables)
        body, buttons = _filled(content, values)
        if content.approved and any("\n" in value or not value for value in values.values()):
            raise TwilioError(400, 21656, "The ContentVariables parameter is invalid")
        handset = self._reached(to)
        outside = not content.approved and not self.is_open(handset)
        return self._post(handset, body, buttons, sid, callback, OUTSIDE_WINDOW if outside else 0)

    def make_content(
        self,
        name: str,
        language: str,
        variables: Mapping[str, str],
        types: Mapping[str, Mapping[str, object]],
    ) -> Content:
        """A new content resource. Raises TwilioError for one that Twilio would not take."""
        if not types:
            raise TwilioError(400, 20001, "types must have at least one content type")
        content = Content(self._sid("HX"), name, language, variables, types, self.clock())
        _filled(content, dict(variables))
        self.contents[content.sid] = content
        self.changes.touch()
        return content

    def approve(self, content: Content) -> Content:
        """WhatsApp approves a template."""
        approved = self.contents[content.sid] = replace(content, approved=True)
        return approved

    def moves(self, note: Note, status: Status, error: int = 0) -> Note:
        """A message gets another status, and the sender is told if it asked to be."""
        moved = replace(note, status=status, error=error)
        self._put(moved)
        if moved.callback:
            self._mail.put(Event.status(moved))
        return moved

    def note(self, sid: str) -> Note:
        """Raises TwilioError 404."""
        for handset in self.handsets.values():
            if sid in handset.notes:
                return handset.notes[sid]
        raise not_found(f"/2010-04-01/Accounts/{self.account}/Messages/{sid}.json")

    @property
    def notes(self) -> list[Note]:
        """Every message, newest first, as Twilio lists them."""
        every = [note for handset in self.handsets.values() for note in handset.notes.values()]
        return sorted(every, key=lambda note: (note.at, note.sid), reverse=True)

    def _reached(self, to: str) -> Handset:
        if to not in self.handsets:
            raise TwilioError(400, 21211, f"Invalid 'To' Phone Number: {to}")
        return self.handsets[to]

    def _post(
        self,
        handset: Handset,
        body: str,
        buttons: tuple[QuickReply, ...],
        sid: str,
        callback: str,
        error: int,
    ) -> Note:
        note = Note(
            self._sid("SM"), handset.address, False, body, self.clock(), Status.QUEUED,
            buttons=buttons, content_sid=sid, callback=callback,
        )  # fmt: skip
        accepted = note
        error = BLOCKED if handset.blocked else error
        if error:
            self.moves(note, Status.UNDELIVERED if error == BLOCKED else Status.FAILED, error)
        else:
            self.moves(self.moves(note, Status.SENT), Status.DELIVERED)
        return accepted

    def _put(self, note: Note) -> None:
        self.handsets[note.handset].notes[note.sid] = note
        self.changes.touch()

    def _sid(self, prefix: str) -> str:
        return f"{prefix}{next(self._sids):032x}"


def _filled(content: Content, values: Mapping[str, str]) -> tuple[str, tuple[QuickReply, ...]]:
    """The text and the buttons of a content resource with its variables in place."""

    def fill(text: object) -> str:
        return VARIABLE.sub(lambda found: values.get(found[1], ""), str(text))

    quick = content.types.get("twilio/quick-reply")
    if quick is None:
        return fill(content.types.get("twilio/text", {}).get("body", "")), ()
    actions = quick.get("actions")
    if not isinstance(actions, list) or not 1 <= len(actions) <= (10 if content.approved else MOST_BUTTONS):
        raise TwilioError(400, 20001, "a quick reply has 1 to 3 actions, in an approved template up to 10")
    buttons = tuple(QuickReply(str(item.get("title", "")), fill(item.get("id", ""))) for item in actions)
    if any(not 1 <= len(item.title) <= TITLE_LIMIT for item in buttons):
        raise TwilioError(400, 20001, f"the title of an action has 1 to {TITLE_LIMIT} characters")
    return fill(quick.get("body", "")), buttons
