"""The inbox: what waits for one person, or for an operator, each question answerable where it stands."""

from dataclasses import dataclass, replace

from answerback.closing import refuse_closed, refuse_late
from answerback.context import Context
from answerback.door import Actor, Decision, after_commit
from answerback.errors import NotAllowed, NotFound
from answerback.forms import FormView, checked_values, taken
from answerback.model import Contact, Interaction, Json, Outcome
from answerback.outbox import CALLER, FORM
from answerback.steps import given_by
from answerback.store import Tx, contacts, deliveries, interactions, waiting
from answerback.store.waiting import Mine, Place
from answerback.uploads import Upload

VIA = "inbox"
NOT_HERE = "There is no such question in this inbox."
AT_ONCE = 50  # questions on a page
LIFE = 30 * 86_400_000_000  # microseconds after which a key has to be given again


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks: whoever signed in with the key `name`, at `since`, microseconds.

    With a `contact` it is that person, and sees what they are asked; without, an operator, who sees
    everything. `agents`: only what these ask; all when none are named. `operates`: sees where each was sent.
    """

    name: str
    since: int
    contact: str = ""
    agents: tuple[str, ...] = ()
    operates: bool = False
    language: str = "en"  # of an operator

    @property
    def mine(self) -> Mine:
        return Mine(self.contact, self.agents)


@dataclass(frozen=True, slots=True)
class Sent:
    """One message of a question: to whom, through what, and what came back. `status` as in `delivery`."""

    to: str
    provider: str
    status: str
    at: int | None
    error: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row of the list."""

    view: FormView
    sent: tuple[Sent, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the list. `last_answer`: when somebody, or this person, last answered."""

    rows: tuple[Waiting, ...]
    next: Place | None
    last_answer: int | None
    who: str
    language: str
    timezone: str
    now: int


class Inbox:
    """Every call says who looks. Raises `NotAllowed` once they have to sign in again."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def now(self) -> int:
        """Database time, microseconds: since when somebody is signed in."""
        return await self._context.store.read(lambda tx: tx.now)

    async def of(self, viewer: Viewer, after: Place | None = None) -> Listed:
        """What waits, the nearest deadline first. Reads only (law 5)."""
        return await self._context.store.read(lambda tx: _listed(tx, viewer, after or Place()))

    async def ids(self, viewer: Viewer, after: Place | None = None) -> tuple[str, ...]:
        """Which questions `of` would list: an open page asks every few seconds."""

        def tx_(tx: Tx) -> tuple[str, ...]:
            who, _ = _known(tx, viewer)
            found, _ = waiting.waiting(tx, who.mine, AT_ONCE, after or Place())
            return tuple(record.id for record in found)

        return await self._context.store.read(tx_)

    async def view(self, viewer: Viewer, id: str) -> FormView:
        """One question as it is now, also when it is closed. Raises `NotFound`."""

        def tx_(tx: Tx) -> FormView:
            who, person = _known(tx, viewer)
            return _view(tx, who, person, _own(tx, who, id))

        return await self._context.store.read(tx_)

    async def answer(
        self,
        viewer: Viewer,
        id: str,
        values: dict[str, Json],
        *,
        text: str = "",
        files: tuple[Upload, ...] = (),
    ) -> None:
        """Answer. Raises `NotFound`, `NotAllowed`, `DoesNotFit`, `AlreadyAnswered` or `Closed`."""

        def tx_(tx: Tx) -> Decision:
            who, _ = _known(tx, viewer)
            record = _own(tx, who, id)
            refuse_closed(record)
            checked = checked_values(record, values, with_files=bool(files))
            actor = Actor(who.contact or who.name, VIA)
            return taken(tx, self._context, record, checked, text, actor, files)

        self._context.faults.reach("receive.before-commit")
        decision = await self._context.store.write(tx_)
        self._context.faults.reach("receive.after-commit")
        after_commit(self._context, decision)
        if decision.outcome is Outcome.NOT_ALLOWED:  # it was handed on at this moment
            raise NotFound(NOT_HERE)
        if decision.outcome is not Outcome.ACCEPTED:
            refuse_late(decision.record)


def _listed(tx: Tx, viewer: Viewer, after: Place) -> Listed:
    viewer, person = _known(tx, viewer)
    records, following = waiting.waiting(tx, viewer.mine, AT_ONCE, after)
    rows = tuple(_waiting(tx, viewer, person, record) for record in records)
    last = None if rows else waiting.last_answer(tx, viewer.mine)
    language, timezone = _spoken(viewer, person)
    who = person.name if person else viewer.name
    return Listed(rows, following, last, who, language, timezone, tx.now)


def _known(tx: Tx, viewer: Viewer) -> tuple[Viewer, Contact | None]:
    """The viewer, and the contact that this is; None: an operator.

    A key for nobody that is called like somebody is theirs: nobody else answers in their name.
    """
    if tx.now - viewer.since > LIFE:
        raise NotAllowed("You were signed in for a month.")
    person = contacts.person(tx, viewer.contact or viewer.name)
    is_there = person is not None and contacts.is_there(tx, person.id)
    if not is_there and (viewer.contact or person is not None):
        raise NotAllowed("This key is for somebody who is no contact any more.")
    return (replace(viewer, contact=person.id) if person else viewer), person


def _own(tx: Tx, viewer: Viewer, id: str) -> Interaction:
    """A question that the viewer may answer; others do not exist for them (law 7)."""
    record = interactions.get(tx, id)
    if record is None or not record.readable or not viewer.mine.has(record):
        raise NotFound(NOT_HERE)
    return record


def _waiting(tx: Tx, viewer: Viewer, person: Contact | None, record: Interaction) -> Waiting:
    sent = _sent(tx, record.id) if viewer.operates and not viewer.contact else ()
    return Waiting(_view(tx, viewer, person, record), sent)


def _sent(tx: Tx, id: str) -> tuple[Sent, ...]:
    """Where it was sent and what came back, oldest first."""
    asked = (
        row
        for row in tx.all(deliveries.OF, interaction_id=id)
        if row["kind"] in ("question", "reminder") and row["provider"] not in (FORM, CALLER)
    )
    return tuple(
        Sent(_name(tx, row["contact_id"]), row["provider"], row["status"], row["sent_at"], row["error"])
        for row in asked
    )


def _name(tx: Tx, contact_id: str) -> str:
    person = contacts.person(tx, contact_id)
    return person.name if person else ""


def _view(tx: Tx, viewer: Viewer, person: Contact | None, record: Interaction) -> FormView:
    language, timezone = _spoken(viewer, person)
    return FormView(
        record,
        person,
        needs_code=False,  # who signs in with a key is known better than by any code
        can_send_code=False,
        answerer=_name(tx, record.answered_by) or record.answered_by,
        you=record.answered_by == (viewer.contact or viewer.name),
        now=tx.now,
        timezone=timezone,
        language=language,
        given=given_by(tx, record, viewer.contact),
    )


def _spoken(viewer: Viewer, person: Contact | None) -> tuple[str, str]:
    return (person.language, person.timezone) if person else (viewer.language, "UTC")
