"""What is known of a thread, whoever started it: its runs and its questions, ended ones too."""

from sqlalchemy import bindparam as p
from sqlalchemy import select, text

from answerback.store.query import Query
from answerback.store.tx import Tx
from answerback.tables import INTERRUPTED, InteractionRow, RunRow

R, X = RunRow.__table__, InteractionRow.__table__  # type: ignore[attr-defined]

RUN = Query(select(R.c.id).where(R.c.agent == p("agent"), R.c.thread_id == p("thread_id")).limit(1))
ASKED = Query(
    select(X.c.id)
    .where(
        *(X.c.interrupt_id == p("interrupt_id"), X.c.thread_id == p("thread_id"), X.c.agent == p("agent")),
        *(X.c.digest == p("digest"), text(INTERRUPTED)),
    )
    .limit(1)
)


def is_known(tx: Tx, agent: str, thread: str) -> bool:
    """Whether a run of this gateway has ever been on the thread."""
    return tx.one(RUN, agent=agent, thread_id=thread) is not None


def was_asked(tx: Tx, agent: str, thread: str, interrupt_id: str, digest: str) -> bool:
    """Whether this was ever asked on the thread, whatever has become of it."""
    return tx.one(ASKED, agent=agent, thread_id=thread, interrupt_id=interrupt_id, digest=digest) is not None
