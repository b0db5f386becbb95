"""Stand-ins that fail: tried again, passed over, or the end of what they were asked, as configured."""

import asyncio

import pytest

from answerback.agent import Failed, State, Target
from answerback.ask import AskRequest
from answerback.errors import DoesNotFit, NotPending
from answerback.model import (
    Answer,
    InteractionStatus,
    Json,
    Question,
    QuestionKind,
    RunStatus,
    StandsIn,
)
from answerback.provider import (
    Message,
    ProviderContext,
    Sent,
    TryLater,
    Undeliverable,
    answering,
)
from answerback.run import Run, RunRequest
from answerback.settings import Hitl, Plugin
from answerback.testing import ManualClock, ScriptedAgent
from answerback_providers.scripted import Scripted
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.stand_ins import TEXT, Stand, again, ask, routed

GO = Question("q", "Go?")
WIPE = Question("q", "Wipe production?", QuestionKind.CONFIRM)
LLM = Hitl(mode="llm")
BUSY = "busy"
REASON = "the stand-in llm failed: busy"


def failing(*more: Json, times: int = 1, **settings: Json) -> Stand:
    """A model whose service is busy so many times, and answers after that."""
    return Stand("llm", *(TryLater(30, BUSY) for _ in range(times)), *more, **settings)


async def reasons(g: Gateway) -> list[str]:
    return [letter.reason for letter in (await g.app.letters.list()).items]


# -- retry


async def test_as_it_comes_it_is_tried_again_and_people_are_asked_beside_it(database: Database) -> None:
    llm = failing("x", times=2)
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        record = await ask(g)
        assert g.memory.titles("1001") == []
        await g.later(31)
        assert g.memory.titles("1001") == ["Which costing?"]
        await g.later(31)
        assert (await again(g, record)).answered_via == "llm" and len(llm.asked) == 3


async def test_after_so_many_attempts_it_is_given_up(database: Database) -> None:
    llm = failing("too late", times=3, attempts=3)
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        record = await ask(g)
        for _ in range(5):
            await g.later(60)
        assert len(llm.asked) == 3 and (await again(g, record)).status is InteractionStatus.PENDING
        assert await reasons(g) == ["A question could not be sent on llm: busy."]


async def test_one_that_raises_is_given_up_after_as_many(database: Database) -> None:
    llm = Stand("llm", *(RuntimeError("a bug") for _ in range(9)), attempts=2)
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        await ask(g)
        for _ in range(5):
            await g.later(60)
        assert len(llm.asked) == 2 and g.memory.titles("1001") == ["Which costing?"]


async def test_people_who_were_asked_beside_it_are_not_overtaken_when_it_is_given_up(
    database: Database,
) -> None:
    llm, spare = failing(times=9, attempts=3), Stand("spare", "x")
    providers = {"llm": llm, "spare": spare}
    async with gateway(database, providers=providers, hitl=LLM, routes=routed("spare")) as g:
        await ask(g)
        for _ in range(5):
            await g.later(60)
        assert len(llm.asked) == 3 and g.memory.titles("1001") == ["Which costing?"] and spare.asked == []


async def test_what_can_never_work_is_not_tried_again_however_many_attempts_are_left(
    database: Database,
) -> None:
    llm = Stand("llm", Undeliverable("the key is not valid"), "x", attempts=50)
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        await ask(g)
        await g.later(600)
        assert len(llm.asked) == 1 and g.memory.titles("1001") == ["Which costing?"]


# -- next


async def test_whoever_is_next_is_asked_at_once_and_it_is_not_tried_again(database: Database) -> None:
    llm = failing("too late", on_error="next")
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        record = await ask(g)
        assert g.memory.titles("1001") == ["Which costing?"]
        await g.later(600)
        assert len(llm.asked) == 1
        await g.types("1001", "mine")
        assert (await again(g, record)).answered_by == "alice"


async def test_the_next_one_is_the_next_stand_in_where_there_is_one(database: Database) -> None:
    providers = {"llm": failing(on_error="next"), "spare": Stand("spare", "x")}
    routes = routed("llm", "spare", ask=())
    async with gateway(database, providers=providers, routes=routes) as g:
        assert (await ask(g)).answered_via == "spare"


