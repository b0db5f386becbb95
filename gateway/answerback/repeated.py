"""repeated: what comes again under an Idempotency-Key is the same as before, or it is refused (law 4)."""

from collections.abc import Mapping

from answerback.errors import Conflict
from answerback.model import Interaction, Json, OnExpire
from answerback.store import Row
from answerback.store.codec import loads

Parts = Mapping[str, object]  # what makes a request what it is, each by its name in a sentence
NAMED = "named"
AGENT = "its agent"


def named(route: Json, ask: tuple[str, ...], name: str, key: str, **more: Json) -> Json:
    """A route that also says whom the caller named, which route, and what `more` would have it overrule.

    What is in force is something else once somebody hands the question on, or the configuration changes.
    """
    return route | {NAMED: {"ask": sorted(set(ask)), "route": name, **more}} if key else route


def asked_with(record: Interaction, state: Json) -> Parts:
    """What a repeated question has in common with the first one, which may have been erased meanwhile
    (of one that several were asked, only what somebody answered may have been).

    `state` is None once it was handed over, and a default that cannot be used has become something else:
    what is not known any more is not compared.
    """
    said: dict[str, object] = {
        "what is asked": record.questions,
        "its context": record.context,
        "its title": record.title,
        "its callback_url": record.callback_url,
    }
    if record.on_expire is OnExpire.DEFAULT:
        said["its default"] = record.default
    if state is not None:
        said["its state"] = state
    return {
        **(said if record.erased_at is None or record.questions else {}),
        AGENT: record.agent,
        "its user": record.user,
        "whether it is sensitive": record.sensitive,
        **_named(
            record.route,
            ask="who is asked",
            route="its route",
            expires_in="its deadline",
            on_expire="what happens without an answer",
            human_only="whether only people may answer",
        ),
    }


def told_with(row: Row) -> Parts:
    """The same of a notice."""
    said = {"its text": row["content"], "its title": row["title"]}
    return {
        **(said if row.get("erased_at") is None else {}),
        AGENT: row["agent"],
        "its user": row["sent_by"],
        "whether it is sensitive": row["sensitive"],
        **_named(loads(row["route"]), ask="who is told", route="its route"),
    }


def _named(kept: Json, /, **parts: str) -> Parts:
    """What `named` keeps, by what a sentence calls it. Older records have fewer, or none."""
    said = kept.get(NAMED, {})
    return {part: said[name] for name, part in parts.items() if name in said}


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
