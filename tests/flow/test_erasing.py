"""`retention`: what was said in what ended is erased; what laws 2 and 4 and the audit need stays."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from answerback.agent import Failed, State, Target
from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.erase import ENOUGH, Eraser
from answerback.errors import AgentUnavailable, AlreadyAnswered, Conflict, NotFound, Undeliverable
from answerback.letters import Kind
from answerback.model import Answer, Attachment, InteractionStatus, Question, RunStatus
from answerback.notices import NoticeRequest
from answerback.provider import Inbound
from answerback.run import RunRequest
from answerback.settings import ApiKey, Plugin, Route
from answerback.store import Tx, audit, runs
from answerback.store.erasing import Kind as Erasable
from answerback.store.query import Query
from answerback.tables import metadata
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

DAY = 86_400.0
MONTH = {"retention": 30 * DAY}
SAID = ("quokka", "numbat", "wombat", "dingo", "bilby", "potoroo")
SCOPES = ("ask", "read", "answer", "admin")
TABLES = {name: Query(text(f'SELECT * FROM "{name}"')) for name in metadata.tables}  # noqa: S608


async def everything(g: Gateway) -> dict[str, list[dict[str, object]]]:
    """All rows of all tables."""
    return await g.app.context.store.read(lambda tx: {name: tx.all(query) for name, query in TABLES.items()})


async def still_said(g: Gateway) -> set[tuple[str, str]]:
    """Which words stand where, in whatever table and column."""
    rows = await everything(g)
    return {
        (table, word)
        for table, found in rows.items()
        for row in found
        for value in row.values()
        for word in SAID
        if word in (value.decode() if isinstance(value, bytes) else str(value))
    }


async def after(g: Gateway, days: float) -> dict[str, int]:
    """What a sweep erased that many days later, by kind."""
    await g.later(days * DAY)
    return {str(kind): number for kind, number in (await g.app.eraser.sweep()).items() if number}


async def chain_of(g: Gateway, id: str) -> list[str]:
    """The events of an interaction's audit; its chain is whole."""
    rows = await g.app.context.store.read(lambda tx: audit.of(tx, id))
    assert [row["previous"] for row in rows[1:]] == [row["hash"] for row in rows[:-1]]
    assert all(row["hash"] == audit.link(row) for row in rows)
    return [row["event"] for row in rows]


async def test_nothing_that_was_said_is_left_anywhere(database: Database) -> None:
    agent = ScriptedAgent(asks("Where is the quokka?"), asks("And the numbat?", "Wombat", "Dingo"))
    async with gateway(database, agent, **MONTH) as g:
        run = await g.run(input={"about": "bilby"})
        await g.types("1001", "with the potoroo")
        await g.taps("1001", "Dingo")
        await g.app.notices.send(NoticeRequest("The bilby is fine.", title="potoroo"))
        await g.app.idle()
        assert (await g.settled(run.id)).result == ["with the potoroo", "dingo"]
        assert {word for _, word in await still_said(g)} == {*SAID}
        assert await after(g, 29) == {}
        assert {word for _, word in await still_said(g)} == {*SAID}
        erased = await after(g, 2)
        assert (erased["interaction"], erased["run"], erased["notice"], erased["reply"]) == (2, 1, 1, 2)
        assert await still_said(g) == set()
        assert agent.threads == ()
        assert await after(g, 100) == {}


async def test_how_it_ended_stays_and_who_answered_and_the_chain_of_the_audit(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("quokka?")), **MONTH) as g:
        run = await g.run()
        await g.types("1001", "numbat")
        (id,) = (await g.settled(run.id)).interactions
        before = await g.app.reader.interaction(id)
        await after(g, 31)
        record, now = await g.app.reader.interaction(id), await g.app.context.store.read(lambda tx: tx.now)
        assert (record.status, record.answered_by, record.answered_via, record.answered_at) == (
            InteractionStatus.COMPLETED,
            "alice",
            "memory",
            before.answered_at,
        )
        assert record.readable and record.erased_at is not None and now - 5_000_000 < record.erased_at <= now
        assert (record.questions, record.context, record.title) == ((), "", "")
        assert record.answer == Answer({}, "", "alice", "memory", before.answer.at if before.answer else 0)
        told = await g.app.runner.get(run.id)
        assert (told.status, told.result, told.erased_at) == (RunStatus.COMPLETED, None, record.erased_at)
        events = await chain_of(g, id)
        assert events[-1] == "erased" and {"asked", "answered"} < {*events}


