"""The coach without a model: plain rules look at the data, ask what stands out, and take the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from answerback_agents.coach import analyses, findings, plans
from answerback_agents.coach.data import Recorded, recorded
from answerback_agents.coach.findings import Finding, short
from answerback_agents.coach.meaning import days_off, how_they_are
from answerback_agents.coach.mind import Payload, Update
from answerback_agents.coach.plans import Race, race_id
from answerback_agents.coach.settings import Settings
from answerback_agents.coach.state import Note, State, Step
from answerback_agents.toolkit import answers

FREE = (("all-free", "All days are fine"),)
MOST_CHOICES = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """See `mind.Mind`."""

    settings: Settings

    async def think(self, step: Step, state: State) -> Update:
        if self.waiting(step, state) is not None:
            return {}
        return {step.result: _written(step, state, self._look(step, state), self.settings)}

    def waiting(self, step: Step, state: State) -> Payload | None:
        found = self._open(step, state)
        return _payload(step, found) if found else None

    def heard(self, step: Step, state: State, payload: Payload, answer: answers.Heard) -> Update:
        found = self._open(step, state)
        assert found is not None, "only what is open is answered"
        note = noted(step, found.about, payload["question"], answer)
        return {"questions": [*state["questions"], note]}

    def _open(self, step: Step, state: State) -> Finding | None:
        """The first finding that was not asked about yet."""
        asked = {note["about"] for note in state["questions"] if note["step"] == step.name}
        left = (each for each in self._look(step, state) if each.about not in asked)
        return next(left, None) if state["hitl_enabled"] else None

    def _look(self, step: Step, state: State) -> list[Finding]:
        found, today = recorded(state["garmin_data"]), today_of(state)
        days, back = self.settings.metrics_days, self.settings.activities_days
        match step.name:
            case "metrics":
                return findings.metrics_findings(found, today, days)
            case "activity":
                return findings.activity_findings(found, today, back)
            case "physiology":
                return findings.physiology_findings(found, today, days)
            case "season_planner":
                return _about_races(plans.races(state["competitions"], today))
        return _about_time(state)


def today_of(state: State) -> date:
    """The day that counts as today."""
    return date.fromisoformat(state["current_date"]["date"])


def noted(step: Step, about: str, question: str, answer: answers.Heard) -> Note:
    """A question with its answer, word for word."""
    silent = answers.silent(answer)
    return Note(
        step=step.name,
        about=about,
        question=question,
        answer="" if silent else answers.told(answer),
        choice="" if silent else str(answer.get("choice") or ""),
        answered=not silent,
    )


def _payload(step: Step, finding: Finding) -> Payload:
    asked: Payload = {
        "type": "ask_human",
        "title": step.title,
        "question": finding.question,
        "context": finding.context,
    }
    choices = [{"id": id, "label": label} for id, label in finding.choices]
    return {**asked, "choices": choices} if choices else asked


def _about_races(coming: Sequence[Race]) -> list[Finding]:
    """Which race, if that is not clear."""
    if not coming:
        asked = "Which race are you training for, and when is it?"
        told = "I know of none to come. Write its date like 2027-03-14."
        return [Finding("race", asked, told, (("none", "None"),))]
    doubtful = [race for race in coming if race.priority == "A"] or coming
    if len(doubtful) == 1:
        return []
    listed = ", ".join(f"{race.name} on {short(race.day)}" for race in doubtful[:MOST_CHOICES])
    choices = tuple((race_id(race), race.name) for race in doubtful[:MOST_CHOICES])
    return [Finding("race", "Which race matters most to you?", f"To come: {listed}.", choices)]


def _about_time(state: State) -> list[Finding]:
    """When there is no time."""
    first, last = (date.fromisoformat(state["week_dates"][place]["date"]) for place in (0, -1))
    asked = "On which days can you not train?"
    told = f"I plan {short(first)} to {short(last)}. Write the weekdays, such as “Tuesday and Friday”."
    return [Finding("time", asked, told, FREE)]


def _written(step: Step, state: State, stands_out: list[Finding], settings: Settings) -> str:
    found, today = recorded(state["garmin_data"]), today_of(state)
    said = {note["about"]: note for note in state["questions"]}
    analysis, race = step.result.endswith("_result"), _race_of(state, said, today)
    match step.name:
        case "metrics":
            text = analyses.metrics_analysis(found, today, settings.metrics_days)
        case "activity":
            text = analyses.activity_analysis(found, today, settings.activities_days)
        case "physiology":
            text = analyses.physiology_analysis(found, today, settings.metrics_days)
        case "season_planner":
            text = plans.season(race, today)
        case _:
            text = _week(state, found, race, said, today)
    beside = "" if state["hitl_enabled"] or not analysis else analyses.unasked(stands_out)
    context = state["analysis_context"] if analysis else state["planning_context"]
    told = f"You said beforehand: “{context}”" if context else ""
    return "\n\n".join(part for part in (text, told, beside) if part)


def _race_of(state: State, said: dict[str, Note], today: date) -> Race | None:
    return plans.main_race(plans.races(state["competitions"], today), said.get("race"), today)


def _week(state: State, found: Recorded, race: Race | None, said: dict[str, Note], today: date) -> str:
    days = [date.fromisoformat(each["date"]) for each in state["week_dates"]]
    time = said.get("time")
    off = days_off(time)
    text = plans.week(found, days, race, how_they_are(state["questions"]), off, today)
    if time and time["answered"] and not time["choice"] and not off:
        return f"{text}\n\nNo weekday was named in “{time['answer']}”, so move what does not fit."
    return text
