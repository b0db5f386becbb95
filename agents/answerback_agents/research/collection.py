"""The collection: the project's documents as passages in a full text index (SQLite FTS5) in memory."""

import sqlite3
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

from answerback_agents.research.passages import Passage, passages

MOST = 8  # passages that are cited
LISTS = frozenset({"reference.md"})  # a line for each option says nothing that is worth citing
# A word is what a person takes for one: "thread_id" is one word, and "ask" is not a part of "asked".
TOKENIZER = "unicode61 remove_diacritics 0 tokenchars '_'"


COUNT = "SELECT count(*) FROM passage WHERE passage MATCH ?"
BEST = """
SELECT document, section, text FROM passage WHERE passage MATCH ? ORDER BY rank, rowid LIMIT ?
"""


class Cited(TypedDict):
    """A passage as the agent hands it on."""

    document: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The best passages, and how many there are. `all_words`: they have every word, not just some."""

    passages: tuple[Cited, ...]
    count: int
    all_words: bool


class Collection:
    """Passages that can be searched. Safe to use from several threads."""

    def __init__(self, listed: Iterable[Passage]) -> None:
        self._lock = threading.Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._index.close)
        self._index.executescript(
            f"""
            CREATE VIRTUAL TABLE passage USING fts5(
                document UNINDEXED, section UNINDEXED, text, tokenize = "{TOKENIZER}");
            CREATE VIRTUAL TABLE word USING fts5vocab(passage, row);
            """
        )
        rows = [(each.document, each.section, each.text) for each in listed]
        self._index.executemany("INSERT INTO passage VALUES (?, ?, ?)", rows)
        self._index.commit()
        counted = self._index.execute("SELECT term, doc FROM word").fetchall()
        self.vocabulary: Mapping[str, int] = dict(counted)  # in how many passages each word is

    def search(self, words: Sequence[str], most: int = MOST) -> Found:
        """Passages that have all the words; if there are none, those that have some. The best come first."""
        quoted = ['"' + word.replace('"', '""') + '"' for word in words]
        for joint in (" AND ", " OR "):
            found, count = self._match(joint.join(quoted), most) if quoted else ([], 0)
            if found or len(quoted) < 2:
                return Found(tuple(found), count, joint == " AND ")
        return Found((), 0, False)

    def _match(self, query: str, most: int) -> tuple[list[Cited], int]:
        with self._lock:
            [count] = self._index.execute(COUNT, [query]).fetchone()
            rows = self._index.execute(BEST, [query, most]).fetchall()
        return [Cited(document=row[0], section=row[1], text=row[2]) for row in rows], count


@cache
def collection() -> Collection:
    """The one that comes along, built at its first use (some milliseconds)."""
    return of_documents(documents())


def of_documents(texts: Mapping[str, str]) -> Collection:
    """One of documents by name."""
    return Collection(passage for name, text in sorted(texts.items()) for passage in passages(name, text))


def documents() -> dict[str, str]:
    """The texts by name (`docs/concepts.md`): from the installed package, or from the checkout it runs in."""
    root = _root()
    listed = (file for file in (root / "docs").glob("*.md") if file.name not in LISTS)
    files = [root / "README.md", root / "CHANGELOG.md", *listed]
    return {
        file.relative_to(root).as_posix(): file.read_text("utf-8") for file in sorted(files) if file.is_file()
    }


def _root() -> Path:
    here = Path(__file__).resolve()
    places = (here.parent / "documents", here.parents[3])
    found = next((place for place in places if (place / "docs").is_dir()), None)
    if found is None:
        raise FileNotFoundError("The research agent's documents are missing; install answerback again.")
    return found
