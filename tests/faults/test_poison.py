"""Law 10: one bad thing stops nothing else. It is set aside with its reason, and what is well goes on.

Poison comes as an agent that always raises, as a text of ten megabytes, and as rows that cannot be read.
"""

import json
from collections.abc import Callable

import pytest
from sqlalchemy import bindparam as p
from sqlalchemy import select, text

from answerback.agent import Agent, State, Target
from answerback.ask import AskRequest
from answerback.errors import DoesNotFit, Refused
from answerback.letters import Kind
from answerback.model import Answer, InteractionStatus, Json, OnExpire, RunStatus
from answerback.provider import Inbound, Message, Sent
from answerback.settings import Route
from answerback.store.query import Query
from answerback.tables import DeliveryRow, InteractionRow
from answerback.testing import ScriptedAgent, asks
from tests.faults.phone import Phone, outcomes, rows
from tests.faults.weather import MINUTE, pass_time
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

TEN_MEGABYTES = 10_000_000
DEADLINE = 600.0
ROUTES = {"default": Route("default", ask=("alice",), providers=("memory",), expires_in=DEADLINE)}
SPOIL = Query(text("UPDATE interaction SET questions = :junk WHERE id = :key"))
SPOIL_ROUTE = Query(text("UPDATE interaction SET route = :junk WHERE id = :key"))
SPOIL_DELIVERY = Query(text("UPDATE delivery SET content = :junk WHERE interaction_id = :key"))
D, X = DeliveryRow.__table__, InteractionRow.__table__  # type: ignore[attr-defined]
OF = Query(select(D).where(D.c.interaction_id == p("id")))
RAW = Query(select(X).where(X.c.id == p("id")))
JUNK = {
    "nothing": "",
    "no JSON": "not JSON",
    "a key is missing": '[{"id": "q1"}]',
    "an object": '{"id": 1}',
    "a kind of the future": '[{"id":"q1","text":"?","kind":"song"}]',
}


async def ask(g: Gateway, question: str, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest((asks(question),), **more))
    await g.app.idle()
    return asked.interaction.id


async def spoil(g: Gateway, id: str, junk: str = "not JSON", query: Query = SPOIL) -> None:
    """As a disk error, a hand in the database, or a newer version of ours would leave it."""
    g.tampers = True
    await g.app.context.store.write(lambda tx: tx.run(query, key=id, junk=junk))


async def raw(g: Gateway, id: str) -> dict:
    (row,) = await rows(g, RAW, id=id)
    return row


class Raises(ScriptedAgent):
    """Its resume always raises."""

    def __init__(self, *steps: object) -> None:
        super().__init__(*steps, name="poison")
        self.calls = 0

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        self.calls += 1
        raise ZeroDivisionError("a graph that always raises")


async def test_an_agent_that_always_raises_is_set_aside_with_its_reason_and_others_go_on(
    database: Database,
) -> None:
    poison, healthy, phone = Raises(asks("Poison?")), ScriptedAgent(asks("Which?")), Phone()
    async with gateway(database, poison, healthy, providers={"memory": phone}) as g:
        sick = await g.run("poison")
        await g.receive(phone.typed("1001", "first"))
        for number in range(5):
            run = await g.run()
            await g.receive(phone.typed("1001", f"answer {number}"))
            assert (await g.settled(run.id)).result == [f"answer {number}"]
        await pass_time(g, 24 * 60)
        record = await g.app.reader.interaction(sick.interactions[0])
        row = await raw(g, record.id)
        assert record.answer.text == "first", "the answer is kept"
        assert record.resume_error == "ZeroDivisionError while resuming"
        assert row["resume_next_at"] is None
    assert poison.calls == 10


async def test_a_run_whose_agent_always_raises_does_not_seem_to_run_for_ever(database: Database) -> None:
    phone = Phone()
    async with gateway(database, Raises(asks("Poison?")), providers={"memory": phone}) as g:
        run = await g.run("poison")
        await g.receive(phone.typed("1001", "first"))
        await pass_time(g, 24 * 60)
        ended = await g.app.runner.get(run.id)
        assert ended.status is RunStatus.FAILED
        assert ended.error.endswith("ZeroDivisionError while resuming")


