"""What every step of the tutor does with what it is started with, asks and is answered. Pure."""

from typing import Any

from answerback_agents.tutor import replies, talk
from answerback_agents.tutor.ask import Heard
from answerback_agents.tutor.plan import MOST_WEEKS
from answerback_agents.tutor.state import State
from answerback_agents.tutor.talk import Taken

Update = dict[str, Any]
MOST_ROUNDS = 6  # questions about one thing: nobody is asked without end
MOST_REMARKS = 6  # answers that wish for nothing and take no round
EXAMPLE = '{"goal": "learn Python", "weeks": 6}'


def goal_in(goal: Any) -> str:
    """The goal that a run is started with."""
    if not isinstance(goal, str) or not goal.strip():
        raise ValueError(f"say what to learn: {EXAMPLE}")
    return " ".join(goal.split())


def weeks_in(weeks: Any) -> int:
    """The weeks that a run is started with."""
    if not isinstance(weeks, int) or isinstance(weeks, bool) or not 1 <= weeks <= MOST_WEEKS:
        raise ValueError(f"say in how many weeks, a whole number from 1 to {MOST_WEEKS}: {EXAMPLE}")
    return weeks


def put(state: State, question: Update) -> Update:
    """A question that is to be asked. It is in the messages before anybody sees it."""
    return {"question": question, "messages": [*state["messages"], talk.asked(question)], "answer": None}


def kept(state: State, answer: Heard | None) -> Update:
    """An answer as it was given. All words are kept, also those that no rule understands."""
    if answer is None:
        return {"answer": None}
    words = [answer["text"]] if answer["text"] else []
    return {
        "answer": answer,
        "feedback": [*state["feedback"], *words],
        "messages": [*state["messages"], talk.written(answer)],
    }


def ended(state: State, taken: Taken, update: Update) -> Update:
    """What an answer settles."""
    return {**update, "messages": talk.understood(state["messages"], taken)}


def rounded(state: State, taken: Taken, update: Update) -> Update:
    """What is new, and whether it is asked about again."""
    free = taken in talk.GENERAL and state["remarks"] < MOST_REMARKS
    rounds, remarks = state["rounds"] + (not free), state["remarks"] + free
    update = ended(state, taken, {**update, "rounds": rounds, "remarks": remarks})
    if rounds >= MOST_ROUNDS:
        return {**update, "ending": "rounds"}
    last = rounds == MOST_ROUNDS - 1 and not free
    return {**update, "notice": replies.at_last(update["notice"])} if last else update
