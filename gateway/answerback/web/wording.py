"""The pages' own words, by language; what other providers say too stands in `answerback.sentences`."""

from answerback.sentences import LANGUAGES, language_of
from answerback.web.words import de, en, es, fr, zh

WORDS = {"en": en.WORDS, "de": de.WORDS, "fr": fr.WORDS, "es": es.WORDS, "zh": zh.WORDS}


def word(key: str, language: str, /, **args: object) -> str:
    """One of the pages' words or sentences, its gaps filled; English for a language without a catalogue."""
    return WORDS[language_of(language)][key].format(**args)


def preferred(header: str) -> str:
    """The first language of an Accept-Language header that we speak, for pages about nobody in particular."""
    for part in header.split(",")[:10]:
        tag = part.partition(";")[0].strip().lower().partition("-")[0]
        if tag in LANGUAGES:
            return tag
    return "en"
