"""repeated: what comes again under an Idempotency-Key is the same as before, or it is refused (law 4)."""

from collections.abc import Mapping

from answerback.errors import Conflict
from answerback.model import Json

Parts = Mapping[str, object]  # what makes a request what it is, each by its name in a sentence
NAMED = "named"
AGENT = "its agent"


def named(route: Json, ask: tuple[str, ...], name: str, key: str) -> Json:
    """A route that also says whom the caller named, and which route.

    Those who are asked are others once somebody hands the question on, or the configuration changes.
    """
    return route | {NAMED: {"ask": sorted(set(ask)), "route": name}} if key else route


def whom(route: Json, people: str) -> dict[str, object]:
    """The parts that are about people; `people` is what a sentence calls them. Older records have none."""
    said = route.get(NAMED)
    return {people: said["ask"], "its route": said["route"]} if said else {}


def require_same(what: str, first: Parts, again: Parts) -> None:
    """Raise `Conflict` with what differs. Of what another agent has sent, it is said only that it did."""
    other = [part for part, value in again.items() if part in first and first[part] != value]
    if other:
        parts = [AGENT] if AGENT in other else other
        listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
        differ = "differ" if len(parts) > 1 else "differs"
        raise Conflict(
            f"This Idempotency-Key was used for another {what}: {listed} {differ}. "
            "Nothing was sent; use a new key for this one."
        )