async def test_with_attempts_nobody_is_asked_before_they_are_used_up(database: Database) -> None:
    llm = failing("x", times=3, on_error="next", attempts=3)
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        await ask(g)
        await g.later(31)
        assert g.memory.titles("1001") == []
        await g.later(31)
        assert g.memory.titles("1001") == ["Which costing?"]


async def test_without_people_what_it_leaves_ends_as_silence_does(database: Database) -> None:
    """Law 6: a stand-in that fails approves nothing."""
    agent = ScriptedAgent(WIPE)
    llm = failing(True, on_error="next", may_approve=True)
    hitl = Hitl(enabled=False, mode="llm")
    async with gateway(database, agent, providers={"llm": llm}, hitl=hitl) as g:
        run = await g.run()
        await g.sweep()
        assert (await g.settled(run.id)).result == [None]
        assert agent.journal[0][2].expired and g.memory.shown == []


# -- fail


@pytest.mark.parametrize("error", [TryLater(30, BUSY), Undeliverable(BUSY)], ids=["away", "for good"])
async def test_law_6_a_question_ends_with_the_reason_and_no_person_is_asked(
    database: Database, error: Exception
) -> None:
    async with gateway(database, providers={"llm": Stand("llm", error, "x", on_error="fail")}, hitl=LLM) as g:
        record = await ask(g)
        assert (record.status, record.reason) == (InteractionStatus.CANCELLED, REASON)
        assert record.answer is None and record.answered_by == ""
        await g.later(600)
        assert g.memory.shown == [] and await reasons(g) == []


async def test_whoever_waits_for_it_hears_at_once_that_it_ended(database: Database) -> None:
    llm = Slow(on_error="fail")
    async with gateway(database, providers={"llm": llm}, hitl=LLM) as g:
        asked = await g.app.asker.ask(AskRequest((TEXT,)))
        with g.app.context.signals.hearing(asked.interaction.id) as changed:
            await llm.begun.wait()
            llm.failed.set()
            async with asyncio.timeout(10):
                await changed.wait()
        assert (await again(g, asked.interaction)).status is InteractionStatus.CANCELLED


class Slow(Stand):
    """Fails when it is told to."""

    def __init__(self, **settings: Json) -> None:
        super().__init__("llm", **settings)
        self.begun, self.failed = asyncio.Event(), asyncio.Event()

    async def send(self, message: Message) -> Sent:
        self.begun.set()
        await self.failed.wait()
        raise TryLater(30, BUSY)


async def test_law_6_the_run_that_asks_has_failed_and_its_agent_was_given_nothing(database: Database) -> None:
    """Law 6: a stand-in that fails approves nothing."""
    agent = ScriptedAgent(WIPE)
    llm = failing(True, on_error="fail", may_approve=True)
    async with gateway(database, agent, providers={"llm": llm}, hitl=LLM) as g:
        run = await g.run()
        await g.later(600)
        run = await g.settled(run.id)
        assert (run.status, run.error, run.result) == (RunStatus.FAILED, REASON, None)
        assert agent.journal == [] and g.memory.shown == []
        assert await reasons(g) == ["scripted failed: the stand-in llm failed: busy."]


async def test_the_run_can_be_tried_again_once_the_cause_is_mended(database: Database) -> None:
    agent = ScriptedAgent(TEXT)
    async with gateway(database, agent, providers={"llm": failing("x", on_error="fail")}, hitl=LLM) as g:
        run = await g.run()
        await g.app.runner.retry(run.id)
        run = await g.settled(run.id)
        assert (run.status, run.result, len(run.interactions)) == (RunStatus.COMPLETED, ["x"], 2)


async def test_everybody_who_was_asked_in_the_run_hears_how_it_ended(database: Database) -> None:
    agent = ScriptedAgent(TEXT, WIPE)
    llm = Stand("llm", None, Undeliverable("the key is not valid"), on_error="fail")
    async with gateway(database, agent, providers={"llm": llm}, hitl=LLM) as g:
        await g.run()
        await g.types("1001", "absorption")
        assert g.memory.shown[-1].message.title == (
            "⚠️ Scripted stopped: the stand-in llm failed: the key is not valid"
        )
        assert [button.label for button in g.memory.shown[-1].message.buttons][:1] == ["Try again"]
        assert "Wipe production?" not in g.memory.titles("1001")


