"""Twilio as one object: a WhatsApp sender with people on the other side, for tests and for the phone page."""

from collections.abc import Callable
from urllib.parse import urlsplit

from answerback_sandbox.changes import Changes
from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import Fault, FaultKind, Faults
from answerback_sandbox.loopback import host_of, is_loopback
from answerback_sandbox.twilio.api import TwilioApi
from answerback_sandbox.twilio.courier import Courier, Mail
from answerback_sandbox.twilio.state import Handset, Note, QuickReply
from answerback_sandbox.twilio.world import World

ACCOUNT = "AC" + "5a" * 16
AUTH_TOKEN = "sandbox-of-answerback-not-a-secret"
SENDER = "+15550001111"
TEMPLATE = "{{1}}: {{2}} Answer here or on the form: {{3}}"


class Twilio:
    """One account with one sender, and two approved templates: `content_sid` and `confirm_content_sid`.

    `webhook` is where what people write goes, as it is configured for a sender in Twilio's console.
    """

    account_sid, auth_token, sender = ACCOUNT, AUTH_TOKEN, SENDER

    def __init__(self, changes: Changes, clock: Callable[[], int]) -> None:
        self._changes = changes
        self.faults = Faults()
        self.mail = Mail(changes)
        self.world = World(changes, clock, self.mail, account=ACCOUNT, sender=SENDER)
        self.courier = Courier(
            self.mail, changes, self.faults, account=ACCOUNT, sender=SENDER, auth_token=AUTH_TOKEN
        )
        api = TwilioApi(self.world, self.faults, changes, AUTH_TOKEN, lambda: self.courier.own_url)
        self.routes = api.routes
        self.calls = api.calls
        defaults = {"1": "Agent", "2": "Question", "3": "Link"}
        self.content_sid = self._approved("answerback_question", defaults, [])
        self.confirm_content_sid = self._approved(
            "answerback_confirm",
            defaults | {"4": "yes", "5": "no"},
            [{"title": "Yes", "id": "{{4}}"}, {"title": "No", "id": "{{5}}"}],
        )

    def webhook(self, url: str) -> None:
        """Where messages that come in are posted; "" for nowhere. Raises SandboxError unless on loopback."""
        if url and not (
            url.startswith(("http://", "https://")) and is_loopback(host_of(urlsplit(url).netloc))
        ):
            raise SandboxError(
                "the webhook must be a URL on loopback, such as http://127.0.0.1:8700/in/whatsapp"
            )
        self.courier.webhook = url

    def add_person(self, address: str, name: str) -> Handset:
        """Someone with WhatsApp. Raises SandboxError."""
        return self.world.add_handset(address, name)

    def type(self, address: str, text: str, reply_to: str = "") -> Note:
        """A person writes a text, perhaps quoting a message. Raises SandboxError."""
        return self.world.write(address, text, reply_to=reply_to)

    def tap(self, address: str, sid: str, button: str | int) -> QuickReply:
        """A person taps a quick reply. Raises SandboxError."""
        return self.world.tap(address, sid, button)

    def send_file(
        self, address: str, content: bytes, content_type: str, text: str = "", reply_to: str = ""
    ) -> Note:
        """A person sends a picture, a voice message or a document. Raises SandboxError."""
        file = self.world.attach(content, content_type)
        return self.world.write(address, text, reply_to=reply_to, files=(file,))

    def messages(self, address: str) -> tuple[Note, ...]:
        """What stands in the chat on this handset, oldest first. Raises SandboxError."""
        return tuple(self.world.handset(address).notes.values())

    def reads(self, address: str) -> None:
        """A person opens the chat: what was delivered is read. Raises SandboxError."""
        self.world.reads(address)

    def is_open(self, address: str) -> bool:
        """Whether this person wrote within 24 hours, so that free text reaches them. Raises SandboxError."""
        return self.world.is_open(self.world.handset(address))

    def let_a_day_pass(self, address: str) -> None:
        """The 24 hours are over for this person, as far as WhatsApp is concerned. Raises SandboxError."""
        self.world.handset(address).last_wrote_at = None
        self._changes.touch()

    def block(self, address: str, blocked: bool = True) -> None:
        """A person blocks the sender, or lets it in again. Raises SandboxError."""
        self.world.handset(address).blocked = blocked
        self._changes.touch()

    def received(self, address: str) -> tuple[Note, ...]:
        """The sender's messages on this handset that arrived, oldest first. Raises SandboxError."""
        notes = self.world.handset(address).notes.values()
        return tuple(note for note in notes if not note.mine and not note.error)

    def fail(
        self, kind: FaultKind, calls: int | None = 1, *, method: str | None = None, seconds: float = 1.0
    ) -> None:
        """Let the next `calls` go wrong. Methods: account, create, list, fetch, media, content, contents."""
        self.faults.add(Fault(kind, calls, method, seconds))
        self._changes.touch()

    def heal(self) -> None:
        """Everything works again."""
        self.faults.heal()
        self.courier.shuffled = False
        self._changes.touch()

    def _approved(self, name: str, variables: dict[str, str], actions: list[dict[str, str]]) -> str:
        kind = "twilio/quick-reply" if actions else "twilio/text"
        body: dict[str, object] = {"body": TEMPLATE} | ({"actions": actions} if actions else {})
        return self.world.approve(self.world.make_content(name, "en", variables, {kind: body})).sid
