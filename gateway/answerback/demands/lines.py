"""A list of texts as people write it: one on each line; a text that begins like JSON's list is one."""

import re

# "[urgent] call the bank": words in brackets and more behind them, which no JSON is. A quotation mark or a
# brace makes it an attempt at JSON, and so does a comma or a bracket behind it.
LABEL = re.compile("\\[(?!\\s*[“”„«‘'])[^\\[\\]{}\"\n]*\\]\\s*[^\\s,\\]]")


def one_a_line(text: str) -> list[str] | None:
    """Its items, without empty lines; None for what is JSON, or was meant to be."""
    begun = text.lstrip()
    if begun.startswith("[") and not LABEL.match(begun):
        return None
    return [each.strip() for each in text.splitlines() if each.strip()]
