"""The mail provider: sends a message as one mail, over a connection of its own, and reads the replies."""

import asyncio
import logging
import re
import ssl
import time
from typing import ClassVar

from answerback.provider import (
    Attachment,
    Batch,
    Inbound,
    Message,
    Pace,
    Provider,
    ProviderContext,
    ProviderError,
    Receipt,
    Reply,
    Sent,
    Take,
    Undeliverable,
)
from answerback_providers.email.addresses import mailbox
from answerback_providers.email.certificates import trust
from answerback_providers.email.compose import compose
from answerback_providers.email.counter import Counter
from answerback_providers.email.head import Unreadable
from answerback_providers.email.imap import Inbox
from answerback_providers.email.marks import bounce_id
from answerback_providers.email.reader import Lookup, Reader, txt
from answerback_providers.email.reading import load, read
from answerback_providers.email.settings import EmailSettings, Security
from answerback_providers.email.smtp import talk

log = logging.getLogger(__name__)
READING = "answerback-reading"  # not a header that came in: what our own reader made of the mail
# Of a file: the event that it came in, and its place there.
FILE = re.compile(r"(mail:[0-9a-f]{64})/(\d{1,3})", re.ASCII)
SES = re.compile(r"email-smtp(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com")


class Email(Provider):
    """Questions by mail, text and HTML, answered by a reply where mail is read, else with the form link.

    A mail cannot be edited, so the outcome goes out as a mail of its own.
    """

    Settings = EmailSettings
    max_choices: ClassVar[int] = 50
    tappable: ClassVar[bool] = True  # by its number
    pace: ClassVar[Pace] = Pace(account=10)
    settings: EmailSettings
    _trust: ssl.SSLContext | None = None
    _inbox: Inbox | None = None
    _look: asyncio.Task[None] | None = None

    def __init__(
        self, name: str, settings: EmailSettings, context: ProviderContext, lookup: Lookup = txt
    ) -> None:
        super().__init__(name, settings, context)
        self._reader = Reader(settings, lookup)
        self._counter = Counter(settings.lmtp.listen, settings.mailbox) if settings.lmtp else None

    @property
    def polls(self) -> bool:
        """Whether a mailbox is read."""
        return self.settings.imap is not None

    @property
    def listens(self) -> bool:
        """Whether a mail server hands mail over."""
        return self.settings.lmtp is not None

    async def open(self) -> None:
        """Load the certificates, sign in once, take the place where mail is handed over.

        Mail is read whether or not any can be sent: where it is, a server that takes none is only said.
        Raises `ConfigurationError` or `TryLater`.
        """
        await self._certificates()
        if not self.settings.reads:
            await self._talk()
            return
        if self._counter is not None:
            await self._counter.open()
        if self._look is None:
            self._look = asyncio.create_task(self._say_if_it_takes_none())

    async def close(self) -> None:
        """Leave the mailbox, and end the process that reads."""
        if self._look is not None:
            self._look.cancel()
            await asyncio.gather(self._look, return_exceptions=True)
            self._look = None
        if self._inbox is not None:
            await self._inbox.close()
            self._inbox = None
        if self._counter is not None:
            await self._counter.close()
        await self._reader.close()

    async def send(self, message: Message) -> Sent:
        """Send one mail; its Message-ID, and the one that the relay gave it where that is known.

        Raises `Undeliverable` or `TryLater`; `maybe_sent` only when the server fell silent after the
        whole mail was handed over.
        """
        mail = compose(message, self.settings, time.time_ns() // 1000, replies=self.settings.reads)
        smtp = self.settings.smtp
        receipt = await talk(smtp, await self._certificates(), self.settings.mailbox.domain, mail)
        known = (mail.id, relay_id(smtp.host, receipt), bounce_id(message.token) if message.token else "")
        return Sent(tuple(id for id in known if id))

    async def poll(self, cursor: str, wait: float | None = None) -> Batch:
        """What came behind `cursor`, each mail read already. Raises `TryLater`.

        They are read side by side: a domain whose name servers are silent holds up its own mail only.
        """
        haul = await (await self._mailbox()).look(cursor, wait)
        return Batch(tuple(await asyncio.gather(*map(self._event, haul.mails))), haul.cursor)

    async def listen(self, take: Take) -> None:
        """Take mail by LMTP, until cancelled."""
        if self._counter is None:
            raise Undeliverable(f"The provider {self.name} takes no mail by LMTP.")

        async def deliver(mail: bytes) -> None:
            await take(await self._event(mail))

        await self._counter.serve(deliver)

    async def _event(self, raw: bytes) -> Inbound:
        reading = await self._reader.read(raw)
        headers = {READING: reading.dump() if reading else ""}
        return Inbound(raw, headers=headers, received_at=time.time_ns() // 1000)

    def canonical(self, id: str) -> str:
        """In lower case, the domain in its `xn--` form. Raises ValueError for what is no address.

        RFC 5321 section 2.4 lets a server tell `Ana` from `ana` before the @. None in use does, and nobody
        should be kept from answering because a mail program wrote an address in another way.
        """
        return str(mailbox(id)).lower()

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        """What `poll` read; a mail that is replayed is read here, and proves nothing any more.

        Raises ValueError for what could not be read.
        """
        dumped = inbound.headers.get(READING)
        if dumped == "":
            raise Unreadable("this mail could not be read")
        reading = load(dumped) if dumped else read(inbound.body, self.settings.mailbox)
        return reading.found(inbound.received_at)

    async def fetch(self, attachment: Attachment) -> bytes:
        """A file, out of the mail that it came in, as the gateway has kept it. Raises `Undeliverable`."""
        found = FILE.fullmatch(attachment.id)
        mail = await self.context.stored(self.name, found[1]) if found else None
        if found is None or mail is None:
            raise Undeliverable("The mail that it came in is not kept.")
        content = await self._reader.file(mail, int(found[2]))
        if content is None:
            raise Undeliverable("It cannot be read from the mail that it came in.")
        return content

    async def probe(self) -> str:
        """Connect, secure and sign in, without sending anything."""
        await self._talk()
        smtp = self.settings.smtp
        protected = {
            Security.STARTTLS: "STARTTLS with a valid certificate",
            Security.TLS: "TLS with a valid certificate",
            Security.PLAIN: "without encryption, as configured",
        }
        signed = "signed in" if smtp.username else "no sign-in configured"
        sending = f"{smtp.host}:{smtp.at} answers: {protected[smtp.security]}, {signed}."
        if not self.settings.reads:
            return f"{sending} Mail is sent, but not read: answers come through the form."
        if self.settings.lmtp:
            return f"{sending} Mail is taken by LMTP at {self.settings.lmtp.listen}."
        return f"{sending} {await (await self._mailbox()).probe()}"

    async def _mailbox(self) -> Inbox:
        imap = self.settings.imap
        if imap is None:
            raise Undeliverable(f"The provider {self.name} reads no mail.")
        if self._inbox is None:
            certificates = await asyncio.to_thread(trust, f"{self.name}.imap", imap)
            self._inbox = Inbox(imap, certificates)
        return self._inbox

    async def _say_if_it_takes_none(self) -> None:
        try:
            await self._talk()
        except ProviderError as error:
            log.warning("the provider %s cannot send mail at the moment: %s", self.name, error)

    async def _talk(self) -> None:
        await talk(self.settings.smtp, await self._certificates(), self.settings.mailbox.domain)

    async def _certificates(self) -> ssl.SSLContext:
        if self._trust is None:
            self._trust = await asyncio.to_thread(trust, f"{self.name}.smtp", self.settings.smtp)
        return self._trust


def relay_id(host: str, receipt: str) -> str:
    """The Message-ID that Amazon SES puts in the place of ours; "" elsewhere.

    SES answers `250 Ok ID` and sends as `<ID@REGION.amazonses.com>`, in us-east-1 `<ID@email.amazonses.com>`.
    """
    region = SES.fullmatch(host.lower())
    known = re.fullmatch(r"(?:2\.\d\.\d )?Ok ([0-9a-f-]{20,})", receipt.strip(), re.IGNORECASE)
    if not region or not known:
        return ""
    place = "email" if region[1] == "us-east-1" else region[1]
    return f"<{known[1]}@{place}.amazonses.com>"
