"""notices: messages that ask nothing, told on a route, and what became of each."""

from dataclasses import dataclass

from answerback.context import Context
from answerback.errors import Conflict, DoesNotFit, NotFound
from answerback.model import Address, Contact, DeliveryStatus
from answerback.repeated import named, require_same, told_with
from answerback.routing import require_people, route_of
from answerback.store import Row, Tx, contacts, deliveries, interactions
from answerback.store import notices as table
from answerback.store.codec import dumps, loads
from answerback.succession import addresses
from answerback.tokens import hashed
from answerback.values import check

LONGEST = 10_000  # characters of a text
LONGEST_TITLE = 200
LOOK_AGAIN = 0.5  # seconds: another process may be sending it
NO_ADDRESS = "no address on the providers of its route; see: answerback contacts link"
# Of several people, what is furthest from having arrived counts.
ORDER = ("queued", "failed", "unknown", "sent", "delivered", "read")


@dataclass(frozen=True, slots=True)
class NoticeRequest:
    """What a caller wants told. `ask` are contact ids: whom to tell, instead of whom the route asks."""

    text: str
    title: str = ""
    ask: tuple[str, ...] = ()
    route: str = ""
    sensitive: bool = False
    agent: str = ""
    user: str = ""
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a notice at one address; `provider` is "" for somebody who has none."""

    contact: str
    provider: str
    status: DeliveryStatus
    error: str = ""
    sent_at: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice as it is kept. Times are microseconds since the epoch."""

    id: str
    agent: str
    title: str
    text: str
    sensitive: bool
    created_at: int
    deliveries: tuple[Told, ...] = ()

    @property
    def status(self) -> DeliveryStatus:
        """How far it has come: for each person at their best address, of all people the last."""
        best: dict[str, str] = {}
        for told in self.deliveries:
            known = best.get(told.contact, told.status)
            best[told.contact] = max(known, told.status, key=_came_through)
        return DeliveryStatus(min(best.values(), key=ORDER.index, default="failed"))


@dataclass(frozen=True, slots=True)
class Shown:
    """A notice as its page shows it to the person whom a link belongs to."""

    notice: Notice
    language: str


class Notices:
    """Tells, and knows what became of it."""

    def __init__(self, context: Context, look_again: float = LOOK_AGAIN) -> None:
        self._context, self._look_again = context, look_again

    async def send(self, request: NoticeRequest) -> tuple[Notice, bool]:
        """Store a notice and what must be sent; whether this call created it.

        Raises `NotFound` (contact, route), `DoesNotFit`, or `Conflict`: the key was used for another one,
        or nobody has an address.
        """
        _check(request)
        route = route_of(self._context.settings, request.route, request.ask, agent=request.agent)
        route = named(route, request.ask, request.route, request.idempotency_key)

        def tx_(tx: Tx) -> tuple[Notice, list[Row], bool]:
            require_people(tx, self._context.settings, request.ask)
            wanted = _row(request) | {"route": dumps(route)}
            row = table.add(tx, **wanted)
            if row is None:
                return _same_again(tx, wanted), [], False
            rows = self._deliveries(tx, row)
            return _view(tx, row), rows, True

        self._context.faults.reach("ask.before-commit")
        notice, rows, created = await self._context.store.write(tx_)
        self._context.faults.reach("ask.after-commit")
        self._context.dispatch(rows)
        self._context.signals.rearm()
        return notice, created

    def _deliveries(self, tx: Tx, notice: Row) -> list[Row]:
        route = loads(notice["route"])
        found = addresses(tx, route)
        if not found and (shown := self._context.outbox.stand_ins.fallback):
            found = [Address(shown, "", "")]
        if not found:
            who = ", ".join(route["ask"]) or "nobody"
            raise Conflict(f"Nobody can be told: {who}: {NO_ADDRESS}.")
        return [self._context.outbox.notice(tx, notice, address) for address in found]

    async def get(self, id: str) -> Notice:
        """A notice, or `NotFound`."""
        return await self._context.store.read(lambda tx: _get(tx, id))

    async def wait(self, id: str, timeout: float) -> Notice:
        """The notice as soon as nothing of it is queued any more, or as it is after `timeout` seconds."""
        return await self._context.signals.until(
            id,
            lambda notice: notice.status is not DeliveryStatus.QUEUED,
            lambda: self.get(id),
            timeout,
            self._look_again,
        )

    async def page(self, token: str) -> Shown:
        """What a link shows. Reads only (law 5). Raises `NotFound`."""

        def tx_(tx: Tx) -> Shown:
            row = tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None
            if row is None or not row["notice_id"]:
                raise NotFound("This link leads to no notice.")
            person: Contact | None = contacts.person(tx, row["contact_id"])
            return Shown(_get(tx, row["notice_id"]), person.language if person else "en")

        return await self._context.store.read(tx_)


def _check(request: NoticeRequest) -> None:
    check([request.text, request.title, request.user])
    if not request.text.strip():
        raise DoesNotFit("A notice needs a text: there is nothing to tell.")
    if len(request.text) > LONGEST:
        raise DoesNotFit(f"The text is too long: at most {LONGEST} characters. Send a link to the rest.")
    if len(request.title) > LONGEST_TITLE:
        raise DoesNotFit(f"The title is too long: at most {LONGEST_TITLE} characters.")


def _row(request: NoticeRequest) -> Row:
    return {
        "id": interactions.new_id(),
        "agent": request.agent,
        "title": request.title,
        "content": request.text,
        "sensitive": int(request.sensitive),
        "sent_by": request.user,
        "idempotency_key": request.idempotency_key,
    }


def _same_again(tx: Tx, wanted: Row) -> Notice:
    row = tx.one(table.BY_KEY, key=wanted["idempotency_key"])
    assert row is not None
    require_same("notice", told_with(row), told_with(wanted))
    return _view(tx, row)


def _get(tx: Tx, id: str) -> Notice:
    row = table.get(tx, id)
    if row is None:
        raise NotFound("There is no notice with this id.")
    return _view(tx, row)


def _view(tx: Tx, row: Row) -> Notice:
    known = table.deliveries_of(tx, row["id"])
    told = [
        Told(
            each["contact_id"],
            each["provider"],
            DeliveryStatus(each["status"]),
            each["error"],
            each["sent_at"],
        )
        for each in known
    ]
    reached = {each["contact_id"] for each in known}
    if "" not in reached:  # else it is said where the gateway runs, for all of them
        missed = [id for id in loads(row["route"])["ask"] if id not in reached]
        told += [Told(id, "", DeliveryStatus.FAILED, NO_ADDRESS) for id in missed]
    return Notice(
        row["id"],
        row["agent"],
        row["title"],
        row["content"],
        bool(row["sensitive"]),
        row["created_at"],
        tuple(told),
    )


def _came_through(status: str) -> int:
    """For one person: what arrived counts most, then what is still on its way."""
    return ("failed", "unknown", "queued", "sent", "delivered", "read").index(status)


__all__ = ["LONGEST", "LONGEST_TITLE", "Notice", "NoticeRequest", "Notices", "Shown", "Told"]