async def test_what_else_the_run_asks_is_withdrawn_and_whoever_was_asked_is_told(database: Database) -> None:
    agent = ScriptedAgent([TEXT, WIPE])
    llm = Stand("llm", None, TryLater(30, BUSY), on_error="fail", attempts=2)
    llm.answers.append(TryLater(30, BUSY))
    async with gateway(database, agent, providers={"llm": llm}, hitl=LLM) as g:
        run = await g.run()
        (shown,) = g.memory.shown
        await g.later(31)
        assert (await g.settled(run.id)).status is RunStatus.FAILED
        assert next(each for each in g.memory.shown if each.id == shown.id).edited
        ended = [await g.app.reader.interaction(id) for id in run.interactions]
        assert {record.status for record in ended} == {InteractionStatus.CANCELLED}
        assert {record.reason for record in ended} == {REASON}


async def test_an_answer_to_what_else_it_asks_that_is_on_its_way_is_given_and_leaves_nothing_stuck(
    database: Database,
) -> None:
    agent, slow = ScriptedAgent([TEXT, WIPE]), SlowFor("Wipe production?", on_error="fail")
    async with gateway(database, agent, providers={"llm": slow}, hitl=LLM) as g:
        run = await g.app.runner.start(RunRequest("scripted"))
        await slow.begun.wait()
        slow.failed.set()
        run = await g.settled(run.id)
        await g.later(600)
        run = await g.settled(run.id)
        assert run.status is RunStatus.FAILED and [text for _, text, _ in agent.journal] == ["Which costing?"]
        found = [await g.app.reader.interaction(id) for id in run.interactions]
        assert InteractionStatus.PENDING not in {record.status for record in found}


class SlowFor(Slow):
    """Answers at once whatever does not have this title, and fails at what has it when it is told to."""

    def __init__(self, title: str, **settings: Json) -> None:
        super().__init__(**settings)
        self._title = title

    async def send(self, message: Message) -> Sent:
        if message.title != self._title:
            return Sent(replies=(answering(message, "x"),))
        return await super().send(message)


class Partly(Slow):
    """Declines what is asked first, answers what it knows, and fails at what it does not until it works."""

    works = False

    async def send(self, message: Message) -> Sent:
        if message.title == GO.text:
            return Sent(declined="it is not mine to say")
        if message.asked is None or message.title == TEXT.text:
            return Sent(replies=(answering(message, "x"),)) if message.asked else Sent()
        return Sent(replies=(answering(message, False),)) if self.works else await super().send(message)


class Thinking(ScriptedAgent):
    """It takes an answer to `title` when it may, and then does what `then` says."""

    def __init__(self, *steps: Question | list[Question], title: str) -> None:
        super().__init__(*steps)
        self._title, self.may, self.begun = title, asyncio.Event(), asyncio.Event()
        self.then: Exception | State | None = None

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if all(each.questions[0].text != self._title for each in await self.pending(thread)):
            return await super().resume(thread, target, answer, again=again)
        self.begun.set()
        await self.may.wait()
        if isinstance(self.then, Exception):
            raise self.then
        state = await super().resume(thread, target, answer, again=again)
        return self.then or state


