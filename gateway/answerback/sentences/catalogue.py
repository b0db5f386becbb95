"""One catalogue of sentences a language; English where there is none."""

from answerback.sentences import de, en, es, fr, zh
from answerback.sentences.binding import bound
from answerback.sentences.isolating import apart

SENTENCES: dict[str, dict[str, str]] = {
    "en": en.SENTENCES,
    "de": de.SENTENCES,
    "fr": bound(fr.SENTENCES),
    "es": es.SENTENCES,
    "zh": zh.SENTENCES,
}
COUNTS: dict[str, tuple[str, ...]] = {
    "en": en.COUNTS,
    "de": de.COUNTS,
    "fr": fr.COUNTS,
    "es": es.COUNTS,
    "zh": zh.COUNTS,
}
LANGUAGES = tuple(SENTENCES)


def language_of(tag: str) -> str:
    """The catalogue for a BCP 47 tag ("de-AT" is read as "de"); "en" for a language we do not speak."""
    primary = tag.replace("_", "-").split("-")[0].lower()
    return primary if primary in SENTENCES else "en"


def say(key: str, language: str, /, **args: object) -> str:
    """A sentence for people, with its gaps filled. What fills them is taken as it is, braces and all; a text

    that reads from right to left is set apart.
    """
    return worded(key, language, **apart(args))


def worded(key: str, language: str, /, **args: object) -> str:
    """The same for programs, and for what `visible` still goes over: nothing is set apart."""
    return SENTENCES[language_of(language)][key].format(**args)


def count(number: int, language: str) -> str:
    """A small number as it begins a sentence ("Two"), a larger one in digits."""
    words = COUNTS[language_of(language)]
    return words[number] if 0 <= number < len(words) else str(number)
