"""Whose an address is, however the configuration writes it."""

import pytest

from answerback.errors import ConfigurationError
from answerback.model import Address, Contact
from answerback.owners import canonical, settled
from answerback.settings import Settings
from answerback.testing import MemoryProvider


class Careless(MemoryProvider):
    """A service that does not tell capitals from small letters."""

    def canonical(self, id: str) -> str:
        if id.startswith("@"):
            raise ValueError("an id is a number")
        return id.lower()


PROVIDERS = {"careless": Careless(), "exact": MemoryProvider()}


def contact(id: str, provider: str, address: str, place: str = "") -> Contact:
    return Contact(id, id, addresses=(Address(provider, address, place or address),))


def of(found: Contact) -> list[tuple[str, str]]:
    return [(address.external_id, address.place) for address in found.addresses]


def test_an_address_gets_the_form_that_its_provider_gives_replies() -> None:
    assert of(canonical(contact("ana", "careless", "Ana", "Room"), PROVIDERS)) == [("ana", "room")]


def test_other_services_keep_what_was_written() -> None:
    assert of(canonical(contact("ana", "exact", "Ana", "Room"), PROVIDERS)) == [("Ana", "Room")]
    assert of(canonical(contact("ana", "not there", "Ana"), PROVIDERS)) == [("Ana", "Ana")]


def test_two_people_cannot_share_an_address_by_writing_it_in_two_ways() -> None:
    contacts = {"ana": contact("ana", "careless", "X"), "ben": contact("ben", "careless", "x")}
    with pytest.raises(ConfigurationError, match='"ana" has the same address'):
        settled(Settings(contacts=contacts), PROVIDERS)


def test_two_people_may_have_the_same_id_on_two_services() -> None:
    contacts = {"ana": contact("ana", "careless", "x"), "ben": contact("ben", "exact", "x")}
    assert settled(Settings(contacts=contacts), PROVIDERS).contacts == contacts


@pytest.mark.parametrize(("id", "place"), [("@ana", "5"), ("5", "@room")])
def test_what_can_be_no_address_is_refused_with_its_place_and_unrepeated(id: str, place: str) -> None:
    settings = Settings(contacts={"ana": contact("ana", "careless", id, place)}, file="answerback.yaml")
    with pytest.raises(
        ConfigurationError, match=r"contacts\.ana\.addresses\.careless: an id is a num"
    ) as caught:
        settled(settings, PROVIDERS)
    assert "@" not in str(caught.value)
