"""Stand-ins: asked in place of people, through the same door, and never to decide what only people may."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import bindparam, update

from answerback import instead
from answerback.agent import Pending
from answerback.ask import AskRequest
from answerback.errors import ConfigurationError
from answerback.faults import Faults
from answerback.model import (
    Action,
    Choice,
    InteractionStatus,
    Json,
    OnExpire,
    Question,
    QuestionKind,
    RunStatus,
    StandsIn,
)
from answerback.provider import (
    Message,
    Provider,
    ProviderContext,
    Reply,
    Sent,
    TryLater,
    Undeliverable,
    answering,
)
from answerback.settings import Hitl, Plugin, Route
from answerback.store import Row, Tx
from answerback.store.deliveries import OF
from answerback.store.query import Query
from answerback.tables import InteractionRow
from answerback.testing import MemoryProvider, ScriptedAgent
from answerback.web.interactions import ask_request
from answerback.web.records import interaction_out
from answerback.web.requests import InteractionIn
from answerback_providers.default import Default
from answerback_providers.scripted import Scripted
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway
from tests.support.stand_ins import TEXT, Stand, again, ask, routed

CONFIRM = Question("q", "Wipe production?", QuestionKind.CONFIRM)
REVIEW = Question(
    "q",
    "",
    QuestionKind.REVIEW,
    action=Action("refund", {"amount": 100}),
    decisions=("approve", "edit", "reject", "respond"),
)
CHOICE = Question("q", "Which one?", QuestionKind.CHOICE, (Choice("a", "Alpha"), Choice("b", "Beta")))
CHOICES = Question("q", "Which ones?", QuestionKind.CHOICES, (Choice("a", "Alpha"), Choice("b", "Beta")))
NUMBER = Question("q", "How many?", QuestionKind.NUMBER)
DATE = Question("q", "When?", QuestionKind.DATE)
X = InteractionRow.__table__  # type: ignore[attr-defined]
MARK = Query(update(X).where(X.c.id == bindparam("key")).values(route=bindparam("route_")))
EDIT: Json = {"decision": "edit", "args": {"amount": 1}}


def kind_of(name: str) -> StandsIn:
    return StandsIn.TERMINAL if name == "console" else StandsIn.PROGRAM


SWITCHED_OFF = {"scripted": Plugin("scripted", "langgraph", hitl_enabled=False)}


# -- the mode


async def test_the_mode_switches_all_questions_to_a_stand_in(database: Database) -> None:
    llm = Stand("llm", "absorption", "b")
    agent = ScriptedAgent(TEXT, CHOICE)
    async with gateway(database, agent, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        run = await g.run()
        assert run.status is RunStatus.COMPLETED and run.result == ["absorption", "b"]
        assert g.memory.shown == []


async def test_the_record_says_that_a_stand_in_answered_and_which(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", "x")}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        assert record.status is InteractionStatus.COMPLETED
        assert (record.answered_via, record.answered_by) == ("llm", "stand-in:llm (some:model)")
        shown = interaction_out(record)
        assert shown.answer is not None and shown.answer.stand_in and shown.answer.via == "llm"


async def test_no_contact_can_be_taken_for_a_stand_in(database: Database) -> None:
    async with gateway(database) as g:
        record = await ask(g)
        await g.types("1001", "mine")
        shown = interaction_out(await again(g, record))
        assert shown.answered_by == "alice" and shown.answer is not None and not shown.answer.stand_in


async def test_what_a_stand_in_leaves_open_goes_to_people(database: Database) -> None:
    llm = Stand("llm", None)
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        assert len(llm.asked) == 1 and g.memory.titles("1001") == ["Which costing?"]
        await g.types("1001", "mine")
        assert (await again(g, record)).answered_by == "alice"


async def test_an_answer_that_does_not_fit_goes_to_people(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", "gamma")}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, CHOICE)
        assert record.status is InteractionStatus.PENDING
        assert g.memory.titles("1001") == ["Which one?"]


async def test_several_questions_are_answered_together(database: Database) -> None:
    llm = Stand("llm", {"a": "blue", "b": "2"})
    questions = (Question("a", "Colour?"), Question("b", "Which?", QuestionKind.CHOICE, CHOICE.choices))
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, *questions)
        assert record.answer is not None and record.answer.values == {"a": "blue", "b": "b"}


async def test_words_that_are_commands_for_people_are_only_an_answer(database: Database) -> None:
    agent = ScriptedAgent(TEXT)
    async with gateway(database, agent, providers={"llm": Stand("llm", "stop")}, hitl=Hitl(mode="llm")) as g:
        run = await g.run()
        assert run.status is RunStatus.COMPLETED and run.result == ["stop"]


async def test_the_code_of_another_question_in_an_answer_leads_nowhere(database: Database) -> None:
    llm = Stand("llm", None)
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        other = await ask(g)
        llm.answers.append(f"as in #{other.code}")
        record = await ask(g)
        assert record.answer is not None and record.answer.values == {"q": f"as in #{other.code}"}
        assert (await again(g, other)).status is InteractionStatus.PENDING


# -- law 6


KINDS = ["console", "llm", "default", "scripted"]
FORBIDDEN: dict[str, tuple[Question, Json]] = {
    "yes": (CONFIRM, True),
    "yes, written": (CONFIRM, "yes"),
    "approve": (REVIEW, {"decision": "approve"}),
    "approve, written": (REVIEW, "approve"),
    "edit": (REVIEW, EDIT),
}
ALLOWED: Sequence[tuple[Question, Json, Json]] = [
    (CONFIRM, False, False),
    (CONFIRM, "no", False),
    (REVIEW, {"decision": "reject"}, {"decision": "reject"}),
    (REVIEW, {"decision": "respond", "message": "why?"}, {"decision": "respond", "message": "why?"}),
    (TEXT, "yes", "yes"),
    (CHOICE, "a", "a"),
    (CHOICES, ["a", "b"], ["a", "b"]),
    (NUMBER, 3, 3),
    (DATE, "2026-12-03", "2026-12-03"),
]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("question", "answer"), FORBIDDEN.values(), ids=FORBIDDEN)
async def test_law_6_a_stand_in_never_approves_confirms_or_edits(
    tmp_path: Path, name: str, question: Question, answer: Json
) -> None:
    database = Database("sqlite", tmp_path)
    stand = Stand(name, answer, kind=kind_of(name))
    async with gateway(database, providers={name: stand}, hitl=Hitl(mode=name)) as g:
        record = await ask(g, question)
        assert record.status is InteractionStatus.PENDING and record.answer is None


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("question", "answer", "value"), ALLOWED)
async def test_it_says_no_chooses_and_writes(
    tmp_path: Path, name: str, question: Question, answer: Json, value: Json
) -> None:
    database = Database("sqlite", tmp_path)
    stand = Stand(name, answer, kind=kind_of(name))
    async with gateway(database, providers={name: stand}, hitl=Hitl(mode=name)) as g:
        record = await ask(g, question)
        assert record.answer is not None and record.answer.values == {"q": value}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("question", "answer"), FORBIDDEN.values(), ids=FORBIDDEN)
async def test_it_does_where_the_configuration_grants_it_that(
    tmp_path: Path, name: str, question: Question, answer: Json
) -> None:
    database = Database("sqlite", tmp_path)
    stand = Stand(name, answer, kind=kind_of(name), may_approve=True)
    async with gateway(database, providers={name: stand}, hitl=Hitl(mode=name)) as g:
        record = await ask(g, question)
        assert record.status is InteractionStatus.COMPLETED
        assert record.answered_by.endswith(f"{name} (some:model)")


async def test_one_of_several_answers_that_is_not_allowed_spoils_all(database: Database) -> None:
    llm = Stand("llm", {"a": "fine", "q": True})
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, Question("a", "Why?"), CONFIRM)
        assert record.status is InteractionStatus.PENDING


async def test_hitl_may_approve_is_for_deadlines_and_grants_no_stand_in_anything(database: Database) -> None:
    hitl = Hitl(mode="llm", may_approve=True)
    async with gateway(database, providers={"llm": Stand("llm", True)}, hitl=hitl) as g:
        assert (await ask(g, CONFIRM)).status is InteractionStatus.PENDING


async def test_a_refused_approval_goes_to_a_person_who_may_give_it(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", True)}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, CONFIRM)
        await g.taps("1001", "Yes")
        assert (await again(g, record)).answered_by == "alice"


# -- only people


async def test_what_only_people_may_answer_never_goes_to_a_stand_in(database: Database) -> None:
    llm = Stand("llm", "x")
    async with gateway(
        database, providers={"llm": llm}, hitl=Hitl(mode="llm"), routes=routed("llm", stand_ins_after=60.0)
    ) as g:
        record = await ask(g, human_only=True)
        assert record.human_only and interaction_out(record).human_only
        assert g.memory.titles("1001") == ["Which costing?"]
        await g.later(3600)
        assert llm.asked == []


async def test_a_route_and_an_agent_can_be_for_people_only(database: Database) -> None:
    llm = Stand("llm", "x", "y")
    routes = {**routed(), "people": Route("people", ("alice",), ("memory",), human_only=True)}
    agents = {"strict": Plugin("strict", "langgraph", human_only=True)}
    async with gateway(
        database, providers={"llm": llm}, hitl=Hitl(mode="llm"), routes=routes, agents=agents
    ) as g:
        await ask(g, route="people")
        await ask(g, agent="strict")
        assert llm.asked == [] and len(g.memory.titles("1001")) == 2


class Marks(ScriptedAgent):
    """Says of what it asks that only people may answer."""

    def _pending(self, step: int, position: int) -> Pending:
        found = super()._pending(step, position)
        return Pending(found.interrupt_id, found.digest, found.questions, expirable=True, human_only=True)


async def test_an_agent_can_mark_what_it_asks(database: Database) -> None:
    llm = Stand("llm", "x")
    async with gateway(database, Marks(TEXT), providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        await g.run()
        assert llm.asked == [] and g.memory.titles("1001") == ["Which costing?"]


async def test_the_door_refuses_a_stand_in_that_was_asked_what_only_people_may_answer(
    database: Database,
) -> None:
    """A stand-in that kept an older token, or a row that was written by another version, gets nothing."""
    llm = Stand("llm", TryLater(60), "x")
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        route = json.dumps(dict(record.route, human_only=True))
        await g.app.context.store.write(lambda tx: tx.run(MARK, key=record.id, route_=route))
        await g.later(61)
        assert len(llm.asked) == 2
        assert (await again(g, record)).status is InteractionStatus.PENDING


def test_an_ask_over_http_can_be_for_people_only() -> None:
    body = InteractionIn.model_validate({"question": "Which?", "human_only": True})
    assert ask_request(body, "", "").human_only


# -- what is sensitive


async def test_what_is_sensitive_is_seen_by_no_stand_in(database: Database) -> None:
    llm = Stand("llm", "x")
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        await ask(g, sensitive=True)
        assert llm.asked == [] and g.memory.titles("1001") == ["A question is waiting for you."]


async def test_unless_the_configuration_lets_it_see_that(database: Database) -> None:
    llm = Stand("llm", "x", sees_sensitive=True)
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, sensitive=True)
        assert record.answer is not None and llm.asked[0].asked.questions == (TEXT,)


# -- routes


async def test_a_route_falls_back_to_stand_ins_when_nobody_can_be_reached(database: Database) -> None:
    llm = Stand("llm", "x")
    async with gateway(database, providers={"llm": llm}, routes=routed("llm")) as g:
        g.memory.failures.append(Undeliverable("blocked"))
        record = await ask(g)
        assert record.answered_via == "llm"


async def test_not_while_somebody_else_can_still_answer(database: Database) -> None:
    llm = Stand("llm", "x")
    routes = routed("llm", ask=("alice", "ben"))
    async with gateway(database, providers={"llm": llm}, routes=routes) as g:
        g.memory.failures.append(Undeliverable("blocked"))
        record = await ask(g)
        assert record.status is InteractionStatus.PENDING and llm.asked == []


async def test_a_route_with_nobody_to_ask_begins_with_its_stand_ins(database: Database) -> None:
    async with gateway(database, providers={"llm": Stand("llm", "x")}, routes=routed("llm", ask=())) as g:
        assert (await ask(g)).answered_via == "llm"


async def test_a_stand_in_is_asked_after_a_while_and_the_person_hears_of_it(database: Database) -> None:
    llm = Stand("llm", "x")
    routes = routed("llm", stand_ins_after=600.0)
    async with gateway(database, providers={"llm": llm}, routes=routes) as g:
        record = await ask(g)
        await g.later(599)
        assert llm.asked == []
        await g.later(2)
        assert (await again(g, record)).answered_via == "llm"
        (title,) = g.memory.titles("1001")
        assert title.startswith("✅ The stand-in llm (some:model) wrote “x”")
        assert title.endswith("No person answered.")


async def test_people_can_answer_until_a_stand_in_has(database: Database) -> None:
    llm = Stand("llm", None)
    routes = routed("llm", stand_ins_after=600.0)
    async with gateway(database, providers={"llm": llm}, routes=routes) as g:
        record = await ask(g)
        await g.later(601)
        await g.types("1001", "mine")
        assert (await again(g, record)).answered_by == "alice"


async def test_an_answer_that_comes_after_a_stand_in_s_is_told_so(database: Database) -> None:
    routes = routed("llm", stand_ins_after=600.0)
    async with gateway(database, providers={"llm": Stand("llm", "x")}, routes=routes) as g:
        record = await ask(g)
        await g.later(601)
        await g.types("1001", f"mine #{record.code}")
        assert "The stand-in llm (some:model) answered this" in g.memory.titles("1001")[-1]
        assert (await again(g, record)).answered_via == "llm"


async def test_reminders_go_to_people_and_do_not_ask_stand_ins_again(database: Database) -> None:
    first, second = Stand("first"), Stand("second", "x")
    second.answers.clear()
    routes = routed("first", "second", stand_ins_after=60.0, reminders=(30.0, 120.0))
    async with gateway(database, providers={"first": first, "second": second}, routes=routes) as g:
        await ask(g)
        await g.later(31)
        assert len(g.memory.shown) == 2 and first.asked == []
        await g.later(30)
        assert (len(first.asked), len(second.asked), len(g.memory.shown)) == (1, 1, 2)
        await g.later(60)
        assert (len(first.asked), len(second.asked), len(g.memory.shown)) == (1, 1, 3)


async def test_what_one_leaves_open_goes_to_the_next(database: Database) -> None:
    first, second = Stand("first", None), Stand("second", "x")
    routes = routed("first", "second", ask=())
    async with gateway(database, providers={"first": first, "second": second}, routes=routes) as g:
        assert (await ask(g)).answered_via == "second"


async def test_nothing_is_said_to_a_program_about_what_became_of_it(database: Database) -> None:
    agent = ScriptedAgent(TEXT, TEXT)
    llm = Stand("llm", None, None)
    async with gateway(database, agent, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        await g.run()
        await g.types("1001", "one")
        await g.types("1001", "two")
        assert len(llm.asked) == 2 and llm.told == []


# -- once in, killed anywhere


class FailsOnce(Faults):
    """Something breaks at this point, the first time it is reached."""

    def __init__(self, point: str) -> None:
        self._left = [point]

    def reach(self, point: str) -> None:
        super().reach(point)
        if point in self._left:
            self._left.remove(point)
            raise RuntimeError("told to break")


async def test_what_broke_before_the_answer_was_stored_is_asked_again(database: Database) -> None:
    llm = Stand("llm", "lost", "kept")
    faults = FailsOnce("deliver.after-send")
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm"), faults=faults) as g:
        record = await ask(g)
        assert record.status is InteractionStatus.PENDING and len(llm.asked) == 1
        await g.later(60)
        record = await again(g, record)
        assert record.answer is not None and record.answer.values == {"q": "kept"}
        assert llm.asked[0].delivery_id == llm.asked[1].delivery_id


async def test_an_answer_that_comes_twice_counts_once(database: Database) -> None:
    """As when a claim lapsed while a model thought, and another process asked it as well."""
    llm = Stand("llm", None)
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        (row,) = await g.app.context.store.read(
            lambda tx: [each for each in tx.all(OF, interaction_id=record.id) if each["provider"] == "llm"]
        )
        results = []
        for text in ("first", "second"):
            sent = Sent(replies=(answering(llm.asked[0], text),))
            results.append(await g.app.context.store.write(partial(answered, g, row, sent)))
        assert [bool(each.decision) for each in results] == [True, False]
        record = await again(g, record)
        assert record.answer is not None and record.answer.values == {"q": "first"}


async def test_an_answer_that_was_not_taken_is_not_made_good_under_the_same_id(database: Database) -> None:
    """The question went on to people when it came first: what is told again is what was told then (law 4)."""
    llm = Stand("llm", "gamma")
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g, CHOICE)
        (row,) = await g.app.context.store.read(
            lambda tx: [each for each in tx.all(OF, interaction_id=record.id) if each["provider"] == "llm"]
        )
        sent = Sent(replies=(answering(llm.asked[0], "a"),))
        done = await g.app.context.store.write(partial(answered, g, row, sent))
        assert done.decision is None and done.rows == []
        assert (await again(g, record)).status is InteractionStatus.PENDING


class Thinks(Stand):
    """Takes longer than a claim lasts."""

    patience = 300.0

    def __init__(self) -> None:
        super().__init__("llm", "x")
        self.done = asyncio.Event()

    async def send(self, message: Message) -> Sent:
        sent = await super().send(message)
        await self.done.wait()
        return sent


async def test_one_that_thinks_for_long_is_not_asked_twice(database: Database) -> None:
    llm = Thinks()
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        g.app.deliverer.beat = 0.001
        asked = await g.app.asker.ask(AskRequest((TEXT,)))
        for _ in range(5):
            claimed_until = g.clock.now + 61_000_000
            g.clock.advance(59)
            await until(g, asked.interaction.id, claimed_until)
            assert await g.app.deliverer.pump() == 0
        llm.done.set()
        await g.app.idle()
        assert len(llm.asked) == 1
        assert (await again(g, asked.interaction)).answered_via == "llm"


async def until(g: Gateway, id: str, moment: int) -> None:
    """Until the stand-in's delivery is claimed for longer than this."""
    async with asyncio.timeout(30):
        while True:
            rows = await g.app.context.store.read(lambda tx: tx.all(OF, interaction_id=id))
            if any((row["next_attempt_at"] or 0) > moment for row in rows if row["provider"] == "llm"):
                return
            await asyncio.sleep(0.001)


