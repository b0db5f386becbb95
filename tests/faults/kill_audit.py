"""The audit after a restart: the client's journal, the node's journal and the database tell one story."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.victim import IN_GRAPH, QUESTIONS

Rows = dict[str, list[dict[str, Any]]]
Nodes = list[dict[str, Any]]
RUN_ENDS = {"answered": "completed", "expired": "completed", "cancelled": "cancelled"}


@dataclass(slots=True)
class Findings:
    """What must all be empty; and how often a node's code ran again after a crash, which law 12 allows."""

    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    repeated: int = 0

    def __bool__(self) -> bool:
        return bool(self.lost or self.wrong or self.stuck)


def node_journal(folder: Path) -> Nodes:
    """What the graph's nodes wrote down, oldest first."""
    file = folder / "journal.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def audit(outcome: str, journal: dict[str, str], nodes: Nodes, rows: Rows) -> Findings:
    """`journal`: question → the answer that the client got a 2xx for."""
    found = Findings()
    asked = _by_question(rows, found)
    for question, value in journal.items():
        if _answer(asked.get(question)) != value:
            found.lost.append(f"{question} {value}: accepted, and not in the database")
    for question, record in asked.items():
        if _answer(record) not in (None, QUESTIONS[question][0]):
            found.wrong.append(f"{question} was answered with what was said too late")
    if rows["run"]:
        _nodes(outcome, asked, nodes, found)
    _ends(outcome, rows, found)
    _chains(rows, found)
    return found


def _by_question(rows: Rows, found: Findings) -> dict[str, dict[str, Any]]:
    asked: dict[str, dict[str, Any]] = {}
    for record in rows["interaction"]:
        question = json.loads(record["questions"])[0]["text"]
        if question in asked:
            found.wrong.append(f"{question} was asked twice")
        asked[question] = record
    return asked


def _answer(record: dict[str, Any] | None) -> str | None:
    """The value that won, None if there is none."""
    if record is None or record["status"] != "completed":
        return None
    values = list(json.loads(record["answer"])["values"].values())
    return str(values[0]) if values else None


def _nodes(outcome: str, asked: dict[str, dict[str, Any]], nodes: Nodes, found: Findings) -> None:
    """Each answer reached its own question, in one execution of one step, and nothing else did."""
    for question in IN_GRAPH:
        record = asked.get(question)
        heard = [row for row in nodes if row["node"] == "ask" and question in row]
        said = {(row[question]["choice"], bool(row[question].get("timed_out"))) for row in heard}
        ended = record is not None and record["status"] in ("completed", "expired")
        should = {(_answer(record), record["status"] == "expired")} if record and ended else set()
        if said - should:
            found.wrong.append(f"{question}: the node was told {said}, and the record says {should}")
        if len({row["task"] for row in heard}) > 1:
            found.wrong.append(f"{question} was answered in more than one step")
        if should and not said and outcome != "cancelled":
            found.lost.append(f"{question} was answered, and its node never heard of it")
    kept = Counter(row["task"] for row in nodes if row["node"] == "keep")
    if len(kept) > 1:
        found.wrong.append("the answers reached the following node twice")
    if not kept and outcome != "cancelled":
        found.lost.append("the answers never reached the following node")
    answers = [_answer(asked.get(question)) for question in IN_GRAPH]
    if any(row["answers"] != answers for row in nodes if row["node"] == "keep"):
        found.wrong.append("the following node was given other answers")
    found.repeated = sum(count - 1 for count in kept.values())


def _ends(outcome: str, rows: Rows, found: Findings) -> None:
    """Nothing waits, is claimed or leased for ever."""
    for run in rows["run"]:
        if run["status"] != RUN_ENDS[outcome]:
            found.stuck.append(f"the run is {run['status']}: {run['error']}")
        if run["stop_at"] is not None:
            found.stuck.append("the agent was not told that its run is cancelled")
    found.stuck += [f"the graph waits for {each['question']}" for each in rows["waits"]]
    for record in rows["interaction"]:
        if record["status"] == "pending":
            found.stuck.append(f"an interaction is pending: {record['questions']}")
        if record["resume_next_at"] is not None or (record["resume_error"] and not record["resumed_at"]):
            found.stuck.append(f"an answer is not resumed: {record['resume_error']}")
    for delivery in rows["delivery"]:
        if delivery["status"] == "queued":
            found.stuck.append(f"a delivery is queued: {delivery['kind']} {delivery['error']}")
    found.stuck += [f"a thread is leased: {lease}" for lease in rows["thread_lease"] if lease["owner"]]


def _chains(rows: Rows, found: Findings) -> None:
    """The audit rows of each interaction are genuine, and none is missing."""
    last: dict[str, tuple[int, str]] = {}
    for row in sorted(rows["audit"], key=lambda row: (row["interaction_id"], row["seq"])):
        seq, hash = last.get(row["interaction_id"], (0, ""))
        if not row["is_genuine"] or row["seq"] != seq + 1 or row["previous"] != hash:
            found.wrong.append(f"the chain of audit rows is broken at {row['event']}")
        last[row["interaction_id"]] = row["seq"], row["hash"]
    found.wrong += [f"the product finds its audit wrong: {flaw['what']}" for flaw in rows["flaw"]]
