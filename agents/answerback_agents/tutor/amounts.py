"""Amounts in feedback: how many weeks, how many hours, more or less of them. Pure.

What could be meant in two ways ("4 to 6 weeks", "not 4 weeks", "1.5 hours") is read as no amount at all, so
that the person is asked again.
"""

import re

from answerback_agents.tutor.catalogue import LETTER, whole

NUMBERS = """
one two three four five six seven eight nine ten eleven twelve
ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
un deux trois quatre cinq six sept huit neuf dix onze douze
un dos tres cuatro cinco seis siete ocho nueve diez once doce
一 二 三 四 五 六 七 八 九 十 十一 十二
"""
NUMBER_OF = {word: place for line in NUMBERS.split("\n") for place, word in enumerate(line.split(), start=1)}
NUMBER_OF |= {"eine": 1, "einer": 1, "une": 1, "una": 1, "两": 2}
WORD = whole(NUMBER_OF).pattern
# Not the end of another number: 1.5, 4-6, twenty-four, 二十.
NUMBER = rf"(?<![\d.,–-])\d{{1,4}}(?![\d.,]*\d)|(?<![-–一二三四五六七八九十百几])(?:{WORD})"
MORE = (
    "more|longer|extra|additional|add|extend by|extend it by|mehr|länger|zusätzliche|de plus|más|adicionales|"
    "多|增加|再加|延长"
)
LESS = (
    "fewer|less|shorter|earlier|shorten by|shorten it by|weniger|kürzer|de moins|menos|少|减少|缩短"
)  # fmt: skip
WEEK = "weeks?|wks?|wochen?|semaines?|semanas?|个?星期|个?礼拜|周"
MONTH = "months?|monate?n?|mois|mes|meses|个月"
HOUR = "hours?|hrs?|h|stunden?|std|heures?|horas?|个?小时|个?钟头"
DAILY = r"(?:a|per|each|every|pro|am|par|al|por|/)\s*(?:day|tag|jour|día)|daily|täglich|每天|每日|一天"
TOTAL = "in total|altogether|overall|insgesamt|en tout|au total|en total|总共|一共|总计"
# Right before a number: it is not that many, or not that many of all.
NOT = (
    "not|no|never|skip|drop|remove|don't|isn't|instead of|rather than|less than|more than|at least|every|"
    "first|last|next|after|or|nicht|keine?n?|statt|mehr als|mindestens|alle|ersten|letzten|nach|oder|pas|"
    "au lieu de|plus de|au moins|toutes les|premières|dernières|après|ou|en vez de|en lugar de|más de|"
    "al menos|cada|primeras|últimas|después de|o|不|不是|不要|别|而不是|代替|第|前|头|最后|至少|或|或者|每"
)
AT_MOST = re.compile(
    "no (?:more|longer) than|not (?:more|longer) than|nicht (?:mehr|länger) als|pas plus de|no más de|"
    "不要超过|不超过"
)
BEFORE = re.compile(rf"(?<!{LETTER})(?:{NOT})\s*(?:in|for|the|en|für|de)?\s*$")
RANGE = re.compile(rf"(?:\d|{WORD})\s*(?:to|or|bis|oder|à|ou|a|o|到|至|或|或者|-|–)\s*$")
MOST = 1000


def weeks_in(text: str, now: int) -> int | None:
    """How many weeks a text names or, for "two more weeks", comes to from those of `now`; None for none."""
    text = re.sub(rf"(?<!{LETTER})an?\s+(?={MONTH})", "1 ", text)
    return _amount(text, now, f"{WEEK}|{MONTH}", MONTH, 4)


def hours_in(text: str, now: int) -> int | None:
    """How many hours a week a text names, likewise. Hours in total are none."""
    if whole(TOTAL.split("|")).search(text):
        return None
    daily = re.search(DAILY, text) is not None
    found = _amount(text, 0 if daily else now, HOUR, "", 1)
    return found * 7 if daily and found is not None else found


def _amount(text: str, now: int, units: str, large: str, times: int) -> int | None:
    """The one amount of these units; None if there is none, or there are several."""
    text = AT_MOST.sub(" ", text)
    pattern = (
        rf"(?P<before>{_words(MORE)}|{_words(LESS)})?\s*(?P<number>{NUMBER})\s*"
        rf"(?P<between>{_words(MORE)}|{_words(LESS)})?\s*(?:more\s+|de\s+)?(?P<unit>{units})(?!{LETTER})\s*"
        rf"(?P<after>{_words(MORE)}|{_words(LESS)})?"
    )
    found = list(re.finditer(pattern, text))
    if len(found) != 1 or BEFORE.search(text[: found[0].start()]) or _is_range(text, found[0]):
        return None
    number = found[0]["number"]
    amount = min(MOST, int(number) if number.isdecimal() else NUMBER_OF[number])
    amount *= times if large and re.fullmatch(large, found[0]["unit"]) else 1
    directions = {_direction(found[0][name]) for name in ("before", "between", "after")} - {0}
    if not directions:
        return amount
    return now + directions.pop() * amount if len(directions) == 1 else None


def _is_range(text: str, found: re.Match[str]) -> bool:
    return RANGE.search(text[: found.start("number")]) is not None


def _direction(word: str | None) -> int:
    if not word:
        return 0
    return 1 if re.fullmatch(MORE, word) else -1


def _words(listed: str) -> str:
    return whole(listed.split("|")).pattern
