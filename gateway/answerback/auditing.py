"""The audit, read and checked, chain by chain."""

from dataclasses import dataclass

from answerback.chain import Flaw, flaws
from answerback.context import Context
from answerback.store import Row, Tx, audit, interactions

BEFORE_ALL = ":0"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a chain; `actor` is a contact, a provider, an agent or an API key, as its event says.

    `content_hash` is salted, and the salt stays in the database: it tells nothing to who has only this.
    """

    interaction_id: str
    seq: int
    id: str
    at: int
    event: str
    actor: str
    content_hash: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Entries:
    """Some entries, and what to go on after; None at the end."""

    items: tuple[Entry, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in some chains: how many there were, with how many entries, and what is wrong."""

    chains: int
    entries: int
    flaws: tuple[tuple[str, Flaw], ...]  # with the id of the interaction
    next: str | None


class Auditor:
    """Reads only."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def entries(self, limit: int = 50, after: str | None = None) -> Entries:
        """Keyset-paged, chain by chain: the oldest question's first, and each in its order."""
        id, _, seq = (after or BEFORE_ALL).rpartition(":")
        start = int(seq) if seq.isdecimal() and len(seq) < 10 else 0
        rows = await self._context.store.read(lambda tx: audit.page(tx, id, start, limit))
        items = tuple(Entry(**{name: row[name] for name in Entry.__slots__}) for row in rows)
        return Entries(items, f"{items[-1].interaction_id}:{items[-1].seq}" if len(items) == limit else None)

    async def check(self, limit: int = 50, after: str | None = None) -> Checked:
        """Whether chains are whole and say the same as their records; at most so many, behind an id."""
        return await self._context.store.snapshot(lambda tx: _check(tx, after or "", limit))


def _check(tx: Tx, after: str, limit: int) -> Checked:
    # One question may lack its chain, one chain its question: what comes next is what either table has next.
    known = tx.all(interactions.LIST, after=after, limit=limit)
    records: dict[str, Row] = {row["id"]: row for row in known}
    ids = sorted({*records, *audit.chains(tx, after, limit)})[:limit]
    if not ids:
        return Checked(0, 0, (), None)
    chains = audit.between(tx, after, ids[-1])
    found = tuple((id, flaw) for id in ids for flaw in flaws(chains.get(id, ()), records.get(id)))
    entries = sum(len(chains.get(id, ())) for id in ids)
    return Checked(len(ids), entries, found, ids[-1] if len(ids) == limit else None)
