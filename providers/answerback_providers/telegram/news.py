"""What an update says of a chat: it became a supergroup, it was closed to the bot, or it is open again.

https://core.telegram.org/bots/api#chatmemberupdated, and `migrate_to_chat_id` and `migrate_from_chat_id`
of https://core.telegram.org/bots/api#message.
"""

from answerback.provider import PlaceNews
from answerback_providers.telegram.fields import Fields, number, obj, string

OUT = frozenset({"left", "kicked"})
IN = frozenset({"creator", "administrator", "member", "restricted"})


def news_of(event_id: str, update: Fields) -> PlaceNews | None:
    """None for an update that says nothing of the kind."""
    if member := obj(update.get("my_chat_member")):
        return _membership(event_id, member)
    return _migration(event_id, obj(update.get("message")))


def _membership(event_id: str, member: Fields) -> PlaceNews | None:
    chat, now = obj(member.get("chat")), obj(member.get("new_chat_member"))
    place, status = number(chat.get("id")), string(now.get("status"))
    if place is None:
        return None
    if status in OUT or (status == "restricted" and now.get("is_member") is False):
        private = chat.get("type") == "private"
        why = "The person blocked the bot." if private else "The bot is not in the group any more."
        return PlaceNews(event_id, str(place), closed=why)
    return PlaceNews(event_id, str(place)) if status in IN else None


def _migration(event_id: str, message: Fields) -> PlaceNews | None:
    """Said twice, in the old chat and in the new one."""
    here = number(obj(message.get("chat")).get("id"))
    new, old = number(message.get("migrate_to_chat_id")), number(message.get("migrate_from_chat_id"))
    if here is None or here >= 0:
        return None
    if new is not None and new < 0:
        return PlaceNews(event_id, str(here), moved_to=str(new))
    return PlaceNews(event_id, str(old), moved_to=str(here)) if old is not None and old < 0 else None