async def test_nobody_can_find_an_erased_answer_by_trying(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("quokka?", confirm=True)), **MONTH) as g:
        run = await g.run()
        await g.taps("1001", "Yes")
        (id,) = (await g.settled(run.id)).interactions
        (answer,) = [str(row["answer"]) for row in (await everything(g))["interaction"]]
        given, opposite = answer, answer.replace("true", "false")
        before = await g.app.context.store.read(lambda tx: audit.of(tx, id))
        assert [row["event"] for row in before if audit.is_of(row, given)] == ["answered"]
        assert given != opposite and not any(audit.is_of(row, opposite) for row in before)
        await after(g, 31)
        now = await g.app.context.store.read(lambda tx: audit.of(tx, id))
        assert [row["content_hash"] for row in now[:-1]] == [row["content_hash"] for row in before]
        assert {row["salt"] for row in now} == {""} and not any(audit.is_of(row, given) for row in now)
        assert (await chain_of(g, id))[-1] == "erased"


async def test_what_waits_and_what_goes_on_is_kept_however_old_it_is(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"), asks("numbat?"))
    async with gateway(database, agent, **MONTH) as g:
        run = await g.run(input="bilby")
        await g.types("1001", "wombat")  # the second question waits
        assert await after(g, 400) == {}
        await g.types("1001", "potoroo")
        assert (await g.settled(run.id)).result == ["wombat", "potoroo"]
        assert await after(g, 29) == {}
        assert (await after(g, 2))["interaction"] == 2


async def test_law_4_an_event_that_comes_again_is_known_though_its_bytes_are_gone(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent, **MONTH) as g:
        await g.run()
        event = g.memory.typed("1001", "numbat")
        await g.receive(event)
        await after(g, 31)
        await g.run(thread_id="another")
        await g.receive(event)
        assert [answer.text for _, _, answer in agent.journal] == ["numbat"]
        assert len((await everything(g))["reply"]) == 1


async def test_law_2_a_late_reply_and_an_old_link_still_hear_that_it_was_answered(database: Database) -> None:
    async with gateway(database, ScriptedAgent(), **MONTH) as g:
        asked = await g.app.asker.ask(AskRequest((asks("quokka?", "Numbat", "Wombat"),), context="bilby"))
        await g.app.idle()
        tap = g.memory.tapped("1001", "Wombat")
        await g.taps("1001", "Numbat")
        await after(g, 31)
        await g.receive(tap)
        assert g.memory.titles("1001")[-1].startswith("You answered this at")
        view = await g.app.forms.view(asked.form_url.rpartition("/")[2])
        assert (view.interaction.status, view.interaction.questions) == (InteractionStatus.COMPLETED, ())
        with pytest.raises(AlreadyAnswered):
            await g.app.receiver.respond(asked.interaction.id, "wombat", by="alice", via="api")
        assert await still_said(g) == set()


async def test_the_key_of_an_ask_or_notice_that_was_erased_still_gives_the_first(database: Database) -> None:
    question = AskRequest((asks("quokka?"),), idempotency_key="k")
    notice = NoticeRequest("numbat", idempotency_key="k")
    async with gateway(database, ScriptedAgent(), **MONTH) as g:
        first = await g.app.asker.ask(question)
        told, _ = await g.app.notices.send(notice)
        await g.app.idle()
        await g.types("1001", "wombat")
        await after(g, 31)
        again, (told_again, created) = await g.app.asker.ask(question), await g.app.notices.send(notice)
        assert (again.interaction.id, again.created) == (first.interaction.id, False)
        assert (told_again.id, created, told_again.text) == (told.id, False, "")


async def test_without_retention_everything_is_kept(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent) as g:
        await g.run()
        await g.types("1001", "numbat")
        assert await after(g, 4000) == {}
        assert {word for _, word in await still_said(g)} == {"quokka", "numbat"}


class Failing(ScriptedAgent):
    """Fails for good with the first answer."""

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        return Failed(f"no {answer.text}", retryable=False)


async def test_law_10_a_failed_run_is_kept_until_somebody_has_dealt_with_it(database: Database) -> None:
    async with gateway(database, Failing(asks("quokka?")), **MONTH) as g:
        run = await g.run()
        await g.types("1001", "numbat")
        assert await after(g, 400) == {}
        await g.app.letters.discard(run.id, "ops")
        await g.app.idle()
        assert (await after(g, 31))["run"] == 1
        assert await still_said(g) == set()


class Blocked(MemoryProvider):
    """Reaches nobody."""

    async def send(self, message):
        raise Undeliverable("the person blocked the bot")


async def test_what_could_not_be_sent_is_no_dead_letter_once_it_is_erased(database: Database) -> None:
    route = {"default": Route("default", ask=("alice",), providers=("memory",))}
    async with gateway(database, providers={"memory": Blocked()}, routes=route, **MONTH) as g:
        await g.app.notices.send(NoticeRequest("numbat"))
        asked = await g.app.asker.ask(AskRequest((asks("quokka?"),), expires_in=3600))
        await g.app.idle()
        await g.later(7200)
        assert {letter.kind for letter in (await g.app.letters.list()).items} == {Kind.DELIVERY}
        await after(g, 31)
        assert list((await g.app.letters.list()).items) == []
        assert (await g.app.reader.interaction(asked.interaction.id)).status is InteractionStatus.EXPIRED
        assert await still_said(g) == set()


class Unreadable(MemoryProvider):
    """Cannot parse what came in."""

    def parse(self, inbound: Inbound):
        raise ValueError("odd")


async def test_an_event_that_could_not_be_read_is_kept_until_somebody_has_dealt_with_it(
    database: Database,
) -> None:
    async with gateway(database, providers={"memory": Unreadable()}, **MONTH) as g:
        await g.receive(Inbound(b"a numbat"))
        assert await after(g, 400) == {}
        (letter,) = (await g.app.letters.list()).items
        await g.app.letters.discard(letter.id, "ops")
        assert await after(g, 1) == {"reply": 1}
        assert await still_said(g) == set()


async def test_a_thread_that_is_used_again_is_not_forgotten(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent, **MONTH) as g:
        old = await g.run(thread_id="t")
        await g.types("1001", "numbat")
        await g.later(31 * DAY)
        await g.app.runner.start(RunRequest("scripted", thread_id="t"))
        await g.app.idle()
        assert (await after(g, 0))["run"] == 1
        assert agent.threads == ("t",)
        assert (await g.app.runner.get(old.id)).erased_at is not None


class Stopped(ScriptedAgent):
    """It hears only later that it is to look at a thread, or forget it: whoever said so was stopped."""

    def __init__(self, *steps: Question, at: str) -> None:
        super().__init__(*steps)
        self._at, self.hears, self.told = at, asyncio.Event(), asyncio.Event()

    async def tip(self, thread: str) -> str | None:
        await self._late("tip")
        return await super().tip(thread)

    async def forget(self, thread: str, tip: str | None = None) -> None:
        await self._late("forget")
        await super().forget(thread, tip)

    async def _late(self, at: str) -> None:
        if at == self._at:
            self.told.set()
            await self.hears.wait()


@pytest.mark.parametrize("at", ["tip", "forget"])
async def test_who_was_stopped_while_a_thread_was_to_be_forgotten_deletes_nothing_of_a_run_begun_since(
    database: Database, at: str
) -> None:
    agent = Stopped(asks("quokka?"), at=at)
    async with gateway(database, agent, **MONTH) as g:
        await g.run(thread_id="t")
        await g.types("1001", "numbat")
        g.clock.advance(31 * DAY)
        sweep = asyncio.ensure_future(g.app.eraser.sweep())
        await agent.told.wait()
        g.clock.advance(31)  # its lease lapses
        run = await g.run(thread_id="t")
        agent.hears.set()
        assert "run" not in +(await sweep)
        assert (agent.threads, run.erased_at) == (("t",), None)
        assert (await after(g, 31))["run"] == 2
        assert (agent.threads, await still_said(g)) == ((), set())


async def test_a_thread_that_was_forgotten_when_the_process_died_is_forgotten_again_and_its_runs_erased(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent, **MONTH) as g:
        run = await g.run(input="bilby")
        await g.types("1001", "numbat")
        clock = g.clock
        await agent.forget(run.thread_id)
    async with gateway(database, agent, clock=clock, **MONTH) as g:
        assert (await after(g, 31))["run"] == 1
        assert await still_said(g) == set()


async def test_an_agent_that_cannot_tell_what_a_thread_ends_with_forgets_it_all_the_same(
    database: Database,
) -> None:
    class Plain(ScriptedAgent):
        async def tip(self, thread: str) -> str | None:
            return None

        async def forget(self, thread: str) -> None:  # type: ignore[override]
            """As it was before there was a tip."""
            await super().forget(thread)

    agent = Plain(asks("quokka?"))
    async with gateway(database, agent, **MONTH) as g:
        await g.run()
        await g.types("1001", "numbat")
        assert (await after(g, 31))["run"] == 1
        assert agent.threads == ()


async def test_what_an_agent_cannot_forget_now_is_tried_again_the_next_day(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent, **MONTH) as g:
        run = await g.run(input="bilby")
        await g.types("1001", "numbat")
        await g.later(31 * DAY)
        agent.failures = [AgentUnavailable("its server is away")]
        assert "run" not in await after(g, 0)
        assert (agent.threads, (await g.app.runner.get(run.id)).erased_at) == ((run.thread_id,), None)
        assert (await after(g, 1))["run"] == 1
        assert (agent.threads, await still_said(g)) == ((), set())


class Hanging(ScriptedAgent):
    """Its worker is blocked: nothing comes back."""

    asked = 0

    async def tip(self, thread: str) -> str | None:
        self.asked += 1
        await asyncio.Event().wait()
        return None


async def test_law_10_an_agent_that_hangs_keeps_nothing_of_the_others_from_being_erased(
    database: Database,
) -> None:
    hanging, other = Hanging(asks("quokka?"), name="hanging"), ScriptedAgent(asks("numbat?"), name="other")
    async with gateway(database, hanging, other, **MONTH) as g:
        for name in (*["hanging"] * (ENOUGH + 2), "other"):
            await g.run(name)
            await g.types("1001", "wombat")
        await g.app.notices.send(NoticeRequest("dingo"))
        await g.app.idle()
        await g.later(31 * DAY)
        erased = await Eraser(g.app.context, g.app.agents, 0, patience=0.5).sweep()
        assert (erased[Erasable.RUN], erased[Erasable.NOTICE], hanging.asked) == (1, 1, ENOUGH)
        assert {table for table, _ in await still_said(g)} == {"run", "delivery"}  # its own, and how they end
        assert other.threads == ()
        waits = (await g.app.runner.list()).items[0]
        with pytest.raises(AgentUnavailable, match="hanging cannot forget it now"):
            await Eraser(g.app.context, g.app.agents, patience=0.01).now(waits.interactions[0], "ops")


async def test_an_agent_that_cannot_be_used_now_forgets_when_it_can_again(database: Database) -> None:
    agent, configured = ScriptedAgent(asks("quokka?")), {"scripted": Plugin("scripted", "langgraph", {})}
    async with gateway(database, agent, agents=configured, **MONTH) as g:
        await g.run()
        await g.types("1001", "numbat")
        clock = g.clock
    async with gateway(database, agents=configured, clock=clock, **MONTH) as g:  # it did not open
        assert "run" not in await after(g, 31)
    async with gateway(database, agent, agents=configured, clock=clock, **MONTH) as g:
        assert (await after(g, 1))["run"] == 1
    assert agent.threads == ()


async def test_a_thread_whose_agent_is_not_configured_any_more_holds_up_nothing(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("quokka?")), **MONTH) as g:
        await g.run()
        await g.types("1001", "numbat")
        clock = g.clock
    async with gateway(database, clock=clock, **MONTH) as g:
        assert (await after(g, 31))["run"] == 1
        assert await still_said(g) == set()


