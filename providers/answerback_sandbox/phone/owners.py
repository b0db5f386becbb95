"""Owners: who holds which phone, and under which address they are known in each app."""

from dataclasses import dataclass

from answerback_sandbox.errors import SandboxError

MAIL_DOMAIN = "phone.test"  # RFC 6761: a name of tests, nobody's


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody with a phone: `id` on Telegram, a number on WhatsApp, a mail address."""

    id: int
    name: str
    whatsapp: str
    mail: str


class Owners:
    """Everybody with a phone, by their id."""

    def __init__(self) -> None:
        self._by_id: dict[int, Owner] = {}

    def add(self, person_id: int, name: str) -> Owner:
        """A phone for somebody, with a number and a mail address that nobody else has."""
        plain = "".join(each for each in name.lower() if each.isascii() and each.isalnum()) or "person"
        taken = {owner.mail for owner in self._by_id.values()}
        mail = f"{plain}@{MAIL_DOMAIN}"
        if mail in taken:
            mail = f"{plain}{person_id}@{MAIL_DOMAIN}"
        # 555-01… is kept free for fiction (https://www.nanpa.com/numbering/555-line-numbers)
        owner = self._by_id[person_id] = Owner(person_id, name, f"+1555010{person_id:04d}", mail)
        return owner

    def of(self, person_id: int) -> Owner:
        """Raises SandboxError if there is no such person."""
        if person_id not in self._by_id:
            raise SandboxError(f"there is no person {person_id}")
        return self._by_id[person_id]
