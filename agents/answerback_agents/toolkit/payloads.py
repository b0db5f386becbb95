"""What the graph is interrupted with. Pure; arguments are checked here, for models and for steps alike."""

from collections.abc import Sequence
from typing import Any

Payload = dict[str, Any]
"""JSON."""


def question(text: str, context: str = "", choices: Sequence[str] = ()) -> Payload:
    """A question, with choices if there are any. Raises `ValueError` that says what to give instead."""
    asked = {"type": "ask_human", "question": a_question(text), "context": _text("context", context)}
    offered = distinct(choices)
    return {**asked, "choices": offered} if offered else asked


def confirmation(action: str, details: str = "") -> Payload:
    """A yes or no. Raises `ValueError` that says what to give instead."""
    return {"type": "confirm_action", "action": an_action(action), "details": _text("details", details)}


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