async def test_a_sweep_is_due_once_a_day_in_one_process_of_all(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("quokka?")), **MONTH) as g:
        looks = [await g.app.eraser.look(), await g.app.eraser.look()]
        for hours in (23, 2, 2):
            await g.later(hours * 3600)
            looks.append(await g.app.eraser.look())
        assert looks == [True, False, False, True, False]


async def test_many_rows_are_gone_through_piece_by_piece(database: Database) -> None:
    async with gateway(database, **MONTH) as g:
        for number in range(230):
            await g.receive(g.memory.typed("9999", f"numbat {number}"))
        found = await after(g, 31)
        assert found["reply"] == 230
        assert await still_said(g) == set()


class Filing(MemoryProvider):
    """Everything that is said comes with a file."""

    def parse(self, inbound: Inbound):
        file = Attachment("dingo", "bilby.txt")
        return [replace(one, attachments=(file,)) for one in super().parse(inbound)]


async def test_files_are_not_known_any_more_either(database: Database) -> None:
    memory, agent = Filing(), ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent, providers={"memory": memory}, **MONTH) as g:
        run = await g.run()
        await g.receive(memory.typed("1001", "numbat"))
        (id,) = (await g.settled(run.id)).interactions
        answer = (await g.app.reader.interaction(id)).answer
        assert answer is not None and answer.attachments
        await after(g, 31)
        answer = (await g.app.reader.interaction(id)).answer
        assert answer is not None and answer.attachments == ()
        assert await still_said(g) == set()


