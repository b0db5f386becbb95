"""The mail provider: sends a message as one mail, over a connection of its own."""

import asyncio
import logging
import re
import ssl
import time
from typing import ClassVar

from answerback.provider import ConfigurationError, Message, Pace, Provider, Sent
from answerback_providers.email.compose import compose
from answerback_providers.email.settings import EmailSettings, Security, Smtp
from answerback_providers.email.smtp import talk

log = logging.getLogger(__name__)
SES = re.compile(r"email-smtp(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com")


class Email(Provider):
    """Questions by mail, text and HTML, answered with the form link.

    Mail is sent and not read yet: an `imap` block is checked and kept, and the mails say that replies
    are not read. A mail cannot be edited, so the outcome goes out as a mail of its own.
    """

    Settings = EmailSettings
    max_choices: ClassVar[int] = 50
    pace: ClassVar[Pace] = Pace(account=10)
    reads_mail: ClassVar[bool] = False
    settings: EmailSettings
    _trust: ssl.SSLContext | None = None

    async def open(self) -> None:
        """Load the certificates and sign in once. Raises `ConfigurationError` or `TryLater`."""
        if self.settings.imap and not self.reads_mail:
            log.warning("%s: an imap block is configured, but mail is not read yet", self.name)
        await self._talk()

    async def send(self, message: Message) -> Sent:
        """Send one mail; its Message-ID, and the one that the relay gave it where that is known.

        Raises `Undeliverable` or `TryLater`; `maybe_sent` only when the server fell silent after the
        whole mail was handed over.
        """
        mail = compose(message, self.settings, time.time_ns() // 1000, replies=self.reads_mail)
        smtp = self.settings.smtp
        receipt = await talk(smtp, await self._certificates(), self.settings.mailbox.domain, mail)
        relayed = relay_id(smtp.host, receipt)
        return Sent((mail.id, relayed) if relayed else (mail.id,))

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
        unread = " (the imap block is not used)" if self.settings.imap else ""
        return (
            f"{smtp.host}:{smtp.at} answers: {protected[smtp.security]}, {signed}. "
            f"Mail is sent, but not read yet{unread}: answers come through the form."
        )

    async def _talk(self) -> None:
        await talk(self.settings.smtp, await self._certificates(), self.settings.mailbox.domain)

    async def _certificates(self) -> ssl.SSLContext:
        if self._trust is None:
            self._trust = await asyncio.to_thread(trust, self.name, self.settings.smtp)
        return self._trust


def trust(name: str, smtp: Smtp) -> ssl.SSLContext:
    """Whom to believe: the certificates of `ca_file`, or the system's. ConfigurationError: unreadable."""
    try:
        return ssl.create_default_context(cafile=smtp.ca_file or None)
    except OSError as error:
        why = error.strerror or "it holds no certificate"
        raise ConfigurationError(f"providers.{name}.smtp.ca_file cannot be used: {why}.") from None


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
