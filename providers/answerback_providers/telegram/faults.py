"""From what the Bot API says to what the core must know, without a word that is secret."""

import re

from telegram.error import TelegramError

from answerback.provider import Json, Moved, ProviderError, TryLater, Undeliverable
from answerback_providers.telegram.line import NoAnswer, Refusal, Unreachable

WRONG_TOKEN_SECONDS = 300.0  # nothing changes until somebody edits the configuration
OVERLOAD_SECONDS = 5.0
CONFLICT_SECONDS = 5.0
REASON_LENGTH = 200
TOO_BIG = "Telegram gives a bot files of at most 20 MB, and this one is larger."
# Descriptions are not specified by the Bot API; these have been stable for years.
DEAD = re.compile(
    r"chat not found|user not found|group chat was d|peer_id_invalid|user is deactivated|chat_id_invalid",
    re.I,
)
UNREADABLE = re.compile(r"entit|button|reply.?markup|keyboard|wrong http url", re.I)
BIG = re.compile(r"file is too big", re.I)
UNCHANGED = re.compile(r"message is not modified", re.I)
# A form link is a key to the question, and Telegram quotes the address of a button that it refuses.
LINK = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.I)
# Where a description begins to quote what was sent, or to repeat it as it came: it ends before that.
QUOTED = re.compile(r"[\"“”«{<=&%].*", re.S)
ACCOUNT = re.compile(r"[0-9]{5,}")  # of a chat or a person


class Unreadable(Undeliverable):
    """Telegram could not read our entities or buttons: the same as plain text may pass."""


class Unchanged(Undeliverable):
    """The message already says exactly this."""


def translate(error: Exception, name: str, token: str) -> ProviderError:
    """What the core is told. `name` is the provider's in the configuration; `token` gets cut out."""
    match error:
        case Refusal():
            return _refused(error, name, scrub(error.description, token))
        case Unreachable():
            return TryLater(OVERLOAD_SECONDS, f"Telegram cannot be reached ({error.message}).")
        case NoAnswer():
            reason = f"Telegram did not answer ({error.message})."
            return TryLater(OVERLOAD_SECONDS, reason, maybe_sent=True)
        case TelegramError():
            reason = f"The call to Telegram failed: {scrub(error.message, token)}"
            return TryLater(OVERLOAD_SECONDS, reason, maybe_sent=True)
    # python-telegram-bot stumbled over the answer: its traceback would hold the bot, and so the token.
    reason = f"The answer of Telegram could not be read ({type(error).__name__})."
    return TryLater(60, reason, maybe_sent=True)


def scrub(text: str, token: str) -> str:
    """At most one short line, without the token, any link, or what was sent."""
    clean = LINK.sub("[link]", text.replace(token, "[token]"))
    clean = ACCOUNT.sub("[id]", QUOTED.sub("…", clean))
    return " ".join(clean.split())[:REASON_LENGTH]


def _refused(error: Refusal, name: str, reason: str) -> ProviderError:
    seconds = _number(error.parameters.get("retry_after"))
    new_place = _number(error.parameters.get("migrate_to_chat_id"))
    if new_place:
        return Moved(str(new_place))
    if error.status == 429 or seconds > 0:
        return TryLater(seconds if seconds > 0 else OVERLOAD_SECONDS, "Telegram asks us to slow down.")
    match error.status:
        case 413 if not error.description:  # of a download: no method answers that
            return Undeliverable(TOO_BIG)
        case 400:
            return _bad_request(error.description, reason)
        case 401 | 404:
            return TryLater(
                WRONG_TOKEN_SECONDS,
                f"Telegram does not know the token of the provider {name}: take it again from @BotFather, "
                "and check api_base if you set it.",
            )
        case 403:
            return Undeliverable(f"Telegram forbids it: {reason}", address_dead=True)
        case 409:
            return TryLater(
                CONFLICT_SECONDS,
                f"Someone else takes the updates of the provider {name}: {reason} "
                "Only one program may poll a bot, and none while a webhook is set.",
            )
        case status if status >= 500:
            reason = f"Telegram is in trouble ({status})."
            # 502 and 504 come from in front of it: whoever stands behind may have done the work.
            return TryLater(OVERLOAD_SECONDS, reason, maybe_sent=status in (502, 504))
    return Undeliverable(f"Telegram refuses it ({error.status}): {reason}")


def _bad_request(said: str, reason: str) -> Undeliverable:
    """What Telegram `said` decides; `reason` is as much of it as may be told."""
    if BIG.search(said):
        return Undeliverable(TOO_BIG)
    if UNCHANGED.search(said):
        return Unchanged(reason)
    if UNREADABLE.search(said):
        return Unreadable(f"Telegram could not read the message: {reason}")
    dead = DEAD.search(said) is not None
    return Undeliverable(f"Telegram refuses it: {reason}", address_dead=dead)


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0
