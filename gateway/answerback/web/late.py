"""What a caller is told who comes too late: how the question was settled, and who answered (law 2)."""

from collections.abc import Awaitable
from typing import TypeVar

from answerback.errors import AlreadyAnswered, Closed
from answerback.model import Interaction, InteractionStatus, Json
from answerback.web.auth import may_follow
from answerback.web.problems import Problem
from answerback.web.records import timestamp
from answerback.web.services import Caller, Reader

T = TypeVar("T")


async def told(reader: Reader, key: Caller, id: str, work: Awaitable[T]) -> T:
    """What `work` gives. If it comes too late, whoever may read the question hears what became of it."""
    try:
        return await work
    except (AlreadyAnswered, Closed) as refusal:
        if not may_follow(key):
            raise
        record = await reader.interaction(id)
        if record.status is InteractionStatus.PENDING:  # its deadline has passed, or its record is damaged
            raise
        detail = refusal.detail if isinstance(refusal, Closed) else _who(record)
        raise Problem(refusal.status, refusal.code, detail, more=_settled(record)) from None


def _who(record: Interaction) -> str:
    by = f", by {record.answered_by}" if record.answered_by else ""  # nobody's, where a link is nobody's
    return f"This question was answered through {record.answered_via}{by}. Nothing changed."


def _settled(record: Interaction) -> dict[str, Json]:
    """In the words of the record, but for its status: a problem's own `status` is that of HTTP."""
    settled: dict[str, Json] = {"settled_as": str(record.status)}
    if record.status is InteractionStatus.COMPLETED:
        settled |= {
            "answered_by": record.answered_by,
            "answered_via": record.answered_via,
            "answered_at": timestamp(record.answered_at),
        }
    return settled
