"""Messages that no webhook brought: listed after an outage, in the form that a webhook would have had.

A list holds no button payload and no quoted message (they are in the webhook alone), nor whether it was
forwarded. So a tap comes as the text of its button, perhaps that of an older question, and is asked about.
"""

import datetime
import email.utils
from collections import OrderedDict
from typing import Any
from urllib.parse import urlencode

GRACE = datetime.timedelta(minutes=1)  # its webhook, which says more, may still be on its way
OVERLAP = datetime.timedelta(minutes=10)  # messages are listed late and not always in order
REMEMBERED = 10_000
LISTED = "Listed"  # in no webhook


class Missed:
    """What of the lists was handed on already: known only once the cursor that came with it comes back.

    A cursor is a time and a number, because two lists may end in the same second. `waits` is whether the
    last list held messages that were too young to be taken from it.
    """

    def __init__(self) -> None:
        self.waits = False
        self._kept: OrderedDict[str, None] = OrderedDict()
        self._offered: tuple[str, list[str]] = ("", [])
        self._number = 0

    def since(self, cursor: str, now: datetime.datetime) -> datetime.datetime:
        """Where to list from; at the very first start, from now on. What `cursor` confirms is kept."""
        offered, sids = self._offered
        if cursor == offered:
            self._kept.update(dict.fromkeys(sids))
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)
        try:
            return datetime.datetime.fromisoformat(cursor.partition(" ")[0]) - OVERLAP
        except ValueError:
            return now - OVERLAP

    def fresh(
        self, messages: list[Any], cursor: str, start: datetime.datetime, now: datetime.datetime
    ) -> tuple[list[Any], str]:
        """Those that no webhook brings and that were not handed on yet, oldest first, and their cursor."""
        unknown = [message for message in reversed(messages) if message.sid not in self._kept]
        found = [one for one in unknown if one.date_sent is None or one.date_sent <= now - GRACE]
        self.waits = len(found) < len(unknown)
        times: list[datetime.datetime] = [one.date_sent for one in found if one.date_sent is not None]
        newest = max([start + OVERLAP, *times]).isoformat()
        self._number += 1
        after = f"{newest} {self._number}" if found or not cursor else cursor
        self._offered = (after, [message.sid for message in found])
        return found, after


def form(message: Any, media: list[Any], host: str) -> bytes:
    """A listed message as the body of a webhook."""
    found = {
        "MessageSid": message.sid,
        "AccountSid": message.account_sid,
        "From": message.from_,
        "To": message.to,
        "Body": message.body or "",
        "NumMedia": str(len(media)),
        "SmsStatus": "received",
        LISTED: "true",
    }
    if message.date_sent is not None:
        found["DateSent"] = email.utils.format_datetime(message.date_sent)
    for place, item in enumerate(media):
        found[f"MediaUrl{place}"] = host + item.uri.removesuffix(".json")
        found[f"MediaContentType{place}"] = item.content_type or ""
    return urlencode(found).encode()