async def test_one_question_can_be_erased_at_once_with_its_run_and_all_that_this_asked(
    database: Database,
) -> None:
    agent = ScriptedAgent(asks("quokka?"), asks("numbat?"))
    async with gateway(database, agent) as g:  # retention or not
        run = await g.run(input="bilby")
        await g.types("1001", "wombat")
        await g.types("1001", "potoroo")
        other = await g.app.asker.ask(AskRequest((asks("dingo?"),)))
        first, second = (await g.settled(run.id)).interactions
        record = await g.app.eraser.now(second, "ops")
        assert record.erased_at is not None and record.status is InteractionStatus.COMPLETED
        assert {word for _, word in await still_said(g)} == {"dingo"}
        assert (agent.threads, (await g.app.runner.get(run.id)).result) == ((), None)
        for id in (first, second):
            assert (await chain_of(g, id))[-1] == "erased"
        again = await g.app.eraser.now(first, "ops")
        assert again.erased_at is not None and (await chain_of(g, first)).count("erased") == 1
        assert (await g.app.reader.interaction(other.interaction.id)).erased_at is None


async def test_what_did_not_fit_is_erased_with_the_question_that_it_was_for(database: Database) -> None:
    async with gateway(database) as g:
        id = (await g.app.asker.ask(AskRequest((asks("Go on?", confirm=True),)))).interaction.id
        await g.app.idle()
        await g.types("1001", "yes, the password is quokka")  # not clear: it is asked again
        await g.taps("1001", "Yes")
        await g.types("1001", "numbat")  # nothing waits for this one: it belongs to no question
        await g.types("1001", "and wombat", references=[g.memory.shown[0].id])  # too late
        assert {word for _, word in await still_said(g)} == {"quokka", "numbat", "wombat"}
        await g.app.eraser.now(id, "ops")
        assert {word for _, word in await still_said(g)} == {"numbat"}


