"""times: when the clock has to look at a question, and whether silence leaves it open. Pure."""

from answerback import snoozed
from answerback.model import Interaction, OnExpire

SECOND = 1_000_000  # microseconds


def stays_open(record: Interaction) -> bool:
    """Whether silence leaves the question answerable after its deadline."""
    if record.on_expire is OnExpire.LEAVE:
        return True
    return record.on_expire is OnExpire.AUTO and not record.expirable


def next_action(record: Interaction, now: int) -> int | None:
    """When `elapse` has to look at it: the next reminder or the deadline, whichever comes first.

    After the deadline of a question that stays open nobody is reminded, but for who wanted that.
    """
    times = snoozed.times(record.route)
    if record.overdue_at is None:
        times += [*reminders(record), *([at] if (at := stand_ins_at(record)) else [])]
        if record.expires_at is not None:
            times = [at for at in times if at < record.expires_at] + [record.expires_at]
    return min((at for at in times if at > now or at == record.expires_at), default=None)


def reminders(record: Interaction) -> list[int]:
    """When the question is asked again, microseconds since the epoch."""
    return [record.created_at + round(after * SECOND) for after in record.route.get("reminders", ())]


def stand_ins_at(record: Interaction) -> int | None:
    """When a stand-in is asked beside the people who have not answered; None: never."""
    after = record.route.get("stand_ins_after")
    return record.created_at + round(after * SECOND) if after and record.route.get("stand_ins") else None