async def test_a_text_of_ten_megabytes_is_refused_or_cut_and_healthy_ones_go_on(database: Database) -> None:
    phone, agent = Phone(), ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, providers={"memory": phone}) as g:
        run = await g.run()
        await g.receive(phone.typed("1001", "x" * TEN_MEGABYTES))
        assert (await g.app.reader.interaction(run.interactions[0])).status is InteractionStatus.PENDING
        assert max(len(shown.message.text) for shown in phone.shown) < 10_000
        with pytest.raises(DoesNotFit):
            await g.app.receiver.respond(run.interactions[0], "x" * TEN_MEGABYTES, by="", via="api")
        await g.receive(phone.typed("1001", "short"))
        assert (await g.settled(run.id)).result == ["short"]


async def test_a_person_who_writes_ten_megabytes_is_told_that_it_is_too_long(database: Database) -> None:
    phone = Phone()
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": phone}) as g:
        await g.run()
        await g.receive(phone.typed("1001", "x" * TEN_MEGABYTES))
        assert set((await outcomes(g)).values()) == {"asked again"}
        assert len(phone.shown) == 2


@pytest.mark.parametrize("junk", JUNK)
async def test_a_question_that_cannot_be_read_keeps_no_deadline_from_being_acted_on(
    database: Database, junk: str
) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, routes=ROUTES) as g:
        sick = await ask(g, "Sick?")
        run = await g.run()
        await spoil(g, sick, JUNK[junk])
        await g.later(DEADLINE + 1)
        assert (await g.app.reader.interaction(run.interactions[0])).status is InteractionStatus.EXPIRED
        assert (await g.settled(run.id)).result == [None]
        row = await raw(g, sick)
        assert row["next_action_at"] is None, "it is set aside"
        assert row["status"] == "expired" or row["reason"] or row["resume_error"], "with its reason"


async def test_many_rows_that_cannot_be_read_do_not_crowd_out_the_healthy_one(database: Database) -> None:
    async with gateway(database, routes=ROUTES) as g:
        for number in range(210):  # more than one sweep takes
            asked = await g.app.asker.ask(AskRequest((asks(f"Sick {number}?"),)))
            await spoil(g, asked.interaction.id)
        await g.app.idle()
        g.clock.advance(1)
        healthy = await ask(g, "Which?")
        g.clock.advance(DEADLINE + 1)
        for _ in range(3):
            await g.sweep()
        assert (await g.app.reader.interaction(healthy)).status is InteractionStatus.EXPIRED


async def test_an_answer_that_cannot_be_read_keeps_no_other_from_its_agent(database: Database) -> None:
    agent, phone = ScriptedAgent(asks("Which?")), Phone()
    agent.failures = [RuntimeError("not now")] * 2
    async with gateway(database, agent, providers={"memory": phone}) as g:
        runs = []
        for number in range(2):
            run = await g.run()
            await g.receive(phone.reply("1001", phone.asked(run.interactions[0])[0], f"answer {number}"))
            runs.append(run)
        await spoil(g, runs[0].interactions[0])
        for _ in range(3):
            await g.later(300)
        assert (await g.settled(runs[1].id)).result == ["answer 1"]
        await pass_time(g, 24 * 60)
        row = await raw(g, runs[0].interactions[0])
        assert row["resume_next_at"] is None and row["resume_error"], "set aside with its reason"


async def test_a_delivery_that_cannot_be_read_is_set_aside_with_its_reason(database: Database) -> None:
    phone = Phone()
    async with gateway(database, providers={"memory": phone}, routes=ROUTES) as g:
        phone.failures.append(RuntimeError("not now"))
        sick = await ask(g, "Sick?")
        await spoil(g, sick, query=SPOIL_DELIVERY)
        healthy = await ask(g, "Which?")
        assert [shown.message.interaction_id for shown in phone.shown] == [healthy]
        await pass_time(g, 24 * 60)
        row = next(row for row in await rows(g, OF, id=sick) if row["provider"] == "memory")
        assert row["status"] == "failed" and row["error"]


async def test_a_delivery_whose_question_cannot_be_read_is_set_aside_with_its_reason(
    database: Database,
) -> None:
    phone = Phone()
    async with gateway(database, providers={"memory": phone}) as g:
        phone.failures.append(RuntimeError("not now"))
        sick = await ask(g, "Sick?")
        await spoil(g, sick)
        start = g.clock.now
        while g.clock.now < start + 24 * 60 * MINUTE:
            await pass_time(g, 60)
        row = next(row for row in await rows(g, OF, id=sick) if row["provider"] == "memory")
        assert row["status"] == "failed" and row["error"] and row["attempts"] <= 20


