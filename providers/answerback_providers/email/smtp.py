"""One conversation with a mail server: connect, secure, sign in, hand over; and what a failure means.

The server's own sentences are never passed on: they repeat addresses, and the envelope sender holds a
token. What is said instead is the step, the status code and, where given, the enhanced code (RFC 3463).
"""

import asyncio
import contextlib
import re
import ssl
from enum import StrEnum

import aiosmtplib

from answerback.provider import ProviderError, TryLater, Undeliverable
from answerback_providers.email import certificates
from answerback_providers.email.compose import Mail
from answerback_providers.email.settings import Security, Smtp

SOON, LATER, MUCH_LATER = 5, 60, 900  # seconds at least: no connection, a "not now", something to be repaired
GOODBYE = 2  # seconds for QUIT, after everything is decided
ENHANCED = re.compile(r"\b[245]\.\d{1,3}\.\d{1,3}\b")
# RFC 3463 section 3.2 and 3.3, RFC 7505: no such mailbox, no such domain, moved, accepts no mail, disabled.
NOBODY_THERE = frozenset({"5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.6", "5.1.10", "5.2.0", "5.2.1"})
UNKNOWN_USER = frozenset({550, 551, 553, 556})  # read so only where no enhanced code says otherwise


class Step(StrEnum):
    CONNECT = "connecting"
    SECURE = "STARTTLS"
    SIGN_IN = "signing in"
    SENDER = "the sender"
    RECIPIENT = "the recipient"
    CONTENT = "the mail itself"


REMEDY = {
    Step.CONNECT: "It takes no mail from here.",
    Step.SECURE: "Nothing was sent.",
    Step.SIGN_IN: "Check username and password.",
    Step.SENDER: "Check that this account may send from the configured address.",
}


class Conversation:
    """One connection for one mail. `step` says how far it came."""

    def __init__(self, server: Smtp, trust: ssl.SSLContext, hello: str) -> None:
        self.server, self.trust, self.step = server, trust, Step.CONNECT
        self.client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.at,
            timeout=server.timeout,
            use_tls=server.security is Security.TLS,
            start_tls=False,  # not by itself: it is a step of its own, and required
            tls_context=trust,
            local_hostname=hello,
        )

    async def sign_in(self) -> None:
        """Come as far as a session that may send; without STARTTLS where it is due, no further."""
        await self.client.connect()
        if self.server.security is Security.STARTTLS:
            self.step = Step.SECURE
            await self.client.starttls(tls_context=self.trust)
        self.step = Step.SIGN_IN
        await self.client.ehlo()
        if self.server.username:
            await self.client.login(self.server.username, self.server.password.get_secret_value())

    async def hand_over(self, mail: Mail) -> str:
        """Send one mail; the server's receipt."""
        options, encoding = (["SMTPUTF8", "BODY=8BITMIME"], "utf-8") if mail.utf8 else ([], "ascii")
        if mail.utf8 and not self.client.supports_extension("smtputf8"):
            raise Undeliverable("The mail server takes no addresses beyond ASCII (SMTPUTF8).")
        self.step = Step.SENDER
        await self.client.mail(mail.sender, options=options, encoding=encoding)
        self.step = Step.RECIPIENT
        await self.client.rcpt(mail.recipient, encoding=encoding)
        self.step = Step.CONTENT
        return (await self.client.data(mail.content)).message

    async def leave(self) -> None:
        """Say QUIT where somebody still listens; never an error, what counts is decided already."""
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            async with asyncio.timeout(GOODBYE):
                await self.client.quit()


async def talk(server: Smtp, trust: ssl.SSLContext, hello: str, mail: Mail | None = None) -> str:
    """Sign in and hand over `mail`, if there is one; the server's receipt. Raises like `Provider.send`."""
    conversation = Conversation(server, trust, hello)
    try:
        receipt = await _within(conversation, mail)
        if not isinstance(receipt, ProviderError):
            await conversation.leave()
            return receipt
    finally:
        conversation.client.close()
    raise receipt  # outside the handler, so that the library's error, which holds addresses, stays behind


async def _within(conversation: Conversation, mail: Mail | None) -> str | ProviderError:
    try:
        async with asyncio.timeout(conversation.server.timeout):
            await conversation.sign_in()
            return await conversation.hand_over(mail) if mail else ""
    except ProviderError as known:
        await conversation.leave()
        return known
    except aiosmtplib.SMTPResponseException as error:
        verdict = refusal(conversation, error.code, error.message)
        await conversation.leave()
        return verdict
    except (aiosmtplib.SMTPException, OSError) as error:
        return silence(conversation, error)


def refusal(conversation: Conversation, code: int, said: str) -> ProviderError:
    """What an answer other than "yes" means at this step."""
    step, where = conversation.step, _where(conversation)
    known = ENHANCED.search(said)
    enhanced = known[0] if known else ""
    detail = f"{code} {enhanced}".strip()
    reason = f"{where} refused {step} ({detail})."
    if not 400 <= code <= 599:
        maybe = step is Step.CONTENT
        return TryLater(LATER, f"{where} gave an answer that is none to {step}.", maybe_sent=maybe)
    if code < 500:
        return TryLater(LATER, reason)
    if step is Step.RECIPIENT:
        nobody = enhanced in NOBODY_THERE if enhanced else code in UNKNOWN_USER
        return Undeliverable(reason, address_dead=nobody)
    if step is Step.CONTENT:
        return Undeliverable(reason, address_dead=enhanced in NOBODY_THERE)
    return TryLater(MUCH_LATER, f"{reason} {REMEDY[step]}")


def silence(conversation: Conversation, error: Exception) -> ProviderError:
    """What it means that there was no answer, or no way to ask."""
    step, where = conversation.step, _where(conversation)
    if refused := certificates.refusal(where, error):
        return TryLater(MUCH_LATER, refused)
    if step is Step.CONTENT:
        reason = f"{where} fell silent after the mail was handed over."
        return TryLater(LATER, reason, maybe_sent=True)
    if step is Step.SECURE and type(error) is aiosmtplib.SMTPException:
        advice = "Use security: tls, or security: plain where the network is trusted."
        return TryLater(MUCH_LATER, f"{where} does not offer STARTTLS; nothing was sent in clear. {advice}")
    if step is Step.SIGN_IN and type(error) is aiosmtplib.SMTPException:
        return TryLater(MUCH_LATER, f"{where} offers no way to sign in that is known here.")
    if step is Step.CONNECT:
        return TryLater(SOON, f"{where} cannot be reached, or does not answer.")
    return TryLater(SOON, f"{where} fell silent at {step}.")


def _where(conversation: Conversation) -> str:
    return f"{conversation.server.host}:{conversation.server.at}"
