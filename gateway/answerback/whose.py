"""whose: which of the stored events came from somebody's accounts, or are about what was sent to them."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from answerback.context import Context
from answerback.naming import stands_in
from answerback.outbox import FORM
from answerback.provider import Event, Inbound, PlaceNews, Provider, Receipt, Reply
from answerback.store import Row, Tx, deliveries, effacing, personal, unnamed
from answerback.store.personal import Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Account:
    """One that messages went to, between two moments, microseconds.

    `until`: since when it is somebody else's; None: it is not. `since`: when it was theirs again; 0: it was
    nobody else's before.
    """

    provider: str
    external_id: str
    place: str
    until: int | None = None
    since: int = 0

    def is_theirs(self, provider: str, external_id: str, at: int) -> bool:
        return (provider, external_id) == (self.provider, self.external_id) and self.was_theirs(at)

    def is_of(self, other: "Account") -> bool:
        """Whether it is the same one, at whatever place."""
        return (other.provider, other.external_id) == (self.provider, self.external_id)

    def was_theirs(self, at: int) -> bool:
        return self.since <= at and (self.until is None or at < self.until)


def accounts_in(
    rows: Sequence[Row], contact: str, until: int, known: Sequence[Account]
) -> tuple[Account, ...]:
    """With those `known`, all that these deliveries went to, in the order in which they were made."""
    found = [*known]
    for row in rows:
        if not row["external_id"] or not row["contact_id"] or row["created_at"] > until:
            continue
        account = Account(row["provider"], row["external_id"], row["place"])
        same = [each for each in found if each.is_of(account)]
        now = [each for each in same if each.until is None]
        if row["contact_id"] != contact:
            found = [replace(each, until=row["created_at"]) if each in now else each for each in found]
        elif all(each.place != account.place for each in now):
            since = now[0].since if now else row["created_at"] if same else 0
            found.append(replace(account, since=since))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Seen:
    """Those of a stretch that are theirs, and where the next one begins; None: there is nothing behind it.

    `about`: the ids of the messages that their receipts are for, with the provider.
    """

    theirs: list[Row]
    about: list[tuple[str, str]]
    behind: Row | None


class Events:
    """Reads what was stored as it was read when it came."""

    def __init__(self, context: Context, providers: Mapping[str, Provider]) -> None:
        self._context, self._providers = context, providers

    async def behind(
        self, contact: str, behind: Row | None, accounts: Sequence[Account], until: int, most: int
    ) -> Seen:
        """A stretch of what was received by `until`, without holding up what is written."""
        at = behind or personal.start(Step.EVENTS)
        rows, end = await self._context.store.read(
            lambda tx: personal.look(tx, Step.EVENTS, at, most, contact=contact)
        )
        seen = Seen([], [], end)
        for row in rows:
            if row["received_at"] <= until:
                await self._look(contact, row, accounts, seen)
            await asyncio.sleep(0)
        return seen

    async def _look(self, contact: str, row: Row, accounts: Sequence[Account], seen: Seen) -> None:
        provider = row["provider"]
        if not row["size"]:  # erased before; what is left is its id
            if row["won"] and not row["event_id"].startswith(unnamed.PREFIX):
                seen.theirs.append(row)
            return
        if provider == FORM or provider in self._context.outbox.stand_ins.known:
            return  # files go with their answers; and programs are nobody
        raw = row["raw"]
        if raw is None:
            raw = await self._context.store.read(lambda tx: _raw(tx, provider, row["event_id"]))
        found = await self._read(provider, bytes(raw))
        if await self._is_theirs(contact, row, bytes(raw), found, accounts):
            seen.theirs.append(row)
            seen.about.extend((provider, each.message_id) for each in found if isinstance(each, Receipt))

    async def _is_theirs(
        self, contact: str, row: Row, raw: bytes, found: Sequence[Event], accounts: Sequence[Account]
    ) -> bool:
        provider = row["provider"]
        mine = [each for each in accounts if each.provider == provider]
        if any(_is_from(event, mine, row["received_at"]) for event in found):
            return True
        about = [event for event in found if isinstance(event, Receipt)]
        whose = await self._context.store.read(lambda tx: {_whose(tx, provider, each) for each in about})
        if contact in whose:
            return True
        if any(isinstance(event, Reply) for event in found) or whose - {""}:
            return False  # somebody else's
        at = row["received_at"]
        return await _apart(raw, lambda: names(raw, mine, at))

    async def _read(self, provider: str, raw: bytes) -> list[Event]:
        """What it says; nothing, if there is nothing here that can read it."""
        plugin = self._providers.get(provider)
        if plugin is None:
            return []
        try:
            return list(await _apart(raw, lambda: plugin.parse(Inbound(raw))))
        except (Exception, SystemExit):
            return []


async def _apart(raw: bytes, work: Callable[[], T]) -> T:
    """The result of `work` with something that came in; what is large is read beside the event loop."""
    return await asyncio.to_thread(work) if len(raw) > personal.SMALL else work()


def _raw(tx: Tx, provider: str, event_id: str) -> bytes:
    row = tx.one(effacing.RAW, provider=provider, event_id=event_id)
    return bytes(row["raw"]) if row is not None else b""


def _is_from(event: Event, accounts: Sequence[Account], at: int) -> bool:
    if isinstance(event, Receipt):
        return False
    if isinstance(event, PlaceNews):
        return any(event.place == each.external_id for each in accounts)
    return any(each.is_theirs(each.provider, event.sender, at) for each in accounts)


def _whose(tx: Tx, provider: str, receipt: Receipt) -> str:
    """To whom the message of a receipt went, whose id may be known by its hash by now; "" for nobody."""
    for id in _known_as(tx, provider, receipt):
        row = tx.one(deliveries.BY_MESSAGE, provider=provider, message_id=id)
        if row is not None:
            return str(row["contact_id"])
    row = tx.one(deliveries.GET, id=receipt.delivery_id or receipt.message_id)
    return "" if row is None else str(row["contact_id"])


def _known_as(tx: Tx, provider: str, receipt: Receipt) -> Iterator[str]:
    yield receipt.message_id
    if hash := unnamed.hashed(tx, provider, receipt.message_id):
        yield hash


def names(raw: bytes, accounts: Sequence[Account], at: int) -> bool:
    """Whether one of these accounts stands in what nobody said; none that was somebody else's by then."""
    ids = {each.external_id for each in accounts if each.was_theirs(at)}
    return any(stands_in(raw, id) for id in ids)
