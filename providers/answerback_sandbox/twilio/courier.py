"""The courier: signed webhooks for what people write, and status callbacks, to loopback only.

https://www.twilio.com/docs/usage/security#validating-requests (X-Twilio-Signature),
https://www.twilio.com/docs/messaging/guides/webhook-request (fields)
"""

import base64
import hashlib
import hmac
from collections import deque
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import FaultKind, Faults
from answerback_sandbox.loopback import host_of, is_loopback
from answerback_sandbox.twilio import wire
from answerback_sandbox.twilio.state import Handset, Note, Status

SECONDS = 15.0  # Twilio waits no longer for an answer
ATTEMPTS = 2  # Twilio tries a webhook once more, not for ever: what is lost then has to be listed


@dataclass(frozen=True, slots=True)
class Event:
    """One request that Twilio makes: a message that came in, or (with `status`) what became of one."""

    note: Note
    handset: Handset | None = None

    @classmethod
    def inbound(cls, note: Note, handset: Handset) -> "Event":
        """Somebody wrote."""
        return cls(note, handset)

    @classmethod
    def status(cls, note: Note) -> "Event":
        """A message of the sender's has another status."""
        return cls(note)


class Mail:
    """What is still to be posted, oldest first."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._waiting: deque[Event] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, event: Event) -> None:
        self._waiting.append(event)
        self._changes.touch()

    def take(self, *, newest: bool) -> Event:
        """The oldest; or, to mix up the order, the newest."""
        return self._waiting.pop() if newest else self._waiting.popleft()

    def clear(self) -> None:
        """Nobody ever hears of these."""
        self._waiting.clear()


class Courier:
    """Posts events one after the other. `webhook` is where what people write goes; "" for nowhere."""

    def __init__(
        self, mail: Mail, changes: Changes, faults: Faults, *, account: str, sender: str, auth_token: str
    ) -> None:
        self._mail, self._changes, self._faults = mail, changes, faults
        self._account, self._sender, self._secret = account, sender, auth_token
        self.webhook = ""
        self.shuffled = False
        self.shared_key: tuple[str, str] | None = None  # (id, secret) of a SharedKey
        self.own_url = ""
        self.posted: list[tuple[str, int]] = []  # where, and the status (0: no answer)
        self._taken: set[str] = set()  # messages that came in and were answered with 2xx

    async def run(self) -> None:
        """Post until the sandbox closes."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session:
            while True:
                await self._changes.wait_for(lambda: self._changes.closed or len(self._mail) > 0, None)
                if self._changes.closed:
                    return
                newest = self.shuffled or self._faults.is_on(FaultKind.SHUFFLED)
                event = self._mail.take(newest=newest)
                url = self.webhook if event.handset else event.note.callback
                if url and is_loopback(host_of(url.partition("://")[2].partition("/")[0])):
                    await self._deliver(session, url, self.fields(event))

    def status_of(self, note: Note) -> Status:
        """What the person who wrote a message sees of it: sent, or delivered once the webhook took it."""
        return Status.DELIVERED if note.sid in self._taken else Status.SENT

    def fields(self, event: Event) -> dict[str, str]:
        """The form of one event."""
        note = event.note
        found = {
            "MessageSid": note.sid,
            "SmsMessageSid": note.sid,
            "SmsSid": note.sid,
            "AccountSid": self._account,
            "ApiVersion": "2010-04-01",
        }
        if event.handset is None:
            status = str(note.status)
            found |= {"From": wire.PREFIX + self._sender, "To": wire.PREFIX + note.handset}
            found |= {"MessageStatus": status, "SmsStatus": status, "ChannelPrefix": "whatsapp"}
            return found | ({"ErrorCode": str(note.error)} if note.error else {})
        found |= {
            "From": wire.PREFIX + note.handset,
            "To": wire.PREFIX + self._sender,
            "Body": note.body,
            "ProfileName": event.handset.name,
            "NumMedia": str(len(note.files)),
            "NumSegments": "1",
            "SmsStatus": "received",
            "MessageType": "button" if note.tapped else _kind(note),
            "ReferralNumMedia": "0",
        }
        if note.handset.startswith("+"):
            found["WaId"] = note.handset.removeprefix("+")
        for place, file in enumerate(note.files):
            found[f"MediaUrl{place}"] = self.own_url + wire.media_path(file, note, self._account)
            found[f"MediaContentType{place}"] = file.content_type
        if note.tapped is not None:
            found |= {"ButtonText": note.tapped.title, "ButtonPayload": note.tapped.payload}
        if note.reply_to:
            found["OriginalRepliedMessageSid"] = note.reply_to
            found["OriginalRepliedMessageSender"] = wire.PREFIX + self._sender
        return found

    def headers(self, url: str, found: dict[str, str]) -> dict[str, str]:
        """The signature: with the auth token and SHA-1, or with a shared key and SHA-256."""
        text = url + "".join(name + found[name] for name in sorted(found))
        if self.shared_key is None:
            digest = hmac.new(self._secret.encode(), text.encode(), hashlib.sha1).digest()
            return {"X-Twilio-Signature": base64.b64encode(digest).decode()}
        name, secret = self.shared_key
        digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
        return {
            "X-Twilio-Signature": base64.b64encode(digest).decode(),
            "X-Twilio-Webhooks-Signature-Settings": f"key={name},algorithm=HMAC_SHA256",
        }

    async def _deliver(self, session: aiohttp.ClientSession, url: str, found: dict[str, str]) -> None:
        times = 2 if self._faults.take_duplicate() else 1
        for _ in range(times):
            for _ in range(ATTEMPTS):
                if await self._post(session, url, found):
                    self._taken.add(found["MessageSid"])
                    self._changes.touch()
                    break

    async def _post(self, session: aiohttp.ClientSession, url: str, found: dict[str, str]) -> bool:
        headers = self.headers(url, found) | {
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"
        }
        try:
            async with session.post(
                url, data=urlencode(found), headers=headers, allow_redirects=False
            ) as answer:
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            status = 0
        self.posted.append((url, status))
        self._changes.touch()
        return 200 <= status <= 299


def _kind(note: Note) -> str:
    if not note.files:
        return "text"
    return note.files[0].content_type.partition("/")[0]
