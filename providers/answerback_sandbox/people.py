"""One person on every service: how a person of the sandbox is reached."""

import unicodedata
from collections.abc import Container
from dataclasses import dataclass

DOMAIN = "people.test"


@dataclass(frozen=True, slots=True)
class Reach:
    """A person's addresses: `id` is Telegram's number for them, `whatsapp` a phone number."""

    id: int
    name: str
    whatsapp: str
    mail: str


def reach(person_id: int, name: str, username: str | None, *, taken: Container[str]) -> Reach:
    """The addresses of a person; a mail address that is taken gets their number behind it."""
    plain = unicodedata.normalize("NFKD", username or name).encode("ascii", "ignore").decode().lower()
    local = "".join(letter for letter in plain if letter.isalnum()) or "person"
    address = f"{local}@{DOMAIN}"
    if address in taken:
        address = f"{local}{person_id}@{DOMAIN}"
    return Reach(person_id, name, f"+1555{person_id:07d}", address)