OUTCOMES = ("accepted", "accepted", "which one", "command")
WAYS: dict[str, Callable[[Phone, str], Inbound]] = {
    "a reply to its message": lambda phone, id: phone.reply("1001", phone.asked(id)[0], "this one"),
    "its code": lambda phone, id: phone.typed("1001", f"this one #{phone.asked(id)[0].message.code}"),
    "a text without evidence": lambda phone, id: phone.typed("1001", "this one"),
    "a command": lambda phone, id: phone.typed("1001", "pending"),
}


@pytest.mark.parametrize(("way", "way_out"), [*zip(WAYS, OUTCOMES, strict=True)], ids=WAYS)
async def test_a_question_that_cannot_be_read_keeps_its_person_from_answering_no_other(
    database: Database, way: str, way_out: str
) -> None:
    agent, phone = ScriptedAgent(asks("Which?")), Phone()
    async with gateway(database, agent, providers={"memory": phone}) as g:
        sick = await ask(g, "Sick?")
        run = await g.run()
        await spoil(g, sick)
        await g.receive(WAYS[way](phone, run.interactions[0]))
        assert list((await outcomes(g)).values()) == [way_out]
        if way_out == "which one":  # both stand on the phone: nothing is guessed
            await g.receive(phone.tapped("1001", "Which?"))
        if way_out != "command":
            assert (await g.settled(run.id)).result == ["this one"]


SICK_WAYS: dict[str, Callable[[Phone, str], Inbound]] = {
    "a tap on it": lambda phone, id: phone.tap("1001", phone.asked(id)[0], "Now"),
    "a reply to its message": lambda phone, id: phone.reply("1001", phone.asked(id)[0], "Later"),
    "its code": lambda phone, id: phone.typed("1001", f"Later #{phone.asked(id)[0].message.code}"),
}


@pytest.mark.parametrize("way", SICK_WAYS)
async def test_what_is_meant_for_a_question_that_cannot_be_read_answers_no_other(
    database: Database, way: str
) -> None:
    """Law 1 before law 10: better no answer than one to the wrong question."""
    question = asks("Now or later?", "Now", "Later") if way == "a tap on it" else asks("When?")
    agent, phone = ScriptedAgent(question), Phone()
    async with gateway(database, agent, providers={"memory": phone}) as g:
        sick, healthy = (await g.run()).interactions, (await g.run()).interactions
        await spoil(g, *sick)
        await g.receive(SICK_WAYS[way](phone, *sick))
        assert (await g.app.reader.interaction(*healthy)).status is InteractionStatus.PENDING
        assert agent.journal == []
        await g.receive(phone.reply("1001", phone.asked(*healthy)[0], "later"))
        assert [answer.values for _, _, answer in agent.journal] == [{"q1": "later"}]


async def test_nothing_answers_a_question_that_cannot_be_read(database: Database) -> None:
    """Without its questions nobody can say what fits: not even nothing does."""
    agent, phone = ScriptedAgent(asks("Which?")), Phone()
    async with gateway(database, agent, providers={"memory": phone}) as g:
        (sick,) = (await g.run()).interactions
        token = phone.asked(sick)[0].message.form_url.rpartition("/")[2]
        await spoil(g, sick)
        responses: tuple[Json, ...] = ("x", {}, [], None, {"q1": "x"})
        for response in responses:
            with pytest.raises((Refused, ValueError)):
                await g.app.receiver.respond(sick, response, by="", via="api")
        for values in ({}, {"q1": "x"}):
            with pytest.raises((Refused, ValueError)):
                await g.app.forms.submit(token, values)
        assert (await raw(g, sick))["answer"] == ""
    assert agent.journal == []


