"""Small numbers in words: zero to twelve in a few languages, and up to 99 in Chinese characters."""

import re

WORDS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
# In one language each, because "once" is eleven to some: English where a language has none here.
NUMBER_OF = {
    language: {word: number for number, word in enumerate(words.split())} for language, words in WORDS.items()
}
CJK = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
    "两": 2,
    "兩": 2,
    "〇": 0,
}
CHARACTERS = "".join(CJK) + "十"
# Before what is counted in dates and times; not in the names of days (星期三).
COUNTED = re.compile(rf"(?<![周週期拜{CHARACTERS}])([{CHARACTERS}]+)(?=\s*[月日号號点點时時分天小个個周週])")


def spelt(word: str, language: str) -> int | None:
    """The number that a folded word is; None for any other word."""
    primary = language.replace("_", "-").split("-")[0].lower()
    found = NUMBER_OF.get(primary, NUMBER_OF["en"]).get(word)
    return _characters(word) if found is None else found


def in_digits(text: str) -> str:
    """A date in Chinese characters with its numbers in digits: "十二月三日" is 12月3日."""
    return COUNTED.sub(
        lambda match: str(number if (number := _characters(match[1])) is not None else match[1]), text
    )


def _characters(text: str) -> int | None:
    tens, ten, ones = text.partition("十")
    if not set(text) <= set(CHARACTERS) or max(len(tens), len(ones)) > 1 or not text or "十" in ones:
        return None
    if not ten:
        return CJK[tens]
    return 10 * (CJK[tens] if tens else 1) + (CJK[ones] if ones else 0)
