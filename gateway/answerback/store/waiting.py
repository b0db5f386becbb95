"""What waits for a person's answer, the nearest deadline first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, String, and_, func, literal, or_, select
from sqlalchemy import bindparam as p

from answerback.model import Interaction
from answerback.store.codec import dumps, interaction_in
from answerback.store.interactions import STILL_PENDING
from answerback.store.query import Either
from answerback.store.tx import Tx
from answerback.tables import InteractionRow

X = InteractionRow.__table__  # type: ignore[attr-defined]
NEVER = 2**62  # stands for a deadline where there is none: behind all that have one
LOOKED_AT = 1000  # of the newest questions, where the last answer is looked for
_deadline = func.coalesce(X.c.expires_at, literal(NEVER, BigInteger))
_asked, _agents = p("asked", type_=String), p("agents", type_=String)
Find = Callable[[Any, Any], Any]  # the place of the second text in the first, or 0


@dataclass(frozen=True, slots=True)
class Mine:
    """Whose questions. `contact`: whom a question must be for; `agents`: who must ask; "" and () are all."""

    contact: str = ""
    agents: tuple[str, ...] = ()

    def values(self) -> dict[str, str]:
        """As the statements compare them: roughly, `has` decides."""
        listed = "".join(f"\n{agent}" for agent in self.agents)
        return {"asked": dumps(self.contact) if self.contact else "", "agents": listed and listed + "\n"}

    def has(self, record: Interaction) -> bool:
        """Whether a question is one of these."""
        if self.agents and record.agent not in self.agents:
            return False
        return not self.contact or self.contact in record.route.get("ask", ())


@dataclass(frozen=True, slots=True)
class Place:
    """A question's place in the list: everything after it has a later deadline, or a later id."""

    deadline: int = -NEVER
    id: str = ""

    @classmethod
    def of(cls, record: Interaction) -> "Place":
        return cls(NEVER if record.expires_at is None else record.expires_at, record.id)


def _by(find: Find) -> Any:
    deadline, id = p("deadline", type_=BigInteger), p("id", type_=String)
    return (
        select(X)
        .where(
            STILL_PENDING,
            or_(_deadline > deadline, and_(_deadline == deadline, X.c.id > id)),
            or_(_asked == "", find(X.c.route, _asked) > 0),
            or_(_agents == "", find(_agents, "\n" + X.c.agent + "\n") > 0),
        )
        .order_by(_deadline, X.c.id)
        .limit(p("limit"))
    )


def _answered(find: Find) -> Any:
    newest = select(X).order_by(X.c.id.desc()).limit(LOOKED_AT).subquery()
    by, agent = p("contact", type_=String), "\n" + newest.c.agent + "\n"
    return select(func.max(newest.c.answered_at).label("at")).where(
        newest.c.status == "completed",
        or_(by == "", newest.c.answered_by == by),
        or_(_agents == "", find(_agents, agent) > 0),
    )


WAITING = Either(sqlite=_by(func.instr), postgresql=_by(func.strpos))
LAST_ANSWER = Either(sqlite=_answered(func.instr), postgresql=_answered(func.strpos))


def waiting(tx: Tx, mine: Mine, limit: int, after: Place) -> tuple[list[Interaction], Place | None]:
    """A page of what can be answered, keyset-paged; and where the next page begins, if there is one."""
    rows = tx.all(WAITING, deadline=after.deadline, id=after.id, limit=limit + 1, **mine.values())
    found = [interaction_in(row) for row in rows[:limit]]
    page = [record for record in found if record.readable and mine.has(record)]
    return page, Place.of(found[-1]) if len(rows) > limit else None


def last_answer(tx: Tx, mine: Mine) -> int | None:
    """When somebody last answered, or that contact; microseconds. None: not lately."""
    row = tx.one(LAST_ANSWER, contact=mine.contact, agents=mine.values()["agents"])
    return None if row is None else row["at"]


__all__ = ["Mine", "Place", "last_answer", "waiting"]
