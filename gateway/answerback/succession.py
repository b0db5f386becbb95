"""succession: who is asked first on a route, and who next: addresses, people, stand-ins. In a transaction."""

from answerback.model import Address, Contact, Interaction, InteractionStatus, Json
from answerback.outbox import FORM, SHOWN, UNSURE, Follows, Outbox
from answerback.store import Row, Tx, audit, contacts, deliveries, interactions, notices
from answerback.store.codec import loads

Tried = frozenset[tuple[str, str]]  # (provider, external id)


def begin(outbox: Outbox, tx: Tx, record: Interaction) -> list[Row]:
    """Ask whoever comes first on a planned route: the mode's stand-in, people, or the route's."""
    if first := outbox.stand_ins.known.get(record.route["first"]):
        return [outbox.question(tx, record, first.address(record))]
    return _people(outbox, tx, record) or stand_in(outbox, tx, record) or _nobody(outbox, tx, record)


def next_address(
    outbox: Outbox, tx: Tx, row: Row, *, elsewhere: bool = False, unsure: bool = False
) -> list[Row]:
    """Ask the same person at the next address of the route that was not tried, if nothing else is out.

    `elsewhere`: not on the same provider, which is away. `unsure`: the message may have arrived.
    When nobody can be reached anywhere, the route's stand-ins are asked.
    """
    if row["notice_id"] and row["contact_id"]:
        return _notice_elsewhere(outbox, tx, row)
    if row["kind"] == "question" and row["provider"] in outbox.stand_ins.known:
        return after(outbox, tx, row)
    record = _asked(tx, row)
    asked = [] if record is None else _asked_of(tx, row)
    if record is None or any(_is_on_its_way(each) for each in asked if each["id"] != row["id"]):
        return []
    route = record.route | {"ask": [row["contact_id"]]}
    if elsewhere:
        route["providers"] = [name for name in route.get("providers", ()) if name != row["provider"]]
    found = addresses(tx, route, tried=_tried(asked))
    if not found and not any(map(_is_under_way, tx.all(deliveries.OF, interaction_id=record.id))):
        return stand_in(outbox, tx, record)
    unless, away = row if unsure else None, row["provider"] if elsewhere else ""
    return [outbox.question(tx, record, address, unless=unless, away=away) for address in found]


def gave_up(outbox: Outbox, tx: Tx, row: Row, *, unsure: bool = False) -> Follows:
    """What follows from a message that failed for good: the next address, or that there is none."""
    rows = next_address(outbox, tx, row, unsure=unsure)
    if rows or _asked(tx, row) is None or any(_may_arrive(each) for each in _asked_of(tx, row)):
        return Follows(rows)
    audit.add(tx, row["interaction_id"], "not reached", actor=row["contact_id"])
    return Follows(rows, [row])


def apart(outbox: Outbox, tx: Tx, row: Row, at: int) -> int:
    """When a message that may have arrived can be sent again: not before `at`, and never within a minute

    of the same question at another address, which in turn waits a minute from now. (Copies that are
    wanted everywhere at once do not wait for each other.)
    """
    record = _asked(tx, row)
    if record is None or record.route.get("at_once"):
        return at
    others = [each for each in _asked_of(tx, row) if each["id"] != row["id"] and _waits(each)]
    for each in others:
        each["next_attempt_at"] = max(each["next_attempt_at"], tx.now + UNSURE)
        planned = {"at": each["next_attempt_at"], "its_turn": each["lease_owner"]}
        tx.run(deliveries.WAIT, key=each["id"], **planned)
    for taken in sorted(each["next_attempt_at"] for each in others):
        if abs(taken - at) < UNSURE:
            at = taken + UNSURE
    return at


def stand_in(outbox: Outbox, tx: Tx, record: Interaction, *, first: bool = False) -> list[Row]:
    """Ask the route's next stand-in, if one is left; `first`: unless one has been asked already."""
    asked = {row["provider"] for row in tx.all(deliveries.OF, interaction_id=record.id)}
    order = record.route.get("stand_ins", ())
    if first and asked.intersection(order):
        return []
    for name in order:
        if name in outbox.stand_ins.known and name not in asked:
            return [outbox.question(tx, record, outbox.stand_ins.known[name].address(record))]
    return []


