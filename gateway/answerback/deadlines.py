"""deadlines: until when a question waits, and what silence means then: what its asker set, judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from answerback.agent import Pending
from answerback.durations import seconds
from answerback.errors import DoesNotFit
from answerback.model import Json, OnExpire, Question
from answerback.read import validate_response
from answerback.standing import decides


@dataclass(frozen=True, slots=True)
class Deadline:
    """What counts for one question; `expires_in` in seconds, None: never.

    `unusable` names what the asker set and what cannot be used: the question is asked all the same.
    """

    expires_in: float | None
    on_expire: OnExpire
    default: Json = None
    unusable: tuple[str, ...] = ()


def of(pending: Pending, route: Json, *, may_approve: bool, refused: bool = False) -> Deadline:
    """What a graph set for one question, and the route's where it set nothing, or nothing that can be used.

    `refused`: it did not take before what this question's deadline gave it. That is not tried again, and
    neither is a default tried that is missing or does not fit: then it is `auto`.
    """
    unusable = []
    expires_in, on_expire = route.get("expires_in"), OnExpire(route.get("on_expire", "auto"))
    if pending.expires_in is not None:
        try:
            expires_in = seconds(pending.expires_in)
        except DoesNotFit:
            unusable.append("expires_in")
    if pending.on_expire is not None:
        try:
            on_expire = OnExpire(pending.on_expire)
        except ValueError:
            unusable.append("on_expire")
    default = None
    if on_expire is OnExpire.DEFAULT:
        try:
            check_default(pending.questions, pending.default, may_approve=may_approve)
            default = pending.default
        except DoesNotFit:
            on_expire = OnExpire.AUTO
            unusable += ["default"] if pending.default is not None else []
    if refused and on_expire in (OnExpire.DEFAULT, OnExpire.NO_RESPONSE):
        on_expire, default = OnExpire.AUTO, None
    return Deadline(expires_in, on_expire, default, tuple(unusable))


def check_default(questions: Sequence[Question], default: Json, *, may_approve: bool) -> dict[str, Json]:
    """The values that a default gives. Raises `DoesNotFit`, also for what only people decide (law 6)."""
    if default is None and any(question.required for question in questions):
        raise DoesNotFit("on_expire is default, and no `default` is set: the value that counts then.")
    values = validate_response(questions, default)
    if not may_approve and decides(questions, values):
        raise DoesNotFit(
            "A default must not approve: silence is not an answer. Use on_expire: auto or leave."
        )
    return values
