"""For steps without a model: two functions that pause the graph and return what was answered.

LangGraph runs the step again from its start once there is an answer, so what has effects comes after them,
or stands in a step of its own. `except Exception` around them would catch the pause itself.
"""

from collections.abc import Sequence

from langgraph.types import interrupt

from answerback_agents.toolkit import payloads
from answerback_agents.toolkit.answers import Silence, agreed, heard, silent, words


def ask(
    question: str,
    context: str = "",
    choices: Sequence[str] = (),
    *,
    expires_in: float | str | None = None,
    default: str | None = None,
) -> str:
    """Ask a person, and return what they wrote, unmodified, or the choice that they took.

    `context` says why it is asked. With `choices` there is a button for each, and they may still write
    words of their own. The text is "" if they sent only files. `expires_in`, in seconds or as “10m”, is
    the deadline, instead of the route's; `default` is what is returned if nobody answered before it.
    Without a default that raises `Silence`. Raises `ValueError` for an empty question, an empty choice or
    one that is there twice, and for what is no duration.
    """
    asked = payloads.question(question, context, choices, expires_in=expires_in, default=default)
    answer = heard(interrupt(asked))
    if silent(answer):
        raise Silence
    return words(answer)


def confirmed(action: str, details: str = "", *, expires_in: float | str | None = None) -> bool | None:
    """Ask a person whether an action is to be done: True for yes, False for no, None if nobody answered.

    `details` stands below the action; `expires_in`, in seconds or as “10m”, is the deadline, instead of the
    route's. None is as good as False to `if confirmed(…)`: silence confirms nothing. Raises `ValueError`
    for an empty action, and for what is no duration.
    """
    answer = heard(interrupt(payloads.confirmation(action, details, expires_in=expires_in)))
    return None if silent(answer) else agreed(answer)