async def test_a_text_that_could_be_for_several_questions_is_erased_with_any_of_them(
    database: Database,
) -> None:
    async with gateway(database) as g:
        ids = [
            (await g.app.asker.ask(AskRequest((asks(text),)))).interaction.id
            for text in ("First?", "Second?", "Third?")
        ]
        await g.app.idle()
        await g.types("1001", "the password is quokka")
        assert {word for _, word in await still_said(g)} == {"quokka"}
        await g.app.asker.cancel(ids[1])
        await g.app.eraser.now(ids[1], "ops")
        assert await still_said(g) == set()
        await g.types("1001", "the password is numbat")
        await g.taps("1001", "First?")
        assert (await g.app.reader.interaction(ids[0])).answer.text == "the password is numbat"
        await g.app.asker.cancel(ids[2])
        await g.app.eraser.now(ids[0], "ops")
        assert await still_said(g) == set()


@pytest.mark.parametrize("again", ["retry", "reask"])
async def test_a_thread_that_somebody_else_made_is_not_forgotten_when_its_run_was_tried_again(
    database: Database, again: str
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, **MONTH) as g:
        await agent.start("theirs", None)

        def adopt(tx: Tx) -> None:
            runs.add(tx, "r1", "scripted", "theirs", None, {}, None, runs.ADOPTED)
            runs.fail(tx, "r1", "it stopped")

        await g.app.context.store.write(adopt)
        await getattr(g.app.runner, again)("r1")
        await g.app.idle()
        await g.app.runner.cancel("r1")
        await agent.start("theirs", None)  # they go on with it
        assert (await after(g, days=40))["run"] == 1
        assert agent.threads == ("theirs",)


