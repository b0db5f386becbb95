"""Resources in Twilio's words: https://www.twilio.com/docs/messaging/api/message-resource,
.../media-resource and https://www.twilio.com/docs/content/content-api-resources."""

import datetime
import email.utils
from collections.abc import Callable
from typing import Any

from answerback_sandbox.twilio.state import Content, File, Note

Json = dict[str, Any]
PREFIX = "whatsapp:"


def rfc2822(at: int) -> str:
    """A time as the Messages resource writes it."""
    return email.utils.format_datetime(_utc(at))


def iso8601(at: int) -> str:
    """A time as the Content resource writes it."""
    return _utc(at).strftime("%Y-%m-%dT%H:%M:%SZ")


def account(sid: str, auth_token: str, at: int) -> Json:
    """An Account resource."""
    uri = f"/2010-04-01/Accounts/{sid}"
    return {
        "sid": sid,
        "owner_account_sid": sid,
        "auth_token": auth_token,
        "friendly_name": "Sandbox",
        "status": "active",
        "type": "Full",
        "date_created": rfc2822(at),
        "date_updated": rfc2822(at),
        "subresource_uris": {"messages": f"{uri}/Messages.json"},
        "uri": f"{uri}.json",
    }


def page(uri: Callable[[int], str], number: int, size: int, total: int) -> Json:
    """What stands around a page of a list (https://www.twilio.com/docs/usage/twilios-response#pagination)."""
    return {
        "page": number,
        "page_size": size,
        "start": number * size,
        "end": max(0, min(total, (number + 1) * size) - 1),
        "uri": uri(number),
        "first_page_uri": uri(0),
        "previous_page_uri": uri(number - 1) if number else None,
        "next_page_uri": uri(number + 1) if total > (number + 1) * size else None,
    }


def message(note: Note, account: str, sender: str) -> Json:
    """A Message resource."""
    uri = f"/2010-04-01/Accounts/{account}/Messages/{note.sid}"
    theirs, ours = PREFIX + note.handset, PREFIX + sender
    return {
        "account_sid": account,
        "api_version": "2010-04-01",
        "body": note.body,
        "date_created": rfc2822(note.at),
        "date_sent": None if note.status == "queued" else rfc2822(note.at),
        "date_updated": rfc2822(note.at),
        "direction": "inbound" if note.mine else "outbound-api",
        "error_code": note.error or None,
        "error_message": None,
        "from": theirs if note.mine else ours,
        "messaging_service_sid": None,
        "num_media": str(len(note.files)),
        "num_segments": "1",
        "price": None,
        "price_unit": None,
        "sid": note.sid,
        "status": str(note.status),
        "subresource_uris": {"media": f"{uri}/Media.json"},
        "to": ours if note.mine else theirs,
        "uri": f"{uri}.json",
    }


def media(file: File, note: Note, account: str) -> Json:
    """A Media resource."""
    at = rfc2822(note.at)
    return {
        "sid": file.sid,
        "account_sid": account,
        "parent_sid": note.sid,
        "content_type": file.content_type,
        "date_created": at,
        "date_updated": at,
        "uri": f"{media_path(file, note, account)}.json",
    }


def media_path(file: File, note: Note, account: str) -> str:
    """Where the file itself is."""
    return f"/2010-04-01/Accounts/{account}/Messages/{note.sid}/Media/{file.sid}"


def content(item: Content, account: str, base: str) -> Json:
    """A Content resource."""
    url = f"{base}/v1/Content/{item.sid}"
    return {
        "sid": item.sid,
        "account_sid": account,
        "friendly_name": item.friendly_name,
        "language": item.language,
        "variables": dict(item.variables),
        "types": {name: dict(value) for name, value in item.types.items()},
        "date_created": iso8601(item.created_at),
        "date_updated": iso8601(item.created_at),
        "url": url,
        "links": {
            "approval_create": f"{url}/ApprovalRequests/whatsapp",
            "approval_fetch": f"{url}/ApprovalRequests",
        },
    }


def _utc(at: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at // 1_000_000, datetime.UTC)
