"""Law 10 through a whole gateway: real graphs that block, crash, print and hoard harm nothing else."""

import asyncio
import logging
import os
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

import answerback
import answerback_agents as agents
from answerback import settings
from answerback.agent import AgentContext
from answerback.cli.site import site
from answerback.errors import ConfigurationError
from answerback.model import InteractionStatus, RunStatus
from answerback.run import RunRequest
from answerback.settings import ApiKey, Plugin, Settings
from answerback.testing import ScriptedAgent, asks
from answerback.workers import WorkerAgent, in_workers
from tests.flow.workers.support import (
    HERE,
    brought_to_an_end,
    gone,
    graph,
    has,
    journal,
    plain,
    until,
)
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.needs_extra("langgraph")
KEY = "0123456789abcdef"


@pytest.fixture
def light(tmp_path: Path) -> Database:
    """SQLite only, for what has nothing to do with the database."""
    return Database("sqlite", tmp_path)


def given(database: Database, **more: str) -> dict[str, str]:
    return {"folder": str(database.data_dir), **more}


def http(g: Gateway) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {KEY}"}
    return through(site(g.app), "http://gateway", headers=headers)


async def test_the_whole_loop_through_a_worker(database: Database) -> None:
    async with gateway(database, graph("good", database)) as g:
        run = await g.run("good", input=given(database))
        assert run.status is RunStatus.WAITING
        assert g.memory.titles("1001") == ["Which term?"]
        await g.taps("1001", "Coding")
        assert g.memory.titles("1001")[-1] == "And why?"
        await g.types("1001", "because\nof 😀")
        run = await g.settled(run.id)
        assert run.status is RunStatus.COMPLETED
        assert run.result["heard"] == ["Coding", "because\nof 😀"]
        assert journal(database) == ["asked", "reported"]


async def test_options_reach_a_factory_in_a_worker_as_they_stand_in_the_file(light: Database) -> None:
    written = (
        "agents:\n  mine:\n    use: langgraph\n    graph: graphs.py:with_options\n"
        "    options: {start: 22:00, hitl: no, days: [1, {more: 2.50}]}\n"
    )
    parsed = settings.parse(written, file=str(HERE / "answerback.yaml"), environ={})
    context = AgentContext(str(light.data_dir / "var"), light.url, str(HERE))
    async with gateway(light, *in_workers(parsed, context).values()) as g:
        run = await g.run("mine", input=given(light))
        assert run.result["heard"] == [{"start": "22:00", "hitl": "no", "days": ["1", {"more": "2.50"}]}]


async def test_what_waits_outlives_the_worker_and_the_gateway(light: Database) -> None:
    async with gateway(light, graph("good", light)) as g:
        run = await g.run("good", input=given(light))
    agent = graph("good", light)
    async with gateway(light, agent) as g:
        await agent._worker.kill("was ended by a test")
        await until(lambda: agent.state == "")
        interaction = (await g.app.runner.get(run.id)).interactions[0]
        await g.app.receiver.respond(interaction, "Coding", by="alice", via="api")
        await g.app.idle()
        assert g.memory.titles("1001")[-1] == "And why?"


@pytest.mark.parametrize("how", ["killed", "killed by the kernel", "out of memory", "segfault", "exit"])
async def test_a_crash_after_the_answer_is_reconciled_and_the_answer_is_given_once(
    light: Database, how: str
) -> None:
    beside = ScriptedAgent(asks("Still there?"))
    agent = graph("crashing", light, memory_limit=4 << 30)
    async with gateway(light, agent, beside) as g:
        run = await g.run("crashing", input=given(light, how=how, where="asked"))
        await g.taps("1001", "Coding")
        run = await g.app.runner.get(run.id)
        assert run.status in (RunStatus.RUNNING, RunStatus.WAITING)
        assert (await g.run()).status is RunStatus.WAITING
        ended = await brought_to_an_end(g, run.id)
        assert (ended.status, ended.result["heard"]) == (RunStatus.COMPLETED, ["Coding"])
        assert journal(light) == ["asked", "asked", "reported"]
        interaction = await g.app.reader.interaction(run.interactions[0])
        assert (interaction.status, interaction.resume_attempts) == (InteractionStatus.COMPLETED, 2)


@pytest.mark.parametrize("name", ["quitting", "quitting_at_once"])
async def test_law_10_a_step_that_ends_the_program_fails_its_own_run_and_no_other(
    light: Database, name: str
) -> None:
    agent = graph(name, light)
    async with gateway(light, agent) as g:
        run = await g.run(name, input=given(light, how="sys.exit"))
        beside = await g.run(name, input=given(light, how="sys.exit"))
        interaction = run.interactions[0]
        await g.app.receiver.respond(interaction, "a.txt", by="alice", via="api")
        ended = await g.settled(run.id)
        assert (ended.status, ended.error) == (RunStatus.FAILED, "SystemExit: usage: …")
        assert agent.state == ""
        assert (await g.settled(beside.id)).status is RunStatus.WAITING
        await g.app.runner.retry(run.id)
        assert (await g.settled(run.id)).status is RunStatus.WAITING  # nothing was stored: it is asked again


