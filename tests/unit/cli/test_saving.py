"""Files that strangers sent are saved under harmless names, and never over another file."""

from pathlib import Path

import pytest

from answerback.cli.saving import LONGEST, safe_name, save
from answerback.client import Attachment


def named(name: str, content_type: str = "") -> str:
    file: Attachment = {
        "id": "1", "name": name, "content_type": content_type, "size": 1, "provider": "p", "href": "/"
    }  # fmt: skip
    return safe_name(file, 3)


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("plan.pdf", "plan.pdf"),
        ("Plan für „Nord“ (2).pdf", "Plan für _Nord_ (2).pdf"),
        ("報告.docx", "報告.docx"),
        ("../../.ssh/authorized_keys", "authorized_keys"),
        ("C:\\Windows\\system.ini", "system.ini"),
        (".bashrc", "bashrc"),
        ("a\nb\x00\u202e.pdf", "a_b__.pdf"),
        ("; rm -rf $HOME", "_ rm -rf _HOME"),
        ("  many   spaces .txt ", "many spaces .txt"),
    ],
)
def test_a_name_keeps_what_is_harmless(name: str, saved: str) -> None:
    assert named(name) == saved


@pytest.mark.parametrize("name", ["", "..", ".", "/", "???", "\u202e", "$.$"])
def test_one_that_says_nothing_becomes_a_number(name: str) -> None:
    assert named(name, "image/jpeg") == "file-3.jpg"
    assert named(name, "no type") == "file-3"


def test_one_that_is_too_long_keeps_its_end() -> None:
    assert named("x" * 500 + ".pdf").endswith("x.pdf")
    assert named("報" * 500 + ".pdf").endswith("報.pdf")
    for long in ("x" * 500, "報" * 500, "x" * 500 + ".pdf", "報" * 500 + ".pdf"):
        assert LONGEST - 3 <= len(named(long).encode()) <= LONGEST
    assert named("a." + "報" * 500) == "a.報報報報報"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    saved = [save(tmp_path, name, name.encode()) for name in ("a.pdf", "a.pdf", "a.pdf", "dangling")]
    assert [path.name for path in saved] == ["a.pdf", "a-2.pdf", "a-3.pdf", "dangling-2"]
    assert (tmp_path / "a.pdf").read_bytes() == b"a.pdf"
    assert not (tmp_path / "elsewhere").exists()
