"""People and their addresses."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam as p
from sqlalchemy import null, select, update

from answerback.model import Address, Contact
from answerback.store import places
from answerback.store.codec import address_in
from answerback.store.query import Either, Query, both
from answerback.store.tx import Row, Tx
from answerback.tables import AddressRow, ContactRow, LinkRow

MINUTE = 60_000_000  # microseconds
REMOVED = "removed"  # the `source` of who can be asked no more; the row says what they are called
C, A, L = ContactRow.__table__, AddressRow.__table__, LinkRow.__table__  # type: ignore[attr-defined]


def _upsert(table: Any, keys: tuple[str, ...], *, keep: tuple[str, ...] = (), whose: str = "") -> Either:
    """INSERT … ON CONFLICT (keys) DO UPDATE, in both spellings; `keep` columns stay as they are.

    `whose`: the column that says to whom a row belongs, where somebody else's is not changed.
    """

    def build(insert: Any) -> Any:
        statement = insert(table).values({c.name: p(c.name) for c in table.c})
        changed = {c.name: statement.excluded[c.name] for c in table.c if c.name not in (*keys, *keep)}
        same = table.c[whose] == statement.excluded[whose] if whose else None
        return statement.on_conflict_do_update(index_elements=list(keys), set_=changed, where=same)

    return both(build)


PUT_CONTACT = _upsert(C, ("id",), keep=("quiet_until",))
_ACCOUNT = "provider", "external_id"
_NOTED = "id", "verified_at", "last_inbound_at", "unreachable", "muted_until"
PUT_ADDRESS = _upsert(A, _ACCOUNT, keep=_NOTED)
PUT_OWN_ADDRESS = _upsert(A, _ACCOUNT, keep=_NOTED, whose="contact_id")
_of_person = C.c.name, C.c.language, C.c.timezone, C.c.quiet_hours, C.c.quiet_until
_contact = select(C).where(C.c.id == p("id"))
CONTACT = Query(_contact)
# Until the commit they neither mute nor unmute, nor change accounts: what is made for them waits, or does
# not, as they wrote, and goes where they are.
STILL = Either(sqlite=_contact, postgresql=_contact.with_for_update(read=True))
HELD = Either(sqlite=_contact, postgresql=_contact.with_for_update())  # until the commit
CONTACTS = Query(select(C).where(C.c.source != REMOVED).order_by(C.c.id))
THERE = Query(select(C.c.id).where(C.c.id == p("id"), C.c.source != REMOVED))
_addresses_of = (  # a contact and its addresses, a row each; one without any has one row
    select(A, *_of_person)
    .join_from(C, A, C.c.id == A.c.contact_id, isouter=True)
    .where(C.c.id == p("id"))
    .order_by(A.c.id)
)
ADDRESSED = Query(_addresses_of)
ASKABLE = Query(_addresses_of.where(C.c.source != REMOVED))
ADDRESSES = Query(select(A).where(A.c.contact_id == p("contact_id")).order_by(A.c.id))
ADDRESS_OF = Query(select(A).where(A.c.provider == p("provider"), A.c.external_id == p("external_id")))
SENDER = Query(  # whose account it is, in one row
    select(A, *_of_person)
    .join_from(A, C, C.c.id == A.c.contact_id, isouter=True)
    .where(A.c.provider == p("provider"), A.c.external_id == p("external_id"))
)
SEEN = Query(
    update(A)
    .where(A.c.provider == p("provider_"), A.c.external_id == p("external_"))
    .values(last_inbound_at=p("at"), unreachable="")
)
LAST_WROTE = Query(select(A.c.last_inbound_at).where(A.c.id == p("id")))
NOT_SEEN = Query(update(A).where(A.c.id == p("address")).values(last_inbound_at=null()))
MUTE = Query(update(C).where(C.c.id == p("key")).values(quiet_until=p("until")))
UNREACHABLE = Query(update(A).where(A.c.id == p("address")).values(unreachable=p("why")))

PUT_LINK = _upsert(L, ("code_hash",))
LINK = Query(select(L).where(L.c.code_hash == p("code_hash")))
LINK_CLAIMED = Query(
    select(L)
    .where(
        L.c.contact_id == p("contact_id"),
        L.c.provider == p("provider"),
        L.c.external_id != "",
        L.c.used_at.is_(None),
    )
    .order_by(L.c.expires_at.desc())
)
TAKE_LINK = Query(update(L).where(L.c.code_hash == p("hash"), L.c.used_at.is_(None)).values(used_at=p("at")))
ASK_LINK = Query(
    update(L)
    .where(L.c.code_hash == p("hash"), L.c.used_at.is_(None), L.c.external_id == "")
    .values(external_id=p("external"), place=p("where_"))
)
REMOVE_LINKED = Query(
    A.delete().where(A.c.contact_id == p("contact_id"), A.c.provider == p("provider"), A.c.source == "link")
)
CONFIGURED = Query(select(A).where(A.c.source == "config"))
REMOVE_ADDRESS = Query(A.delete().where(A.c.id == p("key")))
IN_FILE = Query(select(C.c.id).where(C.c.source == "config"))  # or once were
REMOVE_ALL = Query(A.delete().where(A.c.contact_id == p("contact_id")))
REMOVE_LINKS = Query(L.delete().where(L.c.contact_id == p("contact_id")))
REMOVE_ADDRESSES = Query(A.delete().where(A.c.contact_id == p("contact_id"), A.c.provider == p("provider")))
REMOVE_OTHERS = Query(
    A.delete()
    .where(
        A.c.contact_id == p("contact_id"), A.c.provider == p("provider"), A.c.external_id != p("external_id")
    )
    .returning(A.c.external_id)
)


def contact(tx: Tx, id: str, *, asks: bool = False) -> Contact | None:
    """A contact with its addresses. `asks`: something is made for them, so `still` is known of them too."""
    if asks and tx.dialect == "postgresql":  # first: what waits for it goes on with what it saw before
        still(tx, id)
    rows = tx.all(ASKABLE if asks else ADDRESSED, id=id)
    if not rows:
        return None
    found = tx.memo["contact", id] = _person(rows[0], id)
    if asks:
        tx.memo["still", id] = found
    return replace(found, addresses=tuple(address_in(row) for row in rows if row["id"] is not None))


def is_there(tx: Tx, id: str) -> bool:
    """Whether somebody is a contact now. Of who was removed it is only known what they are called."""
    return tx.one(THERE, id=id) is not None


def person(tx: Tx, id: str) -> Contact | None:
    """A contact, or who was one, without addresses. Read once in a transaction, however often asked for."""
    if not id:
        return None
    if ("contact", id) not in tx.memo:
        row = tx.one(CONTACT, id=id)
        tx.memo["contact", id] = None if row is None else _person(row, id)
    return tx.memo["contact", id]  # type: ignore[no-any-return]


def still(tx: Tx, id: str) -> Contact | None:
    """A contact without its addresses, for whom something is made: they stay as they are until the commit."""
    if id and ("still", id) not in tx.memo:
        row = tx.one(STILL, id=id)
        tx.memo["still", id] = tx.memo["contact", id] = None if row is None else _person(row, id)
    return tx.memo["still", id] if id else None


def sender(tx: Tx, provider: str, external_id: str) -> tuple[Row | None, Contact | None]:
    """The address of an account and the person it belongs to, without other addresses; Nones: a stranger."""
    row = tx.one(SENDER, provider=provider, external_id=external_id)
    if row is None:
        return None, None
    id = row["contact_id"]
    found = tx.memo["contact", id] = None if row["name"] is None else _person(row, id)
    return row, found


def seen(tx: Tx, row: Row) -> None:
    """Somebody wrote from this address: it works. Noted once a minute."""
    last = row["last_inbound_at"]
    if row["unreachable"] or last is None or tx.now - last > MINUTE:
        tx.run(SEEN, provider_=row["provider"], external_=row["external_id"], at=tx.now)


def mute(tx: Tx, id: str, until: int | None) -> None:
    """Somebody wants to hear nothing until then that can wait; None: not any more."""
    tx.run(MUTE, key=id, until=until)
    for known in ("contact", "still"):
        tx.memo.pop((known, id), None)


def last_wrote(tx: Tx, address_id: str) -> int | None:
    """When the owner of an address last wrote from there, microseconds; None: never, or not known."""
    row = tx.one(LAST_WROTE, id=address_id)
    return None if row is None else row["last_inbound_at"]


def contacts(tx: Tx) -> list[Contact]:
    """Who can be asked, with their addresses."""
    return [_addressed(tx, _person(row, row["id"])) for row in tx.all(CONTACTS)]


def _person(row: Row, id: str) -> Contact:
    return Contact(
        id,
        row["name"],
        row["language"],
        row["timezone"],
        row["quiet_hours"],
        quiet_until=row["quiet_until"] or 0,
    )


def _addressed(tx: Tx, found: Contact) -> Contact:
    rows = tx.all(ADDRESSES, contact_id=found.id)
    return replace(found, addresses=tuple(address_in(row) for row in rows))


def address_of(tx: Tx, provider: str, external_id: str) -> Address | None:
    """Whose account this is, or None for a stranger."""
    row = tx.one(ADDRESS_OF, provider=provider, external_id=external_id)
    return None if row is None else address_in(row)


def put(tx: Tx, contact: Contact, source: str = "config") -> None:
    """Insert or refresh a contact and its addresses."""
    tx.memo.pop(("contact", contact.id), None)
    tx.run(
        PUT_CONTACT,
        id=contact.id,
        name=contact.name,
        language=contact.language,
        timezone=contact.timezone,
        quiet_hours=contact.quiet_hours,
        source=source,
        quiet_until=None,
    )
    for address in contact.addresses:
        put_address(tx, address, contact.id, source)


def configure(tx: Tx, configured: Iterable[Contact]) -> None:
    """The configuration's people as they stand there now: an address that it no longer has may not answer,

    and one that it has replaces what was linked on the same provider. Who does not stand there any more is
    nobody from then on, with what they have linked; their name stays, for what they did.
    """
    people = list(configured)
    here = {person.id for person in people}
    for row in tx.all(IN_FILE):
        if row["id"] not in here:
            tx.run(REMOVE_ALL, contact_id=row["id"])
            tx.run(REMOVE_LINKS, contact_id=row["id"])
    current = {(a.provider, a.external_id) for person in people for a in person.addresses}
    for row in tx.all(CONFIGURED):
        if (row["provider"], row["external_id"]) not in current:
            tx.run(REMOVE_ADDRESS, key=row["id"])
    for person in people:
        for provider in {address.provider for address in person.addresses}:
            tx.run(REMOVE_LINKED, contact_id=person.id, provider=provider)
        put(tx, person)


def put_address(
    tx: Tx, address: Address, contact_id: str, source: str, *, unless_taken: bool = False
) -> bool:
    """Insert or refresh an address; where its place has moved on, it follows.

    `unless_taken`: not if it is somebody else's, then False.
    """
    own = address.place == address.external_id
    changed = tx.run(
        PUT_OWN_ADDRESS if unless_taken else PUT_ADDRESS,
        id=f"{address.provider}:{address.external_id}",
        contact_id=contact_id,
        source=source,
        provider=address.provider,
        external_id=address.external_id,
        place=address.place if own else places.today(tx, address.provider, address.place),
        verified_at=None,
        last_inbound_at=None,
        unreachable="",
        muted_until=None,
    )
    return changed == 1
