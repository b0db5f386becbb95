"""Stored: whether a value found in storage can be a certain answer, when its payload is gone."""

import json
from contextlib import suppress

from answerback.demands import one_a_line
from answerback.model import Answer, Json
from answerback_agents.dialects.reading import NO_RESPONSE, NOBODY, silent, value_of

DECIDED = {"accept": "approve", "ignore": "reject", "response": "respond"}


def carries(value: Json, answer: Answer) -> bool:
    """Whether a resume value can be this answer's, in any of the dialects."""
    reviewed = _reviewed(value)
    if silent(answer):
        return _unanswered(value, reviewed)
    given = list(answer.values.values())
    if reviewed is not None and len(reviewed) == len(given) and all(map(_same_decision, reviewed, given)):
        return True
    return _plain(value, answer) or _filled(value, answer)


def _unanswered(value: Json, reviewed: list[Json] | None) -> bool:
    if reviewed is not None:
        return all(decided.get("message") in (NOBODY, NO_RESPONSE) for decided in reviewed)
    return value == NO_RESPONSE or (isinstance(value, dict) and value.get("timed_out") is True)


def _reviewed(value: Json) -> list[Json] | None:
    """Decisions as a person made them, from any of the three shapes; None if it is none of these."""
    decided = value.get("decisions", value) if isinstance(value, dict) else value
    items = decided if isinstance(decided, list) else [decided]
    found = [_decided(item) for item in items]
    return [each for each in found if each is not None] if found and None not in found else None


def _decided(item: Json) -> Json:
    """`{"decision", "args"?, "message"?}` of a Decision or a HumanResponse."""
    if not isinstance(item, dict):
        return None
    kind, args = str(item.get("type")), item.get("args")
    decision = DECIDED.get(kind, kind)
    if decision not in ("approve", "edit", "reject", "respond"):
        return None
    if decision == "edit":
        action = item.get("edited_action", args)
        return {"decision": "edit", "args": action.get("args") if isinstance(action, dict) else None}
    message = item.get("message", args)
    return {"decision": decision, "message": message} if message else {"decision": decision}


def _same_decision(stored: Json, given: Json) -> bool:
    if not isinstance(given, dict) or stored["decision"] != given.get("decision"):
        return False
    if stored["decision"] == "edit":
        return bool(stored["args"] == given.get("args"))
    return stored["decision"] == "approve" or (stored.get("message") or "") == (given.get("message") or "")


def _plain(value: Json, answer: Answer) -> bool:
    given = value_of(answer)
    if not isinstance(value, dict) or _same_json(value, given):
        return bool(value == given) or _same_json(value, given)
    said = [value.get(key) for key in ("content", "confirmed", "choice") if key in value]
    return value == given or any(_same(part, given) for part in said)


def _filled(value: Json, answer: Answer) -> bool:
    """A form's object: each field as it was answered."""
    if not isinstance(value, dict):
        return False
    stored, given = _answered(value), _answered(answer.values)
    return set(stored) == set(given) != set() and all(
        _same(stored[id], given[id]) or _same_json(stored[id], given[id]) for id in given
    )


def _answered(values: dict[str, Json]) -> dict[str, Json]:
    return {id: value for id, value in values.items() if value is not None}


def _same_json(part: Json, given: Json) -> bool:
    """For what was written as JSON or one item a line, and for choices, whose ids are texts."""
    if isinstance(given, list) and isinstance(part, list) and len(given) == len(part):
        pairs = zip(part, given, strict=True)
        return all(_same(one, other) or _same_json(one, other) for one, other in pairs)
    if isinstance(given, str) and not isinstance(part, str):
        with suppress(ValueError, RecursionError):
            return bool(json.loads(given) == part)
        return bool(part == one_a_line(given))
    return False


def _same(part: Json, given: Json) -> bool:
    return type(part) is type(given) and bool(part == given)
