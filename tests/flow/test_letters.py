"""Dead letters: whatever was given up is on one list with its reason, and can be replayed or discarded."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from answerback.agent import Failed, State, Target
from answerback.ask import AskRequest
from answerback.errors import AgentUnavailable, Conflict, NotFound, TryLater, Undeliverable
from answerback.letters import Kind, Letter
from answerback.model import Address, Answer, Contact, InteractionStatus, Json, RunStatus
from answerback.provider import Event, Inbound
from answerback.run import Run
from answerback.settings import Route
from answerback.store import Tx, audit, contacts
from answerback.store.letters import PAGE
from answerback.store.query import Query
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.store.test_engine import Explained
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

DAY = 86_400.0
BLOCKED = Undeliverable("the person blocked the bot")
SPOIL = Query(text("UPDATE interaction SET questions = :junk WHERE id = :key"))


async def letters(g: Gateway, kind: Kind | None = None) -> list[Letter]:
    return list((await g.app.letters.list(kind)).items)


async def only(g: Gateway) -> Letter:
    (letter,) = await letters(g)
    return letter


async def ask(g: Gateway, question: str, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(question),), **more))
    await g.app.idle()
    return asked.interaction.id


async def replay(g: Gateway, id: str) -> str:
    """What the gateway says, when all that follows from it is done."""
    said = await g.app.letters.replay(id, "ops")
    await g.app.idle()
    await g.sweep()
    return said


async def events(g: Gateway, chain: str) -> list[tuple[str, str]]:
    """The audit of an interaction, or of a letter that belongs to none: event and actor."""
    found = await g.app.context.store.read(lambda tx: audit.of(tx, chain))
    return [(row["event"], row["actor"]) for row in found]


async def test_where_nothing_was_given_up_there_is_no_letter(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        run = await g.run()
        await g.types("1001", "this one")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
        assert await letters(g) == []
        assert await g.app.letters.count() == 0


class TestAMessage:
    async def test_that_could_not_be_sent_is_sent_again(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures.append(BLOCKED)
            id = await ask(g, "Which?")
            letter = await only(g)
            assert (letter.kind, letter.interaction_id, letter.contact) == (Kind.DELIVERY, id, "alice")
            assert letter.reason == "A question could not be sent on memory: the person blocked the bot."
            assert await replay(g, letter.id) == "It is being sent again."
            assert g.memory.titles("1001") == ["Which?"]
            assert await letters(g) == []
            assert ("replayed", "ops") in await events(g, id)
            await g.types("1001", "this one")
            assert (await g.app.reader.interaction(id)).answer.text == "this one"

    async def test_that_fails_again_is_back_on_the_list(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures += [BLOCKED, Undeliverable("the chat was deleted")]
            await ask(g, "Which?")
            letter = await only(g)
            await replay(g, letter.id)
            again = await only(g)
            assert again.id == letter.id
            assert again.reason.endswith("the chat was deleted.")

    async def test_that_was_given_up_after_days_gets_all_of_its_patience_again(
        self, database: Database
    ) -> None:
        async with gateway(database) as g:
            g.memory.failures += [TryLater(3600, "overloaded")] * 4
            await ask(g, "Which?")
            await g.later(4 * DAY)
            await replay(g, (await only(g)).id)
            assert await letters(g) == [], "it waits for the service again"
            await g.later(3601)
            await g.later(3601)
            assert g.memory.titles("1001") == ["Which?"]

    async def test_goes_to_where_its_person_is_reached_now(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures.append(BLOCKED)
            id = await ask(g, "Which?")
            moved = Contact("alice", "Alice", addresses=(Address("memory", "9009", "9009"),))

            def tx(tx: Tx) -> None:
                tx.run(contacts.REMOVE_ADDRESSES, contact_id="alice", provider="memory")
                contacts.put(tx, moved)

            await g.app.context.store.write(tx)
            await replay(g, (await only(g)).id)
            assert (g.memory.titles("9009"), g.memory.titles("1001")) == (["Which?"], [])
            await g.types("9009", "this one")
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.COMPLETED

    async def test_to_somebody_who_is_reached_there_no_more_is_refused(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures.append(BLOCKED)
            await ask(g, "Which?")
            remove = {"contact_id": "alice", "provider": "memory"}
            await g.app.context.store.write(lambda tx: tx.run(contacts.REMOVE_ADDRESSES, **remove))
            with pytest.raises(Conflict, match="alice has no address on memory any more"):
                await replay(g, (await only(g)).id)

    async def test_whose_question_is_closed_meanwhile_is_not_sent(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures.append(BLOCKED)
            id = await ask(g, "Which?")
            letter = await only(g)
            await g.app.receiver.respond(id, "by hand", by="", via="api")
            assert await letters(g) == [], "nobody misses it"
            with pytest.raises(Conflict, match="Its question is completed meanwhile"):
                await replay(g, letter.id)
            assert g.memory.shown == []

    async def test_whose_question_expired_unseen_stays_on_the_list(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures.append(BLOCKED)
            await ask(g, "Which?", expires_in=60)
            await g.later(61)
            with pytest.raises(Conflict, match="Its question is expired meanwhile"):
                await replay(g, (await only(g)).id)

    async def test_that_arrived_in_another_way_is_no_letter(self, database: Database) -> None:
        other = MemoryProvider("other")
        async with gateway(database, providers={"other": other}) as g:
            g.memory.failures.append(BLOCKED)
            await ask(g, "Which?", ask=("ben",))
            assert len(other.shown) == 1
            assert await letters(g) == []

    async def test_that_failed_in_every_way_is_a_letter_for_each(self, database: Database) -> None:
        other = MemoryProvider("other")
        other.failures.append(Undeliverable("no such mailbox"))
        async with gateway(database, providers={"other": other}) as g:
            g.memory.failures.append(BLOCKED)
            await ask(g, "Which?", ask=("ben",))
            first, second = await letters(g)
            assert (first.provider, second.provider) == ("memory", "other")
            await replay(g, second.id)
            assert await letters(g) == [], "now Ben has been asked"

    async def test_that_may_have_arrived_says_so(self, database: Database) -> None:
        async with gateway(database) as g:
            g.memory.failures += [TimeoutError(), TimeoutError()]
            await ask(g, "Which?")
            await g.later(4 * DAY)
            letter = await only(g)
            assert letter.reason.startswith("A question may or may not have arrived on memory:")
            assert letter.remedy == "Replayed, it may arrive twice."


class Reads(MemoryProvider):
    """Its parser has a fault until it is mended."""

    mended = False

    def parse(self, inbound: Inbound) -> Sequence[Event]:
        if not self.mended:
            raise ValueError("a kind of event that nobody foresaw")
        return super().parse(inbound)


@pytest.fixture
def broken() -> Reads:
    return Reads()


class TestAnEvent:
    async def test_that_could_not_be_read_is_read_again(self, database: Database, broken: Reads) -> None:
        agent = ScriptedAgent(asks("Which?", "This", "That"))
        async with gateway(database, agent, providers={"memory": broken}) as g:
            run = await g.run()
            await g.receive(broken.tapped("1001", "That"))
            letter = await only(g)
            assert letter.kind is Kind.REPLY
            assert letter.reason == "An event from memory could not be handled: ValueError while parsing."
            with pytest.raises(Conflict, match="It still cannot be read"):
                await replay(g, letter.id)
            assert await only(g) == letter
            broken.mended = True
            assert await replay(g, letter.id) == "It was read again: accepted."
            assert await letters(g) == []
            assert (await g.settled(run.id)).result == ["that"]
            assert await events(g, letter.id) == [("replayed", "ops")]

    async def test_that_comes_again_after_its_replay_changes_nothing(
        self, database: Database, broken: Reads
    ) -> None:
        agent = ScriptedAgent(asks("Which?", "This", "That"))
        async with gateway(database, agent, providers={"memory": broken}) as g:
            await g.run()
            tap = broken.tapped("1001", "That")
            await g.receive(tap)
            broken.mended = True
            await replay(g, (await only(g)).id)
            await g.receive(tap)
        assert len(agent.journal) == 1

    async def test_that_was_handled_meanwhile_is_not_handled_twice(
        self, database: Database, broken: Reads
    ) -> None:
        agent = ScriptedAgent(asks("Which?", "This", "That"))
        async with gateway(database, agent, providers={"memory": broken}) as g:
            await g.run()
            tap = broken.tapped("1001", "That")
            await g.receive(tap)
            broken.mended = True
            await g.receive(tap)  # the service sends it again of its own accord
            assert await replay(g, (await only(g)).id) == "It was read again: there is nothing new in it."
        assert len(agent.journal) == 1

    async def test_that_nobody_vouches_for_shuts_out_no_original_when_it_is_read_again(
        self, database: Database, broken: Reads
    ) -> None:
        """Law 4: what proved a mail is not kept, so a mail that is read again is as good as a copy."""
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent, providers={"memory": broken}) as g:
            run = await g.run()
            copy, again, mail = (
                broken.typed("1001", "this one", event_id="mail:1", trusted=trusted, name=name)
                for trusted, name in ((False, "Ana"), (False, "Ana, by another way"), (True, "Ana"))
            )
            await g.receive(copy)
            broken.mended = True
            assert await replay(g, (await only(g)).id) == "It was read again: not allowed."
            await g.receive(mail)
            assert (await g.settled(run.id)).result == ["this one"]
            broken.mended = False
            await g.receive(again)
            broken.mended = True
            assert await replay(g, (await only(g)).id) == "It was read again: there is nothing new in it."

    async def test_with_a_bare_text_answers_nothing_that_happens_to_be_open_now(
        self, database: Database, broken: Reads
    ) -> None:
        """Law 1: when it was written, another question was open too."""
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent, providers={"memory": broken}) as g:
            meant = await ask(g, "Delete it?")
            run = await g.run()
            await g.receive(broken.typed("1001", "yes"))
            await g.app.asker.cancel(meant)
            broken.mended = True
            assert await replay(g, (await only(g)).id) == "It was read again: which one."
            assert agent.journal == []
            await g.receive(broken.tapped("1001", "Which?"))  # the person says that it was for this one
            assert (await g.settled(run.id)).result == ["yes"]

    async def test_of_a_provider_that_is_gone_is_kept(self, database: Database) -> None:
        broken = Reads("other")
        async with gateway(database, providers={"other": broken}) as g:
            await g.receive(broken.typed("b", "yes"), "other")
        async with gateway(database) as g:
            letter = await only(g)
            with pytest.raises(Conflict, match="The provider other is not configured here"):
                await replay(g, letter.id)
            assert await only(g) == letter


class Raises(ScriptedAgent):
    """Raises instead of resuming, until it is mended."""

    mended = False

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if not self.mended:
            raise ZeroDivisionError("a graph that is broken")
        return await super().resume(thread, target, answer, again=again)


async def given_up(g: Gateway, text: str = "kept") -> str:
    """A run whose answer could not be given to its agent; its id."""
    run = await g.run()
    await g.receive(g.memory.typed("1001", text))
    for _ in range(12):
        await g.later(3600)
    return run.id


class TestAnAnswer:
    async def test_that_could_not_be_given_is_given_to_its_question(self, database: Database) -> None:
        agent = Raises(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await given_up(g)
            letter = await only(g)
            assert (letter.kind, letter.run_id, letter.agent) == (Kind.ANSWER, run, "scripted")
            assert letter.reason == (
                "An answer could not be given to scripted: ZeroDivisionError while resuming."
            )
            agent.mended = True
            await replay(g, letter.id)
            assert (await g.settled(run)).result == ["kept"]
            assert await letters(g) == []

    async def test_that_still_cannot_be_given_is_back_on_the_list(self, database: Database) -> None:
        async with gateway(database, Raises(asks("Which?"))) as g:
            await given_up(g)
            letter = await only(g)
            await replay(g, letter.id)
            for _ in range(12):
                await g.later(3600)
            assert await only(g) == letter

    async def test_whose_question_waits_no_more_is_given_to_no_other(self, database: Database) -> None:
        agent = Raises(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await g.app.runner.get(await given_up(g))
            agent.mended = True
            await agent.cancel(run.thread_id)
            await agent.start(run.thread_id, None)
            agent._threads[run.thread_id].step = 0
            agent._steps[0] = (asks("Something else?"),)  # under the same interrupt id
            letter = await only(g)
            await replay(g, letter.id)
            assert agent.journal == []
            after = next(found for found in await letters(g) if found.kind is Kind.ANSWER)
            assert "no longer waits for this question" in after.reason
            with pytest.raises(Conflict, match="can only be discarded"):
                await replay(g, letter.id)

    async def test_that_is_discarded_takes_its_run_with_it(self, database: Database) -> None:
        agent = Raises(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await given_up(g)
            letter = await only(g)
            said = await g.app.letters.discard(letter.id, "ops")
            assert "its run, which cannot go on without it, is cancelled" in said
            assert (await g.app.runner.get(run)).status is RunStatus.CANCELLED
            assert await letters(g) == []
            assert ("discarded", "ops") in await events(g, letter.id)
            with pytest.raises(NotFound):
                await g.app.letters.replay(letter.id, "ops")


class Fails(ScriptedAgent):
    """A graph that always raises, until it is mended."""

    mended = False

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if not self.mended:
            return Failed("ZeroDivisionError: division by zero")
        return await super().resume(thread, target, answer, again=again)


class TestARun:
    async def test_that_failed_is_tried_again(self, database: Database) -> None:
        agent = Fails(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await g.run()
            await g.types("1001", "x")
            letter = await only(g)
            assert (letter.kind, letter.id) == (Kind.RUN, run.id)
            assert letter.reason == "scripted failed: ZeroDivisionError: division by zero."
            agent.mended = True
            await replay(g, letter.id)
            assert await letters(g) == []
            await g.types("1001", "y")
            assert (await g.settled(run.id)).result == ["y"]

    async def test_that_is_discarded_is_cancelled(self, database: Database) -> None:
        async with gateway(database, Fails(asks("Which?"))) as g:
            run = await g.run()
            await g.types("1001", "x")
            await g.app.letters.discard(run.id, "ops")
            ended = await g.app.runner.get(run.id)
            assert (ended.status, await letters(g)) == (RunStatus.CANCELLED, [])
            assert ended.error == "Discarded. scripted failed: ZeroDivisionError: division by zero."


class TestADamagedQuestion:
    async def test_is_asked_anew_as_its_agent_has_it(self, database: Database) -> None:
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await g.run()
            (sick,) = run.interactions
            await spoil(g, sick)
            letter = await g.app.letters.get(sick)
            assert letter.kind is Kind.INTERACTION
            await replay(g, sick)
            first, second = (await g.app.runner.get(run.id)).interactions
            assert (await g.app.reader.interaction(first)).status is InteractionStatus.CANCELLED
            await g.types("1001", f"this one #{(await g.app.reader.interaction(second)).code}")
            assert (await g.settled(run.id)).result == ["this one"]
            assert await letters(g) == []

    async def test_that_was_set_aside_at_its_deadline_is_on_the_list(self, database: Database) -> None:
        routes = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=60)}
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent, routes=routes) as g:
            run = await g.run()
            await spoil(g, *run.interactions)
            await g.later(61)
            letter = await only(g)
            assert (letter.kind, letter.id) == (Kind.INTERACTION, run.interactions[0])
            await replay(g, letter.id)
            await g.types("1001", "this one")
            assert (await g.settled(run.id)).result == ["this one"]

    async def test_that_its_agent_has_left_is_not_asked_anew(self, database: Database) -> None:
        agent = ScriptedAgent(asks("Which?"))
        async with gateway(database, agent) as g:
            run = await g.run()
            await spoil(g, *run.interactions)
            await agent.cancel(run.thread_id)
            with pytest.raises(Conflict, match="no longer waits for this question"):
                await replay(g, run.interactions[0])
            await g.app.letters.discard(run.interactions[0], "ops")
            assert (await g.app.runner.get(run.id)).status is RunStatus.CANCELLED

    async def test_of_a_caller_can_only_be_discarded(self, database: Database) -> None:
        async with gateway(database) as g:
            sick = await ask(g, "Sick?")
            await spoil(g, sick)
            with pytest.raises(Conflict, match="only whoever asked it can ask it again"):
                await replay(g, sick)
            await g.app.letters.discard(sick, "ops")
            assert (await g.app.reader.interaction(sick)).status is InteractionStatus.CANCELLED
            assert await letters(g) == []


class Unreachable(ScriptedAgent):
    """Its server is away, until it is back."""

    def __init__(self) -> None:
        super().__init__(asks("Which?"))
        self.back, self.told = False, list[str]()

    async def cancel(self, thread: str) -> Json:
        if not self.back:
            raise AgentUnavailable("its server does not answer.")
        self.told.append(thread)
        return await super().cancel(thread)


async def not_stopped(g: Gateway, thread: str | None = None) -> Run:
    """A run that was cancelled, whose agent was not told for days."""
    run = await g.run(thread_id=thread)
    await g.app.runner.cancel(run.id)
    await g.later(3 * DAY + 1)
    return run


class TestAStop:
    async def test_that_an_agent_was_not_told_of_is_told_again(self, database: Database) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            run = await not_stopped(g)
            letter = await only(g)
            assert (letter.kind, letter.id, letter.run_id, letter.agent) == (
                Kind.STOP,
                run.id,
                run.id,
                "scripted",
            )
            assert letter.reason == (
                "scripted was not told that its run is cancelled, and may work on: "
                "its server does not answer."
            )
            assert (await g.app.letters.get(run.id), await g.app.letters.count()) == (letter, 1)
            agent.back = True
            assert await replay(g, run.id) == "Its agent is being told again."
            assert (agent.told, agent.threads, await letters(g)) == ([run.thread_id], (), [])
            assert await events(g, run.id) == [("replayed", "ops")]
            ended = await g.app.runner.get(run.id)
            assert (ended.status, ended.error) == (RunStatus.CANCELLED, "cancelled")

    async def test_that_cannot_be_told_again_either_gets_all_of_its_patience_and_is_back_on_the_list(
        self, database: Database
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            run = await not_stopped(g)
            await replay(g, run.id)
            assert await letters(g) == [], "it is waited for again"
            await g.later(3 * DAY - 60)
            assert await letters(g) == []
            await g.later(3600)
            assert (await only(g)).kind is Kind.STOP
            error = (await g.app.runner.get(run.id)).error
            assert error == "cancelled (its agent was not told: its server does not answer.)"

    async def test_that_is_discarded_is_told_no_more_and_its_run_says_that_it_was_not(
        self, database: Database
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            run = await not_stopped(g)
            assert await g.app.letters.discard(run.id, "ops") == "It is off the list."
            agent.back = True
            await g.later(DAY)
            assert (agent.told, await letters(g)) == ([], [])
            assert await events(g, run.id) == [("discarded", "ops")]
            assert "was not told" in (await g.app.runner.get(run.id)).error
            with pytest.raises(NotFound):
                await replay(g, run.id)

    async def test_of_a_run_that_was_a_letter_before_as_it_failed_is_one_again(
        self, database: Database
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            run = await g.run()
            await g.types("1001", "fail")
            await g.app.letters.discard((await only(g)).id, "ops")
            await g.later(3 * DAY + 1)
            assert [letter.kind for letter in await letters(g)] == [Kind.STOP]
            await g.app.letters.discard(run.id, "ops")
            assert await letters(g) == []

    async def test_law_3_is_told_by_a_later_run_before_it_begins_there_and_is_no_letter_from_then_on(
        self, database: Database
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            first = await not_stopped(g, "t")
            agent.back = True
            second = await g.run(thread_id="t")
            assert (second.status, agent.told, await letters(g)) == (RunStatus.WAITING, ["t"], [])
            with pytest.raises(NotFound):
                await replay(g, first.id)
            await g.later(DAY)
            assert (agent.told, agent.threads) == (["t"], ("t",))

    @pytest.mark.parametrize("status", list(RunStatus))
    async def test_law_3_is_never_told_to_a_run_that_was_taken_up_there_later(
        self, database: Database, status: RunStatus
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            await not_stopped(g, "t")
            later = {"id": "z", "thread": "t", "status": str(status)}
            await g.app.context.store.write(lambda tx: tx.run(TAKEN_UP, **later))
            agent.back = True
            letter = next(found for found in await letters(g) if found.kind is Kind.STOP)
            with pytest.raises(Conflict, match="Another run has its thread by now"):
                await replay(g, letter.id)
            assert agent.told == []
            await g.app.letters.discard(letter.id, "ops")

    async def test_of_an_agent_that_is_not_configured_any_more_stays_on_the_list(
        self, database: Database
    ) -> None:
        async with gateway(database, Unreachable()) as g:
            run = await not_stopped(g)
        async with gateway(database) as g:
            with pytest.raises(Conflict, match="The agent scripted is not configured here"):
                await replay(g, run.id)
            assert (await only(g)).kind is Kind.STOP

    async def test_is_told_again_by_the_next_life_if_the_gateway_is_killed_at_that_moment(
        self, database: Database
    ) -> None:
        agent = Unreachable()
        async with gateway(database, agent) as g:
            run = await not_stopped(g)
            agent.back = True
            g.app.context.signals.stop = lambda _: None
            await g.app.letters.replay(run.id, "ops")
            assert (agent.told, await letters(g)) == ([], [])
            await g.sweep()
            assert agent.told == [run.thread_id]

    async def test_is_not_taken_up_by_itself_at_the_next_start(self, tmp_path: Path) -> None:
        """The only process on its database takes up at its start what a dead one was at."""
        agent, clock, database = Unreachable(), ManualClock(), Database("sqlite", tmp_path)
        async with gateway(database, agent, clock=clock) as g:
            run = await not_stopped(g)
        agent.back = True
        async with gateway(database, agent, clock=clock) as g:
            await g.sweep()
            assert (agent.told, (await only(g)).id) == ([], run.id)

    async def test_is_kept_until_somebody_has_dealt_with_it(self, database: Database) -> None:
        agent = Unreachable()
        async with gateway(database, agent, retention=DAY) as g:
            run = await not_stopped(g)
            await g.later(2 * DAY)
            await g.app.eraser.sweep()
            assert (await only(g)).reason.endswith("its server does not answer.")
            with pytest.raises(Conflict, match=f"replay or discard the dead letter {run.id} first"):
                await g.app.eraser.now(run.interactions[0], "ops")
            await g.app.letters.discard(run.id, "ops")
            await g.app.eraser.sweep()
            assert (await g.app.runner.get(run.id)).erased_at is not None


TAKEN_UP = Query(  # somebody went on with it on their own, and that was found
    text(
        "INSERT INTO run (id, agent, thread_id, status, intent, attempts, created_at, updated_at)"
        " VALUES (:id, 'scripted', :thread, :status, 'adopt', 0, 1, 1)"
    )
)


async def spoil(g: Gateway, id: str) -> None:
    g.tampers = True
    await g.app.context.store.write(lambda tx: tx.run(SPOIL, key=id, junk="not JSON"))


async def test_what_was_discarded_is_off_the_list_and_the_audit_says_who_did_it(database: Database) -> None:
    async with gateway(database) as g:
        g.memory.failures.append(BLOCKED)
        id = await ask(g, "Which?")
        letter = await only(g)
        await g.app.letters.discard(letter.id, "ops")
        assert (await letters(g), await g.app.letters.count()) == ([], 0)
        assert ("discarded", "ops") in await events(g, id)
        for act in (g.app.letters.replay, g.app.letters.discard):
            with pytest.raises(NotFound, match="There is no dead letter with this id"):
                await act(letter.id, "ops")
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING, (
            "its form still works"
        )


async def test_letters_of_all_kinds_are_listed_in_the_order_of_what_they_were_and_in_pages(
    database: Database, broken: Reads
) -> None:
    agent = Fails(asks("Which?"))
    async with gateway(database, agent, providers={"memory": broken}) as g:
        broken.failures += [BLOCKED] * 3
        for number in range(3):
            await ask(g, f"Question {number}?")
        await g.types("1001", "yes")
        run = await g.run()
        await g.app.receiver.respond(run.interactions[0], "x", by="", via="api")
        await g.app.idle()
        everything = await letters(g)
        assert [letter.kind for letter in everything] == [*[Kind.DELIVERY] * 3, Kind.REPLY, Kind.RUN]
        paged: list[Letter] = []
        after = None
        while True:
            page = await g.app.letters.list(None, 2, after)
            paged += page.items
            after = page.next
            if after is None:
                break
        assert paged == everything
        assert [letter.id for letter in await letters(g, Kind.RUN)] == [run.id]
        assert await g.app.letters.count() == 5


INDEXES = {
    Kind.DELIVERY: "delivery_unsent",
    Kind.REPLY: "reply_unread",
    Kind.ANSWER: "interaction_ungiven",
    Kind.RUN: "run_failed",
    Kind.INTERACTION: "interaction_damaged",
    Kind.STOP: "run_stop",
}
SORTED = {Kind.STOP}  # there are few, and the index is there for what is due


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_the_list_reads_nothing_but_what_was_given_up(database: Database, kind: Kind) -> None:
    explained = Explained(PAGE[kind])
    async with gateway(database) as g:
        plan = await g.app.context.store.read(lambda tx: tx.all(explained, after="", limit=10))
    steps = [row["detail"] for row in plan]
    assert INDEXES[kind] in steps[0], steps
    assert not any(step.startswith("SCAN") for step in steps), steps
    assert kind in SORTED or not any("TEMP B-TREE" in step for step in steps), steps


def test_the_reasons_name_no_secret() -> None:
    """A letter has no field for what was said: neither the text of a message nor an answer."""
    assert {"text", "values", "raw", "content", "place", "external_id"}.isdisjoint(Letter.__slots__)
