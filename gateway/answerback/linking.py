"""Links an account to a contact: a one-time code, and a confirmation where an account is linked already."""

from dataclasses import dataclass

from answerback.context import Context
from answerback.errors import Conflict, NotFound
from answerback.leaving import changed_hands
from answerback.model import Address, Outcome
from answerback.outbox import Follows, place_of
from answerback.provider import Reply
from answerback.settings.values import FALLBACK
from answerback.store import Row, Tx, contacts
from answerback.tokens import hashed, new_secret

LIFE = 600_000_000  # microseconds that a code works
YES, NO = "y", "n"


@dataclass(frozen=True, slots=True)
class Link:
    """What to hand to the person: they write `/start CODE` to the bot, once, before `expires_at`."""

    contact: str
    provider: str
    code: str
    expires_at: int


class Linker:
    """Makes link codes."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def _providers(self) -> list[str]:
        """Whatever has accounts: the printed link has none, and what begins with "@" is no provider."""
        built_in = {FALLBACK} - self._context.settings.providers.keys()
        return sorted(
            name for name in self._context.outbox.paces if name not in built_in and not name.startswith("@")
        )

    async def create(self, contact: str, provider: str) -> Link:
        """A new code, 128 bits, for ten minutes. Raises `NotFound` or `Conflict`."""
        if provider not in (providers := self._providers()):
            known = f"Known: {', '.join(providers)}." if providers else "None is configured."
            raise NotFound(f"There is no provider {provider!r}. {known}")
        configured = self._context.settings.contacts.get(contact)
        if configured is not None and any(address.provider == provider for address in configured.addresses):
            raise Conflict(
                f"The address of {contact} on {provider} stands in the configuration: change it there."
            )
        code = new_secret()

        def tx_(tx: Tx) -> int:
            tx.one(contacts.HELD, id=contact)  # of who is removed at this moment no code is left
            if not contacts.is_there(tx, contact):
                raise NotFound(f"There is no contact {contact!r}.")
            tx.run(
                contacts.PUT_LINK,
                code_hash=hashed_link(code),
                contact_id=contact,
                provider=provider,
                expires_at=tx.now + LIFE,
                used_at=None,
                external_id="",
                place="",
            )
            return tx.now + LIFE

        return Link(contact, provider, code, await self._context.store.write(tx_))


def hashed_link(code: str) -> str:
    """Codes are case-sensitive, unlike tokens."""
    return hashed(code.encode().hex())


def use(tx: Tx, context: Context, provider: str, reply: Reply, code: str) -> tuple[Outcome, Follows]:
    """Somebody wrote `/start CODE`: link the chat, or ask the account that is linked already."""
    here = place_of(provider, reply.sender, reply.place)
    if not reply.private:
        return Outcome.NOT_ALLOWED, Follows([context.outbox.conversation(tx, here, "link_private", {})])
    link = tx.one(contacts.LINK, code_hash=hashed_link(code))
    if (
        link is None
        or link["provider"] != provider
        or link["used_at"] is not None
        or link["expires_at"] <= tx.now
    ):
        return Outcome.NOT_ALLOWED, Follows([context.outbox.conversation(tx, here, "link_failed", {})])
    # Of two codes used at once, the second finds the first's chat.
    tx.run(contacts.HELD, id=link["contact_id"])
    person = contacts.contact(tx, link["contact_id"])
    assert person is not None
    current = [a for a in person.addresses if a.provider == provider and a.external_id != reply.sender]
    if current:
        return _confirm_first(tx, context, link, reply, current[0], person.name)
    if tx.run(contacts.TAKE_LINK, hash=link["code_hash"], at=tx.now) != 1:
        return Outcome.NOT_ALLOWED, Follows()
    new = Address(provider, reply.sender, reply.place, link["contact_id"])
    return Outcome.LINKED, _linked(tx, context, new, person.name)


def _confirm_first(
    tx: Tx, context: Context, link: Row, reply: Reply, current: Address, name: str
) -> tuple[Outcome, Follows]:
    if tx.run(contacts.ASK_LINK, hash=link["code_hash"], external=reply.sender, where_=reply.place) != 1:
        return Outcome.NOT_ALLOWED, Follows()
    there = place_of(current.provider, current.external_id, current.place, link["contact_id"])
    args = {"who": name, "link": link["code_hash"][:26]}
    return Outcome.LINKED, Follows([context.outbox.conversation(tx, there, "confirm_link", args)])


def confirm(
    tx: Tx, context: Context, provider: str, reply: Reply, start: str, answer: str
) -> tuple[Outcome, Follows]:
    """The linked account tapped yes or no to `confirm_link`."""
    mine = contacts.address_of(tx, provider, reply.sender)
    if mine is not None:  # of two confirmed at once, the second finds that this account is linked no more
        tx.run(contacts.HELD, id=mine.contact)
        mine = contacts.address_of(tx, provider, reply.sender)
    waiting = tx.all(contacts.LINK_CLAIMED, contact_id=mine.contact, provider=provider) if mine else []
    link = next(
        (row for row in waiting if row["code_hash"].startswith(start) and row["expires_at"] > tx.now), None
    )
    if link is None or tx.run(contacts.TAKE_LINK, hash=link["code_hash"], at=tx.now) != 1:
        return Outcome.NOT_ALLOWED, Follows(
            [context.outbox.conversation(tx, _here(provider, reply), "link_failed", {})]
        )
    if answer != YES:
        return Outcome.COMMAND, Follows()
    person = contacts.contact(tx, link["contact_id"])
    assert person is not None
    tx.run(contacts.REMOVE_ADDRESSES, contact_id=person.id, provider=provider)
    new = Address(provider, link["external_id"], link["place"], person.id)
    return Outcome.LINKED, _linked(tx, context, new, person.name, before=reply.sender)


def _linked(tx: Tx, context: Context, new: Address, name: str, before: str = "") -> Follows:
    """The account is theirs from now on: whoever had it is asked there no more, nor they where they were."""
    contacts.put_address(tx, new, new.contact, "link")
    here = place_of(new.provider, new.external_id, new.place, new.contact)
    told = context.outbox.conversation(tx, here, "linked", {"who": name})
    lost = [(new.provider, id) for id in {new.external_id, before} - {""}]
    follows = changed_hands(tx, context.outbox, lost)
    follows.rows.insert(0, told)
    return follows


def _here(provider: str, reply: Reply) -> Row:
    return place_of(provider, reply.sender, reply.place)
