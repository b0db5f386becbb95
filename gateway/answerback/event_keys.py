"""What an inbound event is stored under, so that it counts once (law 4)."""

from answerback.provider import Event, Reply
from answerback.store import Tx, replies

UNPROVED = "unproved:"  # before the event id of what nobody vouches for


def key_of(found: Event) -> str:
    """What an event is stored under.

    What nobody vouches for has a key of its own: anybody can hand in a copy, and must not shut out the
    original, which may come later.
    """
    unproved = isinstance(found, Reply) and not found.trusted
    return f"{UNPROVED}{found.event_id}" if unproved else found.event_id


def known_as(tx: Tx, provider: str, found: Event) -> str:
    """What an event is stored under, or was: once the original is there, a copy is the same event again."""
    key = key_of(found)
    is_copy = key != found.event_id and replies.first(tx, provider, found.event_id) is not None
    return found.event_id if is_copy else key