async def test_a_run_that_was_given_up_can_be_tried_again_with_the_answer_that_was_kept(
    database: Database,
) -> None:
    agent, phone = ScriptedAgent(asks("Which?")), Phone()
    agent.failures = [ZeroDivisionError("a graph that is broken for now")] * 10
    async with gateway(database, agent, providers={"memory": phone}) as g:
        run = await g.run()
        await g.receive(phone.typed("1001", "kept"))
        await pass_time(g, 24 * 60)
        assert (await g.app.runner.get(run.id)).status is RunStatus.FAILED
        await g.app.runner.retry(run.id)
        await g.sweep()
        assert (await g.settled(run.id)).result == ["kept"]
    assert [answer.text for _, _, answer in agent.journal] == ["kept"]


async def test_a_deadline_whose_default_does_not_fit_any_more_keeps_no_other_from_being_acted_on(
    database: Database,
) -> None:
    fits_no_more = Query(text("UPDATE interaction SET default_value = :junk WHERE id = :key"))
    async with gateway(database, routes=ROUTES) as g:
        sick = await ask(g, "Sick?", on_expire=OnExpire.DEFAULT, default="as ever")
        healthy = await ask(g, "Which?")
        await spoil(g, sick, '{"q7": [1]}', fits_no_more)
        await g.later(DEADLINE + 1)
        assert (await g.app.reader.interaction(healthy)).status is InteractionStatus.EXPIRED
        row = await raw(g, sick)
        assert row["next_action_at"] is None or row["next_action_at"] > g.clock.now


async def test_lists_show_the_others_when_one_cannot_be_read(database: Database) -> None:
    async with gateway(database) as g:
        ids = [await ask(g, f"Question {number}?") for number in range(3)]
        await spoil(g, ids[1])
        page = await g.app.reader.interactions()
        assert {ids[0], ids[2]} <= {record.id for record in page.items}
        page = await g.app.reader.interactions("pending", 2)
        assert page.next is not None
        rest = await g.app.reader.interactions("pending", 2, page.next)
        assert {ids[0], ids[2]} <= {record.id for record in (*page.items, *rest.items)}


async def test_an_answer_through_the_api_to_one_that_cannot_be_read_disturbs_no_other(
    database: Database,
) -> None:
    async with gateway(database) as g:
        sick, healthy = await ask(g, "Sick?"), await ask(g, "Which?")
        await spoil(g, sick, query=SPOIL_ROUTE)
        with pytest.raises((Refused, ValueError)):
            await g.app.receiver.respond(sick, "x", by="", via="api")
        assert (await g.app.receiver.respond(healthy, "fine", by="", via="api")).answer.text == "fine"


async def test_a_thread_with_one_question_that_cannot_be_read_goes_on_with_the_other(
    database: Database,
) -> None:
    """Two questions in parallel on one thread: the answer to the readable one reaches the agent."""
    agent, phone = ScriptedAgent([asks("Sick?"), asks("Which?")]), Phone()
    async with gateway(database, agent, providers={"memory": phone}) as g:
        run = await g.run()
        sick, healthy = run.interactions
        await spoil(g, sick)
        await g.receive(phone.reply("1001", phone.asked(healthy)[0], "this one"))
        await pass_time(g, 60)
        assert [answer.text for _, _, answer in agent.journal] == ["this one"]
        assert (await g.app.reader.interaction(healthy)).resumed_at is not None


async def test_an_event_that_makes_matching_raise_is_kept_with_its_error_and_can_be_replayed(
    database: Database,
) -> None:
    phone, agent = Phone(), ScriptedAgent(asks("Which?"))
    async with gateway(database, agent, providers={"memory": phone}) as g:
        run = await g.run()
        await g.receive(phone.typed("1001", "raise while parsing"))
        found = await rows(g, Query(text("SELECT outcome, error, raw FROM reply")))
        assert [(row["outcome"], row["error"]) for row in found] == [("failed", "ValueError while parsing")]
        assert json.loads(bytes(found[0]["raw"]))["text"] == "raise while parsing"
        await g.receive(phone.typed("1001", "fine"))
        assert (await g.settled(run.id)).result == ["fine"]


class Poison:
    """One bad thing: `begin` puts it beside the healthy ones, `mend` takes its cause away."""

    kind = Kind.ANSWER
    reason = "An answer could not be given to poison: ZeroDivisionError while resuming."
    answer = ""  # after its replay it is asked again, and answered with this
    expires_in: float | None = None

    def __init__(self) -> None:
        self.agent: Agent = ScriptedAgent(asks("Poison?"), name="poison")
        self.provider = Phone("other")  # through which nobody else is asked
        self.run = ""

    @property
    def attempts(self) -> int:
        """How often it was tried so far."""
        raise LookupError("this one says how")

    async def begin(self, g: Gateway) -> None:
        self.run = (await g.run("poison", route="poison")).id

    async def mend(self, g: Gateway) -> None:
        """Its cause is gone; it is still where it was."""


