"""Patterns: whether a stranger's text matches an agent's regular expression, in linear time.

Python's own engine goes back and tries again, which on some texts takes longer than anybody lives. The engine
that Pydantic checks with never does. It knows no look-around and no back-references: patterns that have them
are not matched here, the agent is told so, and whatever it refuses later is asked again.
"""

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

LONGEST_TEXT = 10_000  # characters that are matched, and
LONGEST = 1_000  # characters of a pattern: together they bound what a match takes


def matches(pattern: str, text: str) -> bool:
    """Whether a text of at most `LONGEST_TEXT` characters matches somewhere; true if that cannot be told."""
    found = _compiled(pattern)
    return True if isinstance(found, str) else found.isinstance_python(text)


def fault(pattern: str) -> str:
    """Why a pattern is not matched, as the end of a sentence; "" if it is."""
    found = _compiled(pattern)
    return found if isinstance(found, str) else ""


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> "SchemaValidator | str":
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # few questions need it

    if len(pattern) > LONGEST:
        return f"is longer than {LONGEST} characters, so it is not matched before the agent has the answer"
    try:
        return SchemaValidator(
            core_schema.str_schema(pattern=pattern, regex_engine="rust-regex", strict=True)
        )
    except SchemaError:
        return f"“{pattern}” {_why_not(pattern)}"


def _why_not(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        return f"is no regular expression ({error}), so it forbids nothing"
    return (
        "cannot be matched in linear time (look-around, a back-reference, or too many repetitions), "
        "so it is not matched before the agent has the answer"
    )
