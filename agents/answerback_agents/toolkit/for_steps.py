"""For steps without a model: two functions that pause the graph and return what was answered.

LangGraph runs the step again from its start once there is an answer, so what has effects comes after them,
or stands in a step of its own. `except Exception` around them would catch the pause itself.
"""

from collections.abc import Sequence

from langgraph.types import interrupt

from answerback_agents.toolkit import payloads
from answerback_agents.toolkit.answers import Silence, agreed, heard, silent, words


def ask(question: str, context: str = "", choices: Sequence[str] = ()) -> str:
    """Ask a person, and return what they wrote, unmodified, or the choice that they took.

    `context` says why it is asked. With `choices` there is a button for each, and they may still write
    words of their own. The text is "" if they sent only files. Raises `Silence` if nobody answered before
    the deadline, and `ValueError` for an empty question, an empty choice or one that is there twice.
    """
    answer = heard(interrupt(payloads.question(question, context, choices)))
    if silent(answer):
        raise Silence
    return words(answer)


def confirmed(action: str, details: str = "") -> bool | None:
    """Ask a person whether an action is to be done: True for yes, False for no, None if nobody answered.

    `details` stands below the action. None is as good as False to `if confirmed(…)`: silence confirms
    nothing. Raises `ValueError` for an empty action.
    """
    answer = heard(interrupt(payloads.confirmation(action, details)))
    return None if silent(answer) else agreed(answer)