@pytest.mark.parametrize(
    "then",
    [
        None,
        Failed("ValueError: a bug"),
        NotPending("gone"),
        DoesNotFit("not like that"),
        RuntimeError("a bug"),
    ],
    ids=["it waits on", "it fails", "it moved on", "it refuses the answer", "it cannot be given it"],
)
async def test_of_a_run_that_ended_with_it_nobody_hears_twice_whatever_becomes_of_an_answer_on_its_way(
    database: Database, then: Exception | State | None
) -> None:
    agent, llm = Thinking(GO, [TEXT, WIPE], title=TEXT.text), Partly(on_error="fail")
    agent.then = then
    async with gateway(database, agent, providers={"llm": llm}, hitl=LLM) as g:
        run = await g.run()
        await g.app.receiver.webhook("memory", g.memory.typed("1001", "yes"))
        await llm.begun.wait()
        await agent.begun.wait()
        llm.failed.set()
        ended = await stopped(g, run.id)
        agent.may.set()
        for _ in range(12):
            await g.app.idle()
            await g.later(600)
        run = await g.settled(run.id)
        assert (run.status, run.error, run.updated_at) == (RunStatus.FAILED, REASON, ended.updated_at)
        assert [title for title in g.memory.titles("1001") if "stopped" in title] == [
            f"⚠️ Scripted stopped: {REASON}"
        ]
        assert len(run.interactions) == 3  # what it waits for is asked when it is tried again


async def test_what_was_withdrawn_with_it_is_asked_when_the_run_is_tried_again(database: Database) -> None:
    agent, llm = Thinking(GO, [TEXT, WIPE], title=TEXT.text), Partly(on_error="fail")
    async with gateway(database, agent, providers={"llm": llm}, hitl=LLM) as g:
        run = await g.run()
        await g.app.receiver.webhook("memory", g.memory.typed("1001", "yes"))
        await agent.begun.wait()
        llm.failed.set()
        await stopped(g, run.id)
        agent.may.set()
        await g.app.idle()
        llm.works = True
        await g.app.runner.retry(run.id)
        run = await g.settled(run.id)
        assert (run.status, run.result) == (RunStatus.COMPLETED, ["yes", "x", False])


async def stopped(g: Gateway, run_id: str) -> Run:
    async with asyncio.timeout(10):
        while (run := await g.app.runner.get(run_id)).status is not RunStatus.FAILED:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    return run


async def test_an_answer_that_comes_after_it_counts_for_nothing(database: Database) -> None:
    async with gateway(database, providers={"llm": failing(on_error="fail")}, hitl=LLM) as g:
        record = await ask(g)
        with pytest.raises(Exception, match="cancelled"):
            await g.app.receiver.respond(record.id, "late", by="alice", via="api")


async def test_what_people_were_asked_before_it_stays_open_to_them(database: Database) -> None:
    """Law 10: one that fails takes no question away from somebody who can answer it."""
    llm = failing(times=9, on_error="fail")
    routes = routed("llm", stand_ins_after=60.0)
    async with gateway(database, providers={"llm": llm}, routes=routes) as g:
        record = await ask(g)
        await g.later(61)
        assert len(llm.asked) == 1 and (await again(g, record)).status is InteractionStatus.PENDING
        await g.types("1001", "mine")
        assert (await again(g, record)).answered_by == "alice"


async def test_law_2_an_answer_that_was_quicker_stands(database: Database) -> None:
    llm = Slow(on_error="fail")
    async with gateway(database, ScriptedAgent(TEXT), providers={"llm": llm}, hitl=LLM) as g:
        asked = await g.app.asker.ask(AskRequest((TEXT,)))
        await llm.begun.wait()
        await g.app.receiver.respond(asked.interaction.id, "by api", by="alice", via="api")
        llm.failed.set()
        await g.app.idle()
        assert (await again(g, asked.interaction)).status is InteractionStatus.COMPLETED


