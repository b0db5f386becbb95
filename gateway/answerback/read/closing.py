"""A mail's courtesies: "Hi," above an answer, "Best regards" and one's own name below it.

Only lines that are nothing else are left out, and only where a word or a few are looked for: what a person
wrote reaches the agent with all of it.
"""

import re

from answerback.read.normal import bare, tidy

OPENINGS = "hi|hello|hi there|dear agent|hallo|guten tag|guten morgen|bonjour|salut|hola|buenos días"
OPENINGS += "|buenas tardes|您好|你好"
CLOSINGS = "best|best regards|kind regards|regards|best wishes|sincerely|cheers|thanks|thank you|many thanks"
CLOSINGS += "|lg|vg|mfg|gruß|grüße|liebe grüße|viele grüße|beste grüße|schöne grüße|freundliche grüße"
CLOSINGS += (
    "|mit freundlichen grüßen|danke|vielen dank|cordialement|bien cordialement|bien à vous|salutations"
)
CLOSINGS += "|merci|merci beaucoup|bonne journée|saludos|un saludo|saludos cordiales|atentamente|gracias"
CLOSINGS += "|muchas gracias|谢谢|多谢|此致|敬礼|祝好|此致 敬礼"
OPENING = frozenset(map(tidy, OPENINGS.split("|")))
CLOSING = frozenset(map(tidy, CLOSINGS.split("|")))
# Whom they greet by a name: in a line of its own, with the sign that ends a greeting.
NAMED = re.compile(
    r"(?:hi|hey|hello|dear|hallo|liebe[rs]?|guten (?:tag|morgen)|bonjour|salut|ch(?:er|ère)|hola|estimad[oa])"
    r"(?: [^\W\d_]{1,30}){1,2} ?[,!，！]"
)
RULER = "--"  # above a name, as people draw it


def without_courtesies(text: str, name: str) -> str:
    """What is left of a mail's text; `name`: of whoever wrote it."""
    lines = [line for line in text.split("\n") if line.strip()]
    own = set(tidy(name).split())
    while len(lines) > 1 and _closes(lines[-1], own):
        lines.pop()
    while len(lines) > 1 and (bare(lines[0]) in OPENING or NAMED.fullmatch(tidy(lines[0]))):
        lines.pop(0)
    left = "\n".join(lines)
    return left if left.count("\n") == text.strip().count("\n") else left.rstrip(" \t,，")


def _closes(line: str, own: set[str]) -> bool:
    plain = bare(line)
    return plain in CLOSING or plain == RULER or (bool(plain) and set(plain.split()) <= own)
