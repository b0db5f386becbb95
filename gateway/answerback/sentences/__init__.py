"""What is said to people, in their language, and how moments and numbers are written in it."""

from answerback.sentences.catalogue import LANGUAGES, count, language_of, say, worded
from answerback.sentences.isolating import isolated
from answerback.sentences.moments import day, duration, locale_of, moment, number, zone_of
from answerback.sentences.needs import all_needs, need, together

__all__ = [
    "LANGUAGES",
    "all_needs",
    "count",
    "day",
    "duration",
    "isolated",
    "language_of",
    "locale_of",
    "moment",
    "need",
    "number",
    "say",
    "together",
    "worded",
    "zone_of",
]
