"""What the Bot API takes: text and keyboard limits, and (on request) its sending rates."""

import json
import re
from collections import defaultdict, deque
from urllib.parse import urlsplit

from answerback_sandbox.telegram.entities import utf16_length
from answerback_sandbox.telegram.errors import bad_request, too_many_requests
from answerback_sandbox.telegram.state import Button, ChatKind, Rows

MAX_TEXT = 4096
MAX_RAW_TEXT = 1 << 15
MAX_CALLBACK_DATA = 64
MAX_BUTTONS = 100
MAX_CALLBACK_ANSWER = 200
MAX_COMMANDS = 100
SECOND = 1_000_000


def check_text(text: str) -> str:
    """`text` as Telegram keeps it: without the white space at its end.

    1-4096 characters (https://core.telegram.org/bots/api#sendmessage). Telegram's own library counts code
    points; here it is UTF-16 code units, the stricter reading, so that what passes here passes there. Raises
    ApiError.
    """
    if not text:
        raise bad_request("message text is empty")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_RAW_TEXT:
        raise bad_request("text is too long")
    if not text.strip():
        raise bad_request("text must be non-empty")
    if utf16_length(text.rstrip()) > MAX_TEXT:
        raise bad_request("message is too long")
    return text.rstrip()


def check_keyboard(markup: object) -> Rows:
    """The rows of an InlineKeyboardMarkup; none for no or another markup. Raises ApiError.

    https://core.telegram.org/bots/api#inlinekeyboardbutton: `callback_data` is 1-64 bytes; a URL's host needs
    a dot (`http://localhost/…` is refused). This phone knows callback and URL buttons; others are refused.
    """
    if markup is None:
        return ()
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "keyboard" in markup:
        raise bad_request("the sandbox shows inline keyboards only")
    lines = markup.get("inline_keyboard", [])
    if not isinstance(lines, list) or not all(isinstance(line, list) for line in lines):
        raise bad_request('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
    rows = tuple(tuple(_button(item) for item in line) for line in lines if line)
    if sum(map(len, rows)) > MAX_BUTTONS:
        raise bad_request("reply markup is too long")
    return rows


def _button(item: object) -> Button:
    if not isinstance(item, dict):
        raise bad_request("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
    text, url, data = item.get("text"), item.get("url"), item.get("callback_data")
    if not isinstance(text, str):
        raise bad_request("can't parse inline keyboard button: Can't find field \"text\"")
    if not text.strip():
        raise bad_request("inline keyboard button text must be non-empty")
    if isinstance(url, str) and url:
        return Button(text, url=_checked_url(url))
    if not isinstance(data, str) or not data:
        reason = "Text buttons are unallowed in the inline keyboard"
        raise bad_request(f"can't parse inline keyboard button: {reason}")
    if len(data.encode("utf-8", "surrogatepass")) > MAX_CALLBACK_DATA:
        raise bad_request("BUTTON_DATA_INVALID")
    return Button(text, data=data)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        host = parts.hostname or ""
    except ValueError:
        parts, host = None, ""
    if parts is not None and parts.scheme in ("http", "https") and ("." in host or ":" in host):
        return url
    raise bad_request(f"inline keyboard button URL '{url}' is invalid: Wrong HTTP URL")


def check_commands(commands: object) -> list[dict[str, str]]:
    """At most 100 commands (https://core.telegram.org/bots/api#setmycommands). Raises ApiError."""
    if not isinstance(commands, list) or not all(isinstance(item, dict) for item in commands):
        raise bad_request("expected an Array of BotCommand")
    if len(commands) > MAX_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for item in commands:
        if not re.fullmatch(r"[a-z0-9_]{1,32}", str(item.get("command", "")).removeprefix("/")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(item.get("description", ""))) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    return [
        {"command": str(item["command"]).removeprefix("/"), "description": str(item["description"])}
        for item in commands
    ]


def canonical(value: object) -> str:
    """A key for a JSON value, the same for equal values."""
    return json.dumps(value, sort_keys=True)


class Rates:
    """The published sending rates, kept strictly: 30 a second, 1 a second in a chat, 20 a minute in a group.

    https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this. Telegram lets short
    bursts pass; this does not, so that a sender who is punctual here is punctual there.
    """

    def __init__(self) -> None:
        self._sent: defaultdict[int | None, deque[int]] = defaultdict(deque)

    def take(self, chat_id: int, kind: ChatKind, now: int) -> None:
        """Count one message to a chat at `now` (microseconds). Raises ApiError 429, which counts nothing."""
        in_chat = (20, 60 * SECOND) if kind is not ChatKind.PRIVATE else (1, SECOND)
        wait = max(self._wait(None, now, 30, SECOND), self._wait(chat_id, now, *in_chat))
        if wait > 0:
            raise too_many_requests(-(-wait // SECOND))
        self._sent[None].append(now)
        self._sent[chat_id].append(now)

    def _wait(self, key: int | None, now: int, count: int, window: int) -> int:
        times = self._sent[key]
        while times and times[0] <= now - window:
            times.popleft()
        return times[0] + window - now if len(times) >= count else 0
