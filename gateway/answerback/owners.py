"""owners: whose an address is, in the one form in which its provider writes who sent a reply."""

import dataclasses
from collections.abc import Mapping

from answerback.errors import ConfigurationError
from answerback.model import Address, Contact
from answerback.provider import Provider
from answerback.settings import Settings


def settled(settings: Settings, providers: Mapping[str, Provider]) -> Settings:
    """The settings with every contact's addresses in that form. ConfigurationError: two would share one."""
    contacts = {id: canonical(contact, providers) for id, contact in settings.contacts.items()}
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
    """One contact, likewise. What a provider that is not there would say of its ids, stays as it is."""
    addresses = tuple(_address(address, providers.get(address.provider)) for address in contact.addresses)
    return dataclasses.replace(contact, addresses=addresses)


def _address(address: Address, provider: Provider | None) -> Address:
    if provider is None:
        return address
    return dataclasses.replace(
        address,
        external_id=provider.canonical(address.external_id),
        place=provider.canonical(address.place),
    )
