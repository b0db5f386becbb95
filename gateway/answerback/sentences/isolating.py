"""Isolating: what reads from right to left is set apart inside a sentence, so that it turns nothing around.

Without that the time of "You wrote “שלום” at 14:05" is shown inside the quotation. Unicode has two signs for
it, which nobody sees (UAX 9, isolates); a text without such a script is left as it is.
"""

import re
from collections.abc import Mapping

FIRST, LAST = "\u2068", "\u2069"  # first strong isolate, pop directional isolate
# The blocks of Hebrew, Arabic, Syriac, Thaana, N'Ko, Adlam and all others that are written this way.
RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
OURS = frozenset({"did", "need"})  # gaps that are filled with sentences, in which it is done already


def isolated(text: str) -> str:
    """Each line that has a character of such a script between the two signs: a line's end ends an isolate."""
    if text.isascii() or not RIGHT_TO_LEFT.search(text):
        return text
    return "\n".join(
        f"{FIRST}{line}{LAST}" if RIGHT_TO_LEFT.search(line) else line for line in text.split("\n")
    )


def apart(args: Mapping[str, object]) -> dict[str, object]:
    """What fills the gaps of a sentence, each text `isolated`."""
    return {
        name: isolated(value) if isinstance(value, str) and name not in OURS else value
        for name, value in args.items()
    }