class GraphThatRaises(Poison):
    def __init__(self) -> None:
        super().__init__()
        self.agent = self.raises = Mendable(asks("Poison?"))

    @property
    def attempts(self) -> int:
        return self.raises.calls

    async def begin(self, g: Gateway) -> None:
        await super().begin(g)
        await g.receive(self.provider.typed("b", "kept"), "other")

    async def mend(self, g: Gateway) -> None:
        self.raises.mended = True


class Mendable(Raises):
    mended = False

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if self.mended:
            return await ScriptedAgent.resume(self, thread, target, answer, again=again)
        return await super().resume(thread, target, answer, again=again)


class TenMegabytes(Poison):
    """A graph asks a question that chokes a plugin, as long as that does not say how much it can carry."""

    kind = Kind.DELIVERY
    reason = "A question could not be sent on other: OverflowError in the provider."
    answer = "read"

    def __init__(self) -> None:
        super().__init__()
        self.agent = ScriptedAgent(asks("Poison? " + "x" * TEN_MEGABYTES), name="poison")
        self.provider = self.chokes = Chokes("other")

    @property
    def attempts(self) -> int:
        return self.chokes.attempts

    async def mend(self, g: Gateway) -> None:
        self.chokes.mended = True


class Chokes(Phone):
    mended, attempts = False, 0

    async def send(self, message: Message) -> Sent:
        self.attempts += 1
        if not self.mended and len(message.text) > 4096:
            raise OverflowError("no message is that long")
        return await super().send(message)


class CorruptRow(Poison):
    """It cannot be read when its deadline is to be acted on."""

    kind = Kind.INTERACTION
    reason = "The record of a question is damaged: nobody can be shown it, and nobody can answer it."
    answer = "asked anew"
    expires_in = DEADLINE

    @property
    def attempts(self) -> int:
        return 1

    async def begin(self, g: Gateway) -> None:
        await super().begin(g)
        await spoil(g, *(await g.app.runner.get(self.run)).interactions)


POISONS = {"a graph that raises": GraphThatRaises, "ten megabytes": TenMegabytes, "a corrupt row": CorruptRow}


@pytest.mark.parametrize("name", POISONS)
async def test_a_hundred_healthy_ones_beside_a_poison_wait_for_nothing_and_it_ends_as_a_dead_letter(
    database: Database, name: str
) -> None:
    poison, healthy, phone = POISONS[name](), ScriptedAgent(asks("Which?")), Phone()
    aside = Route("poison", ask=("ben",), providers=("other",), expires_in=poison.expires_in)
    routes = {"default": Route("default", ask=("alice",), providers=("memory",)), "poison": aside}
    providers = {"memory": phone, "other": poison.provider}
    async with gateway(database, poison.agent, healthy, providers=providers, routes=routes) as g:
        await poison.begin(g)
        before = []
        for number in range(100):
            run = await g.run()
            await g.receive(phone.typed("1001", f"answer {number}"))
            done = await g.settled(run.id)
            assert done.result == [f"answer {number}"]
            assert done.updated_at == done.created_at, "no time went by: it has waited for no back-off"
            before.append(poison.attempts)
            await pass_time(g, 1)
        assert before == sorted(before) and before[-1] <= 20, "it is tried now and then, and not for ever"
        (letter,) = (await g.app.letters.list()).items
        assert (letter.kind, letter.reason) == (poison.kind, poison.reason)
        attempts = poison.attempts
        await pass_time(g, 24 * 60)
        assert poison.attempts == attempts, "what was given up is left alone"

        await poison.mend(g)
        await g.app.letters.replay(letter.id, "ops")
        await g.app.idle()
        await g.sweep()
        if poison.answer:
            await g.receive(poison.provider.typed("b", poison.answer), "other")
        assert (await g.settled(poison.run)).result == [poison.answer or "kept"]
        assert (await g.app.letters.list()).items == ()
