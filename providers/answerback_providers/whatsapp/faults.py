"""From Twilio's error codes to what the core must know, without a word that is secret.

https://www.twilio.com/docs/api/errors
"""

from answerback.provider import NoAnswer, ProviderError, TryLater, Undeliverable, Unreachable
from answerback_providers.whatsapp.line import NoFile, Refusal

WRONG_LOGIN_SECONDS = 300.0  # nothing changes until somebody edits the configuration
OVERLOAD_SECONDS = 5.0
WINDOW = 63016  # free text outside the 24 hours
NOT_NOW = {
    20429: "Twilio asks us to slow down",
    63018: "WhatsApp asks us to slow down",
    63049: "WhatsApp holds this message back for now",
    30001: "Twilio's queue is full",
    30008: "Twilio does not know why",
    63005: "WhatsApp did not take it",
    63010: "WhatsApp had an error of its own",
    63032: "WhatsApp's limits on this person are reached for now",
}
DEAD = {
    21211: "there is no such number",
    21610: "this person has written STOP",
    21614: "this number takes no messages",
    63003: "there is no such account on WhatsApp",
    63024: "there is no such account on WhatsApp",
    63033: "this person blocked the sender",
}
OTHER = {
    21408: "the account may not send to this region",
    21617: "the message is too long",
    21655: "the content SID is not one of this account",
    21656: "the variables do not fit the template",
    63007: "the sender is not a WhatsApp number of this account",
    63013: "it is against WhatsApp's rules",
    63027: "the template does not exist in this language",
    63028: "the variables do not fit the template",
}


class Outside(Undeliverable):
    """The 24 hours have passed: only a template is taken now."""


def translate(error: Exception) -> ProviderError:
    """What the core is told of what the line or the client raised."""
    match error:
        case Refusal():
            return _refused(error)
        case NoFile():
            return Undeliverable(error.why)
        case Unreachable():
            return TryLater(OVERLOAD_SECONDS, f"Twilio cannot be reached ({error.what}).")
        case NoAnswer():
            return TryLater(OVERLOAD_SECONDS, f"Twilio did not answer ({error.what}).", maybe_sent=True)
    reason = f"The answer of Twilio could not be read ({type(error).__name__})."
    return TryLater(60, reason, maybe_sent=True)


def reason(code: int) -> str:
    """Why, in a few words that hold no number of a person."""
    known = DEAD.get(code) or OTHER.get(code) or NOT_NOW.get(code)
    if code == WINDOW:
        known = "more than 24 hours since this person wrote, and only a template is taken then"
    return (
        f"{known} (Twilio {code})" if known else f"Twilio error {code}" if code else "Twilio does not say why"
    )


def receipt_status(code: int) -> str:
    """What a failure means for the delivery: `window`, `wait` or `failed`."""
    if code == WINDOW:
        return "window"
    return "wait" if code in NOT_NOW else "failed"


def _refused(error: Refusal) -> ProviderError:
    why = reason(error.code)
    if error.code == WINDOW:
        return Outside(f"WhatsApp refuses it: {why}.")
    if error.status == 429 or error.code in NOT_NOW:
        return TryLater(max(error.retry_after, OVERLOAD_SECONDS), f"{why}.")
    if error.status in (401, 403) or error.code == 20003:
        return TryLater(WRONG_LOGIN_SECONDS, "Twilio refuses account_sid and auth_token.")
    if error.status >= 500:
        return TryLater(OVERLOAD_SECONDS, f"Twilio has a problem ({error.status}).", maybe_sent=True)
    if error.status == 404 and not error.code:
        return TryLater(
            WRONG_LOGIN_SECONDS, "Twilio does not know this account: check account_sid and api_base."
        )
    return Undeliverable(f"WhatsApp refuses it: {why}.", address_dead=error.code in DEAD)
