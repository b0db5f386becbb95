"""The Bot API's JSON objects, with no field that its description does not know."""

from typing import Any

from answerback_sandbox.telegram.state import Button, Chat, ChatKind, Entity, File, Message, Person

Json = dict[str, Any]


def seconds(at: int) -> int:
    """A time in the Bot API: whole seconds since the Unix epoch."""
    return at // 1_000_000


def user(person: Person) -> Json:
    """https://core.telegram.org/bots/api#user"""
    fields: Json = {"id": person.id, "is_bot": False, "first_name": person.first_name}
    if person.username:
        fields["username"] = person.username
    return fields | {"language_code": person.language_code}


def chat(of: Chat, person: Person | None) -> Json:
    """https://core.telegram.org/bots/api#chat; `person` is the other side of a private chat."""
    if of.kind is not ChatKind.PRIVATE or person is None:
        return {"id": of.id, "type": of.kind.value, "title": of.title}
    fields: Json = {"id": of.id, "type": of.kind.value, "first_name": person.first_name}
    return fields | ({"username": person.username} if person.username else {})


def full_chat(of: Chat, person: Person | None) -> Json:
    """https://core.telegram.org/bots/api#chatfullinfo, with its required fields."""
    gifts = (
        "unlimited_gifts",
        "limited_gifts",
        "unique_gifts",
        "premium_subscription",
        "gifts_from_channels",
    )
    return chat(of, person) | {
        "accent_color_id": of.id % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(gifts, False),
    }


def entity(of: Entity) -> Json:
    """https://core.telegram.org/bots/api#messageentity"""
    return {"type": of.type, "offset": of.offset, "length": of.length, **of.extra}


def button(of: Button) -> Json:
    """https://core.telegram.org/bots/api#inlinekeyboardbutton"""
    return {"text": of.text} | ({"url": of.url} if of.url is not None else {"callback_data": of.data})


def file(of: File) -> Json:
    """https://core.telegram.org/bots/api#document, #voice, #video and #photosize, by kind."""
    fields: Json = {"file_id": of.id, "file_unique_id": f"u{of.id}", "file_size": len(of.content)}
    if of.kind in ("photo", "video"):
        fields |= {"width": 90, "height": 90}
    if of.kind in ("voice", "video"):
        fields["duration"] = 1
    if of.kind != "photo":
        fields["mime_type"] = of.content_type
    return fields | ({"file_name": of.name} if of.kind in ("document", "video") else {})


def _author(of: Message) -> Json:
    """What stands there for somebody who writes as a chat, and for what was forwarded."""
    fields: Json = {}
    if of.as_chat is not None:
        own = of.as_chat == of.chat_id
        name, id = ("GroupAnonymousBot", 1087968824) if own else ("Channel_Bot", 136817688)
        kind, title = ("supergroup", "Group") if own else ("channel", "Channel")
        fields["from"] = {"id": id, "is_bot": True, "first_name": title, "username": name}
        fields["sender_chat"] = {"id": of.as_chat, "type": kind, "title": title}
    if of.forwarded:
        fields["forward_origin"] = {
            "type": "hidden_user",
            "sender_user_name": "Somebody",
            "date": seconds(of.sent_at),
        }
    return fields


def _content(of: Message) -> Json:
    if of.marks:
        return {}
    if of.file is None:
        return {"text": of.text}
    content = [file(of.file)] if of.file.kind == "photo" else file(of.file)
    return {of.file.kind: content} | ({"caption": of.text} if of.text else {})


def message(of: Message, sender: Json, place: Json, replied: Json | None) -> Json:
    """https://core.telegram.org/bots/api#message; `replied` is the one replied to, without its own reply."""
    fields: Json = {"message_id": of.id, "from": sender, "chat": place, "date": seconds(of.sent_at)}
    if of.edited_at is not None:
        fields["edit_date"] = seconds(of.edited_at)
    if replied is not None:
        fields["reply_to_message"] = replied
    fields |= dict(of.marks) | _author(of) | _content(of)
    if of.entities:
        fields["caption_entities" if of.file else "entities"] = [entity(item) for item in of.entities]
    if of.link_preview is not None:
        fields["link_preview_options"] = dict(of.link_preview)
    if of.rows:
        fields["reply_markup"] = {"inline_keyboard": [[button(item) for item in row] for row in of.rows]}
    return fields
