"""What must be true of a town after a storm: people, steps of agents and database tell one story."""

import json
from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import select

from answerback.app import App
from answerback.model import RunStatus
from answerback.store.query import Query
from answerback.tables import metadata
from tests.faults.kill_audit import Findings
from tests.faults.storm_town import Town

Rows = list[dict[str, Any]]
STEPS = ("first", "second")


async def audit(town: Town) -> Findings:
    """Everything that is lost, wrong or stuck."""
    names = ("interaction", "reply", "delivery", "thread_lease")
    there = {name: await rows(town.gateways[0], name) for name in names}
    found = Findings()
    _answers(town, there, found)
    _steps(town, there["interaction"], found)
    _messages(town, there, found)
    _posts(town, there["interaction"], found)
    _ends(town, there, found)
    await own_word(town.gateways[0], found)
    found.wrong += town.people.complaints
    return found


async def rows(app: App, table: str) -> Rows:
    """All of a table."""
    every = Query(select(metadata.tables[table]))
    return await app.context.store.read(lambda tx: [dict(row) for row in tx.all(every)])


def _answer(record: dict[str, Any]) -> str | None:
    """The value that won; None where there is none, or nobody gave it."""
    return str(json.loads(record["answer"])["values"]["q1"]) if record["answered_by"] else None


def _answers(town: Town, rows: dict[str, Rows], found: Findings) -> None:
    """What was taken in is kept, and who was told that theirs is the answer was told the truth."""
    people = town.people
    outcomes = {row["event_id"]: row["outcome"] for row in rows["reply"]}
    found.lost += [f"{event}: taken in, and not in the database" for event in people.taken - set(outcomes)]
    found.wrong += [f"{event} could not be read" for event, how in outcomes.items() if how in ("", "failed")]
    for record in rows["interaction"]:
        said = people.said.get(record["id"], {})
        winners = [event for event in said if outcomes.get(event) == "accepted"]
        told = [event for event in said if event in people.accepted]
        answer = _answer(record)
        if [said[event] for event in winners] != ([] if answer is None else [answer]):
            found.wrong.append(f"{record['id']}: answered {answer}, by {winners} of {said}")
        if not set(told) <= set(winners):
            found.lost.append(f"{record['id']}: {told} were told that theirs is the answer, it is {winners}")


def _steps(town: Town, records: Rows, found: Findings) -> None:
    """Each step was told the answer to its own question, and of runs that end, each was told it."""
    asked: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        text = json.loads(record["questions"])[0]["text"]
        asked[record["thread_id"], text.split()[0].lower()].append(record)
    for thread, run in town.runs.items():
        heard = _journal(town, thread)
        for step in STEPS:
            told = heard[step]
            should = {str(_answer(record)) for record in asked[thread, step]}
            if len(asked[thread, step]) > 1 or not set(told) <= should:
                found.wrong.append(f"{thread} {step}: told {told}, answered {should}")
            if not told and run.status is RunStatus.COMPLETED:
                found.lost.append(f"{thread} {step}: never told {should}")
            found.repeated += max(0, len(told) - 1)


def _journal(town: Town, thread: str) -> dict[str, list[str]]:
    file = town.database.data_dir / "journals" / thread
    heard: dict[str, list[str]] = defaultdict(list)
    for line in file.read_text().splitlines() if file.exists() else ():
        step, _, value = line.partition(" ")
        heard[step].append(value)
    return heard


