"""Binding: French has a space within its quotation marks and before some signs, where no line may end."""

import re

LOOSE = re.compile("(?<=«) | (?=[»:;?!])")


def bound(sentences: dict[str, str]) -> dict[str, str]:
    """A French catalogue with spaces there that do not break."""
    return {key: LOOSE.sub("\u00a0", sentence) for key, sentence in sentences.items()}
