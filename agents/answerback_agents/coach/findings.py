"""What stands out in the data, each as the question that it raises. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from statistics import median

from answerback_agents.coach.data import Activity, Recorded, loads, mean, measured, span

JUMP, DROP = 1.5, 0.5  # this week's load to that of the week before
MANIFOLD = 3  # from here on a percentage says less than how many times it is
GAP = 3  # days in a row without a workout
HOT = 15  # beats above what is usual in that sport
LONG = 1.5  # times as long as the longest other one of that sport
SHORT_NIGHT, SHORT_NIGHTS = 6.0, 2  # hours; nights of the last seven
LOW_HRV, HIGH_PULSE = 0.85, 5  # of what is usual; beats above it
RECENT = 3  # days that are held against those before
FEWEST = 3  # of a kind that say what is usual
MEANT_HARD = re.compile(r"interval|tempo|race|threshold|hill|sprint|fartlek|vo2|wettkampf", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to ask about. `choices` are (id, label); words of one's own are possible beside them."""

    about: str
    question: str
    context: str
    choices: tuple[tuple[str, str], ...] = ()


PAUSE = (("rested", "Rest on purpose"), ("ill", "Ill or injured"), ("busy", "Work or travel"))
MEANT = (("planned", "Planned"), ("unplanned", "Not planned"))
HARD = (
    ("planned", "Meant to be hard"),
    ("outside", "Heat, hills or the sensor"),
    ("ill", "I felt unwell"),
)
NIGHTS = (("stress", "Stress or work"), ("ill", "Ill"), ("outside", "Noise, a child or travel"))
BODY = (("ill", "Ill or injured"), ("stress", "Stress"), ("outside", "Nothing that I know of"))

Odd = tuple[str, str, tuple[tuple[str, str], ...]]
"""A question, its context and its choices."""


def metrics_findings(found: Recorded, today: date, days: int) -> list[Finding]:
    """Load that jumped or fell, and gaps."""
    half = min(7, days // 2)
    now, before = sum(loads(found, span(today, half))), sum(loads(found, span(today, half, half)))
    named = "this week" if half == 7 else f"in the last {half} days"
    sums = f"{now:.0f} {named}, {before:.0f} in the {half} days before."
    listed = []
    if before and now / before >= JUMP:
        grown = now / before
        much = f"went up by {grown - 1:.0%}" if grown < MANIFOLD else f"is {grown:.0f} times what it was"
        listed.append(Finding("load", f"Your load {much}. Was that planned?", sums, MEANT))
    elif before and now / before <= DROP:
        listed.append(Finding("load", f"Your load fell by {1 - now / before:.0%}. Why?", sums, PAUSE))
    for first, last in gaps(found, span(today, days)):
        asked = f"You did not train from {short(first)} to {short(last)}. Why?"
        told = f"{(last - first).days + 1} days without a workout, in between the others."
        listed.append(Finding(f"gap-{first}", asked, told, PAUSE))
    return listed


def activity_findings(found: Recorded, today: date, days: int) -> list[Finding]:
    """Workouts that are unlike the others of their sport."""
    recent = set(span(today, days))
    listed = []
    for place, each in enumerate(found.activities):
        others = [one for one in found.activities if one.sport == each.sport and one is not each]
        if each.date in recent and (odd := _hot(each, others) or _long(each, others)):
            listed.append(Finding(f"workout-{each.date}-{place}", *odd))
    return listed


def physiology_findings(found: Recorded, today: date, days: int) -> list[Finding]:
    """Short nights, and a heart that says so."""
    week = measured(found, "sleep_hours", span(today, 7))
    listed = []
    if len(bad := [(day, slept) for day, slept in week if slept < SHORT_NIGHT]) >= SHORT_NIGHTS:
        day, worst = min(bad, key=lambda each: each[1])
        asked = f"You slept badly on {len(bad)} of {len(week)} nights. What kept you awake?"
        told = f"Less than {SHORT_NIGHT:.0f} hours each; {worst:g} on {short(day)}."
        listed.append(Finding("sleep", asked, told, NIGHTS))
    signs = [*_low_hrv(found, today, days), *_high_pulse(found, today, days)]
    if signs:
        asked = "Your heart says that you are not recovered. Is anything wrong?"
        listed.append(Finding("heart", asked, " ".join(signs), BODY))
    return listed


def gaps(found: Recorded, days: Sequence[date]) -> Iterator[tuple[date, date]]:
    """Days in a row without a workout, between two with one: nobody knows what comes after the last."""
    trained = {activity.date for activity in found.activities}
    inside = [day for day in days if trained and min(trained) < day < max(trained)]
    for off, run in groupby(inside, key=lambda day: day not in trained):
        listed = list(run)
        if off and len(listed) >= GAP:
            yield listed[0], listed[-1]


def short(day: date) -> str:
    """A day as it is said: "20 Nov"."""
    return f"{day.day} {day:%b}"


def hours(minutes: float) -> str:
    """Minutes as they are said: "45 min", "1 h 30"."""
    whole, rest = divmod(round(minutes), 60)
    return f"{whole} h {rest:02}" if whole and rest else f"{whole} h" if whole else f"{rest} min"


def _hot(each: Activity, others: list[Activity]) -> Odd | None:
    pulses = [one.average_hr for one in _alike(each, others) if one.average_hr]
    if not each.average_hr or len(pulses) < FEWEST or MEANT_HARD.search(each.name):
        return None
    if each.average_hr - median(pulses) < HOT:
        return None
    told = f"{each.average_hr:.0f} on average; {median(pulses):.0f} is usual for you there."
    return f"Your heart rate was high: {_named(each)}. What was it?", told, HARD


def _long(each: Activity, others: list[Activity]) -> Odd | None:
    lengths = [one.minutes for one in others if one.minutes]
    if len(lengths) < FEWEST or each.minutes < LONG * max(lengths):
        return None
    told = f"{hours(each.minutes)}; {hours(max(lengths))} is your longest beside it."
    return f"Unusually long: {_named(each)}. Was that planned?", told, MEANT


def _named(each: Activity) -> str:
    return f"{each.name or each.sport} on {short(each.date)}"


def _alike(each: Activity, others: list[Activity]) -> list[Activity]:
    """Those of the same name, if they say what is usual; else all of the sport."""
    same = [one for one in others if one.name and one.name == each.name]
    return same if len(same) >= FEWEST else others


def _low_hrv(found: Recorded, today: date, days: int) -> list[str]:
    now, usual = _compared(found, "hrv_ms", today, days)
    return [f"HRV {now:.0f} ms, usually {usual:.0f}."] if usual and now <= LOW_HRV * usual else []


def _high_pulse(found: Recorded, today: date, days: int) -> list[str]:
    now, usual = _compared(found, "resting_hr", today, days)
    high = usual and now - usual >= HIGH_PULSE
    return [f"Resting heart rate {now:.0f}, usually {usual:.0f}."] if high else []


def _compared(found: Recorded, name: str, today: date, days: int) -> tuple[float, float]:
    """The mean of the last days and of those before; zeros where there is too little to compare."""
    measures = measured(found, name, span(today, days))
    first = today - timedelta(RECENT - 1)
    now = [value for day, value in measures if day >= first]
    before = [value for day, value in measures if day < first]
    return (mean(now), mean(before)) if now and len(before) >= FEWEST else (0.0, 0.0)
