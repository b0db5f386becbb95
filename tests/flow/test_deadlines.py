"""What a graph may set of a deadline, what counts if that is unusable, and that nothing waits for ever."""

from dataclasses import replace

import pytest
from sqlalchemy import bindparam, text

from answerback.agent import Pending, State, Target
from answerback.ask import AskRequest
from answerback.errors import DoesNotFit
from answerback.model import Answer, Interaction, InteractionStatus, Json, OnExpire, Question, RunStatus
from answerback.settings import Hitl, Route
from answerback.store.query import Query
from answerback.testing import ManualClock, ScriptedAgent, asks
from answerback.web.records import interaction_out
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

HOUR = 3600.0
DEFAULT, AUTO = OnExpire.DEFAULT, OnExpire.AUTO
COLOUR = asks("Which colour?", "Red", "Green")
WIPE = asks("Wipe?", confirm=True)
AS_BEFORE = Query(  # as a question was stored whose default nobody had looked at
    text(
        "UPDATE interaction SET on_expire = 'default', default_value = :value, closes_at = expires_at"
        " WHERE id = :key"
    ).bindparams(bindparam("key"), bindparam("value"))
)


class Sets(ScriptedAgent):
    """Says more of its questions; `refused` is how often it refuses what silence gives it."""

    def __init__(self, *steps: Question, refused: int = 0, **more: Json) -> None:
        super().__init__(*steps)
        self._more, self.refused = more, refused

    def _pending(self, step: int, position: int) -> Pending:
        return replace(super()._pending(step, position), **self._more)

    async def resume(self, thread: str, target: Target, answer: Answer, *, again: bool = False) -> State:
        if answer.expired and self.refused:
            self.refused -= 1
            raise DoesNotFit("this has no such value")
        return await super().resume(thread, target, answer, again=again)


def route(on_expire: OnExpire = AUTO, expires_in: float | None = HOUR) -> dict[str, Route]:
    return {"default": Route("default", ("alice",), ("memory",), expires_in=expires_in, on_expire=on_expire)}


async def asked(g: Gateway) -> Interaction:
    """The newest question."""
    return (await g.app.reader.interactions()).items[-1]


async def events(g: Gateway, record: Interaction) -> list[str]:
    return [event.event for event in (await g.app.historian.of(record.id)).events]


# Where the route says `default`


async def test_a_question_without_a_default_ends_as_with_auto(database: Database) -> None:
    agent = Sets(COLOUR)
    async with gateway(database, agent, routes=route(DEFAULT)) as g:
        run = await g.run()
        await g.later(HOUR + 1)
        assert (await asked(g)).status is InteractionStatus.EXPIRED
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
    ((_, _, answer),) = agent.journal
    assert (answer.expired, answer.default_used, answer.values) == (True, False, {})


async def test_where_silence_has_no_value_it_can_still_be_answered(database: Database) -> None:
    async with gateway(database, Sets(asks("Which?"), expirable=False), routes=route(DEFAULT)) as g:
        run = await g.run()
        await g.later(HOUR + 1)
        assert (await asked(g)).overdue_at is not None
        await g.types("1001", "late but fine")
        assert (await g.settled(run.id)).result == ["late but fine"]


async def test_what_the_person_reads_of_silence_is_what_happens(database: Database) -> None:
    async with gateway(database, Sets(COLOUR), routes=route(DEFAULT)) as g:
        await g.run()
        assert "I go on without an answer" in g.memory.shown[0].message.footer
    async with gateway(database, Sets(COLOUR, default="green"), routes=route(DEFAULT)) as g:
        await g.run()
        assert "“Green”" in g.memory.shown[0].message.footer


async def test_the_default_of_a_graph_counts_and_is_told_apart(database: Database) -> None:
    agent = Sets(COLOUR, default="green")
    async with gateway(database, agent, routes=route(DEFAULT)) as g:
        await g.run()
        await g.later(HOUR + 1)
    ((_, _, answer),) = agent.journal
    assert (answer.expired, answer.default_used, answer.values) == (True, True, {"q1": "green"})