async def test_to_have_no_answer_is_no_failure(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", None, on_error="fail")}, hitl=LLM) as g:
        record = await ask(g)
        assert record.status is InteractionStatus.PENDING
        assert g.memory.titles("1001") == ["Which costing?"]


async def test_an_answer_that_it_may_not_give_is_no_failure_either(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", True, on_error="fail")}, hitl=LLM) as g:
        record = await ask(g, WIPE)
        assert record.status is InteractionStatus.PENDING
        assert g.memory.titles("1001") == ["Wipe production?"]


@pytest.mark.parametrize("alone", [False, True], ids=["first", "on the route"])
async def test_law_10_what_the_agent_refuses_is_not_said_again_without_end(
    database: Database, alone: bool
) -> None:
    agent, robot = ScriptedAgent(GO), Stand("robot", *["x"] * 50)
    agent.failures = [DoesNotFit("not like that")] * 50
    settings = {"routes": routed("robot", ask=())} if alone else {"hitl": Hitl(mode="robot")}
    async with gateway(database, agent, providers={"robot": robot}, **settings) as g:
        run = await g.run()
        assert run.status is RunStatus.WAITING
        assert [message.asked is not None for message in robot.asked] == [True] * 3
        assert g.memory.titles("1001") == ([] if alone else ["Go?"])
        agent.failures = []
        if not alone:
            await g.types("1001", "as a person says it")
            assert (await g.settled(run.id)).result == ["as a person says it"]


async def test_law_10_other_questions_and_other_runs_go_on(database: Database) -> None:
    """Law 10."""
    agents = ScriptedAgent(TEXT), ScriptedAgent(TEXT, name="other")
    only = {"other": Plugin("other", "langgraph", human_only=True)}
    async with gateway(
        database, *agents, providers={"llm": failing(on_error="fail")}, hitl=LLM, agents=only
    ) as g:
        people = await g.run("other")
        assert (await g.run()).status is RunStatus.FAILED
        await g.types("1001", "mine")
        assert (await g.settled(people.id)).result == ["mine"]


async def test_what_it_is_told_and_does_not_take_ends_nothing(database: Database) -> None:
    """Only a question that it fails at ends: not what a terminal is told of others."""

    class Deaf(Stand):
        async def send(self, message: Message) -> Sent:
            if message.asked is None:
                raise Undeliverable("it hears nothing")
            return await super().send(message)

    deaf = Deaf("llm", "x", kind=StandsIn.TERMINAL, on_error="fail")
    agent = ScriptedAgent(TEXT)
    async with gateway(database, agent, providers={"llm": deaf}, hitl=LLM) as g:
        assert (await g.run()).status is RunStatus.COMPLETED


async def test_a_script_that_runs_out_can_end_a_rehearsal(database: Database) -> None:
    settings = Scripted.Settings.model_validate({"answers": ["blue"], "on_error": "fail"})
    script = Scripted("script", settings, ProviderContext())
    agent = ScriptedAgent(TEXT, WIPE)
    async with gateway(database, agent, providers={"script": script}, hitl=Hitl(mode="script")) as g:
        run = await g.run()
        assert run.status is RunStatus.FAILED and g.memory.shown == []
        assert "the stand-in script failed: the script has no answer left for “Wipe production?”" in run.error


# -- killed


async def test_what_was_being_asked_when_the_process_died_is_asked_again_and_counts_as_an_attempt(
    database: Database,
) -> None:
    clock, slow = ManualClock(), Slow(on_error="fail", attempts=2)
    async with gateway(database, providers={"llm": slow}, hitl=LLM, clock=clock) as g:
        asked = await g.app.asker.ask(AskRequest((TEXT,)))
        await slow.begun.wait()
    async with gateway(database, providers={"llm": failing(on_error="fail")}, hitl=LLM, clock=clock) as g:
        await g.later(61)
        assert (await again(g, asked.interaction)).reason == REASON


async def test_law_3_a_failure_that_was_written_down_is_told_by_whoever_comes_next(
    database: Database,
) -> None:
    clock, agent = ManualClock(), ScriptedAgent(TEXT, WIPE)
    slow = Stand("llm", None, Undeliverable(BUSY), on_error="fail")
    async with gateway(database, agent, providers={"llm": slow}, hitl=LLM, clock=clock) as g:
        run = await g.run()
        await g.app.receiver.webhook("memory", g.memory.typed("1001", "absorption"))
        send = g.app.context.signals.deliver
        g.app.context.signals.deliver = lambda rows: send([row for row in rows if row["kind"] == "question"])
        assert (await g.settled(run.id)).status is RunStatus.FAILED
        told = g.memory.titles("1001")
    async with gateway(database, agent, providers={"llm": Stand("llm")}, hitl=LLM, clock=clock) as g:
        await g.later(61)
        assert not any("stopped" in title for title in told)
        assert any("Scripted stopped" in title for title in g.memory.titles("1001"))
        assert (await g.app.runner.get(run.id)).status is RunStatus.FAILED
