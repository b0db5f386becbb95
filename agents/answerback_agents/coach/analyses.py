"""The three analyses without a model: what the data says, and what the athlete said about it. Pure."""

from collections.abc import Sequence
from datetime import date

from answerback_agents.coach.data import Recorded, loads, mean, measured, span
from answerback_agents.coach.findings import Finding, hours, short
from answerback_agents.coach.state import Note

MOST_SHOWN = 8  # workouts that are listed
BARS = "▁▂▃▄▅▆▇█"


def metrics_analysis(found: Recorded, today: date, days: int) -> str:
    """Load and how it is spread."""
    daily = loads(found, span(today, days))
    week, before = sum(daily[-7:]), sum(daily[-14:-7])
    rest = sum(load == 0 for load in daily)
    compared = f", after {before:.0f} in the week before" if len(daily) >= 14 else ""
    return (
        f"Training load: {week:.0f} in the last 7 days{compared}. "
        f"{len(daily) - rest} of {len(daily)} days with training, {rest} without."
    )


def activity_analysis(found: Recorded, today: date, days: int) -> str:
    """The workouts of the last days."""
    first = span(today, days)[0]
    recent = [each for each in found.activities if first <= each.date <= today]
    if not recent:
        return f"No workouts in the last {days} days."
    total = hours(sum(each.minutes for each in recent))
    lines = [
        f"- {short(each.date)}: {each.name or each.sport}, {hours(each.minutes)}"
        + (f", {each.distance_km:g} km" if each.distance_km else "")
        + (f", heart rate {each.average_hr:.0f}" if each.average_hr else "")
        for each in recent[-MOST_SHOWN:]
    ]
    more = len(recent) - len(lines)
    head = f"{len(recent)} {'workout' if len(recent) == 1 else 'workouts'} in {days} days, {total} in all."
    return "\n".join([head, "", *lines, *([f"- and {more} before these"] if more else [])])


def physiology_analysis(found: Recorded, today: date, days: int) -> str:
    """Sleep and heart."""
    kinds = (
        ("sleep_hours", "Sleep: {:.1f} hours a night"),
        ("hrv_ms", "HRV: {:.0f} ms"),
        ("resting_hr", "Resting heart rate: {:.0f}"),
    )
    lines = []
    for name, text in kinds:
        values = [value for _, value in measured(found, name, span(today, days))]
        if values:
            lines.append(f"- {text.format(mean(values))} on average, {values[-1]:g} last.")
    if not lines:
        return "Neither nights nor heart were measured."
    return "\n".join([f"Recovery in the last {days} days:", "", *lines])


def said(notes: Sequence[Note]) -> str:
    """What was asked and answered, word for word; of what nobody answered, that."""
    lines = [
        f"- {note['question']} “{note['answer']}”"
        if note["answered"]
        else f"- {note['question']} This was not answered, so it goes without."
        for note in notes
    ]
    return "\n".join(["You were asked:", "", *lines]) if lines else ""


def unasked(found: Sequence[Finding]) -> str:
    """What stands out where nobody is to be asked."""
    lines = [f"- {each.question} {each.context}" for each in found]
    return "\n".join(["Stands out, and nobody was asked:", "", *lines]) if lines else ""


def charts(step: str, found: Recorded, today: date, days: int) -> str:
    """Small charts of what a step looks at, a sign a day; "" for steps without any."""
    window = span(today, days)
    shown = {
        "metrics": [("Load", loads(found, window))],
        "physiology": [
            (title, [value for _, value in measured(found, name, window)])
            for name, title in (("sleep_hours", "Sleep"), ("hrv_ms", "HRV"), ("resting_hr", "Pulse at rest"))
        ],
    }.get(step, [])
    rows = ((title, values) for title, values in shown if values)
    return "\n".join(f"{title}: {chart(values)} {min(values):g}–{max(values):g}" for title, values in rows)


def chart(values: Sequence[float]) -> str:
    """The values as a row of bars."""
    low, room = min(values), max(values) - min(values)
    return "".join(BARS[round((value - low) / room * (len(BARS) - 1)) if room else 0] for value in values)