async def test_a_stand_in_that_is_away_is_asked_later(database: Database) -> None:
    llm = Stand("llm", TryLater(30, "busy"), "x")
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        await g.later(31)
        assert (await again(g, record)).answered_via == "llm"


async def test_one_that_can_never_answer_is_a_dead_letter_and_people_are_asked(
    database: Database,
) -> None:
    llm = Stand("llm", Undeliverable("the key is not valid"))
    async with gateway(database, providers={"llm": llm}, hitl=Hitl(mode="llm")) as g:
        await ask(g)
        assert g.memory.titles("1001") == ["Which costing?"]
        (letter,) = (await g.app.letters.list()).items
        assert "the key is not valid" in letter.reason


async def test_an_answer_to_a_question_of_another_delivery_is_not_taken(database: Database) -> None:
    """A token alone is not enough: it must be the stand-in's own delivery."""
    async with gateway(database, providers={"llm": Stand("llm", None)}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        stolen = g.memory.shown[0].message
        (row,) = await g.app.context.store.read(
            lambda tx: [each for each in tx.all(OF, interaction_id=record.id) if each["provider"] == "llm"]
        )
        done = await g.app.context.store.write(
            partial(answered, g, row, Sent(replies=(answering(stolen, "stolen"),)))
        )
        assert done.decision is None
        assert (await again(g, record)).status is InteractionStatus.PENDING


async def test_an_answer_without_its_token_is_for_nothing(database: Database) -> None:
    """Not even for the only question that is open."""
    async with gateway(database, providers={"llm": Stand("llm", TryLater(60))}, hitl=Hitl(mode="llm")) as g:
        record = await ask(g)
        (row,) = await g.app.context.store.read(
            lambda tx: [each for each in tx.all(OF, interaction_id=record.id) if each["provider"] == "llm"]
        )
        row |= {"message_ids": "[]"}
        reply = Reply("e1", "llm", record.id, "guessed", value="guessed")
        done = await g.app.context.store.write(partial(answered, g, row, Sent(replies=(reply,))))
        assert done.decision is None
        assert (await again(g, record)).status is InteractionStatus.PENDING


def answered(g: Gateway, row: Row, sent: Sent, tx: Tx) -> instead.Answered:
    return instead.answered(tx, g.app.context, row, sent)


async def test_a_provider_that_is_no_stand_in_cannot_answer_by_sending(database: Database) -> None:
    class Forged(Stand):
        async def send(self, message: Message) -> Sent:
            return Sent(("m1",), replies=(answering(message, "forged"),))

    forged = Forged("other", kind=StandsIn.NOBODY)
    routes = {"default": Route("default", ("ben",), ("other",))}
    async with gateway(database, providers={"other": forged}, routes=routes) as g:
        assert (await ask(g)).status is InteractionStatus.PENDING


# -- nobody


async def test_switched_off_no_person_is_asked_and_it_ends_as_silence_does(database: Database) -> None:
    agent = ScriptedAgent(CONFIRM)
    async with gateway(database, agent, hitl=Hitl(enabled=False)) as g:
        run = await g.run()
        await g.sweep()
        assert (await g.settled(run.id)).result == [None]
        assert g.memory.shown == [] and agent.journal[0][2].expired


async def test_switched_off_the_stand_in_of_the_mode_still_answers(database: Database) -> None:
    agent = ScriptedAgent(TEXT, TEXT)
    hitl = Hitl(enabled=False, mode="llm")
    async with gateway(database, agent, providers={"llm": Stand("llm", "x", None)}, hitl=hitl) as g:
        run = await g.run()
        await g.sweep()
        assert (await g.settled(run.id)).result == ["x", None]
        assert g.memory.shown == []


async def test_switched_off_a_model_that_is_away_is_waited_for(database: Database) -> None:
    away = [TryLater(30, "busy") for _ in range(3)]
    hitl = Hitl(enabled=False, mode="llm")
    async with gateway(database, providers={"llm": Stand("llm", *away, "x")}, hitl=hitl) as g:
        record = await ask(g)
        for _ in range(3):
            assert (await again(g, record)).status is InteractionStatus.PENDING
            await g.later(60)
        assert (await again(g, record)).answered_via == "llm"


async def test_switched_off_what_silence_leaves_open_stays_open(database: Database) -> None:
    routes = {"default": Route("default", ("alice",), ("memory",), on_expire=OnExpire.LEAVE)}
    async with gateway(database, hitl=Hitl(enabled=False), routes=routes) as g:
        record = await ask(g)
        await g.sweep()
        record = await again(g, record)
        assert record.status is InteractionStatus.PENDING and record.overdue_at is not None
        await g.app.receiver.respond(record.id, "by api", by="alice", via="api")


async def test_one_agent_can_be_switched_off_and_the_others_still_ask(database: Database) -> None:
    off, on = ScriptedAgent(CONFIRM), ScriptedAgent(CONFIRM, name="other")
    async with gateway(database, off, on, agents=SWITCHED_OFF) as g:
        run = await g.run()
        await g.run("other")
        await g.sweep()
        assert (await g.settled(run.id)).result == [None] and off.journal[0][2].expired
        assert len(g.memory.shown) == 1 and not on.journal


async def test_for_one_that_is_switched_off_stand_ins_answer_and_what_they_leave_ends(
    database: Database,
) -> None:
    agent, llm = ScriptedAgent(TEXT, TEXT), Stand("llm", "x", None)
    routes = routed("llm")
    async with gateway(database, agent, providers={"llm": llm}, routes=routes, agents=SWITCHED_OFF) as g:
        run = await g.run()
        await g.sweep()
        assert (await g.settled(run.id)).result == ["x", None]
        assert g.memory.shown == []


async def test_one_that_is_switched_off_shows_no_link_either(database: Database) -> None:
    link = MemoryProvider("link")
    async with gateway(
        database, providers={"link": link}, routes={"default": Route("default")}, agents=SWITCHED_OFF
    ) as g:
        record = await ask(g, agent="scripted")
        await g.sweep()
        assert link.shown == [] and (await again(g, record)).status is InteractionStatus.EXPIRED


async def test_with_nobody_left_the_question_s_link_is_shown(database: Database) -> None:
    link = MemoryProvider("link")
    providers = {"llm": Stand("llm", None), "link": link}
    routes = {"default": Route("default")}
    async with gateway(database, providers=providers, hitl=Hitl(mode="llm"), routes=routes) as g:
        await ask(g)
        await ask(g, Question("q", "And this?"), human_only=True)
        assert [shown.message.title for shown in link.shown] == ["Which costing?", "And this?"]


# -- the built-in ones, in a whole gateway


def made(kind: type[Provider], name: str, **settings: Json) -> Provider:
    return kind(name, kind.Settings.model_validate(settings), ProviderContext())


async def test_predefined_answers_leave_what_they_do_not_fit_to_people(
    database: Database,
) -> None:
    usual = made(Default, "usual", answers=[{"text": "costing", "answer": "absorption"}])
    async with gateway(database, providers={"usual": usual}, hitl=Hitl(mode="usual")) as g:
        assert (await ask(g)).answered_by == "stand-in:usual"
        await ask(g, Question("q", "Something else?"))
        assert g.memory.titles("1001") == ["Something else?"]


async def test_a_script_that_runs_out_says_which_question_it_had_no_answer_for(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    script = made(Scripted, "script", answers=["blue"])
    async with gateway(database, providers={"script": script}, hitl=Hitl(mode="script")) as g:
        assert (await ask(g)).answered_via == "script"
        await ask(g, Question("q", "And which colour then?"))
        (letter,) = (await g.app.letters.list()).items
        assert "has no answer left for “And which colour then?”" in letter.reason
        assert "blue" not in caplog.text


# -- the configuration


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"hitl": Hitl(mode="memory")}, "memory reaches people"),
        ({"routes": routed("memory")}, "memory is no stand-in"),
        ({"routes": {"default": Route("default", ("alice",), ("llm",))}}, "name it under stand_ins"),
    ],
)
async def test_a_stand_in_and_a_way_to_people_cannot_be_mistaken_for_each_other(
    tmp_path: Path, more: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        async with gateway(Database("sqlite", tmp_path), providers={"llm": Stand("llm")}, **more):
            raise AssertionError("it started")
