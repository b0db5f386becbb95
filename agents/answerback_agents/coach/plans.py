"""The two plans without a model: phases up to the race, and the sessions of the coming week. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from answerback_agents.coach.data import Recorded
from answerback_agents.coach.findings import hours, short
from answerback_agents.coach.meaning import State
from answerback_agents.coach.state import Note

# from how many weeks before the race on, what the phase is called, and how much of the usual time it takes
PHASES = (
    (1, "race week", 0.5),
    (2, "taper", 0.7),
    (6, "specific", 1.0),
    (12, "build", 1.0),
    (9999, "base", 0.9),
)
EASED: dict[State, tuple[float, int]] = {  # the share of the usual time, and how many hard sessions
    "ill": (0.5, 0),
    "tired": (0.75, 1),
    "unknown": (0.85, 1),
    "well": (1.0, 2),
}
WHY: dict[State, str] = {
    "ill": "Half as much as usual and nothing hard, because you were ill or hurt.",
    "tired": "Less than usual and one hard session, because of what you said.",
    "unknown": "A little less than usual, because not all of what stood out was explained.",
    "well": "",
}
USUAL_MINUTES = 300  # a week, where nothing was recorded
ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


@dataclass(frozen=True, slots=True)
class Race:
    """A competition to come."""

    day: date
    name: str
    kind: str = ""
    priority: str = ""


def races(competitions: Iterable[dict[str, object]], today: date) -> list[Race]:
    """Those to come, the next one first. Raises `ValueError` for one without a date."""
    return sorted((each for each in map(_race, competitions) if each.day >= today), key=lambda race: race.day)


def main_race(coming: Sequence[Race], note: Note | None, today: date) -> Race | None:
    """The one to train for: as it was answered, else by its priority, else the next one."""
    if note is not None and note["answered"]:
        chosen = [race for race in coming if race_id(race) == note["choice"] or race.name in note["answer"]]
        if chosen:
            return chosen[0]
        if named := _dated(note["answer"], today):
            return named
    return next((race for race in coming if race.priority == "A"), coming[0] if coming else None)


def race_id(race: Race) -> str:
    """The id of the choice that stands for a race."""
    return f"race-{race.day}"


def season(race: Race | None, today: date) -> str:
    """The phases from now to the race, with their dates."""
    if race is None:
        return "No race is set: four weeks of steady base training, then look again."
    lines, first = [], today
    for weeks, name, _ in reversed(PHASES):
        shorter = next((each for each, _, _ in reversed(PHASES) if each < weeks), 0)
        last = race.day - timedelta(7 * shorter)
        if last > first or (shorter == 0 and last >= first):
            lines.append(f"- {short(first)} to {short(last)}: {name}")
            first = last + timedelta(1)
    away = (race.day - today).days
    return "\n".join([f"Towards {race.name} on {short(race.day)}, {away} days from now:", "", *lines])


def week(
    found: Recorded, days: Sequence[date], race: Race | None, state: State, off: set[int], today: date
) -> str:
    """A session for each day."""
    factor, hard = EASED[state]
    free = [day for day in days if day.weekday() not in off and (race is None or day != race.day)]
    phase, share = _phase(race, days[0])
    hard = 0 if phase == "race week" else hard
    total = _usual_minutes(found, today) * share * factor * len(days) / 7
    planned = _sessions(free, total, hard, _sports(found))
    if race is not None and race.day in days:
        planned[race.day] = f"{race.name}: race day"
    lines = [f"- {day:%A} {short(day)}: {planned.get(day, 'rest')}" for day in days]
    busy = sum(day in planned for day in days)
    counted = f"{busy} {'session' if busy == 1 else 'sessions'}"
    head = f"{counted} ({phase}), {short(days[0])} to {short(days[-1])}."
    return "\n".join([head, *([WHY[state]] if WHY[state] else []), "", *lines])


def _sessions(free: Sequence[date], total: float, hard: int, sports: Sequence[str]) -> dict[date, str]:
    """A long session at the end, hard ones apart from it and from each other, easy ones between."""
    if not free:
        return {}
    long = next((day for day in reversed(free) if day.weekday() in (5, 6)), free[-1])
    hards: list[date] = []
    for day in free:
        if len(hards) < hard and all(abs((day - other).days) >= 2 for other in (long, *hards)):
            hards.append(day)
    easy = [day for day in free if day != long and day not in hards]
    if len(free) == 7 and easy:  # a day of rest, the one after the long session if it can be
        easy.remove(next((day for day in easy if day == long + timedelta(1)), easy[0]))
    main = sports[0]
    planned = {long: f"long {sports[1] if len(sports) > 1 else main}, {_time(0.3 * total)}"}
    planned |= {day: f"hard {main}, {_time(0.15 * total)}" for day in hards}
    left = min(total * (0.7 - 0.15 * len(hards)) / max(1, len(easy)), 0.25 * total)
    return planned | {
        day: f"easy {sports[place % len(sports)]}, {_time(left)}" for place, day in enumerate(easy)
    }


def _time(minutes: float) -> str:
    return hours(max(20, 5 * round(minutes / 5)))


def _sports(found: Recorded) -> list[str]:
    """The athlete's sports, the most frequent first."""
    return [sport for sport, _ in Counter(each.sport for each in found.activities).most_common(3)] or [
        "workout"
    ]


def _usual_minutes(found: Recorded, today: date) -> float:
    """Minutes a week, over the weeks that were recorded, at most the last six."""
    recent = [each for each in found.activities if today - timedelta(42) < each.date <= today]
    if not recent:
        return USUAL_MINUTES
    weeks = max(1.0, ((today - recent[0].date).days + 1) / 7)
    return sum(each.minutes for each in recent) / weeks or USUAL_MINUTES


def _phase(race: Race | None, day: date) -> tuple[str, float]:
    """The phase that a day is in, and its share of the usual time."""
    if race is None or race.day < day:
        return "base", 0.9
    left = (race.day - day).days
    return next((name, share) for weeks, name, share in PHASES if left < 7 * weeks)


def _race(entry: dict[str, object]) -> Race:
    try:
        day = date.fromisoformat(str(entry.get("date", ""))[:10])
    except ValueError:
        raise ValueError('competitions: each needs a date, such as "2027-03-14"') from None
    name, kind, priority = (str(entry.get(key) or "") for key in ("name", "race_type", "priority"))
    return Race(day, name or f"the race on {short(day)}", kind, priority.strip().upper())


def _dated(text: str, today: date) -> Race | None:
    """A race that was named with its date."""
    for found in ISO.finditer(text):
        try:
            day = date.fromisoformat(found[0])
        except ValueError:
            continue
        if day >= today:
            rest = " ".join((text[: found.start()] + text[found.end() :]).split()).strip(" ,.;:-–()")
            return Race(day, rest or "your race")
    return None
