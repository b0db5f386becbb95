"""Whether the audit of a question is whole, and says the same as its record (pure)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from answerback.store import Row
from answerback.store.audit import is_of, link
from answerback.values import dumps

ENDS = {
    "answered": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
    "set aside": "cancelled",
}  # the event, and what the record says from then on
RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong, in a sentence. `entry`: the number in the chain; 0: it is no single one."""

    entry: int
    what: str


def flaws(rows: Sequence[Row], record: Row | None) -> Iterator[Flaw]:
    """What is wrong with a chain (`rows`, in order) beside the row of its interaction; None: there is none.

    What was discarded or replayed and belongs to no question has a chain without a record.
    """
    yield from _links(rows)
    if record is not None:
        yield from _beginning(rows)
        yield from _ending(rows, record)
        yield from _contents(rows, record)
    elif any(row["event"] == "asked" for row in rows):
        yield Flaw(0, "Its question is gone: a question is erased, but its record is never deleted.")


def _links(rows: Sequence[Row]) -> Iterator[Flaw]:
    before, end = 0, ""
    for row in rows:
        if row["seq"] != before + 1:
            yield Flaw(row["seq"], f"What was before entry {row['seq']} is missing.")
        elif row["previous"] != end:
            yield Flaw(row["seq"], f"Entry {row['seq']} does not follow what is before it.")
        if row["hash"] != link(row):
            yield Flaw(row["seq"], f"Entry {row['seq']} was changed: its hash is not that of what it says.")
        before, end = row["seq"], row["hash"]


def _beginning(rows: Sequence[Row]) -> Iterator[Flaw]:
    asked = [row["seq"] for row in rows if row["event"] == "asked"]
    if not asked:
        yield Flaw(0, "There is no entry that it was asked.")
    elif asked != [1]:
        yield Flaw(asked[-1], "It was asked only once: this entry is false.")


def _ending(rows: Sequence[Row], record: Row) -> Iterator[Flaw]:
    """Law 2: it ended once, as the record says, by whom the record says, and before its agent went on."""
    ended = [row for row in rows if row["event"] in ENDS]
    for row in ended[1:]:
        yield Flaw(row["seq"], f"It ended with entry {ended[0]['seq']} and cannot end again.")
    says = ENDS[ended[0]["event"]] if ended else "pending"
    if says != record["status"]:
        entry = ended[0]["seq"] if ended else 0
        yield Flaw(entry, f"Its record says “{record['status']}”, its entries say “{says}”.")
    for row in ended[:1]:
        if row["event"] == "answered" and row["actor"] != record["answered_by"]:
            yield Flaw(row["seq"], "Its record says that somebody else answered.")
    for row in rows:
        if row["event"] == RESUMED and not (ended and ended[0]["seq"] < row["seq"]):
            yield Flaw(row["seq"], "Its agent went on before there was an answer.")


def _contents(rows: Sequence[Row], record: Row) -> Iterator[Flaw]:
    """What was asked and what was given are what the record holds, to the letter, unless that is erased.

    Of a question to several people whose answerer was erased, only the answer is.
    """
    erased = record["erased_at"] is not None
    if erased and record["questions"] == "[]":
        return
    for row in rows:
        if row["event"] == "asked" and not any(is_of(row, text) for text in _asked(record)):
            yield Flaw(row["seq"], "Its record does not hold the question that was asked.")
        if row["event"] == "answered" and not erased and not any(is_of(row, text) for text in _given(record)):
            yield Flaw(row["seq"], "Its record does not hold the answer that was given.")
        if row["event"] == "expired" and row["content_hash"] and not is_of(row, record["answer"]):
            yield Flaw(row["seq"], "Its record does not hold what its agent was to be told.")


def _asked(record: Row) -> Iterator[str]:
    """What stands for the question in its entry: all of it, as it is stored; once it was its texts only."""
    yield record["questions"]
    try:
        yield dumps([question["text"] for question in json.loads(record["questions"])])
    except (ValueError, TypeError, KeyError):
        return


def _given(record: Row) -> Iterator[str]:
    """What stands for the answer in its entry: all of it, as it is stored; once it was its values only."""
    yield record["answer"]
    try:
        yield dumps(json.loads(record["answer"])["values"])
    except (ValueError, TypeError, KeyError):
        return
