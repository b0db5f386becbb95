"""Law 8 with real graphs: what a form demands is checked before the graph has the answer."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answerback.agent import AgentContext, digest
from answerback.errors import DoesNotFit
from answerback.model import QuestionKind, RunStatus, Written
from answerback.read import validate
from answerback.settings import Plugin
from answerback.workers import WorkerAgent
from answerback.workers.codec import pending_in, pending_out
from answerback_agents import dialects
from answerback_agents.langgraph_server import reading
from tests.flow.langgraph import demanding
from tests.flow.langgraph.harness import HERE, Harness, only, waiting
from tests.flow.langgraph.reviewed import TASK
from tests.support.databases import Database
from tests.support.gateway import gateway

pytestmark = pytest.mark.either_database

# Of one_code, as version 0.1 stores it.
DIGEST = "f0ffd1db20aa92c5810fc38ea9a4192b76157f43eff917453ff0de4c1dd0c5e5"
CODE = {"minLength": 4, "maxLength": 4, "pattern": "^[A-Z]+$"}


async def test_the_graph_never_has_what_does_not_fit(
    database: Database, harness: Harness, log: Callable[[], list[str]]
) -> None:
    mine = await harness.open("demanding.py:one_code")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        assert g.memory.shown[0].message.body == "Write exactly 4 characters. Write it like KQZX."
        for text in ("kqzx", "KQZ", "KQZXY"):
            await g.types("1001", text)
            assert g.memory.titles("1001")[-1].startswith(f"“{text}” does not fit. Write ")
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        assert log() == ["asked"]
        await g.types("1001", "KQZX")
        assert (await g.settled(run.id)).result["heard"] == ["KQZX"]
        assert log() == ["asked", "asked", "heard:KQZX"]


async def test_what_a_model_says_of_its_fields_stands_in_the_questions(harness: Harness) -> None:
    mine = await harness.open("demanding.py:booking")
    asked = {question.id: question for question in only(await mine.start("t", harness.input())).questions}
    assert asked["code"].demands == CODE
    seats = asked["seats"]
    assert (seats.kind, seats.minimum, seats.whole) == (QuestionKind.NUMBER, 1, True)
    assert seats.demands == {"multipleOf": 2}
    assert asked["mail"].demands == {"format": "email"}
    assert (asked["tags"].written, asked["tags"].demands) == (
        Written.LINES,
        {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    )


async def test_they_come_through_the_agents_own_process_and_through_its_frames(tmp_path: Path) -> None:
    plugin = Plugin("mine", "langgraph", {"graph": "demanding.py:booking"}, base_dir=str(HERE))
    agent = WorkerAgent(plugin, AgentContext(str(tmp_path / "var"), "sqlite", str(HERE)))
    async with gateway(Database("sqlite", tmp_path), agent) as g:
        run = await g.run("mine", input={"log": str(tmp_path / "log")})
        record = await g.app.reader.interaction(run.interactions[0])
        assert {question.id: question.demands is not None for question in record.questions} == {
            "code": True,
            "seats": True,
            "mail": True,
            "tags": True,
        }
        pending = await agent.pending(run.thread_id)
        wrong = dataclasses.replace(pending[0], unusable=("a", "b"), impossible="c")
        assert pending_in(json.loads(json.dumps(pending_out((wrong,))))) == (wrong,)


async def test_the_arguments_of_a_call_are_held_to_those_of_its_tool(harness: Harness) -> None:
    mine = await harness.open("reviewed.py:one_a_call")
    first, second = waiting(await mine.start("t", TASK))
    asked = {each.questions[0].action.name: each.questions[0] for each in (first, second)}
    assert validate(asked["refund"], changed(90.5)) == changed(90.5)
    with pytest.raises(DoesNotFit, match="amount must be a number"):
        validate(asked["refund"], changed("much"))
    assert asked["wipe"].demands is None  # it may not be changed


def changed(amount: Any) -> dict[str, Any]:
    return {"decision": "edit", "args": {"customer": "c_8812", "amount": amount}}


async def test_a_form_that_nothing_fits_fails_the_run_and_says_so_again_when_it_is_tried_again(
    database: Database, harness: Harness
) -> None:
    mine = await harness.open("demanding.py:impossible")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        why = "No answer could ever fit what it demands. The schema: minLength is 5 and maxLength is 3, which"
        assert run.status is RunStatus.FAILED and run.error.startswith(why)
        await g.app.runner.retry(run.id)
        again = await g.settled(run.id)
        assert again.status is RunStatus.FAILED and again.error.startswith(why)
        assert g.memory.shown == []


async def test_a_form_that_was_corrected_is_asked_when_the_run_is_started_anew(
    database: Database, harness: Harness
) -> None:
    mine = await harness.open("demanding.py:impossible")
    async with gateway(database, mine) as g:
        failed = await g.run("mine", input=harness.input())
        (database.data_dir / "log.fixed").touch()
        run = await g.run("mine", input=harness.input(), thread_id=failed.thread_id, replace=True)
        assert run.status is RunStatus.WAITING
        await g.types("1001", "KQZXY")
        assert (await g.settled(run.id)).result["heard"] == ["KQZXY"]


async def test_what_cannot_be_used_is_asked_without_and_said(
    database: Database, harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    mine = await harness.open("demanding.py:unusable")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        assert "mine demands what is not checked: The schema: minLength “5” is no whole number" in caplog.text
        assert "The schema: the pattern “^(?=a)” cannot be matched in linear time" in caplog.text
        await g.types("1001", "b")
        assert (await g.settled(run.id)).result["heard"] == ["b"]


@pytest.mark.needs_extra("langgraph-server")
def test_one_on_a_server_is_read_alike() -> None:
    schema: dict[str, Any] = {"type": "string", "minLength": 5, "maxLength": 3, "pattern": "("}
    state = {"tasks": [{"interrupts": [{"id": "i", "value": "Which?", "response_schema": schema}]}]}
    (pending,) = reading.pending(state, None)
    read = dialects.read("Which?", schema=schema)
    assert (pending.unusable, pending.impossible) == (read.unusable, read.impossible)
    assert len(read.unusable) == 1 and read.impossible


async def test_the_digest_is_that_of_what_the_graph_said_as_it_always_was(harness: Harness) -> None:
    mine = await harness.open("demanding.py:one_code")
    asked = only(await mine.start("t", harness.input()))
    assert asked.digest == digest(["Which code?", demanding.CODE]) == DIGEST