async def test_what_an_agent_could_not_forget_is_said_and_can_be_tried_again(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent) as g:
        run = await g.run(input="bilby")
        await g.types("1001", "numbat")
        (id,) = (await g.settled(run.id)).interactions
        agent.failures = [AgentUnavailable("its server is away")]
        with pytest.raises(AgentUnavailable, match="scripted cannot forget it now"):
            await g.app.eraser.now(id, "ops")
        assert {table for table, _ in await still_said(g)} == {"run"}
        await g.app.eraser.now(id, "ops")
        assert (agent.threads, await still_said(g)) == ((), set())
        await g.app.eraser.now(id, "ops")


async def test_what_goes_on_is_not_erased(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"), asks("numbat?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        await g.types("1001", "wombat")  # the second question waits
        first, second = (await g.settled(run.id)).interactions
        for id in (first, second):
            with pytest.raises(Conflict, match="is waiting"):
                await g.app.eraser.now(id, "ops")
        asked = await g.app.asker.ask(AskRequest((asks("dingo?"),)))
        with pytest.raises(Conflict, match="still open"):
            await g.app.eraser.now(asked.interaction.id, "ops")
        with pytest.raises(NotFound):
            await g.app.eraser.now("0" * 36, "ops")
        assert {"quokka", "numbat", "wombat", "dingo"} == {word for _, word in await still_said(g)}


async def test_an_answer_that_its_asker_does_not_have_yet_is_not_erased(database: Database) -> None:
    here = {"outgoing": ("localhost",)}
    async with gateway(database, **here) as g:
        away = AskRequest((asks("quokka?"),), callback_url="http://localhost:9/hook")
        asked = await g.app.asker.ask(away)
        await g.app.idle()
        await g.types("1001", "numbat")
        with pytest.raises(Conflict, match="posted to its callback_url"):
            await g.app.eraser.now(asked.interaction.id, "ops")


async def test_a_thread_with_other_runs_keeps_what_it_knows(database: Database) -> None:
    agent = ScriptedAgent(asks("quokka?"))
    async with gateway(database, agent) as g:
        first = await g.run(thread_id="t")
        await g.types("1001", "numbat")
        second = await g.run(thread_id="t")
        (id,) = (await g.settled(first.id)).interactions
        await g.app.eraser.now(id, "ops")
        assert agent.threads == ("t",)
        assert (await g.app.runner.get(second.id)).erased_at is None


async def test_only_an_administrator_may_erase(database: Database) -> None:
    keys = [ApiKey(scope, SecretStr(f"key-of-{scope}"), scopes=frozenset({scope})) for scope in SCOPES]
    async with gateway(database, api_keys=tuple(keys)) as g:
        asked = await g.app.asker.ask(AskRequest((asks("quokka?"),)))
        await g.app.idle()
        await g.types("1001", "numbat")
        path = f"/v1/interactions/{asked.interaction.id}/erase"
        async with through(site(g.app), "http://t") as web:
            codes = [
                (await web.post(path, headers={"authorization": f"Bearer key-of-{scope}"})).status_code
                for scope in SCOPES
            ]
        assert codes == [403, 403, 403, 200]
        assert await still_said(g) == set()