def after(outbox: Outbox, tx: Tx, row: Row) -> list[Row]:
    """A stand-in has no answer that counts: ask whoever is next. With nobody left, silence may follow.

    One that is only away for now is tried again beside that, and is not given up. When it is given up later,
    those who were asked meanwhile have their time: the route's stand-ins come when none of them is reached.
    """
    record = interactions.held(tx, row["interaction_id"])
    if record is None or record.status is not InteractionStatus.PENDING or not record.readable:
        return []
    shut = tx.run(deliveries.SHUT_ONE, key=row["id"])  # unless it waits for its next attempt
    asked = tx.all(deliveries.OF, interaction_id=record.id)
    if not shut and not any(each["id"] == row["id"] and each["status"] == "queued" for each in asked):
        return []  # it said so before, asked by another whose claim had lapsed
    first = row["provider"] == record.route.get("first")
    rows = [] if not first or any(each["contact_id"] for each in asked) else _people(outbox, tx, record)
    if not rows and not (first and is_asked_otherwise(tx, row)):
        rows = stand_in(outbox, tx, record)
    if rows or any(map(_is_under_way, asked)):
        return rows
    if not outbox.stand_ins.asks_people(record.agent):
        tx.run(interactions.END_NOW, key=record.id, at=tx.now)
        return []
    return _nobody(outbox, tx, record)


def is_asked_otherwise(tx: Tx, row: Row) -> bool:
    """Whether somebody else was asked the same question, or may yet be, and it is still open to them."""
    asked = tx.all(deliveries.OF, interaction_id=row["interaction_id"])
    return any(_is_under_way(each) for each in asked if each["id"] != row["id"])


def addresses(tx: Tx, route: Json, *, tried: Tried = frozenset(), only_looks: bool = False) -> list[Address]:
    """Where a route asks first; or, given the addresses `tried` for a person, where it asks next."""
    found: list[Address] = []
    for id in route.get("ask", ()):
        person = contacts.contact(tx, id, asks=not only_looks)
        if person is not None:
            found += _of_person(person, route, tried)
    return found


def _of_person(person: Contact, route: Json, tried: Tried) -> list[Address]:
    """In the route's order. A dead address is passed over as long as there is another: it is tried last."""
    left = [
        address
        for name in route.get("providers", ())
        for address in person.addresses
        if address.provider == name and (name, address.external_id) not in tried
    ]
    found = [address for address in left if address.reachable] or left
    return found if route.get("at_once") else found[:1]


def _people(outbox: Outbox, tx: Tx, record: Interaction) -> list[Row]:
    found = addresses(tx, record.route) if outbox.stand_ins.asks_people(record.agent) else []
    return [outbox.question(tx, record, address) for address in found]


def _nobody(outbox: Outbox, tx: Tx, record: Interaction) -> list[Row]:
    """Where nobody is reached, whoever needs no address is told, or else the question's link is shown."""
    asks = outbox.stand_ins.asks_people(record.agent)
    name = outbox.stand_ins.told_instead(record.route) if asks else ""
    return [outbox.question(tx, record, Address(name, "", ""))] if name else []


def _notice_elsewhere(outbox: Outbox, tx: Tx, row: Row) -> list[Row]:
    notice = notices.held(
        tx, row["notice_id"]
    )  # of two messages that fail at once, the second sees the first
    if notice is None:
        return []
    known = notices.deliveries_of(tx, notice["id"])
    told = [each for each in known if each["contact_id"] == row["contact_id"]]
    tried = frozenset((each["provider"], each["external_id"]) for each in told)
    route = loads(notice["route"]) | {"ask": [row["contact_id"]]}
    return [outbox.notice(tx, notice, address) for address in addresses(tx, route, tried=tried)]


def _asked(tx: Tx, row: Row) -> Interaction | None:
    """The open question that a delivery asks somebody. It is held: of two messages that fail at once on

    two gateways, the second sees that the first one failed.
    """
    if row["kind"] != "question" or not row["contact_id"]:
        return None
    record = interactions.held(tx, row["interaction_id"])
    if record is None or row["contact_id"] in record.route.get("delegated", ()):
        return None
    return record if record.status is InteractionStatus.PENDING and record.readable else None


def _asked_of(tx: Tx, row: Row) -> list[Row]:
    """Every delivery that asks the same person the same question."""
    found = tx.all(deliveries.OF, interaction_id=row["interaction_id"])
    return [each for each in found if each["contact_id"] == row["contact_id"] and each["kind"] == "question"]


def _tried(asked: list[Row]) -> Tried:
    """Without what was taken back: an account that somebody lost, and has again, can be asked again."""
    return frozenset((row["provider"], row["external_id"]) for row in asked if row["token_hash"])


def _is_on_its_way(row: Row) -> bool:
    """Whether it arrived, or nothing has gone wrong with it so far."""
    arrives = row["status"] in SHOWN or (row["status"] == "queued" and not row["error"])
    return arrives and bool(row["open"])


def _waits(row: Row) -> bool:
    """Whether it is to be sent later, and nobody is sending it now."""
    return row["status"] == "queued" and row["lease_owner"] in ("", deliveries.ITS_TURN)


def _may_arrive(row: Row) -> bool:
    return bool(row["open"]) and (row["status"] in SHOWN or row["status"] == "queued")


def _is_under_way(row: Row) -> bool:
    """Whether somebody was asked by it, or may yet be."""
    is_open = bool(row["open"]) and row["kind"] == "question" and row["provider"] != FORM
    return is_open and row["status"] not in ("failed", "unknown")
