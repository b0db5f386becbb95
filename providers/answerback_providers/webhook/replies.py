"""What comes in: a reply, or a receipt, as JSON.

    {"type": "reply", "data": {"sender": "u1", "place": "room 7", "text": "yes", "button": "…",
                               "reply_to": "message id", "name": "Ana", "private": true}}
    {"type": "receipt", "data": {"message_id": "…", "status": "delivered | read | failed", "reason": "…"}}

`sender` is the id that stands in the contact's address; `place` is the same unless it says otherwise;
`button` is the `data` of the button that was tapped. One of `text` and `button` is needed.
"""

import hashlib
import json

from answerback.provider import Inbound, Json, Receipt, Reply

ID = "webhook-id"
STATUSES = ("delivered", "read", "failed")


def parse(inbound: Inbound) -> list[Reply | Receipt]:
    """Raises ValueError for what is not one of the two."""
    try:
        event = json.loads(inbound.body)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise ValueError("not an event with data")
    # One that is replayed has its body only: known by that, it is handled once more and no oftener.
    event_id = inbound.headers.get(ID) or f"sha256:{hashlib.sha256(inbound.body).hexdigest()}"
    data = event["data"]
    match event.get("type"):
        case "reply":
            return [_reply(event_id, data)]
        case "receipt":
            return [_receipt(event_id, data)]
    return []  # a type that a later version may know


def _reply(event_id: str, data: dict[str, Json]) -> Reply:
    sender, text, button = _text(data, "sender"), _text(data, "text"), _text(data, "button")
    if not sender or not (text or button):
        raise ValueError("a reply needs a sender, and a text or a button")
    answered = _text(data, "reply_to")
    return Reply(
        event_id=event_id,
        sender=sender,
        place=_text(data, "place") or sender,
        text="" if button else text,
        data=button,
        references=(answered,) if answered else (),
        private=data.get("private") is not False,
        name=_text(data, "name"),
    )


def _receipt(event_id: str, data: dict[str, Json]) -> Receipt:
    message_id, status = _text(data, "message_id"), _text(data, "status")
    if not message_id or status not in STATUSES:
        raise ValueError("a receipt needs a message_id and a status")
    return Receipt(event_id, message_id, status, _text(data, "reason"))


def _text(data: dict[str, Json], key: str) -> str:
    value = data.get(key, "")
    return value if isinstance(value, str) else ""
