"""callbacks: the end of an interaction as one signed event, posted to its asker's `callback_url`.

It is a delivery like any other: committed with the end itself, claimed, tried again for days, set aside.
"""

import datetime
import json
from dataclasses import asdict, dataclass, field
from urllib.parse import urlsplit

from answerback import signing
from answerback.allowed import Allowed
from answerback.errors import DoesNotFit, TryLater, Undeliverable
from answerback.model import Answer, Interaction, Json
from answerback.outgoing import Barred, Outgoing
from answerback.standing import is_stand_in
from answerback.store import Row, Tx, interactions
from answerback.store.codec import loads

SECONDS = 10.0  # for one call
LIMIT = 1 << 12  # bytes of what comes back: only its status matters
AGAIN_SECONDS = 5.0
GONE = 410  # standard-webhooks.md, "Failure handling": disable the endpoint and stop sending
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """One event, ready to be posted. `id` is the same for every attempt, `now` is database time."""

    id: str
    url: str = field(repr=False)
    body: bytes = field(repr=False)
    now: int


class Callbacks:
    """Posts events, signed with the installation's key."""

    def __init__(self, http: Outgoing, key: bytes) -> None:
        self._http, self._key = http, key

    def event(self, tx: Tx, row: Row) -> Event | None:
        """What a delivery stands for; None when its interaction is gone."""
        record = interactions.get(tx, row["interaction_id"])
        if record is None:
            return None
        body = {
            "type": f"interaction.{record.status}",
            "timestamp": _moment(loads(row["content"])["at"]),
            "data": _data(record, interactions.state(tx, record.id)),
        }
        id = f"msg_{record.id}_{record.status}"
        return Event(id, record.callback_url, json.dumps(body, allow_nan=False).encode(), tx.now)

    async def post(self, event: Event) -> None:
        """One attempt. Raises `TryLater`; `Undeliverable` from who is gone or may not be called."""
        signed = signing.headers(self._key, event.id, event.now // 1_000_000, event.body)
        reply = await self._http.call(
            "POST",
            event.url,
            body=event.body,
            headers={"content-type": "application/json", "user-agent": "answerback", **signed},
            seconds=SECONDS,
            limit=LIMIT,
        )
        if reply.status == GONE:
            raise Undeliverable("The receiver says that it is gone (410).")
        if not 200 <= reply.status <= 299:
            wait = reply.retry_after or AGAIN_SECONDS
            raise TryLater(wait, f"The receiver answers with {reply.status}.")


def require_callable(url: str, entries: tuple[str, ...]) -> None:
    """Refuse, when a question is asked, what would never be called. Raises `DoesNotFit`."""
    allowed = Allowed(entries)
    why = ""
    try:
        Outgoing(allowed).check(url)
    except Barred as error:
        why = error.reason
        if "outgoing.allow" not in why:  # it is no address at all
            raise DoesNotFit(f"callback_url: {why}") from None
    host = (urlsplit(url).hostname or "").lower()
    if why or not allowed.may_reach(host):
        why = why or "This receiver is not one that may be called from here."
        entry = f"outgoing: {{allow: [{json.dumps(host)}]}}"
        raise DoesNotFit(f"callback_url: {why} To allow it, the configuration needs: {entry}")


def _data(record: Interaction, state: Json) -> dict[str, Json]:
    """As GET /v1/interactions/{id} has it, and the `state` that was kept for the asker."""
    return {
        "id": record.id,
        "status": str(record.status),
        "agent": record.agent,
        "user": record.user,
        "created_at": _moment(record.created_at),
        "expires_at": _moment(record.expires_at),
        "answered_at": _moment(record.answered_at),
        "answered_by": record.answered_by,
        "answered_via": record.answered_via,
        "answer": _answer(record, record.answer) if record.answer is not None else None,
        "reason": record.reason,
        "state": state,
    }


def _answer(record: Interaction, answer: Answer) -> dict[str, Json]:
    only = record.questions[0].id if len(record.questions) == 1 else None
    return {
        "value": answer.values.get(only) if only is not None else None,
        "values": answer.values,
        "text": answer.text,
        "by": answer.by,
        "via": answer.via,
        "stand_in": is_stand_in(answer.by),
        "at": _moment(answer.at or None),
        "expired": answer.expired,
        "default_used": answer.default_used,
        "attachments": [asdict(each) for each in answer.attachments],
    }


def _moment(at: int | None) -> str | None:
    """RFC 3339 in UTC."""
    if at is None:
        return None
    when = _EPOCH + datetime.timedelta(microseconds=at)
    return when.isoformat(timespec="microseconds").replace("+00:00", "Z")
