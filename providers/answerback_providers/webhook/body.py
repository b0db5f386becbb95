"""What goes out: one message as JSON, under a type such as `message.question`."""

import datetime
from typing import Any

from answerback.provider import Json, Message


def body(message: Message, at: datetime.datetime, *, edits: str = "") -> dict[str, Json]:
    """One event, as Standard Webhooks has it: `type`, `timestamp`, `data`.

    `edits`: the id of the message that this one replaces; the type is `message.edited` then. The parts are
    those of a message: show `heading`, `title`, `fields`, `body`, `buttons` and `footer` in that order, or
    `text`, which is all of it but the buttons. A button's `data` goes back in a reply, its `url` is opened.
    """
    return {
        "type": "message.edited" if edits else f"message.{message.kind}",
        "timestamp": at.isoformat(),
        "data": {
            "interaction_id": message.interaction_id,
            "message_id": edits or message.delivery_id,
            "kind": str(message.kind),
            "to": {"id": message.to.external_id, "place": message.to.place},
            "heading": message.heading,
            "title": message.title,
            "fields": [{"label": label, "value": value} for label, value in message.fields],
            "body": message.body,
            "buttons": [_button(each) for each in message.buttons],
            "footer": message.footer,
            "text": message.text,
            "placeholder": message.placeholder,
            "form_url": message.form_url,
            "code": message.code,
            "language": message.language,
            "reply_to": list(message.reply_to),
            "expires_at": _moment(message.expires_at),
        },
    }


def _button(button: Any) -> dict[str, str]:
    way = {"url": button.url} if button.url else {"data": button.data}
    return {"label": button.label, **way}


def _moment(at: int | None) -> str | None:
    return None if at is None else datetime.datetime.fromtimestamp(at / 1e6, datetime.UTC).isoformat()
