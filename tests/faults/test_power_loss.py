"""When the power fails, what the client got a 2xx for is in the database: SQLite, at every sync.

strace records what a gateway really wrote, synced and replied over one journey. From the record the files are
rebuilt as they may stand when the power fails just before and just after each sync and at each reply: without
all that was not synced, names of files included; torn, any sectors of it being there; and whole. In each case
the database must be sound and have in it everything that a 2xx had left the process for. Then a gateway
starts on what is left and ends the work.

A recording was chosen over a shim under SQLite because it stands outside of the process: the same code runs
on the same SQLite, nothing is preloaded, and files that SQLite knows nothing of (the secret) are judged too.
What it takes on trust is that a sync that has returned is on the disk.
"""

import contextlib
import functools
import itertools
import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.kill_audit import Findings
from tests.faults.kill_journey import INTAKES, Journey, journey
from tests.faults.kill_life import Life, Zygote
from tests.faults.kill_strace import recording
from tests.faults.kill_tally import tally
from tests.faults.power_disk import Disk, Loss, Nothing, Torn
from tests.faults.power_trace import Event, events
from tests.faults.victim import QUESTIONS
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("langgraph", "telegram")
TORN = 2  # more images of each moment


@dataclass(frozen=True, slots=True)
class Moment:
    """The power fails: what was on the disk, what had been accepted, what the nodes had heard."""

    disk: Disk
    journal: dict[str, str]
    nodes: list[dict]


async def record(zygote: Zygote, folder: Path, intake: str) -> list[Event]:
    """A journey from the first start to the last answer; each acceptance stands between two marks."""
    trace = folder / "trace"
    async with contextlib.AsyncExitStack() as attached:

        async def begun(life: Life) -> None:
            await attached.enter_async_context(recording(life.pid, trace))

        async with journey(zygote, Database("sqlite", folder), intake, "answered", begun) as trip:
            await trip.stage("open")
            for question in ("First?", "Zero?", "Second?"):
                await trip.shown(question)
                await trip.gateway.ask("mark", text=question)
                await trip.answered(question)
                await trip.gateway.ask("mark", text="")
            await trip.gateway.life.stop()
        await attached.aclose()
    return list(events(trace))


def moments(record: list[Event], folder: Path) -> Iterator[Moment]:
    """Before and after each sync, and at each acceptance; `folder` is where it was recorded."""
    disk = Disk(folder / "data")
    journal: dict[str, str] = {}
    nodes = b""
    accepted = _acceptances(record, folder)
    for place, event in enumerate(record):
        if event.path == str(folder / "journal.jsonl") and event.kind == "write":
            nodes += event.data
        if event.kind == "sync":
            yield _moment(disk, journal, nodes)
        disk.do(event)
        if place in accepted:
            journal[accepted[place]] = QUESTIONS[accepted[place]][0]
        if event.kind == "sync" or place in accepted:
            yield _moment(disk, journal, nodes)


def _moment(disk: Disk, journal: dict[str, str], nodes: bytes) -> Moment:
    return Moment(disk, dict(journal), [json.loads(line) for line in nodes.splitlines()])


def _acceptances(record: list[Event], folder: Path) -> dict[int, str]:
    """Place of a reply in the record → the question whose answer it accepted: the last one before a mark."""
    found: dict[int, str] = {}
    question, reply = "", 0
    for place, event in enumerate(record):
        if event.kind == "reply" and event.at in (200, 303):
            reply = place
        elif event.kind == "write" and event.path == str(folder / "marks"):
            if question:
                found[reply] = question
            question = event.data.decode().strip()
    return found


def check(folder: Path, journal: dict[str, str]) -> None:
    """The databases are sound, and everything accepted is in them."""
    for file in folder.glob("*.db"):
        with contextlib.closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], file.name
    if not journal:
        return
    with contextlib.closing(sqlite3.connect(folder / "answerback.db")) as connection:
        rows = connection.execute("SELECT questions, answer FROM interaction WHERE status = 'completed'")
        answers = {json.loads(asked)[0]["text"]: json.loads(answer) for asked, answer in rows}
    stored = {question: next(iter(answer["values"].values())) for question, answer in answers.items()}
    assert journal.items() <= stored.items()


async def recover(zygote: Zygote, folder: Path, moment: Moment) -> Findings:
    """A gateway starts on what is left, whatever still waits is answered, and everything ends."""
    with (folder / "journal.jsonl").open("w") as nodes:
        nodes.writelines(json.dumps(row) + "\n" for row in moment.nodes)
    async with journey(zygote, Database("sqlite", folder), "api", "answered") as trip:
        trip.client.journal |= moment.journal
        for _ in range(4):
            await trip.gateway.settle(60.0)
            await _answer_all(trip)
        return await trip.finish()


async def _answer_all(trip: Journey) -> None:
    for record in (await trip.gateway.ask("records"))["interaction"]:
        question = json.loads(record["questions"])[0]["text"]
        trip.client.ids[question] = record["id"]
        if record["status"] == "pending":
            await trip.gateway.until(functools.partial(trip.client.answer, question, "api"))


async def prove(
    zygote: Zygote, folder: Path, moment: Moment, loss: Loss, *, restart: bool
) -> Findings | None:
    """What is left of this moment is checked and, if wanted, started again."""
    folder.mkdir()
    moment.disk.fail(loss, folder / "data")
    check(folder / "data", moment.journal)
    found = await recover(zygote, folder, moment) if restart else None
    shutil.rmtree(folder)
    return found


def prove_all(record: list[Event], folder: Path, names: Iterator[Path]) -> None:
    """Every moment of a record is checked, without what was not synced."""
    for moment in moments(record, folder):
        left = next(names)
        moment.disk.fail(Loss(), left)
        check(left, moment.journal)
        shutil.rmtree(left)


def numbered(parent: Path) -> Iterator[Path]:
    """Names for new folders."""
    return (parent / f"image-{number}" for number in itertools.count())


async def test_whatever_was_accepted_is_on_the_disk_when_the_reply_goes_out(
    zygote: Zygote, tmp_path: Path
) -> None:
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    names, accepted = numbered(tmp_path), 0
    taken = await record(zygote, recorded, "api")
    for moment in moments(taken, recorded):
        is_new, accepted = len(moment.journal) > accepted, len(moment.journal)
        assert not await prove(zygote, next(names), moment, Loss(), restart=is_new)
    assert accepted == len(QUESTIONS)
    # And the proof can fail: had the gateway not synced its log, this would have found it out.
    unsynced = [event for event in taken if not (event.kind == "sync" and event.path.endswith("-wal"))]
    with pytest.raises((AssertionError, sqlite3.Error)):
        prove_all(unsynced, recorded, names)


@pytest.mark.slow
@pytest.mark.parametrize("intake", INTAKES)
async def test_a_gateway_that_lost_power_at_any_sync_goes_on_with_all_that_it_had_accepted(
    zygote: Zygote, tmp_path: Path, request: pytest.FixtureRequest, intake: str
) -> None:
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    names, chance = numbered(tmp_path), random.Random(7)  # noqa: S311 - repeatable on purpose
    sweep = tally(request.config, f"power failures over a journey by {intake}")
    for place, moment in enumerate(moments(await record(zygote, recorded, intake), recorded)):
        losses = [(Loss(), True), (Torn(chance), True), *((Torn(chance), False),) * TORN, (Nothing(), False)]
        for loss, restart in losses:
            found = await prove(zygote, next(names), moment, loss, restart=restart)
            sweep.add(found or Findings())
            assert not found, f"boundary {place}, {type(loss).__name__}: {found}"
