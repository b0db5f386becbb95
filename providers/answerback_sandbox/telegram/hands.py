"""What people do besides typing: send files, forward, edit, write as their group, and make groups grow."""

from dataclasses import replace

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.telegram.entities import found, utf16_length
from answerback_sandbox.telegram.state import Chat, ChatKind, File, Message
from answerback_sandbox.telegram.thumbs import visible_to_bot
from answerback_sandbox.telegram.world import World

TYPES = {"voice": "audio/ogg", "photo": "image/jpeg", "document": "application/pdf", "video": "video/mp4"}

MAX_CAPTION = 1024  # https://core.telegram.org/bots/api#message, `caption`


def send_file(
    world: World,
    person_id: int,
    kind: str,
    content: bytes,
    *,
    name: str = "",
    content_type: str = "",
    caption: str = "",
    reply_to: int | None = None,
    chat_id: int | None = None,
) -> Message:
    """A person sends a voice, photo, document or video, with or without a caption. Raises SandboxError."""
    if kind not in TYPES:
        raise SandboxError(f"no phone here sends a {kind}")
    chat = _open(world, person_id, chat_id)
    _require_caption(caption)
    if reply_to is not None and reply_to not in chat.messages:
        raise SandboxError(f"there is no message {reply_to} to reply to")
    file = File(f"file{len(world.files) + 1}", kind, name or kind, content_type or TYPES[kind], content)
    world.files[file.id] = file
    return _say(world, _draft(world, chat, person_id, caption, reply_to, file=file))


def forward(
    world: World, person_id: int, text: str, *, reply_to: int | None = None, chat_id: int | None = None
) -> Message:
    """A person forwards what somebody else wrote. Raises SandboxError."""
    chat = _open(world, person_id, chat_id)
    return _say(world, _draft(world, chat, person_id, text, reply_to, forwarded=True))


def edit(world: World, message: Message, text: str) -> Message:
    """A person changes what they wrote (https://core.telegram.org/bots/api#update, `edited_message`)."""
    changed = replace(message, text=text, edited_at=world.clock(), shows_edited=True)
    world.change(changed)
    if visible_to_bot(world, world.chats[message.chat_id], changed):
        world.updates.put("edited_message", world.message_json(changed))
    return changed


def write_as(
    world: World, person_id: int, as_chat: int, text: str, *, chat_id: int, reply_to: int | None = None
) -> Message:
    """An administrator writes as the group, or somebody as a channel of theirs. Raises SandboxError."""
    chat = _open(world, person_id, chat_id)
    return _say(world, _draft(world, chat, person_id, text, reply_to, as_chat=as_chat))


def post(world: World, text: str) -> None:
    """A channel of which the bot is an administrator says something: `channel_post`, by nobody."""
    channel = {"id": -1_009_000_000_001, "type": "channel", "title": "Channel"}
    fields = {"message_id": 1, "date": world.clock() // 1_000_000, "chat": channel, "sender_chat": channel}
    world.updates.put("channel_post", {**fields, "text": text})


def upgrade(world: World, chat_id: int) -> Chat:
    """A group becomes a supergroup with another id; both say so, and the old one takes nothing any more.

    https://core.telegram.org/bots/api#message (`migrate_to_chat_id`, `migrate_from_chat_id`). Raises
    SandboxError for what is not a group, or is a supergroup already.
    """
    old = world.chats.get(chat_id)
    if old is None or old.kind is not ChatKind.BASIC or old.moved_to is not None:
        raise SandboxError(f"{chat_id} is not a group that can become a supergroup")
    new = world.add_group(old.title, old.members, told=False)
    for chat, marks in ((old, {"migrate_to_chat_id": new.id}), (new, {"migrate_from_chat_id": old.id})):
        said = Message(chat.id, 0, old.members[0], "", world.clock(), marks=marks)
        world.updates.put("message", world.message_json(world.post(chat, said)))
    old.moved_to = new.id
    return new


def _require_caption(caption: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in caption):
        raise SandboxError("no phone can type a lone surrogate")
    if utf16_length(caption) > MAX_CAPTION:
        raise SandboxError(f"a caption has at most {MAX_CAPTION} characters")


def _open(world: World, person_id: int, chat_id: int | None) -> Chat:
    chat = world.chat_of(person_id, chat_id)
    if chat.blocked:
        raise SandboxError("the bot is blocked here")
    return chat


def _draft(
    world: World,
    chat: Chat,
    person_id: int,
    text: str,
    reply_to: int | None,
    *,
    file: File | None = None,
    forwarded: bool = False,
    as_chat: int | None = None,
) -> Message:
    return Message(
        chat.id,
        0,
        person_id,
        text,
        world.clock(),
        found(text),
        reply_to=reply_to,
        file=file,
        forwarded=forwarded,
        as_chat=as_chat,
    )


def _say(world: World, draft: Message) -> Message:
    chat = world.chats[draft.chat_id]
    chat.started = True
    message = world.post(chat, draft)
    if visible_to_bot(world, chat, message):
        world.updates.put("message", world.message_json(message))
    return message
