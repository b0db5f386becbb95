"""What feedback changes in a plan, and how that is said. Pure."""

from dataclasses import dataclass, field

from answerback_agents.tutor.catalogue import goal_of, topics_by_word
from answerback_agents.tutor.feedback import Clause, How, Topics, clauses
from answerback_agents.tutor.keywords import asks_of_plan
from answerback_agents.tutor.meaning import Said, folded, said_of_plan
from answerback_agents.tutor.plan import MOST_HOURS, MOST_WEEKS, Plan, Wishes, draft, topics_of
from answerback_agents.tutor.words import NAMES_A_COURSE, NAMES_COURSES

HOW = How(said_of_plan, asks_of_plan)
LEVELS = {"easier", "harder"}  # for courses; the plan has one level


@dataclass(frozen=True, slots=True)
class Changed:
    """The wishes as they are now, and what else was in the text, clause by clause.

    `unread`: no rule could take it. `partly`: nothing but a keyword. `aspects`: what is to change, not which
    way. `refused`: taken, and cannot be done. `questions`: no wishes at all.
    `courses`: what belongs to the courses. `said`: what whole clauses say as phrases.
    """

    wishes: Wishes
    unread: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)
    aspects: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    courses: list[str] = field(default_factory=list)
    said: set[Said] = field(default_factory=set)
    wishful: bool = False  # whether a wish was in it, even one that is fulfilled already


def adjust(goal: str, wishes: Wishes, text: str) -> Changed:
    """Take from a text what plain rules can."""
    plan, known = draft(goal, wishes), goal_of(goal)
    topics = Topics(topics_by_word(known), {topic.name for topic in known.topics}, topics_of(plan))
    found = clauses(text, topics, HOW, weeks=plan["weeks"], hours=plan["hours_a_week"])
    read = [clause for clause in found if not _is_of_courses(clause)]
    changed = Changed(
        Wishes(**wishes),
        unread=[clause.text for clause in read if clause.is_unread],
        partly=[clause.text for clause in read if clause.partly],
        aspects=[clause.aspect for clause in read if clause.aspect],
        questions=[clause.text for clause in read if clause.asks],
        courses=[clause.text for clause in found if clause not in read],
        said={clause.said for clause in read} - {Said.SOMETHING},
        wishful=any(clause.says_something for clause in read),
    )
    _weeks(changed, read, plan)
    _hours(changed, read, plan)
    _topics(changed, read, goal)
    return changed


def difference(before: Plan, after: Plan) -> list[str]:
    """What is new in a plan, in a few words each."""
    said = []
    if after["weeks"] != before["weeks"]:
        said.append(f"{counted(after['weeks'], 'week')} instead of {before['weeks']}")
    if after["hours_a_week"] != before["hours_a_week"]:
        said.append(f"{counted(after['hours_a_week'], 'hour')} a week instead of {before['hours_a_week']}")
    added = [topic for topic in topics_of(after) if topic not in topics_of(before)]
    gone = [topic for topic in topics_of(before) if topic not in topics_of(after)]
    said += [f"with {listed(added)}"] if added else []
    return said + ([f"without {listed(gone)}"] if gone else [])


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 week", "6 weeks"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(words: list[str]) -> str:
    """Words in a row: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _is_of_courses(clause: Clause) -> bool:
    """Whether it is a wish about courses: it names them, or a level, of which the plan has but one."""
    if clause.asks:
        return False
    said = folded(clause.text)
    levels, clause.ways = clause.ways & LEVELS, clause.ways - LEVELS
    if levels and clause.said is not Said.SOMETHING:  # "redo it, but simple": the level cannot be done
        clause.partly = not clause.says_something
        return bool(NAMES_COURSES.search(said))
    return bool(NAMES_COURSES.search(said)) or (
        not clause.says_something and bool(levels or NAMES_A_COURSE.search(said))
    )


def _weeks(changed: Changed, read: list[Clause], plan: Plan) -> None:
    now, step = plan["weeks"], max(1, plan["weeks"] // 4)
    numbers = {clause.weeks for clause in read if clause.weeks is not None}
    wanted = _toward(read, numbers, now, now - step, now + step, "shorter", "longer")
    if wanted is None:
        changed.refused.append("you named several numbers of weeks")
    elif 1 <= wanted <= MOST_WEEKS:
        changed.wishes["weeks"] = wanted
    else:
        changed.refused.append(f"a plan has 1 to {MOST_WEEKS} weeks")


def _hours(changed: Changed, read: list[Clause], plan: Plan) -> None:
    now, step = plan["hours_a_week"], max(1, plan["hours_a_week"] // 4)
    numbers = {clause.hours for clause in read if clause.hours is not None}
    wanted = _toward(read, numbers, now, now - step, now + step, "lighter", "heavier")
    if wanted is None:
        changed.refused.append("you named several numbers of hours")
    elif not 1 <= wanted <= MOST_HOURS:
        changed.refused.append(f"a week has 1 to {MOST_HOURS} hours")
    elif wanted != now or numbers:
        changed.wishes["hours"] = wanted


def _toward(
    read: list[Clause], numbers: set[int], now: int, less: int, more: int, down: str, up: str
) -> int | None:
    """The one number; without any, a step in the one direction; None if it cannot be both."""
    if numbers:
        return numbers.pop() if len(numbers) == 1 else None
    ways = {way for clause in read for way in clause.ways} & {down, up}
    return now if len(ways) != 1 else less if down in ways else more


def _topics(changed: Changed, read: list[Clause], goal: str) -> None:
    wishes = changed.wishes
    for clause in read:
        wishes["wanted"] = _without(wishes["wanted"], clause.unwanted) + _new(clause.wanted, wishes["wanted"])
        wishes["unwanted"] = _without(wishes["unwanted"], clause.wanted) + _new(
            clause.unwanted, wishes["unwanted"]
        )
    left = [topic.name for topic in goal_of(goal).topics if topic.name not in wishes["unwanted"]]
    if not left and not wishes["wanted"]:
        changed.refused.append("one topic has to stay")


def _new(names: list[str], known: list[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in known]


def _without(names: list[str], gone: list[str]) -> list[str]:
    return [name for name in names if name not in gone]
