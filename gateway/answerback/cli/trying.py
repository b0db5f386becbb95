"""`providers try`: one message that asks nothing, sent as the gateway does, and what became of it."""

import asyncio
import contextlib
import uuid
from dataclasses import dataclass

from answerback import registry
from answerback.errors import ConfigurationError, Moved, NotFound, ProviderError, TryLater, Undeliverable
from answerback.model import Address, MessageKind
from answerback.provider import Message, Provider, Sent
from answerback.sentences import say
from answerback.settings import Settings

SECONDS = 30.0  # to open it, and then for the message, as in the gateway


@dataclass(frozen=True, slots=True)
class Tried:
    """`status`: sent, undeliverable, later, moved, unknown (it may have arrived) or broken (a bug)."""

    status: str
    detail: str
    message_ids: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        return self.status == "sent"


async def attempt(settings: Settings, name: str, address: str) -> Tried:
    """Open the provider, send, close. Raises `NotFound`, and `ConfigurationError` if it cannot be used."""
    plugin = settings.providers.get(name)
    if plugin is None:
        known = ", ".join(settings.providers) or "none"
        raise NotFound(f"There is no provider {name!r} in {settings.file}. Configured: {known}.")
    message = _message(settings, name, address)
    offered = registry.offered(settings, settings.data_dir)
    try:
        provider = registry.build_provider(plugin, offered)
        try:
            return await _sent(provider, message)
        finally:
            with contextlib.suppress(Exception):  # the message is sent, or not: closing changes nothing
                await provider.close()
    finally:
        await offered.http.close()


def _message(settings: Settings, name: str, address: str) -> Message:
    to, language = Address(name, address, address), "en"
    if person := settings.contacts.get(address):
        found = [each for each in person.addresses if each.provider == name]
        if not found:
            raise NotFound(f"{person.name} has no address on {name}. Give an id there instead.")
        to, language = found[0], person.language
    return Message(
        to,
        MessageKind.NOTICE,
        say("test_title", language),
        body=say("test_body", language),
        subject=say("test_title", language),
        language=language,
        delivery_id=f"test-{uuid.uuid4().hex}",
    )


async def _sent(provider: Provider, message: Message) -> Tried:
    name = provider.name
    try:
        async with asyncio.timeout(SECONDS):
            await provider.open()
    except TimeoutError:
        return Tried("later", f"{name} could not be opened within {SECONDS:g} s. Nothing was sent.")
    except ConfigurationError:
        raise
    except ProviderError as error:
        return Tried("later", f"{name} cannot be reached, so nothing was sent: {error}")
    except (Exception, SystemExit) as error:
        return Tried("broken", _bug(name, "open", error))
    try:
        async with asyncio.timeout(SECONDS):
            sent = await provider.send(message)
    except (Exception, SystemExit) as error:
        return _failed(name, error)
    return _taken(name, sent)


def _taken(name: str, sent: Sent) -> Tried:
    if not sent.message_ids:
        return Tried("sent", f"Sent through {name}, which gives no id: a reply cannot name this message.")
    return Tried("sent", f"Sent through {name} as {sent.message_ids[0]}.", sent.message_ids)


def _failed(name: str, error: BaseException) -> Tried:
    match error:
        case Undeliverable():
            whom = "Nothing will ever arrive at this address." if error.address_dead else "It was not sent."
            return Tried("undeliverable", f"{name} refuses it for good: {error.reason} {whom}")
        case Moved():
            text = f"The address has moved at {name}, to {error.external_id}: change it in the configuration."
            return Tried("moved", text)
        case TryLater(maybe_sent=True) | TimeoutError():
            why = str(error) or f"no answer within {SECONDS:g} s."
            return Tried("unknown", f"{name} did not say whether it was sent, so look there: {why}")
        case TryLater():
            text = f"{name} cannot send it now: {error} Try again in {max(error.seconds, 1):.0f} s."
            return Tried("later", text)
    return Tried("broken", _bug(name, "send", error))


def _bug(name: str, method: str, error: BaseException) -> str:
    """Its text is not shown: it may hold what the provider was given."""
    return f"The provider {name} has a bug: its {method}() raised {type(error).__name__}."