@pytest.mark.parametrize("name", ["quitting", "quitting_at_once"])
async def test_what_is_no_exception_fails_its_run_and_does_not_keep_it_at_work(
    light: Database, name: str
) -> None:
    async with gateway(light, graph(name, light)) as g:
        run = await g.run(name, input=given(light, how="panic"))
        assert (run.status, run.error) == (RunStatus.FAILED, "Panic: index out of bounds")


async def test_a_crash_in_the_next_step_does_not_give_the_answer_again(database: Database) -> None:
    async with gateway(database, graph("crashing", database)) as g:
        run = await g.run("crashing", input=given(database, how="segfault", where="reported"))
        await g.taps("1001", "Coding")
        ended = await brought_to_an_end(g, run.id)
        assert (ended.status, ended.result["heard"]) == (RunStatus.COMPLETED, ["Coding"])
        assert journal(database) == ["asked", "reported", "reported"]


async def test_one_that_crashes_every_time_is_set_aside_after_some_tries(light: Database) -> None:
    async with gateway(light, plain(light.data_dir, kind="Doomed")) as g:
        run = await g.run("plain")
        await g.types("1001", "yes")
        ended = await brought_to_an_end(g, run.id)
        assert ended.status is RunStatus.FAILED
        assert "ended with exit code 1" in ended.error


async def test_a_start_that_crashed_goes_on_instead_of_starting_over(light: Database) -> None:
    async with gateway(light, graph("crashing_start", light)) as g:
        run = await g.run("crashing_start", input=given(light, how="killed", where="reported"))
        assert (await brought_to_an_end(g, run.id)).status is RunStatus.COMPLETED
        assert journal(light) == ["began", "reported", "reported"]


async def test_a_step_that_never_awaits_holds_up_neither_the_gateway_nor_another_agent(
    light: Database,
) -> None:
    key = ApiKey("test", SecretStr(KEY))
    beside = ScriptedAgent(asks("Which?", "A", "B"))
    async with gateway(light, graph("blocking", light), beside, api_keys=(key,)) as g, http(g) as client:
        blocked = await g.app.runner.start(RunRequest("blocking", given(light)))
        await until(lambda: "blocking" in journal(light))
        for number in range(10):
            body = {"question": f"Number {number}?"}
            asked = await client.post("/v1/interactions", json=body)
            assert asked.status_code == 201
            path = f"/v1/interactions/{asked.json()['id']}"
            answered = await client.post(f"{path}/respond", json={"response": "yes"})
            assert answered.status_code == 200
        started = await client.post("/v1/runs", json={"agent": "scripted"})
        await has(g, started.json()["id"], RunStatus.WAITING)
        await until(lambda: "Which?" in g.memory.titles("1001"))
        await g.app.receiver.webhook("memory", g.memory.tapped("1001", "A"))
        await has(g, started.json()["id"], RunStatus.COMPLETED)
        assert (await client.get("/-/ready")).status_code == 200
        assert journal(light) == ["blocking"]
        assert (await g.app.runner.get(blocked.id)).status is RunStatus.RUNNING
        (light.data_dir / "go-on").touch()
        await has(g, blocked.id, RunStatus.COMPLETED)


async def test_one_that_prints_a_hundred_megabytes_is_heard_a_little_and_goes_on(
    light: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "answerback.workers")
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with gateway(light, graph("shouting", light)) as g:
        watching = asyncio.create_task(watch())
        run = await g.run("shouting", input=given(light))
        watching.cancel()
        assert run.status is RunStatus.WAITING
    lines = printed(caplog)
    assert len([line for line in lines if line.startswith("x")]) < 200
    assert any("more lines are not shown" in line for line in lines)
    assert sum(len(line) for line in lines) < 100_000
    assert turns > 1000  # what else the gateway has to do comes between


def printed(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if hasattr(record, "stream")]


async def test_one_that_wants_more_memory_than_it_may_have_fails_alone(light: Database) -> None:
    beside = ScriptedAgent(asks("Still there?"))
    async with gateway(light, graph("hoarding", light, memory_limit=4 << 30), beside) as g:
        run = await g.run("hoarding", input=given(light))
        assert (run.status, run.error) == (RunStatus.FAILED, "MemoryError")
        assert (await g.run()).status is RunStatus.WAITING


async def test_one_that_leaks_until_nothing_is_left_goes_on_in_a_new_process(light: Database) -> None:
    beside = ScriptedAgent(asks("Still there?"))
    async with gateway(light, graph("leaking", light, memory_limit=4 << 30), beside) as g:
        run = await g.run("leaking", input=given(light))
        assert (await g.run()).status is RunStatus.WAITING
        assert (await brought_to_an_end(g, run.id)).status is RunStatus.COMPLETED
        assert {*journal(light)} == {"leaking", "reported"}  # what was kept depends on where memory ended


async def test_what_an_agent_started_ends_with_its_worker(light: Database) -> None:
    agent = graph("leaving", light)
    async with gateway(light, agent) as g:
        await g.run("leaving", input=given(light))
        await until(lambda: gone(int(journal(light)[0])))