@pytest.mark.parametrize("default", ["blue", 3, {"colour": "red"}, "", ["red"], {"q1": "\ud800"}, 2**70])
async def test_a_default_that_does_not_fit_is_none_and_that_is_noted(
    database: Database, default: Json
) -> None:
    agent = Sets(COLOUR, default=default)
    async with gateway(database, agent, routes=route(DEFAULT)) as g:
        await g.run()
        record = await asked(g)
        assert (record.on_expire, record.default) == (AUTO, None)
        assert "default not usable" in await events(g, record)
        await g.later(HOUR + 1)
    assert not agent.journal[0][2].default_used


async def test_a_default_confirms_nothing_unless_that_is_granted(database: Database) -> None:
    refused, agreed, no = (Sets(WIPE, default=value) for value in (True, True, False))
    for agent, hitl in ((refused, Hitl()), (agreed, Hitl(may_approve=True)), (no, Hitl())):
        async with gateway(database, agent, routes=route(DEFAULT), hitl=hitl) as g:
            await g.run()
            await g.later(HOUR + 1)
    values = [agent.journal[0][2].values for agent in (refused, agreed, no)]
    assert values == [{}, {"q1": True}, {"q1": False}]


async def test_a_grant_that_was_taken_back_does_not_count_at_the_deadline(database: Database) -> None:
    agent, clock = Sets(WIPE, default=True), ManualClock()
    async with gateway(database, agent, routes=route(DEFAULT), clock=clock, hitl=Hitl(may_approve=True)) as g:
        await g.run()
    async with gateway(database, agent, routes=route(DEFAULT), clock=clock) as g:
        await g.later(HOUR + 1)
    assert agent.journal[0][2].values == {} and not agent.journal[0][2].default_used


async def test_an_ask_over_the_api_without_a_default_ends_as_with_auto(database: Database) -> None:
    async with gateway(database, routes=route(DEFAULT)) as g:
        await g.app.asker.ask(AskRequest((COLOUR,)))
        assert (await asked(g)).on_expire is AUTO
        with pytest.raises(DoesNotFit, match="no `default` is set"):
            await g.app.asker.ask(AskRequest((COLOUR,), on_expire=DEFAULT))
        with pytest.raises(DoesNotFit, match="one of these ids"):
            await g.app.asker.ask(AskRequest((asks("Which?", "A"),), default="b"))


@pytest.mark.parametrize(
    ("ending", "status", "value"),
    [
        (AUTO, "expired", {"value": None, "expired": True}),
        (OnExpire.NO_RESPONSE, "expired", {"value": None, "expired": True}),
        (OnExpire.CANCEL, "expired", None),
        (OnExpire.LEAVE, "pending", None),
    ],
)
async def test_an_ask_over_the_api_promises_nothing_for_silence_and_expires_unless_it_is_left(
    database: Database, ending: OnExpire, status: str, value: dict[str, object] | None
) -> None:
    async with gateway(database, routes=route()) as g:
        await g.app.asker.ask(AskRequest((COLOUR,), on_expire=ending))
        await g.later(HOUR + 1)
        shown = interaction_out(await asked(g)).model_dump()
        assert shown["status"] == status
        answer = shown["answer"]
        assert (answer and {name: answer[name] for name in ("value", "expired")}) == value


# What was stored before


@pytest.mark.parametrize("value", ["null", '"blue"', "[]"])
async def test_a_stored_default_that_does_not_fit_is_closed_at_its_deadline(
    database: Database, value: str
) -> None:
    agent = Sets(COLOUR)
    async with gateway(database, agent, routes=route()) as g:
        run = await g.run()
        record = await asked(g)
        await g.app.context.store.write(lambda tx: tx.run(AS_BEFORE, key=record.id, value=value))
        await g.later(HOUR + 1)
        assert (await asked(g)).status is InteractionStatus.EXPIRED
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
        assert "closed" in g.memory.titles("1001")[0] and "agent was told" in g.memory.titles("1001")[0]
    assert not agent.journal[0][2].default_used


