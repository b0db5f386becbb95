"""What the graph is interrupted with. Pure; arguments are checked here, for models and for steps alike."""

import re
from collections.abc import Sequence
from typing import Any

Payload = dict[str, Any]
"""JSON."""
DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d|w) ?)+")  # the gateway reads it, and says more


def question(
    text: str,
    context: str = "",
    choices: Sequence[str] = (),
    *,
    expires_in: float | str | None = None,
    default: str | None = None,
) -> Payload:
    """A question; what is not given does not stand in it. Raises `ValueError` that says what to give."""
    asked: Payload = {"type": "ask_human", "question": a_question(text), "context": _text("context", context)}
    if offered := distinct(choices):
        asked["choices"] = offered
    if default is not None:
        asked |= {
            "on_expire": "default",
            "default": _written("default", default, "give a text, or no default"),
        }
    return asked | _expiring(expires_in)


def confirmation(action: str, details: str = "", *, expires_in: float | str | None = None) -> Payload:
    """A yes or no. Raises `ValueError` that says what to give instead."""
    asked = {"type": "confirm_action", "action": an_action(action), "details": _text("details", details)}
    return asked | _expiring(expires_in)


def _expiring(expires_in: float | str | None) -> Payload:
    return {"expires_in": found} if (found := a_duration(expires_in)) else {}


def a_duration(value: object) -> str:
    """A number of seconds or a text as a text, "" for nothing; raises `ValueError` for anything else."""
    if value is None or value == "":
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return f"{value:f}".rstrip("0").rstrip(".") + "s"
    if isinstance(value, str) and DURATION.fullmatch(value.strip()):
        return value.strip()
    raise ValueError("expires_in must be a number of seconds, or a text such as “10m” or “1h30m”.")


def a_question(text: object) -> str:
    """The text; raises `ValueError` if it asks nothing."""
    return _written("question", text, "ask one thing, such as “Which region?”")


def an_action(text: object) -> str:
    """The text; raises `ValueError` if it names nothing."""
    return _written("action", text, "say what will be done, such as “Delete 3 files”")


def distinct(choices: object) -> list[str]:
    """The choices without the spaces around them; raises `ValueError` for what could not be told apart."""
    if not isinstance(choices, Sequence) or isinstance(choices, str):  # "ab" would be the choices "a" and "b"
        raise ValueError("The choices must be a list, with one text for each button.")
    labels = [_written("choice", each, "give a text for each button").strip() for each in choices]
    if len(set(labels)) < len(labels):
        raise ValueError("A choice is there twice: give each only once.")
    return labels


def _written(name: str, value: object, instead: str) -> str:
    text = _text(name, value)
    if not text.strip():
        raise ValueError(f"The {name} is empty: {instead}.")
    return text


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"The {name} must be a text.")
    return value
