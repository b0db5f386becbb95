"""One form of Twilio's to a reply or a receipt: pure, and silent about what is no person's answer.

https://www.twilio.com/docs/messaging/guides/webhook-request and
https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks
"""

import datetime
import email.utils

from answerback.provider import Attachment, Receipt, Reply, Void
from answerback_providers.whatsapp.faults import DEAD, reason, receipt_status
from answerback_providers.whatsapp.missed import LISTED
from answerback_providers.whatsapp.settings import PREFIX

STATUSES = {"sent": "sent", "delivered": "delivered", "read": "read"}
FAILURES = ("failed", "undelivered")
MOST_MEDIA = 10
FORWARDED = ("Forwarded", "FrequentlyForwarded")  # "true", or not there at all
Fields = dict[str, str]


def read(found: Fields, account: str, sender: str, delivery: str = "") -> Reply | Receipt | None:
    """What came; None for what is not ours or not an answer (another account, another number, a status
    that says nothing new). `delivery`: the id that stands in the address of a status callback."""
    sid = found.get("MessageSid") or found.get("SmsMessageSid", "")
    if not sid or found.get("AccountSid") != account:
        return None
    status = found.get("MessageStatus", "")
    if status and found.get("SmsStatus", status) != "received":
        return _receipt(sid, status, found, delivery) if found.get("From") == sender else None
    return _reply(sid, found) if found.get("To") == sender else None


def _receipt(sid: str, status: str, found: Fields, delivery: str) -> Receipt | None:
    """`queued` and `sending` say nothing that was not known."""
    if status in STATUSES:
        return Receipt(f"{sid}:{status}", sid, STATUSES[status], delivery_id=delivery)
    if status not in FAILURES:
        return None
    code = _number(found.get("ErrorCode", ""))
    dead = code in DEAD
    return Receipt(f"{sid}:{status}", sid, receipt_status(code), reason(code), dead, delivery)


def _reply(sid: str, found: Fields) -> Reply | None:
    """Ids are opaque: since 2026 a person may have a name and no number, and several ids over time."""
    who = found.get("From", "").removeprefix(PREFIX)
    if not who:
        return None
    data = found.get("ButtonPayload", "")
    attachments = _attachments(found)
    text = "" if data else found.get("Body", "") or found.get("ButtonText", "")
    if not data and not text and not attachments and found.get("MessageType", "text") == "text":
        return None
    answered = found.get("OriginalRepliedMessageSid", "")
    return Reply(
        event_id=sid,
        sender=who,
        place=who,
        text=text,
        data=data,
        references=(answered,) if answered else (),
        sent_at=_moment(found.get("DateSent", "")),
        untimed=not found.get("DateSent"),  # no webhook has it, only the list of messages
        name=found.get("ProfileName", ""),
        attachments=attachments,
        void=Void.FORWARDED if any(found.get(name) == "true" for name in FORWARDED) else None,
        partial=LISTED in found,
    )


def _attachments(found: Fields) -> tuple[Attachment, ...]:
    count = min(_number(found.get("NumMedia", "")), MOST_MEDIA)
    return tuple(
        Attachment(id=url, name=f"file {place + 1}", content_type=found.get(f"MediaContentType{place}", ""))
        for place in range(count)
        if (url := found.get(f"MediaUrl{place}", ""))
    )


def _number(value: str) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 8 else 0


def _moment(value: str) -> int | None:
    """Only a message that was listed says when it was written (RFC 2822); microseconds."""
    try:
        at = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    zoned = at if at.tzinfo else at.replace(tzinfo=datetime.UTC)
    return round(zoned.timestamp()) * 1_000_000
