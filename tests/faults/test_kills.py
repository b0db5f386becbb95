"""A fault at every named point, then a restart: nothing accepted is lost, nothing is wrong, nothing is stuck.

The gateway is a process of its own, the client is the test: it asks, taps and posts over HTTP, and keeps a
journal of every 2xx. The normal run takes each point once. `--slow` takes the product: SIGKILL, an exception
and a hang at each point, for each intake and each outcome. `--slow --kills 1000` kills at random as well.
"""

import copy
import itertools
from pathlib import Path

import pytest

from answerback.faults import POINTS
from tests.faults.kill_audit import Findings, Nodes, Rows, audit
from tests.faults.kill_journey import INTAKES, OUTCOMES, STAGES, journey
from tests.faults.kill_life import Zygote
from tests.faults.kill_tally import tally
from tests.faults.test_kills_of_erasing import ERASING
from tests.support.databases import Database

pytestmark = pytest.mark.needs_extra("langgraph", "telegram")
KINDS = ("kill", "exception", "hang")


def passes(point: str, outcome: str) -> bool:
    """Whether a journey passes the point at all: only an agent whose run is cancelled is told to stop."""
    return outcome == "cancelled" or not point.startswith("stop.")


# Nobody is erased on a journey: these are struck in `test_kills_of_erasing`.
PASSED = [point for point in POINTS if not point.startswith("erase.")]
# Each point once; intakes, outcomes and kinds take turns.
ONCE = [
    (
        point,
        KINDS[n % 4 if n % 4 < 3 else 0],
        INTAKES[n % 3],
        next(each for each in OUTCOMES[n // 3 % 3 :] if passes(point, each)),
    )
    for n, point in enumerate(PASSED)
]
PRODUCT = [each for each in itertools.product(PASSED, KINDS, INTAKES, OUTCOMES) if passes(each[0], each[-1])]


def stage_of(point: str, intake: str, outcome: str) -> str:
    """The last stage of a journey that passes the point. A dry run proves it, see below.

    Most points are passed while the outcome comes about, in the stage `end`. These are passed before only:
    """
    verb, _, moment = point.partition(".")
    if verb in ("ask", "run"):
        return "open"  # asking comes first, whatever becomes of it
    if verb == "resume" and outcome == "cancelled":
        return "answer"  # a run that was cancelled is not resumed
    if verb == "receive" and outcome != "answered":
        if intake == "form":
            return "answer"  # the page of a closed question has nothing to send
        if intake == "api" and moment == "after-commit":
            return "answer"  # a late answer is refused, and its transaction stores nothing
    return "end"


async def strike(
    zygote: Zygote, database: Database, point: str, kind: str, intake: str, outcome: str
) -> Findings:
    """One journey with one fault; what the audit after a restart finds."""
    struck = ""
    async with journey(zygote, database, intake, outcome) as trip:
        for stage in STAGES:
            life = trip.gateway.life
            if stage == stage_of(point, intake, outcome):
                await trip.gateway.ask("arm", point=point, kind=kind)
            await trip.stage(stage)
            struck = struck or life.struck
        assert struck == point, f"{point} was not reached"
        return await trip.finish()


@pytest.mark.parametrize(("point", "kind", "intake", "outcome"), ONCE, ids=PASSED)
async def test_a_gateway_struck_here_loses_nothing_and_ends_what_it_began(
    zygote: Zygote, database: Database, point: str, kind: str, intake: str, outcome: str
) -> None:
    found = await strike(zygote, database, point, kind, intake, outcome)
    assert not found, found


def test_every_fault_point_is_struck() -> None:
    assert [*(point for point, *_ in ONCE), *ERASING] == list(POINTS)
    assert {kind for _, kind, *_ in ONCE} == set(KINDS)


def _deny(journal: dict, nodes: Nodes, rows: Rows) -> None:
    journal["Second?"] = "due"


def _forget(journal: dict, nodes: Nodes, rows: Rows) -> None:
    nodes.clear()


def _swap(journal: dict, nodes: Nodes, rows: Rows) -> None:
    nodes[0]["First?"]["choice"] = "two"


def _repeat(journal: dict, nodes: Nodes, rows: Rows) -> None:
    nodes.append(nodes[-1] | {"task": "another"})


def _forge(journal: dict, nodes: Nodes, rows: Rows) -> None:
    del rows["audit"][0]


def _reveal(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["flaw"].append({"what": "as the product says"})


def _hold(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["delivery"][0]["status"] = "queued"


def _lease(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["thread_lease"][0]["owner"] = "somebody"


def _pause(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["run"][0]["status"] = "waiting"


def _stop(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["run"][0]["stop_at"] = 1


def _wait(journal: dict, nodes: Nodes, rows: Rows) -> None:
    rows["waits"].append({"question": "Second?"})


TAMPERED = {
    "lost": (_deny, _forget),
    "wrong": (_swap, _repeat, _forge, _reveal),
    "stuck": (_hold, _lease, _pause, _stop, _wait),
}


async def test_the_audit_finds_what_was_tampered_with(zygote: Zygote, tmp_path: Path) -> None:
    async with journey(zygote, Database("sqlite", tmp_path), "api", "answered") as trip:
        for stage in STAGES:
            await trip.stage(stage)
        rows, nodes = await trip.evidence()
    told = (trip.client.journal, nodes, rows)
    assert not audit("answered", *told)
    for name, ways in TAMPERED.items():
        for tamper in ways:
            changed = copy.deepcopy(told)
            tamper(*changed)
            assert getattr(audit("answered", *changed), name), tamper.__name__


@pytest.mark.slow
@pytest.mark.parametrize("intake", INTAKES)
@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_a_journey_without_faults_passes_every_point_in_the_stage_that_is_said(
    zygote: Zygote, database: Database, intake: str, outcome: str
) -> None:
    last: dict[str, str] = {}
    async with journey(zygote, database, intake, outcome) as trip:
        for stage in STAGES:
            await trip.stage(stage)
            last |= dict.fromkeys(await trip.gateway.ask("passed"), stage)
        found = await trip.finish()
    assert not found, found
    assert last == {point: stage_of(point, intake, outcome) for point in PASSED if passes(point, outcome)}


@pytest.mark.slow
@pytest.mark.parametrize(("point", "kind", "intake", "outcome"), PRODUCT)
async def test_every_fault_at_every_point_for_every_intake_and_outcome(
    zygote: Zygote,
    database: Database,
    request: pytest.FixtureRequest,
    point: str,
    kind: str,
    intake: str,
    outcome: str,
) -> None:
    found = await strike(zygote, database, point, kind, intake, outcome)
    tally(request.config, f"the product on {database.dialect}").add(found)
    assert not found, found
