"""How a run ended, behind the link of the message that said so: what its page shows, and "Try again"."""

from dataclasses import dataclass, field

from answerback import codes
from answerback.again import NEWER, refusal, tried
from answerback.context import Context
from answerback.errors import Conflict, NotAllowed, NotFound
from answerback.model import Contact, Interaction, Json, RunStatus
from answerback.store import Row, Tx, contacts, deliveries, interactions, runs
from answerback.store.codec import interaction_in
from answerback.tokens import hashed

ASKS = ("question", "reminder")


@dataclass(frozen=True, slots=True)
class Ending:
    """A run as the person sees it whom the link belongs to. `asked`: what was put to them, oldest first.

    `retry`: whether it can be tried again here, and now; `needs_code`: with a code only.
    """

    agent: str
    status: RunStatus
    result: Json
    error: str
    erased: bool
    asked: tuple[Interaction, ...]
    contact: Contact | None
    retry: bool
    needs_code: bool
    newer: bool  # it was tried again since, and failed again: another message is about that
    now: int
    names: dict[str, str] = field(default_factory=dict)  # of who answered

    @property
    def language(self) -> str:
        return self.contact.language if self.contact is not None else "en"

    @property
    def timezone(self) -> str:
        return self.contact.timezone if self.contact is not None else "UTC"


class Endings:
    """Links are looked up by token; all but those of messages about a run's end are `NotFound`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def view(self, token: str) -> Ending:
        """What a GET shows, as things stand now. Reads only (law 5)."""

        def tx_(tx: Tx) -> Ending:
            told, run = _find(tx, token)
            return _ending(tx, told, run)

        return await self._context.store.read(tx_)

    async def retry(self, token: str, code: str = "") -> None:
        """Try a failed run's step again, once.

        Raises `NotAllowed` (nobody's link, or the code), or `Conflict`: it is not what it was any more.
        """

        def tx_(tx: Tx) -> tuple[str, str]:
            told, run = _find(tx, token)
            run = tx.one(runs.HELD, id=run["id"]) or run
            if refusal(told, run):
                return "", refusal(told, run)
            if not _is_theirs(tx, told):
                return "Only the person who was told of it can have it tried again.", ""
            if _needs_code(_asked(tx, run)) and (problem := codes.problem(tx, told, code)):
                return problem, ""  # committed: tries are counted
            said, _ = tried(tx, told, run)
            return "", "" if said == "again_begun" else said

        self._context.faults.reach("receive.before-commit")
        refused, stale = await self._context.store.write(tx_)
        if refused:
            raise NotAllowed(refused)
        if stale:
            raise Conflict("This run is not what it was when the message was sent.")
        self._context.faults.reach("receive.after-commit")
        self._context.signals.rearm()

    async def send_code(self, token: str) -> None:
        """Send six digits to the address that the link was sent to. Raises `NotAllowed`, `Conflict`."""

        def tx_(tx: Tx) -> list[Row]:
            told, run = _find(tx, token)
            if refusal(told, run) or not _is_theirs(tx, told):
                raise NotAllowed("There is nothing here that a code could be for.")
            return codes.send(tx, self._context.outbox, told)

        self._context.dispatch(await self._context.store.write(tx_))


def _find(tx: Tx, token: str) -> tuple[Row, Row]:
    told = tx.one(deliveries.BY_TOKEN, hash=hashed(token)) if token else None
    run = None
    if told is not None and told["kind"] == "notice" and told["run_id"]:
        run = tx.one(runs.GET, id=told["run_id"])
    if told is None or run is None:
        raise NotFound("This link leads to no run.")
    return told, run


def _is_theirs(tx: Tx, told: Row) -> bool:
    """Whether the account that was told is still that person's. What went to nobody is nobody's."""
    if not told["contact_id"]:
        return False
    address = tx.one(contacts.ADDRESS_OF, provider=told["provider"], external_id=told["external_id"])
    return address is not None and bool(address["contact_id"] == told["contact_id"])


def _ending(tx: Tx, told: Row, run: Row) -> Ending:
    asked = _asked(tx, run)
    put = {
        row["interaction_id"]
        for row in tx.all(deliveries.OF_RUN, run_id=run["id"])
        if row["kind"] in ASKS and row["contact_id"] == told["contact_id"]
    }
    seen = tuple(record for record in asked if record.id in put and record.readable)
    who = (contacts.person(tx, record.answered_by) for record in seen)
    return Ending(
        run["agent"],
        RunStatus(run["status"]),
        runs.result_of(run)[0],
        run["error"],
        run["erased_at"] is not None,
        seen,
        contacts.person(tx, told["contact_id"]),
        retry=not refusal(told, run) and _is_theirs(tx, told),
        needs_code=_needs_code(asked),
        newer=refusal(told, run) == NEWER,
        now=tx.now,
        names={person.id: person.name for person in who if person is not None},
    )


def _asked(tx: Tx, run: Row) -> list[Interaction]:
    """All that the run asked, of whomever."""
    return [interaction_in(row) for row in tx.all(interactions.OF_RUN, run_id=run["id"])]


def _needs_code(asked: list[Interaction]) -> bool:
    """The same answers are given to the same step again: what no link alone could say, none repeats."""
    return any(codes.are_needed(record) for record in asked)
