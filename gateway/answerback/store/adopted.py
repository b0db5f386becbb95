"""What is known of a thread, whoever started it: its runs and its questions, ended ones too."""

from sqlalchemy import bindparam as p
from sqlalchemy import select

from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.tables import InteractionRow, RunRow

R, X = RunRow.__table__, InteractionRow.__table__  # type: ignore[attr-defined]

RUN = Query(select(R.c.id).where(R.c.agent == p("agent"), R.c.thread_id == p("thread_id")).limit(1))
ASKED = Query(
    select(X.c.interrupt_id, X.c.digest).where(X.c.agent == p("agent"), X.c.thread_id == p("thread_id"))
)


def is_known(tx: Tx, agent: str, thread: str) -> bool:
    """Whether a run of this gateway has ever been on the thread."""
    return tx.one(RUN, agent=agent, thread_id=thread) is not None


def asked(tx: Tx, agent: str, thread: str) -> list[Row]:
    """`interrupt_id` and `digest` of everything that was ever asked on the thread."""
    return tx.all(ASKED, agent=agent, thread_id=thread)
