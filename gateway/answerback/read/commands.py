"""Commands: a few words that work on every provider, with "/" before them or, where safe, without."""

import re
from collections.abc import Sequence

from answerback.model import Question
from answerback.read.normal import bare, letters, tidy

ALONE = {
    "help": "help",
    "pending": "pending",
    "stop": "stop",
    "skip": "skip",
    "snooze": "snooze",
    "cancel": "cancel",
    "quit": "cancel",
    "exit": "cancel",
    "why": "why",
    "mute": "mute",
    "unmute": "unmute",
}
# In the languages that we write, what changes nothing: so that nobody needs English to learn the other words.
ALONE |= dict.fromkeys(("hilfe", "aide", "ayuda", "帮助"), "help")
ALONE |= dict.fromkeys(("warum", "pourquoi", "por qué", "为什么"), "why")
NAMES = ALONE | {"run": "run", "delegate": "delegate", "start": "start"}
SLASH = re.compile(r"/([a-z]{2,12})(?:@\w{1,64})?(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)
# What may follow a command that is written without "/", so that "run it twice, please?" stays an answer.
TIME = r"\S[^\n]{0,60}"
REST = {
    "run": r"[\w.-]{1,64}(?:\s.*)?",
    "snooze": TIME,
    "mute": TIME,
    "delegate": r"(?:to\s+)?\S{1,64}(?:\s\S{1,64})?",
    "start": r"[A-Za-z0-9_-]{16,64}",
}
LONGEST = 1000  # characters: no label is longer
QUOTED = frozenset("?\"'“”„«»‹›‘’")  # asked, or spoken of
WORD = re.compile(r"([A-Za-z]{2,12})\s+(.*)", re.DOTALL)


def is_command(text: str, questions: Sequence[Question] = ()) -> tuple[str, str] | None:
    """The command's name and what follows it, or None.

    `questions` are those that a text could answer: a word that is one of their choices is no command.
    Whether `run X` names an agent, and `snooze X` a time, is for the caller to see; if not, it may still be
    an answer.
    """
    plain = text.strip()
    if match := SLASH.fullmatch(plain):
        name = NAMES.get(match[1].lower())
        return (name, (match[2] or "").strip()) if name else None
    if _is_choice(plain, questions):
        return None
    if not QUOTED & set(plain) and bare(plain) in ALONE:
        return ALONE[bare(plain)], ""
    match = WORD.fullmatch(plain)
    if not match or match[1].lower() not in REST:
        return None
    name, rest = match[1].lower(), match[2].strip()
    return (name, rest) if re.fullmatch(REST[name], rest, re.IGNORECASE | re.DOTALL) else None


def _is_choice(text: str, questions: Sequence[Question]) -> bool:
    """However it is decorated: nobody types the emoji of a button, and telephones add a full stop."""
    choices = [choice for question in questions for choice in question.choices]
    named = {name for choice in choices for name in (choice.label, choice.id)}
    likenesses = (tidy, letters) if len(text) <= LONGEST else (tidy,)
    return any(
        text and (meant := same(text)) and meant in {same(name) for name in named} for same in likenesses
    )