async def test_a_stored_default_that_does_not_fit_leaves_it_answerable_where_silence_has_no_value(
    database: Database,
) -> None:
    async with gateway(database, Sets(asks("Which?"), expirable=False), routes=route()) as g:
        run = await g.run()
        record = await asked(g)
        await g.app.context.store.write(lambda tx: tx.run(AS_BEFORE, key=record.id, value="null"))
        await g.later(HOUR + 1)
        await g.types("1001", "late but fine")
        assert (await g.settled(run.id)).result == ["late but fine"]


# What the agent refuses


@pytest.mark.parametrize(("on_expire", "more"), [(DEFAULT, {"default": "green"}), (OnExpire.NO_RESPONSE, {})])
async def test_what_the_agent_refused_at_a_deadline_is_not_tried_again(
    database: Database, on_expire: OnExpire, more: dict[str, Json]
) -> None:
    agent = Sets(COLOUR, refused=1, **more)
    async with gateway(database, agent, routes=route(on_expire)) as g:
        await g.run()
        await g.later(HOUR + 1)
        assert ((await asked(g)).status, (await asked(g)).on_expire) == (InteractionStatus.PENDING, AUTO)
        await g.later(HOUR + 1)
    ((_, _, answer),) = agent.journal
    assert answer.expired and not answer.default_used and not answer.no_response


# What a graph sets


@pytest.mark.parametrize("expires_in", [60, 60.0, "60", "60s", "1m"])
async def test_a_graph_sets_a_deadline_of_its_own(database: Database, expires_in: Json) -> None:
    agent = Sets(COLOUR, expires_in=expires_in, on_expire="leave")
    async with gateway(database, agent, routes=route(expires_in=None)) as g:
        await g.run()
        await g.later(61)
        assert (await asked(g)).overdue_at is not None


async def test_a_run_sets_the_deadline_of_its_questions_and_a_question_its_own(database: Database) -> None:
    async with gateway(database, Sets(COLOUR), routes=route()) as g:
        await g.run(expires_in=60.0)
        await g.later(61)
        assert (await asked(g)).status is InteractionStatus.EXPIRED
    async with gateway(database, Sets(COLOUR, expires_in="2m"), routes=route()) as g:
        await g.run(expires_in=60.0)
        await g.later(61)
        assert (await asked(g)).status is InteractionStatus.PENDING
        await g.later(60)
        assert (await asked(g)).status is InteractionStatus.EXPIRED


async def test_a_graph_can_end_its_run_with_the_deadline(database: Database) -> None:
    async with gateway(database, Sets(COLOUR, expires_in="1m", on_expire="cancel"), routes=route()) as g:
        run = await g.run()
        await g.later(61)
        assert (await g.settled(run.id)).status is RunStatus.CANCELLED


WRONG: list[Json] = ["soon", 0, -5, True, [], {"a": 1}, "", 2**70, float("inf"), float("nan"), "11y"]


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_deadline_that_cannot_be_read_leaves_the_routes_and_is_noted(
    database: Database, wrong: Json
) -> None:
    agent = Sets(COLOUR, expires_in=wrong, on_expire=wrong)
    async with gateway(database, agent, routes=route(OnExpire.LEAVE)) as g:
        await g.run()
        record = await asked(g)
        assert record.expires_at == record.created_at + round(HOUR * 1e6)
        assert record.on_expire is OnExpire.LEAVE
        noted = {"expires_in not usable", "on_expire not usable"}
        assert noted <= set(await events(g, record))


async def test_a_default_that_nothing_asks_for_is_not_looked_at(database: Database) -> None:
    """An object with a `question` may have a key of this name for its own use."""
    agent = Sets(COLOUR, default="anything")
    async with gateway(database, agent, routes=route()) as g:
        await g.run()
        record = await asked(g)
        assert record.default is None
        assert not [event for event in await events(g, record) if "usable" in event]
