"""What happened to a question, in the terminal: a line for each event, as an operator would tell it."""

from typing import TYPE_CHECKING

from answerback.cli import terminal

if TYPE_CHECKING:
    from answerback.client import Event, History

MESSAGES = {
    "question": "the question",
    "reminder": "a reminder",
    "outcome": "how it ended",
    "conversation": "a word about a reply",
    "notice": "a notice",
    "callback": "how it ended",
}
STATES = {
    "queued": "is to be sent",
    "sent": "was sent",
    "delivered": "was sent",
    "read": "was sent",
    "failed": "could not be sent",
    "unknown": "may have been sent",
}
SINCE = {"delivered": ", and arrived", "read": ", and was read"}
REPLIES = {
    "accepted": "was taken as the answer",
    "asked again": "did not fit, so it was asked again",
    "which one": "could be for several questions, so they were asked which one",
    "already answered": "came after the answer",
    "expired": "came after the deadline",
    "cancelled": "came after the question was withdrawn",
    "not allowed": "came from somebody who may not answer",
    "duplicate": "had been taken before",
    "unknown": "was for nothing that is known",
    "command": "was a command",
    "noted": "answered one of several questions",
    "linked": "linked an account",
    "failed": "could not be read, see answerback dead-letters list",
}
STEPS = {
    "asked": "{who} asked.",
    "asked nobody": "Nobody has an address on its route: it can be answered on its form or over the API.",
    "answered": "{who} answered.",
    "came too late": "{who} answered too late; nothing changed.",
    "not allowed": "{who} may not give this answer; it was not taken.",
    "delegated": "{who} handed it on to somebody else.",
    "not reached": "{who} could not be reached on anything.",
    "declined": "{provider} gave no answer.",
    "overdue": "Its time passed; it can still be answered.",
    "expired": "Nobody answered in time; it was closed.",
    "expires_in not usable": "The agent set an expires_in that cannot be used; the route's counts.",
    "on_expire not usable": "The agent set an on_expire that cannot be used; the route's counts.",
    "schema not usable": "Some of what the agent demands of an answer is not checked; the log says what.",
    "default not usable": "Its default does not fit or may not count; silence means what auto says.",
    "cancelled": "It was withdrawn.",
    "set aside": "Its record cannot be read; it was closed.",
    "resumed": "The agent went on.",
    "not resumed": "The agent could not go on with it.",
    "replayed": "{who} had it tried again.",
    "discarded": "{who} took it off the dead letters.",
    "erased": "What was said was erased ({who}).",
}


def show(history: "History") -> None:
    """Print all events, and what the gateway plans."""
    terminal.table(
        [[terminal.local_time(event["at"], exact=True), _said(event)] for event in history["events"]]
    )
    if history["next_at"]:
        when = terminal.local_time(history["next_at"], exact=True)
        terminal.note(f"At {when} the gateway goes on with it: it sends, reminds, asks elsewhere or closes.")


def _said(event: "Event") -> str:
    if event["event"] == "reply":
        return f"A reply on {event['provider']} {REPLIES.get(event['kind'], event['kind'])}{_why(event)}."
    if event["event"] in STATES:
        return _message(event)
    if event["event"] == "asked" and not event["actor"]:
        return "It was asked."
    sentence = STEPS.get(event["event"], event["event"].capitalize() + ".")
    return sentence.format(who=event["actor"] or "Somebody", provider=event["provider"])


def _message(event: "Event") -> str:
    if event["provider"] == "form" and event["kind"] == "question":
        return "It can be answered on its form."
    what = MESSAGES.get(event["kind"], event["kind"])
    to = f" to {event['actor']}" if event["actor"] else ""
    then = SINCE.get(event["event"], "")
    said = f"{what} {STATES[event['event']]}{to} on {event['provider']}{then}{_why(event)}."
    return said[0].upper() + said[1:]


def _why(event: "Event") -> str:
    error = event["error"].rstrip(".")
    return f": {error}" if error else ""
