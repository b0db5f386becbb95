"""Binding: a French line never ends within quotation marks, before some signs, or between number and unit."""

import re

LOOSE = re.compile(r"(?<=«) | (?=[»:;?!])|(?<=[\d}]) (?=(?:min|h|Mo)\b)")


def bound(sentences: dict[str, str]) -> dict[str, str]:
    """A French catalogue with spaces there that do not break."""
    return {key: LOOSE.sub("\u00a0", sentence) for key, sentence in sentences.items()}
