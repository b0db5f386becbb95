"""What is said to people, in their language, and how moments and numbers are written in it."""

from answerback.sentences.catalogue import LANGUAGES, count, language_of, say
from answerback.sentences.moments import day, duration, locale_of, moment, number, zone_of
from answerback.sentences.needs import all_needs, need

__all__ = [
    "LANGUAGES",
    "all_needs",
    "count",
    "day",
    "duration",
    "language_of",
    "locale_of",
    "moment",
    "need",
    "number",
    "say",
    "zone_of",
]
