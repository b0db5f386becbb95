"""The real clients of Telegram, WhatsApp and mail, connected to the sandbox; and whom they reach there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from answerback.model import Address, Contact
from answerback.provider import Pace, Provider, ProviderContext
from answerback_providers.email import Email
from answerback_providers.telegram.settings import TelegramSettings
from answerback_providers.whatsapp import WhatsApp
from answerback_sandbox import Sandbox
from answerback_sandbox.endpoints import endpoints
from answerback_sandbox.people import Reach
from tests.support.telegram import Unhurried

PLACES = ("telegram", "whatsapp", "email")
COURIERS = 8  # webhooks that Twilio posts side by side


class UnhurriedWhatsApp(WhatsApp):
    """As it is, without waiting a second between two messages."""

    pace = Pace()


class UnhurriedEmail(Email):
    """As it is, without its limit of ten mails a second."""

    pace = Pace()


def services(
    box: Sandbox, url: str, *, telegram: str = "webhook", lmtp: str = "", authserv_id: str = ""
) -> dict[str, Provider]:
    """All three, of a gateway at `url`.

    Mail is read by IMAP, unless a server that calls itself `authserv_id` hands it over at a socket, `lmtp`.
    """
    at, context = endpoints(box), ProviderContext(url)
    bot = {"token": box.token, "api_base": box.url, "mode": telegram}
    if telegram == "webhook":
        bot["webhook_secret"] = "a-secret-of-ours"
    account = {name: at["whatsapp"][name] for name in ("account_sid", "auth_token", "sender", "api_base")}
    post = at["mail"]
    login = {"username": post["username"], "password": post["password"]}
    servers = {name: post[name] | login | {"port": str(post[name]["port"])} for name in ("smtp", "imap")}
    mail = {"address": post["address"], "authserv_id": authserv_id or post["authserv_id"], **servers}
    if lmtp:
        del mail["imap"]
        mail["lmtp"] = {"listen": lmtp}
    return {
        "telegram": Unhurried("telegram", TelegramSettings.model_validate(bot), context),
        "whatsapp": UnhurriedWhatsApp("whatsapp", WhatsApp.Settings.model_validate(account), context),
        "email": UnhurriedEmail("email", Email.Settings.model_validate(mail), context),
    }


def contact(person: Reach) -> Contact:
    """A person, who can be asked on all three."""
    ids = {"telegram": str(person.id), "whatsapp": person.whatsapp, "email": person.mail}
    addresses = tuple(Address(provider, id, id) for provider, id in ids.items())
    return Contact(person.name.lower(), person.name, addresses=addresses)


@contextlib.asynccontextmanager
async def several_couriers(box: Sandbox) -> AsyncIterator[None]:
    """Twilio does not wait for one webhook before it posts the next."""
    tasks = [asyncio.create_task(box.twilio.courier.run()) for _ in range(COURIERS - 1)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
