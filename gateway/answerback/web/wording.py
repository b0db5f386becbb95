"""The pages' own words, by language; what other providers say too stands in `answerback.sentences`."""

import re

from jinja2.filters import do_forceescape, do_mark_safe

from answerback.sentences import LANGUAGES, language_of
from answerback.sentences.binding import bound
from answerback.sentences.isolating import FIRST, LAST, apart
from answerback.web.words import de, en, es, fr, zh

SET_APART = re.compile(f"{FIRST}([^{FIRST}{LAST}]*){LAST}")
WORDS = {"en": en.WORDS, "de": de.WORDS, "fr": bound(fr.WORDS), "es": es.WORDS, "zh": zh.WORDS}


def word(key: str, language: str, /, **args: object) -> str:
    """One of the pages' words or sentences, its gaps filled; English for a language without a catalogue."""
    return WORDS[language_of(language)][key].format(**apart(args))


def marked(sentence: str) -> str:
    """A sentence as HTML: what is set apart in it stands in a `<bdi>` instead of between signs."""
    return do_mark_safe(SET_APART.sub(r"<bdi>\1</bdi>", str(do_forceescape(sentence))))


def preferred(header: str) -> str:
    """The first language of an Accept-Language header that we speak, for pages about nobody in particular."""
    for part in header.split(",")[:10]:
        tag = part.partition(";")[0].strip().lower().partition("-")[0]
        if tag in LANGUAGES:
            return tag
    return "en"
