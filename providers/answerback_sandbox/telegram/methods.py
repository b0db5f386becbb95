"""The Bot API's methods, one function each (https://core.telegram.org/bots/api#available-methods)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from answerback_sandbox.faults import Faults
from answerback_sandbox.telegram import entities, limits, webhook, wire
from answerback_sandbox.telegram.errors import ApiError, bad_request, conflict, forbidden
from answerback_sandbox.telegram.params import Params
from answerback_sandbox.telegram.state import Chat, ChatKind, Message
from answerback_sandbox.telegram.webhook import Courier
from answerback_sandbox.telegram.world import World

TWO_DAYS = 48 * 3600 * 1_000_000
ACTION_TIME = 5 * 1_000_000
ACTIONS = frozenset(
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker "
    "find_location record_video_note upload_video_note".split()
)
WEBHOOK_ACTIVE = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
MOVED = "group chat was upgraded to a supergroup chat"
FILE_LIMIT = 20 * 1024 * 1024
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


@dataclass(frozen=True, slots=True)
class Far:
    """What the methods work on."""

    world: World
    courier: Courier
    faults: Faults
    rates: limits.Rates | None


async def get_me(far: Far, params: Params) -> Any:
    """getMe: the bot itself (https://core.telegram.org/bots/api#getme)."""
    flags = ("supports_inline_queries", "can_connect_to_business", "has_main_web_app", "has_topics_enabled")
    return far.world.bot_user() | {
        "can_join_groups": True,
        "can_read_all_group_messages": not far.world.privacy,
        **dict.fromkeys(flags, False),
    }


async def get_updates(far: Far, params: Params) -> Any:
    """getUpdates: https://core.telegram.org/bots/api#getupdates."""
    if far.courier.webhook is not None:
        raise conflict(WEBHOOK_ACTIVE)
    _allow(far, params)
    offset, limit = params.maybe_integer("offset", 0), params.integer("limit", 100, 1, 100)
    updates = await far.world.updates.poll(offset, limit, params.integer("timeout", 0, 0, 50))
    return [copy for update in updates for copy in [update] * (2 if far.faults.take_duplicate() else 1)]


async def set_webhook(far: Far, params: Params) -> Any:
    """setWebhook: an empty url removes it (https://core.telegram.org/bots/api#setwebhook)."""
    url, connections = params.text("url"), params.integer("max_connections", 40, 1, 100)
    hook = webhook.checked(url, params.text("secret_token"), connections) if url else None
    _allow(far, params)
    return _point(far, params, hook)


async def delete_webhook(far: Far, params: Params) -> Any:
    """deleteWebhook: https://core.telegram.org/bots/api#deletewebhook."""
    return _point(far, params, None)


def _point(far: Far, params: Params, hook: webhook.Webhook | None) -> bool:
    if params.flag("drop_pending_updates"):
        far.world.updates.clear()
    far.courier.set(hook)
    return True


def _allow(far: Far, params: Params) -> None:
    kinds = params.value("allowed_updates")
    if isinstance(kinds, list):
        far.world.updates.allowed = tuple(str(kind) for kind in kinds)


async def get_webhook_info(far: Far, params: Params) -> Any:
    """getWebhookInfo: https://core.telegram.org/bots/api#getwebhookinfo."""
    return far.courier.info()


async def send_message(far: Far, params: Params) -> Any:
    """sendMessage: https://core.telegram.org/bots/api#sendmessage."""
    chat = _writable(far, params)
    draft = Message(chat.id, 0, far.world.bot_id, "", far.world.clock(), reply_to=_reply_to(chat, params))
    markup = params.value("reply_markup")
    forces = isinstance(markup, dict) and bool(markup.get("force_reply"))
    draft = replace(_filled(draft, params), force_reply=forces)
    if far.rates is not None:
        far.rates.take(chat.id, chat.kind, far.world.clock())
    return far.world.message_json(far.world.post(chat, draft))


async def edit_message_text(far: Far, params: Params) -> Any:
    """editMessageText: https://core.telegram.org/bots/api#editmessagetext."""
    message = _editable(far, params)
    return _changed(far, message, replace(_filled(message, params), shows_edited=True))


async def edit_message_reply_markup(far: Far, params: Params) -> Any:
    """editMessageReplyMarkup: https://core.telegram.org/bots/api#editmessagereplymarkup."""
    message = _editable(far, params)
    return _changed(far, message, replace(message, rows=limits.check_keyboard(params.value("reply_markup"))))


def _changed(far: Far, old: Message, new: Message) -> Any:
    if (old.text, old.entities, old.rows) == (new.text, new.entities, new.rows):
        raise bad_request(NOT_MODIFIED)
    return far.world.message_json(far.world.change(replace(new, edited_at=far.world.clock())))


def _filled(message: Message, params: Params) -> Message:
    """The message with the text, entities, buttons and preview options of the call."""
    if params.text("parse_mode").lower() not in ("", "none"):
        raise bad_request("unsupported parse_mode: the sandbox reads entities only")
    text = limits.check_text(params.text("text"))
    marked = entities.given(params.text("text"), params.value("entities"))
    size = entities.utf16_length(text)
    kept = [
        replace(item, length=min(item.length, size - item.offset)) for item in marked if item.offset < size
    ]
    preview = params.value("link_preview_options")
    if params.flag("disable_web_page_preview"):
        preview = {"is_disabled": True}
    return replace(
        message,
        text=text,
        entities=entities.found(text, (item for item in kept if item.length > 0)),
        rows=limits.check_keyboard(params.value("reply_markup")),
        link_preview=_preview(preview),
    )


def _preview(given: object) -> dict[str, object] | None:
    """The fields of https://core.telegram.org/bots/api#linkpreviewoptions among those given."""
    names = ("is_disabled", "url", "prefer_small_media", "prefer_large_media", "show_above_text")
    return {name: given[name] for name in names if name in given} if isinstance(given, dict) else None


async def delete_message(far: Far, params: Params) -> Any:
    """deleteMessage: within 48 hours, in groups its own only (https://core.telegram.org/bots/api#deletemessage)."""
    chat = _known(far, params)
    message = chat.messages.get(params.maybe_integer("message_id", 0))
    if message is None:
        raise bad_request("message to delete not found")
    foreign = chat.kind is not ChatKind.PRIVATE and message.sender_id != far.world.bot_id
    if foreign or message.sent_at < far.world.clock() - TWO_DAYS:
        raise bad_request("message can't be deleted for everyone")
    far.world.delete(message)
    return True


async def answer_callback_query(far: Far, params: Params) -> Any:
    """answerCallbackQuery: once, in time (https://core.telegram.org/bots/api#answercallbackquery)."""
    callback = far.world.pending_callback(params.text("callback_query_id"))
    text = params.text("text")
    if len(text) > limits.MAX_CALLBACK_ANSWER:
        raise bad_request("MESSAGE_TOO_LONG")
    far.world.callbacks[callback.id] = replace(
        callback, answered=True, text=text, alert=params.flag("show_alert"), url=params.text("url")
    )
    far.world.changes.touch()
    return True


async def send_chat_action(far: Far, params: Params) -> Any:
    """sendChatAction: shown for five seconds or until a message (https://core.telegram.org/bots/api#sendchataction)."""
    chat = _writable(far, params)
    action = params.text("action").lower()
    if action not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat.action, chat.action_until = action, far.world.clock() + ACTION_TIME
    far.world.changes.touch()
    return True


async def get_chat(far: Far, params: Params) -> Any:
    """getChat: https://core.telegram.org/bots/api#getchat."""
    chat = _known(far, params)
    return wire.full_chat(chat, far.world.people.get(chat.id))


async def get_file(far: Far, params: Params) -> Any:
    """getFile: up to 20 MB (https://core.telegram.org/bots/api#getfile)."""
    file = far.world.files.get(params.text("file_id"))
    if file is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if len(file.content) > FILE_LIMIT:
        raise bad_request("file is too big")
    size = len(file.content)
    return {"file_id": file.id, "file_unique_id": f"u{file.id}", "file_size": size, "file_path": file.path}


async def set_my_commands(far: Far, params: Params) -> Any:
    """setMyCommands: https://core.telegram.org/bots/api#setmycommands."""
    far.world.commands[_command_key(params)] = limits.check_commands(params.value("commands"))
    far.world.changes.touch()
    return True


async def get_my_commands(far: Far, params: Params) -> Any:
    """getMyCommands: https://core.telegram.org/bots/api#getmycommands."""
    return far.world.commands.get(_command_key(params), [])


async def delete_my_commands(far: Far, params: Params) -> Any:
    """deleteMyCommands: https://core.telegram.org/bots/api#deletemycommands."""
    far.world.commands.pop(_command_key(params), None)
    far.world.changes.touch()
    return True


def _command_key(params: Params) -> tuple[str, str]:
    return limits.canonical(params.value("scope") or {"type": "default"}), params.text("language_code")


def _known(far: Far, params: Params) -> Chat:
    """The chat of the call; who never started the bot is unknown to it, as is anyone by user name."""
    if not params.text("chat_id"):
        raise bad_request("chat_id is empty")
    chat = far.world.chats.get(params.maybe_integer("chat_id", 0))
    if chat is None or not chat.started:
        raise bad_request("chat not found")
    if chat.moved_to is not None:
        raise ApiError(400, f"Bad Request: {MOVED}", {"migrate_to_chat_id": chat.moved_to})
    return chat


def _writable(far: Far, params: Params) -> Chat:
    chat = _known(far, params)
    if chat.blocked:
        private = chat.kind is ChatKind.PRIVATE
        raise forbidden(
            "bot was blocked by the user" if private else f"bot was kicked from the {chat.kind} chat"
        )
    return chat


def _editable(far: Far, params: Params) -> Message:
    chat = _known(far, params)
    if not params.text("message_id"):
        raise bad_request("message identifier is not specified")
    message = chat.messages.get(params.maybe_integer("message_id", 0))
    if message is None:
        raise bad_request("message to edit not found")
    if message.sender_id != far.world.bot_id:
        raise bad_request("message can't be edited")
    return message


def _reply_to(chat: Chat, params: Params) -> int | None:
    """The message replied to (https://core.telegram.org/bots/api#replyparameters), in the same chat."""
    wanted = params.value("reply_parameters")
    given = wanted if isinstance(wanted, dict) else {}
    message_id = Params(given).maybe_integer("message_id", params.maybe_integer("reply_to_message_id", 0))
    if message_id == 0 or message_id in chat.messages:
        return message_id or None
    if Params(given).flag("allow_sending_without_reply") or params.flag("allow_sending_without_reply"):
        return None
    raise bad_request("message to be replied not found")


Method = Callable[[Far, Params], Awaitable[Any]]

METHODS: dict[str, Method] = {
    "getme": get_me,
    "getupdates": get_updates,
    "setwebhook": set_webhook,
    "deletewebhook": delete_webhook,
    "getwebhookinfo": get_webhook_info,
    "sendmessage": send_message,
    "editmessagetext": edit_message_text,
    "editmessagereplymarkup": edit_message_reply_markup,
    "deletemessage": delete_message,
    "answercallbackquery": answer_callback_query,
    "sendchataction": send_chat_action,
    "getchat": get_chat,
    "getfile": get_file,
    "setmycommands": set_my_commands,
    "getmycommands": get_my_commands,
    "deletemycommands": delete_my_commands,
}
"""By lower-case name: method names are case-insensitive."""
