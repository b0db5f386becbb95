"""What keys do to a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerback_providers.console.editor import END, LONGEST, Editor
from answerback_providers.console.terminal import _end, _width


@pytest.mark.parametrize(
    ("keys", "lines", "typed"),
    [
        ("yes\r", ["yes"], ""),
        ("one\ntwo\nthr", ["one", "two"], "thr"),
        ("yex\x7fs\r", ["yes"], ""),
        ("\x7f\x7f", [], ""),
        ("first second\x17third\r", ["first third"], ""),
        ("nonsense\x15fine\r", ["fine"], ""),
        ("a\x1b[Ab\x1b[1;5Cc\x1bOPd\x1bxe\r", ["abcde"], ""),
        ("\x04", [END], ""),
        ("a\x04\r", ["a"], ""),
        ("a\x00\x07\tb\u202e\r", ["ab"], ""),
        ("Grüße 你好\r", ["Grüße 你好"], ""),
    ],
)
def test_keys_edit_a_line(keys: str, lines: list[str | None], typed: str) -> None:
    editor = Editor()
    assert editor.feed(keys) == lines and editor.typed == typed


def test_a_line_has_an_end() -> None:
    editor = Editor()
    editor.feed("x" * (LONGEST + 100))
    assert len(editor.typed) == LONGEST


@given(st.lists(st.text(max_size=8)))
def test_how_keys_are_cut_into_reads_does_not_matter(parts: list[str]) -> None:
    whole, cut = Editor(), Editor()
    assert whole.feed("".join(parts)) == [line for part in parts for line in cut.feed(part)]
    assert whole.typed == cut.typed


@given(st.text(alphabet="ab你好é", max_size=60), st.integers(10, 40))
def test_only_the_end_of_a_long_line_is_shown(text: str, columns: int) -> None:
    shown = _end(text, columns)
    assert _width(shown) <= columns
    assert shown == text or (shown[0] == "…" and text.endswith(shown[1:]))
