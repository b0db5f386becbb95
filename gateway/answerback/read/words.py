"""The words that dates are written with: days, months, and what stands between them."""

import functools
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Literal

from babel import Locale
from babel.dates import get_day_names, get_month_names

from answerback.sentences import locale_of

TODAY = "today|heute|aujourd'hui|aujourd’hui|hoy|oggi|hoje|vandaag|dzisiaj|dziś|сегодня|bugün|今天|今日|오늘"
TOMORROW = "tomorrow|tmrw|morgen|demain|mañana|domani|amanhã|jutro|завтра|yarın|明天|明日|あした|내일"
AFTER = "day after tomorrow|the day after tomorrow|übermorgen|après-demain|pasado mañana|dopodomani"
AFTER += "|overmorgen|pojutrze|послезавтра|后天|明後日|모레"
# As telephones and hurried people write them.
TOMORROW += "|tmr|manana"
AFTER += "|uebermorgen|ubermorgen|après demain|apres demain|apres-demain|pasado manana"
IN_THREE = "大后天|大後天"
RELATIVE = {
    word: days for days, words in enumerate((TODAY, TOMORROW, AFTER, IN_THREE)) for word in words.split("|")
}
LAST_OF_MONTH = frozenset(
    "end of month|end of the month|end of this month|eom|monatsende|ende des monats|ende monat|fin du mois|"
    "fin de mes|final de mes|月底|本月底|这个月底".split("|")
)
THIS = frozenset("this coming diesen dieser kommenden kommender ce este".split())
NEXT = frozenset("next nächsten nächster naechsten prochain próximo proximo".split())
# What some write in one word, and the day and its part that it says.
SPOKEN_AS = {
    "今晚": "今天晚上",
    "明晚": "明天晚上",
    "今早": "今天早上",
    "明早": "明天早上",
    "dentro de ": "en ",
}
SPOKEN_AS |= {" que viene": " próximo"}
MORE_MONTHS = {"sept": 9, "jänner": 1, "feber": 2}  # the last two in Austria
MORE_DAYS = {"sonnabend": 5}
UNITS = {
    "minutes": "min|mins|minute|minutes|minuten|minuto|minutos|minuti|分钟|分",
    "hours": "h|hr|hrs|hour|hours|std|stunde|stunden|heure|heures|hora|horas|ora|ore|小时|个小时|時間",
    "days": "d|day|days|tag|tage|tagen|jour|jours|día|días|giorno|giorni|天|日",
    "weeks": "w|week|weeks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane|"
    "周|个星期|星期|週間",
}
UNIT_OF = {word: unit for unit, words in UNITS.items() for word in words.split("|")}
ONE = frozenset({"a", "an", "one", "ein", "eine", "einem", "einer", "un", "une", "una", "uno"})
IN = frozenset({"in", "dans", "en", "dentro", "tra", "fra", "em"})
FILLERS = frozenset(
    "at on the of um am den der dem à le la les de del el las los du il st nd rd th er".split()
)
SPOKEN = ("en", "de", "fr", "es", "it", "pt", "nl")
Width = Literal["wide", "abbreviated"]
Context = Literal["format", "stand-alone"]
WIDTHS: tuple[Width, ...] = ("wide", "abbreviated")
CONTEXTS: tuple[Context, ...] = ("format", "stand-alone")


@functools.lru_cache(maxsize=64)
def months(language: str) -> dict[str, int]:
    """Names of months (1 to 12) in the person's language and the common ones, folded."""
    return MORE_MONTHS | _names(language, get_month_names, WIDTHS)


@functools.lru_cache(maxsize=64)
def weekdays(language: str) -> dict[str, int]:
    """Names of weekdays (Monday is 0) in the person's language and the common ones, folded.

    Short ones only in the person's own and English: "do" is a Thursday to few.
    """
    return MORE_DAYS | _names(language, get_day_names, ("wide",), also_short=True)


def spoken(text: str) -> str:
    """A folded text with what some write in one word in two."""
    for said, meant in SPOKEN_AS.items():
        text = text.replace(said, meant)
    return text


def _plain(name: str) -> str:
    """Without accents, as people write on a keyboard that has none: "decembre", "miercoles"."""
    return "".join(each for each in unicodedata.normalize("NFD", name) if not unicodedata.combining(each))


def month_first(language: str) -> bool | None:
    """Whether 3/4 is in the third month (True) or on the third day (False); None if that stays open.

    English without a country leaves it open: Britain and America write it the other way round.
    """
    primary, _, country = language.replace("_", "-").lower().partition("-")
    if primary == "en":
        return {"us": True, "gb": False, "au": False, "nz": False, "ie": False, "in": False}.get(country)
    if primary in ("zh", "ja", "ko", "hu"):
        return True
    if country in ("us", "ca"):
        return None  # people there read both
    pattern = locale_of(language).date_formats["short"].pattern.lower()
    return None if pattern.startswith("y") else pattern.find("m") < pattern.find("d")


def dotted(language: str) -> bool:
    """Whether dates are written with dots (3.12.), which is always the day first."""
    return "." in locale_of(language).date_formats["short"].pattern


def _names(
    language: str,
    names: Callable[[Width, Context, Locale], Mapping[int, str]],
    widths: Sequence[Width],
    *,
    also_short: bool = False,
) -> dict[str, int]:
    """The person's own language decides what a name means; the others fill in where they agree."""
    own, others = dict[str, set[int]](), dict[str, set[int]]()
    short = WIDTHS if also_short else widths
    wanted = [(others, Locale(each), widths) for each in SPOKEN]
    for found, locale, sizes in (*wanted, (others, Locale("en"), short), (own, locale_of(language), short)):
        for context, width in product(CONTEXTS, sizes):
            for number, name in names(width, context, locale).items():
                if not name.isdigit():
                    found.setdefault(name.casefold().rstrip("."), set()).add(number)
    known = others | own
    bare = dict[str, set[int]]()
    for name, numbers in known.items():
        bare.setdefault(_plain(name), set()).update(numbers)
    return {name: min(numbers) for name, numbers in (bare | known).items() if len(numbers) == 1}
