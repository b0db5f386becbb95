"""People: read once in a transaction, and anew once it has changed them."""

import pytest

from answerback.model import Address, Contact
from answerback.store import Store, Tx, contacts

ADA = Contact("ada", "Ada", addresses=(Address("memory", "1", "1"),))


@pytest.fixture
async def store(store: Store) -> Store:
    """One that knows Ada."""
    await store.write(lambda tx: contacts.put(tx, ADA))
    return store


async def test_a_person_is_read_once_in_a_transaction(store: Store) -> None:
    def tx(tx: Tx) -> bool:
        return contacts.person(tx, "ada") is contacts.person(tx, "ada")

    assert await store.write(tx)


async def test_what_the_transaction_itself_changed_is_seen(store: Store) -> None:
    def tx(tx: Tx) -> list[Contact | None]:
        before = contacts.person(tx, "ada")
        contacts.put(tx, Contact("ada", "Ada L."))
        return [before, contacts.person(tx, "ada")]

    assert [found and found.name for found in await store.write(tx)] == ["Ada", "Ada L."]


async def test_a_sender_comes_with_the_person_whose_account_it_is(store: Store) -> None:
    row, person = await store.write(lambda tx: contacts.sender(tx, "memory", "1"))
    assert row is not None and row["contact_id"] == "ada"
    assert person is not None and (person.name, person.addresses) == ("Ada", ())


async def test_a_stranger_is_nobody(store: Store) -> None:
    assert await store.write(lambda tx: contacts.sender(tx, "memory", "2")) == (None, None)
