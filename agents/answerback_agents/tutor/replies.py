"""What the tutor says back: the line above its next question. Pure."""

from dataclasses import dataclass

from answerback_agents.tutor.ask import QUOTED, Heard, brief
from answerback_agents.tutor.changes import Changed, difference, listed
from answerback_agents.tutor.courses import Judged, no_taste
from answerback_agents.tutor.feedback import parts
from answerback_agents.tutor.meaning import Said, greets, is_torn, thanks
from answerback_agents.tutor.plan import Plan

CAN_CHANGE = "I can change weeks, hours a week and topics."
CAN_FIND = "I can look for a topic, a length or a level."
WHICH_WAY = {
    "level": "Should it be easier or harder?",
    "weeks": "Should it be shorter or longer?",
    "hours": "Should it be more or fewer hours a week?",
    "topics": "Which topics should come in, and which should go?",
}
LATER = "I wait. Answer when you like, or write “snooze 2h” to be asked again then; “stop” ends this."
TO_STOP = "To end this, write only “stop”."
TORN = "That was a yes and a no at once, so nothing is decided."
STAYS = "The plan stays as you approved it."
FIRST_THE_PLAN = "The courses come after the plan; I keep"


def opening(plan: Plan) -> str:
    """Above the first question."""
    if plan["subject"].startswith("“"):
        return "I do not know this goal well, so this is a general plan."
    return _left_out(plan)


def changed(before: Plan, after: Plan, change: Changed, text: str) -> str:
    """After feedback: what is new, what could not be done, what is kept, and what was not understood."""
    if not change.wishful and not change.said and is_torn(parts(text)):
        return f"{TORN} {CAN_CHANGE}"
    new = difference(before, after)
    if after["approach"] != before["approach"]:
        new = [after["approach"], *new]
    said = [f"Now {', '.join(new)}."] if new else []
    said += [f"{refused[0].upper()}{refused[1:]}." for refused in change.refused]
    said += [f"{FIRST_THE_PLAN} {_quoted(change.courses)}."] if change.courses else []
    said += [WHICH_WAY[each] for each in dict.fromkeys(change.aspects)]
    said += _beside(change.questions, change.unread, change.partly, change.said)
    unread = change.unread or change.partly
    if not new and not (change.questions or change.courses or change.aspects):
        said = ["Nothing changed.", *said] if unread or change.refused or change.wishful else said
    if change.aspects and not unread:
        return " ".join(said)
    return " ".join(said if new or change.refused else [*(said or [_nothing_wished(text)]), CAN_CHANGE])


def another(before: Plan, after: Plan) -> str:
    """After "something different"."""
    if before["approach"] == after["approach"]:
        return "I know no other way to do this. " + CAN_CHANGE
    return f"Another way: {after['approach']}."


def reopened(notice: str) -> str:
    """When the plan is asked about again after it was approved."""
    return f"The plan is open again. {notice}"


def nothing_read(answer: Heard, can: str) -> str:
    """After an answer without a word in it."""
    if answer["files"]:
        return f"I cannot read {brief(listed(answer['files'][:2]))}, only words. {can}"
    return f"I got no words from you. {can}"


@dataclass(frozen=True, slots=True)
class Search:
    """How courses were looked for: a wish was `understood`, `further` ones were wanted, `beside` the present.

    `new`: there are some that were not shown yet; `fitting`: there are some, all of them shown before.
    """

    understood: bool
    further: bool
    beside: bool
    new: bool
    fitting: bool

    @property
    def wanted(self) -> bool:
        """Whether anything was looked for."""
        return self.understood or self.further


def judged(judged: Judged, text: str, search: Search) -> str:
    """After words about courses."""
    if not search.wanted and is_torn(parts(text)):
        return f"{TORN} {CAN_FIND}"
    said = [line] if (line := _of(search, narrowed=judged.taste != no_taste())) else []
    said += ["Nothing changed."] if judged.unread and not search.wanted else []
    said += [STAYS] if judged.plan else []
    said += [WHICH_WAY[each] for each in dict.fromkeys(judged.aspects)]
    said += _beside(judged.questions, judged.unread, judged.partly, judged.said)
    if search.new or search.understood or (judged.aspects and not judged.unread):
        return " ".join(said)
    return " ".join([*(said or [_nothing_wished(text)]), CAN_FIND])


def _of(search: Search, *, narrowed: bool) -> str:
    """What was found. `narrowed`: what the person said before leaves only some courses."""
    if search.new:
        return "The new ones come first." if search.beside else ""
    if search.understood and not search.fitting:
        return "I know no course like that, so these stay."
    if not search.further:
        return ""
    return "These are all that I know like that." if narrowed else "These are all that I know."


def remembered(judged: Judged, wishes: list[str], *, understood: bool, found: bool) -> str:
    """Above the first question about courses: what became of the wishes that came before their turn."""
    taken = [each for each in wishes if each not in judged.unread] or wishes
    said = list[str]()
    if understood:
        said = [f"You wished for {_quoted(taken)}, {'so I looked for that' if found else 'but I know none'}."]
    said += [WHICH_WAY[each] for each in dict.fromkeys(judged.aspects)]
    return " ".join(said + ([_unread(judged.unread)] if judged.unread else []))


def at_last(notice: str) -> str:
    """Above the last question about one thing."""
    return f"I ask one last time. {notice}".strip()


def _beside(questions: list[str], unread: list[str], partly: list[str], said: set[Said]) -> list[str]:
    """What else was in a text: a wish to stop that may be none, questions, and what could not be read."""
    found = [TO_STOP] if Said.STOP in said else []
    found += [f"I cannot answer {_quoted(questions)}, but I pass it on."] if questions else []
    found += [_unread(unread)] if unread else []
    return found + ([f"I did not understand all of {_quoted(partly)}."] if partly else [])


def _nothing_wished(text: str) -> str:
    """After words in which no wish is, and nothing to answer."""
    if is_torn(parts(text)):
        return TORN
    return "Hello!" if greets(text) else "You are welcome." if thanks(text) else "I take note."


def _unread(clauses: list[str]) -> str:
    return f"I did not understand {_quoted(clauses)}."


def _quoted(clauses: list[str]) -> str:
    quoted = [f"“{brief(clause, QUOTED // min(2, len(clauses)))}”" for clause in clauses[:2]]
    return f"{listed(quoted)}{' and more' if len(clauses) > 2 else ''}"


def _left_out(plan: Plan) -> str:
    return f"Left out, there is no time for it: {listed(plan['left_out'])}." if plan["left_out"] else ""
