"""What an answer says to the plans, as far as plain rules can tell, in five languages. Pure."""

import re
from collections.abc import Iterable
from typing import Literal

from answerback_agents.coach.state import Note

State = Literal["ill", "tired", "unknown", "well"]
LETTER = "[0-9a-zà-öø-ÿœß]"
ILL = """
ill|sick|illness|flu|a cold|fever|covid|infection|injured|injury|hurt|hurts|pain|unwell|krank|erkältet|
erkältung|grippe|fieber|verletzt|verletzung|schmerzen|malade|rhume|fièvre|blessé|blessée|blessure|douleur|
enfermo|enferma|resfriado|resfriada|gripe|fiebre|lesión|lesionado|lesionada|dolor|生病|病了|感冒|发烧|受伤|疼
"""
TIRED = """
stress|stressed|stressful|tired|exhausted|fatigue|müde|erschöpft|gestresst|fatigué|fatiguée|épuisé|épuisée|
stressé|stressée|cansado|cansada|agotado|agotada|estrés|estresado|estresada|压力|累|疲劳
"""
NOT = "not|no|n't|never|nicht|kein|keine|keinen|nie|pas|sans|jamais|sin|nunca|没有|没|不"
WEEKDAYS = (
    "monday|mon|montag|lundi|lunes|周一|星期一|礼拜一",
    "tuesday|tue|tues|dienstag|mardi|martes|周二|星期二|礼拜二",
    "wednesday|wed|mittwoch|mercredi|miércoles|周三|星期三|礼拜三",
    "thursday|thu|thurs|donnerstag|jeudi|jueves|周四|星期四|礼拜四",
    "friday|fri|freitag|vendredi|viernes|周五|星期五|礼拜五",
    "saturday|sat|samstag|sonnabend|samedi|sábado|周六|星期六|礼拜六",
    "sunday|sun|sonntag|dimanche|domingo|周日|周天|星期日|星期天|礼拜天",
)
CARES: dict[str, State] = {"stress": "tired", "unplanned": "tired"}  # ids of choices; see also `_said`
MATTERS = ("load", "sleep", "heart", "workout", "gap")  # findings that say how much more is wise
ONLY = re.compile(r"\b(?:only|just|nur|seulement|solo|sólo)\b|只", re.IGNORECASE)


def how_they_are(notes: Iterable[Note]) -> State:
    """The worst that the answers say; "unknown" where nobody said."""
    said = [_said(note) for note in notes if note["about"].partition("-")[0] in MATTERS]
    return next((each for each in ("ill", "tired", "unknown") if each in said), "well")


def days_named(text: str) -> set[int]:
    """The weekdays that a text names, Monday being 0; of "Mondays" and "montags" too."""
    return {day for day, words in enumerate(WEEKDAYS) if _whole(words, "s?").search(text.casefold())}


def days_off(note: Note | None) -> set[int]:
    """The weekdays on which there is no time, by the answer to that question."""
    if note is None or note["choice"]:
        return set()
    named = days_named(note["answer"])
    return set(range(7)) - named if named and ONLY.search(note["answer"]) else named


def _said(note: Note) -> State:
    if not note["answered"]:
        return "unknown"
    if note["choice"] == "ill" or (not note["choice"] and _says(ILL, note["answer"])):
        return "tired" if note["about"].startswith("gap") else "ill"  # after a gap they train again
    if note["choice"]:
        return CARES.get(note["choice"], "well")
    return "tired" if _says(TIRED, note["answer"]) else "well"


def _says(words: str, text: str) -> bool:
    """Whether a text has one of the words, and not just to deny it."""
    folded = text.casefold().replace("’", "'")
    return any(not _DENIED.search(folded[: found.start()]) for found in _whole(words).finditer(folded))


def _whole(words: str, ending: str = "") -> re.Pattern[str]:
    listed = "|".join(re.escape(word.strip()) for word in words.split("|"))
    return re.compile(f"(?<!{LETTER})(?:{listed}){ending}(?!{LETTER})")


_DENIED = re.compile(rf"(?:(?<!{LETTER})(?:{NOT})|n't|没|不)\W*(?:{LETTER}+\W+){{0,2}}$")