async def test_a_graph_that_cannot_be_loaded_is_refused_with_the_same_words_as_without_a_worker(
    light: Database,
) -> None:
    plugins = {
        name: Plugin(
            name, "langgraph", {"graph": "graphs.py:nothing"}, base_dir=str(HERE), worker=name == "worker"
        )
        for name in ("worker", "here")
    }
    settings = Settings(data_dir=str(light.data_dir), base_dir=str(HERE), agents=plugins)
    agents = in_workers(settings)
    assert isinstance(agents["worker"], WorkerAgent)
    assert not isinstance(agents["here"], WorkerAgent)
    said = []
    for agent in agents.values():
        with pytest.raises(ConfigurationError) as caught:
            await agent.open()
        said.append((str(caught.value), caught.value.file, caught.value.line))
        await agent.close()
    assert said[0] == said[1]
    assert "nothing is called “nothing” here" in said[0][0]


async def test_law_10_steps_that_are_plain_functions_and_hang_keep_no_other_run_of_their_agent_waiting(
    light: Database,
) -> None:
    usual = min(32, (os.cpu_count() or 1) + 4)  # threads of asyncio, as it comes
    async with gateway(light, graph("waiting", light)) as g:
        hang = [
            await g.app.runner.start(RunRequest("waiting", given(light, how="waits"))) for _ in range(usual)
        ]
        await until(lambda: journal(light) == ["waits"] * usual)
        run = await g.app.runner.start(RunRequest("waiting", given(light)))
        asked = await has(g, run.id, RunStatus.WAITING)
        await g.app.receiver.respond(asked.interactions[0], "Coding", by="alice", via="api")
        await has(g, run.id, RunStatus.COMPLETED)
        assert journal(light).count("waits") == usual + 1
        (light.data_dir / "goes on").touch()
        for each in hang:
            await has(g, each.id, RunStatus.WAITING)


async def test_another_python_runs_the_agent_with_its_own_packages(light: Database) -> None:
    other = light.data_dir / "python"
    other.write_text(f'#!/bin/sh\ntouch "{light.data_dir}/used"\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    agent = graph("good", light, python=str(other))
    async with gateway(light, agent) as g:
        assert (light.data_dir / "used").exists()
        assert agent._configuration()["path"] == []
        assert (await g.run("good", input=given(light))).status is RunStatus.WAITING


async def test_an_environment_of_its_own_has_packages_that_the_gateway_does_not_have(light: Database) -> None:
    python, packages = environment(light.data_dir / "environment")
    (packages / "only_there.py").write_text("import sys\nSPEAKS = f'from {sys.prefix}'\n")
    assert find_spec("only_there") is None
    agent = graph("well_equipped", light, "equipped.py", python=str(python))
    async with gateway(light, agent, graph("good", light)) as g:
        run = await g.run("well_equipped", input=given(light))
        await g.taps("1001", "Coding")
        ended = await g.settled(run.id)
        assert (ended.status, ended.error) == (RunStatus.COMPLETED, "")
        assert ended.result["heard"] == ["Coding", f"from {light.data_dir / 'environment'}"]
        assert (await g.run("good", input=given(light))).status is RunStatus.WAITING


async def test_without_it_the_same_graph_is_refused_and_says_what_it_lacks(light: Database) -> None:
    agent = graph("well_equipped", light, "equipped.py")
    with pytest.raises(ConfigurationError, match="only_there"):
        await agent.open()
    await agent.close()


def environment(folder: Path) -> tuple[Path, Path]:
    """A virtual environment's Python, and the folder of its packages.

    What this one has is not installed there anew, which takes a minute, but found by a .pth file.
    """
    venv.create(folder, symlinks=True, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    ours = [sysconfig.get_path("purelib"), *(Path(made.__file__).parents[1] for made in (answerback, agents))]
    (packages / "what-the-gateway-has.pth").write_text("".join(f"{path}\n" for path in ours))
    return folder / "bin" / "python", packages


async def test_the_gateway_goes_on_without_an_agent_that_cannot_be_used(light: Database) -> None:
    plugin = Plugin("broken", "nothing-like-it", file="a.yaml", line=4)
    agents = in_workers(Settings(data_dir=str(light.data_dir), agents={"broken": plugin}))
    beside = ScriptedAgent(asks("Still there?"))
    async with gateway(light, agents["broken"], beside) as g:
        [problem] = g.app.problems
        assert str(problem).startswith("a.yaml:4: agents.broken: no agent")
        assert (await g.run()).status is RunStatus.WAITING


async def test_one_that_is_built_here_and_cannot_be_says_so_when_it_is_opened(light: Database) -> None:
    plugin = Plugin("broken", "nothing-like-it", file="a.yaml", line=4, worker=False)
    agents = in_workers(Settings(data_dir=str(light.data_dir), agents={"broken": plugin}))
    with pytest.raises(ConfigurationError, match=r"^a.yaml:4: agents.broken: no agent"):
        await agents["broken"].open()