def _messages(town: Town, rows: dict[str, Rows], found: Findings) -> None:
    """A question is on the phone once, and says once how it ended; who waits for a run hears of its end."""
    people = town.people
    asked = [shown for shown in people.sent if shown.message.kind == "question"]
    unsure = {shown.message.interaction_id for shown in asked if shown.message.delivery_id in people.unsure}
    times = Counter((shown.message.interaction_id, shown.message.to.place) for shown in asked)
    for (id, place), count in times.items():
        if count > 1 and id not in people.moved | unsure:
            found.wrong.append(f"{id} was sent {count} times to {place}")
    for shown in asked:
        ends, id = people.ends.get(shown.id, 0), shown.message.interaction_id
        is_known = shown.id not in people.unheard or (shown.id in people.touched and id not in people.moved)
        if (ends == 0 and is_known) or (ends > 1 and id not in people.moved | unsure):
            found.wrong.append(f"{shown.id} was told {ends} times how it ended")
    run_of = {row["id"]: row["run_id"] for row in rows["delivery"]}
    notices = [shown.message for shown in people.sent if shown.message.kind == "notice"]
    heard = Counter((run_of[message.delivery_id], message.to.place) for message in notices)
    repeated = {run_of[id] for id in people.unsure}
    for (run, place), count in heard.items():
        if count > 1 and run not in repeated:
            found.wrong.append(f"{place} was told {count} times how {run} ended")
    told = {run for run, _ in heard}
    seen = {run_of[shown.message.delivery_id] for shown in asked if shown.id not in people.unheard}
    for thread, run in town.runs.items():  # what nobody saw before it expired was nobody's run
        is_over = run.status is RunStatus.COMPLETED
        if (run.id in told and not is_over) or (run.id in seen - told and is_over):
            found.wrong.append(f"{thread} is {run.status}, and who heard of it: {run.id in told}")


def _posts(town: Town, records: Rows, found: Findings) -> None:
    """What is asked under one key is asked once, and its end is posted, always the same."""
    callers, known = town.callers, {record["id"]: record for record in records}
    for key, ids in callers.asked.items():
        if len(ids) != 1 or sum(record["idempotency_key"] == key for record in records) != 1:
            found.wrong.append(f"{key} was asked as {ids}")
        for id in ids:
            record, posted = known[id], callers.posted.get(id, [])
            ends = {(each["status"], _chosen(each)) for each in posted}
            if not posted:
                found.lost.append(f"{id}: its end was never posted")
            elif ends != {(record["status"], _answer(record))}:
                found.wrong.append(f"{id} is {record['status']}, {_answer(record)}; posted: {ends}")
            if any(each["state"] != {"key": key} for each in posted):
                found.wrong.append(f"{id}: posted with another state: {posted}")


def _chosen(posted: dict[str, Any]) -> str | None:
    return str(posted["answer"]["values"]["q1"]) if posted["answer"] else None


def _ends(town: Town, rows: dict[str, Rows], found: Findings) -> None:
    """Nothing waits, is claimed or leased."""
    stopped = {row["thread_id"] for row in rows["interaction"] if row["id"] in town.people.stopped}
    for thread, run in town.runs.items():
        is_unwanted = run.status is RunStatus.CANCELLED and thread not in town.cancelled | stopped
        if run.status is RunStatus.FAILED or is_unwanted:
            found.wrong.append(f"{thread} is {run.status}: {run.error}")
    cancelled = {run.id for run in town.runs.values() if run.status is RunStatus.CANCELLED}
    for record in rows["interaction"]:
        if record["status"] == "pending":
            said = town.people.said.get(record["id"], {})
            heard = {row["event_id"]: row["outcome"] for row in rows["reply"] if row["event_id"] in said}
            found.stuck.append(f"{record['id']} is pending: of {said} became {heard}")
        is_ungiven = record["resume_error"] and not record["resumed_at"]
        if record["resume_next_at"] is not None or (is_ungiven and record["run_id"] not in cancelled):
            found.stuck.append(f"{record['id']} is not resumed: {record['resume_error']}")
    unsent = [row for row in rows["delivery"] if row["status"] in ("queued", "failed", "unknown")]
    found.stuck += [
        f"a {row['kind']} is {row['status']}: {row['error']}"
        for row in unsent
        if row["error"] != "no longer needed"
    ]
    held = [row for row in rows["thread_lease"] if row["owner"] and row["until"] > town.now]
    found.stuck += [f"a thread is leased: {lease}" for lease in held]


async def own_word(app: App, found: Findings) -> None:
    """What the gateway itself finds in its audit and its dead letters."""
    after: str | None = ""
    while after is not None:
        checked = await app.auditor.check(200, after)
        found.wrong += [f"the audit has a flaw: {flaw}" for flaw in checked.flaws]
        after = checked.next
    found.stuck += [f"a dead letter: {letter.reason}" for letter in (await app.letters.list(limit=10)).items]
