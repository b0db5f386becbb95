"""A person starts an agent by a message, hears how it ends, and can stop it while it works."""

import asyncio

import pytest

from answerback.agent import State, Target
from answerback.errors import AgentUnavailable
from answerback.model import Answer, Json, RunStatus
from answerback.settings import Plugin, Route
from answerback.store.runs import Run
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

SPANS = {"default": None, "quick": 60.0}


class Recording(ScriptedAgent):
    """Keeps what it was started with. Works without an end while `free` is not set; may be `broken`."""

    def __init__(self, *steps: object, name: str = "research") -> None:
        super().__init__(*steps, name=name)
        self.inputs: list[Json] = []
        self.free = asyncio.Event()
        self.free.set()
        self.broken = False

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        self.inputs.append(input)
        if self.broken:
            raise AgentUnavailable("its disk is full")
        await self.free.wait()
        return await super().start(thread, input, run)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        await self.free.wait()
        return await super().resume(thread, target, answer, again=again)


def agents(**more: object) -> dict[str, Plugin]:
    """Alice may start research, Ben nothing."""
    research = Plugin("research", "x", **{"may_start": ("alice",), "input_key": "topic", **more})
    return {"research": research, "tutor": Plugin("tutor", "x")}


async def runs(g: Gateway) -> tuple[Run, ...]:
    return (await g.app.runner.list()).items


async def starts(g: Gateway, text: str, who: str = "1001", **more: object) -> None:
    """Somebody writes it, and the clock looks at what is due."""
    await g.types(who, text, **more)
    await g.sweep()


class TestStarting:
    async def test_it_takes_the_agents_route_and_asks_whoever_started_it(self, database: Database) -> None:
        routes = {
            name: Route(name, ("ben",), ("memory",), expires_in=seconds) for name, seconds in SPANS.items()
        }
        agent = Recording(asks("Which tea?"))
        async with gateway(database, agent, agents=agents(route="quick"), routes=routes) as g:
            await starts(g, "run research tea")
            (record,) = (await g.app.reader.interactions()).items
            assert (record.route["expires_in"], record.route["ask"]) == (60.0, ["alice"])

    async def test_run_starts_the_agent_with_the_rest_as_its_input(self, database: Database) -> None:
        agent = Recording(asks("Which tea?"))
        async with gateway(database, agent, agents=agents()) as g:
            await starts(g, "run research Where does tea  come from?")
            assert g.memory.titles("1001") == ["Research has started.", "Which tea?"]
            (run,) = await runs(g)
            assert (run.agent, run.status) == ("research", RunStatus.WAITING)
            await g.types("1001", "green")
            assert (await g.settled(run.id)).result == ["green"]
        assert agent.inputs == [{"topic": "Where does tea  come from?"}]

    @pytest.mark.parametrize(
        ("text", "key", "wanted"),
        [
            ("/run research", "topic", {}),
            ("/run Research tea", "topic", {"topic": "tea"}),
            ("run research tea", "messages", {"messages": [{"role": "user", "content": "tea"}]}),
        ],
    )
    async def test_what_a_text_becomes_stands_in_the_configuration(
        self, database: Database, text: str, key: str, wanted: Json
    ) -> None:
        agent = Recording()
        async with gateway(database, agent, agents=agents(input_key=key)) as g:
            await starts(g, text)
        assert agent.inputs == [wanted]

    async def test_whoever_started_it_is_asked_and_nobody_else(self, database: Database) -> None:
        agent = Recording(asks("Which tea?"))
        async with gateway(database, agent, agents=agents(may_start=("alice", "ben"))) as g:
            await starts(g, "run research tea", "2002")
            assert g.memory.titles("2002") == ["Research has started.", "Which tea?"]
            assert g.memory.titles("1001") == []

    async def test_whoever_started_it_hears_the_end_though_nothing_was_asked(
        self, database: Database
    ) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await starts(g, "run research tea")
            assert g.memory.titles("1001")[1:] == ["📄 Research is done."]

    async def test_whoever_started_it_hears_that_it_never_began(self, database: Database) -> None:
        agent = Recording()
        agent.broken = True
        async with gateway(database, agent, agents=agents()) as g:
            await starts(g, "run research tea")
            for _ in range(12):
                await g.later(7200)
            assert [run.status for run in await runs(g)] == [RunStatus.FAILED]
            assert g.memory.titles("1001")[1:] == ["⚠️ Research stopped: its disk is full"]

    async def test_the_same_message_twice_starts_it_once(self, database: Database) -> None:
        agent = Recording(asks("Which tea?"))
        async with gateway(database, agent, agents=agents()) as g:
            event = g.memory.typed("1001", "run research tea")
            for _ in range(2):
                await g.receive(event)
                await g.sweep()
            assert len(await runs(g)) == len(agent.inputs) == 1

    async def test_law_3_a_gateway_that_dies_after_the_commit_starts_it_when_it_is_back(
        self, database: Database
    ) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await g.types("1001", "run research tea")  # and nobody looks any more
            clock, memory = g.clock, g.memory
        agent = Recording()
        async with gateway(database, agent, agents=agents(), clock=clock, providers={"memory": memory}) as g:
            await g.sweep()
            assert [run.status for run in await runs(g)] == [RunStatus.COMPLETED]
        assert agent.inputs == [{"topic": "tea"}]


