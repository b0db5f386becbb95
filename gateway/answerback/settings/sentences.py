"""What is said when a configuration cannot be used: what happened, then what to do.

None of these repeats a value: a line that cannot be read may well hold a secret.
"""

import difflib
import re
from collections.abc import Iterable

_PHONE = re.compile(r"[0-9]{6,}")
_STEP = re.compile(r"[\w-]{1,64}")
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,40}")

# What PyYAML reports → what to tell a person. PyYAML's own words may quote the value, so they are not used.
_SYNTAX = (
    ("'\\t'", "A tab stands here; YAML is indented with spaces."),
    ("cannot start any token", "A value cannot begin with this character; put it in quotes."),
    (
        "mapping values are not allowed",
        "A ':' too many, or wrong indentation; quote values with ': ' in them.",
    ),
    ("could not find expected ':'", "A ':' is missing behind the key."),
    ("undefined alias", "A value that begins with '*' names an anchor, and there is none; put it in quotes."),
    ("duplicate anchor", "This anchor ('&') was defined before; give it another name."),
    ("alias", "A value that begins with '*' or '&' needs quotes."),
    ("anchor", "A value that begins with '*' or '&' needs quotes."),
    ("tag", "A value that begins with '!' needs quotes."),
    ("end of stream", "A quote or bracket is opened and never closed."),
    ("escape", "In double quotes a backslash begins an escape; use single quotes."),
    ("hexadecimal", "In double quotes a backslash begins an escape; use single quotes."),
    ("<block end>", "The indentation does not fit the lines above."),
    ("',' or", "A ',' is missing, or a bracket is not closed."),
    (
        "another document",
        "Only one document may stand in the file; remove the line '---' or what is below it.",
    ),
    ("special characters", "A character that cannot be printed stands here; remove it."),
    ("nested", "This is nested too deeply."),
)


def syntax(problem: str) -> str:
    """A sentence for what PyYAML found wrong."""
    found = (sentence for part, sentence in _SYNTAX if part in problem)
    return next(found, "This is not YAML; check quotes, colons and indentation.")


def closest(word: str, known: Iterable[str]) -> str:
    """The one of `known` that was most likely meant, or ""."""
    spelled = {name.lower(): name for name in known}
    match = difflib.get_close_matches(word[:80].lower(), spelled, n=1, cutoff=0.6)
    return spelled[match[0]] if match else ""


def suggestion(word: str, known: Iterable[str]) -> str:
    """`Did you mean "token"?`, or what there is to choose from."""
    names = list(known)
    match = closest(word, names)
    if match:
        return f'Did you mean "{match}"?'
    if not names:
        return "There is none."
    return f"There is: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}."


def shown(path: str) -> str:
    """A dotted path as a person may read it: a step that is no name may be a slipped phone number."""
    return ".".join(
        step if _STEP.fullmatch(step) and not _PHONE.search(step) else "…" for step in path.split(".")
    )


def named(key: object) -> str:
    """A key in quotes when it looks like a name; anything else may be a slipped secret or phone number."""
    is_name = isinstance(key, str) and _NAME.fullmatch(key) and not _PHONE.search(key)
    return f'"{key}"' if is_name else "(not shown)"
