"""delegating: who was asked hands the question to somebody else, whom the route names for that.

They give up their say with it: their copies take no answer any more, and their links lead nowhere.
"""

from dataclasses import replace

from answerback.case import Case, Effect, said
from answerback.model import Contact, Interaction, Json, Outcome
from answerback.outbox import SHOWN
from answerback.store import Row, Tx, audit, contacts, delegated, interactions
from answerback.succession import addresses
from answerback.times import next_action

TO = "to "  # "delegate to Ben"


def can_delegate(case: Case, record: Interaction, rest: str) -> bool:
    """Whether this names somebody whom this person may hand the question to."""
    return _named(_others(case.tx, record.route, case.person), rest) is not None


def delegate(case: Case, rest: str, record: Interaction, asked: Row) -> Effect:
    """Hand a pending question on. Nothing changes if nobody is named, or they cannot be reached."""
    tx, person, outbox = case.tx, case.person, case.context.outbox
    assert person is not None  # only who was asked is heard here
    others = _others(tx, record.route, person)
    other = _named(others, rest)
    if other is None:
        names = ", ".join(each.name for each in others)
        return said(case, "delegate_whom" if names else "delegate_none", {"options": names}, about=record.id)
    there = addresses(tx, record.route | {"ask": [other.id]})
    if not there:
        return said(case, "delegate_away", {"who": other.name}, about=record.id)
    was_asked = other.id in record.route.get("ask", ())
    handed = replace(record, route=_handed(record.route, person.id, other.id))
    interactions.again(tx, handed, next_action(handed, tx.now))
    mine = delegated.shut(tx, record.id, person.id)
    audit.add(tx, record.id, "delegated", actor=person.id, content=other.id)
    seen = [row for row in mine if row["status"] in SHOWN and row["provider"] in outbox.edits]
    rows = [outbox.edited(tx, handed, row, {"delegated": other.name}) for row in seen]
    if not was_asked:
        rows += [outbox.question(tx, handed, address, by=person.name) for address in there]
    told = outbox.conversation(tx, asked, "delegated", {"who": other.name})
    return Effect(Outcome.COMMAND, [told, *rows], about=record.id, later=True)


def gone(case: Case, record: Interaction) -> Effect:
    """They handed it on before: say whose it is now."""
    found = (contacts.contact(case.tx, id) for id in record.route.get("ask", ()))
    who = ", ".join(person.name for person in found if person is not None)
    return said(case, "delegated_before", {"who": who}, about=record.id)


def _others(tx: Tx, route: Json, person: Contact | None) -> list[Contact]:
    mine = person.id if person else ""
    known = (id for id in route.get("delegates", ()) if id != mine and contacts.is_there(tx, id))
    found = (contacts.contact(tx, id) for id in known)
    return [each for each in found if each is not None]


def _named(others: list[Contact], rest: str) -> Contact | None:
    """By id or name, in capitals or not; None if it fits nobody, or more than one."""
    plain = rest.strip()
    name = (plain[len(TO) :] if plain.lower().startswith(TO) else plain).strip().casefold()
    found = [each for each in others if name in (each.id.casefold(), each.name.casefold())]
    return found[0] if len(found) == 1 else None


def _handed(route: Json, old: str, new: str) -> Json:
    """Where `old` was asked, `new` is now; `delegated` are those who gave up their say."""
    ask = [each for each in route.get("ask", ()) if each != old]
    gave = {*route.get("delegated", ()), old} - {new}
    return route | {"ask": ask if new in ask else [*ask, new], "delegated": sorted(gave)}