class TestWhoMay:
    async def test_help_names_it_to_whoever_may_and_to_nobody_else(self, database: Database) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            for who in ("1001", "2002"):
                await g.types(who, "help")
            assert g.memory.titles("1001")[-1].endswith(", stop, /run.")
            assert g.memory.titles("2002")[-1].endswith(", stop.")

    @pytest.mark.parametrize(
        ("who", "text", "said"),
        [
            ("2002", "/run research tea", "There is no agent “research” here."),
            ("1001", "/run tutor tea", "There is no agent “tutor” here."),
            ("1001", "/run nothing", "There is no agent “nothing” here."),
            ("1001", "/run", "You can start: research. Write run, its name, and what it should do."),
            ("2002", "/run", "There is no agent that you can start here."),
        ],
    )
    async def test_law_7_nobody_starts_what_the_configuration_does_not_give_them(
        self, database: Database, who: str, text: str, said: str
    ) -> None:
        agents_ = Recording(), Recording(name="tutor")
        async with gateway(database, *agents_, agents=agents()) as g:
            await starts(g, text, who)
            assert g.memory.titles(who) == [said]
            assert await runs(g) == ()

    async def test_law_7_a_stranger_starts_nothing(self, database: Database) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await starts(g, "/run research tea", "9999")
            assert await runs(g) == ()
            assert not any("research" in title.lower() for title in g.memory.titles("9999"))

    async def test_law_7_nothing_is_started_where_others_write_too(self, database: Database) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await starts(g, "/run research tea", place="-500", private=False)
            assert await runs(g) == ()

    async def test_law_9_what_names_no_agent_of_theirs_is_an_answer(self, database: Database) -> None:
        asking = ScriptedAgent(asks("What shall I do?"))
        async with gateway(database, asking, Recording(), agents=agents()) as g:
            run = await g.run()
            await g.types("1001", "run tests again")
            assert (await g.settled(run.id)).result == ["run tests again"]

    async def test_a_text_that_cannot_be_kept_starts_nothing_and_is_named(self, database: Database) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await starts(g, "run research te\x00a")
            assert "cannot be kept" in g.memory.titles("1001")[-1]
            assert await runs(g) == ()


class TestStoppingWhileItWorks:
    async def test_who_started_it_stops_it(self, database: Database) -> None:
        agent = Recording(asks("Which tea?"))
        agent.free.clear()
        async with gateway(database, agent, agents=agents()) as g:
            await g.types("1001", "run research tea")
            await g.app.runner.pump()
            assert await writes(g, "stop") == "Research was stopped, as you asked."
            agent.free.set()
            await g.app.idle()
            assert g.memory.titles("1001") == ["Research has started.", "Research was stopped, as you asked."]
            assert [run.status for run in await runs(g)] == [RunStatus.CANCELLED]

    async def test_law_7_who_was_asked_in_it_stops_it_and_nobody_else(self, database: Database) -> None:
        agent = Recording(asks("Which tea?"), asks("And with it?"))
        async with gateway(database, agent, agents=agents()) as g:
            run = await g.run("research")
            agent.free.clear()
            await writes(g, "green")
            for who in ("2002", "9999"):
                await writes(g, "stop", who)
                assert (await g.app.runner.get(run.id)).status is RunStatus.RUNNING
            await writes(g, "cancel")
            assert (await g.app.runner.get(run.id)).status is RunStatus.CANCELLED

    async def test_of_several_none_is_guessed_at(self, database: Database) -> None:
        agent, other = Recording(asks("Which tea?")), Recording(asks("Which goal?"), name="tutor")
        async with gateway(database, agent, other, agents=agents()) as g:
            for each in (agent, other):
                await g.run(each.name)
            for each, shown in zip((agent, other), list(g.memory.shown), strict=True):
                each.free.clear()
                await writes(g, "any", references=[shown.id])
            said = "At work for you: research, tutor. Write /stop and a name."
            assert await writes(g, "stop") == said
            assert await writes(g, "/stop nobody") == said
            assert {run.status for run in await runs(g)} == {RunStatus.RUNNING}
            await writes(g, "/stop tutor")
            assert {run.agent: run.status for run in await runs(g)} == {
                "research": RunStatus.RUNNING,
                "tutor": RunStatus.CANCELLED,
            }

    async def test_with_nothing_at_work_there_is_nothing_to_stop(self, database: Database) -> None:
        async with gateway(database, Recording(), agents=agents()) as g:
            await starts(g, "run research tea")
            await g.types("1001", "stop")
            assert g.memory.titles("1001")[-1] == "Nothing is waiting for you."


async def writes(g: Gateway, text: str, who: str = "1001", **more: object) -> str:
    """What somebody then reads, while the agents go on working."""
    await g.app.receiver.webhook("memory", g.memory.typed(who, text, **more))
    await g.app.deliverer.idle()
    return (g.memory.titles(who) or [""])[-1]
