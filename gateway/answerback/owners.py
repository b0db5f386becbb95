"""owners: whose an address is, in the one form in which its provider writes who sent a reply."""

import dataclasses
from collections.abc import Mapping

from answerback.errors import ConfigurationError
from answerback.model import Address, Contact
from answerback.provider import Provider
from answerback.settings import Settings


class NoAddress(ValueError):
    """What stands there can never be an address of its provider. Says where and why, and not what it is."""


def settled(settings: Settings, providers: Mapping[str, Provider]) -> Settings:
    """The settings with every contact's addresses in that form.

    Raises ConfigurationError: two would share one, or what stands there can be no address.
    """
    try:
        contacts = {id: canonical(contact, providers) for id, contact in settings.contacts.items()}
    except NoAddress as error:
        raise ConfigurationError(f"contacts.{error}", file=settings.file) from None
    owners: dict[tuple[str, str], str] = {}
    for id, contact in contacts.items():
        for address in contact.addresses:
            other = owners.setdefault((address.provider, address.external_id), id)
            if other != id:  # else it would be open who answered
                path = f"contacts.{id}.addresses.{address.provider}"
                raise ConfigurationError(
                    f'{path}: "{other}" has the same address; an address belongs to one contact.',
                    file=settings.file,
                )
    return dataclasses.replace(settings, contacts=contacts)


def canonical(contact: Contact, providers: Mapping[str, Provider]) -> Contact:
    """One contact, likewise. What a provider that is not there would say of its ids, stays as it is.

    Raises `NoAddress`.
    """
    addresses = tuple(
        _address(contact.id, address, providers.get(address.provider)) for address in contact.addresses
    )
    return dataclasses.replace(contact, addresses=addresses)


def _address(contact: str, address: Address, provider: Provider | None) -> Address:
    if provider is None:
        return address
    try:
        external_id, place = provider.canonical(address.external_id), provider.canonical(address.place)
    except ValueError as error:
        raise NoAddress(f"{contact}.addresses.{address.provider}: {error}") from None
    return dataclasses.replace(address, external_id=external_id, place=place)
