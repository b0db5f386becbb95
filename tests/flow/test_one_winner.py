"""Law 2: one answer wins; everybody else is told who answered, and their copies say so."""

import asyncio

import pytest
from pydantic import SecretStr

from answerback.cli.site import site
from answerback.errors import AlreadyAnswered, Closed, DoesNotFit, NotFound
from answerback.model import InteractionStatus, RunStatus
from answerback.settings import ApiKey, Route
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import ALICE, BEN, Gateway, gateway

BOTH = {"default": Route("default", ask=("alice", "ben"), providers=("memory",))}


async def only(g: Gateway) -> str:
    (record,) = (await g.app.reader.interactions()).items
    return record.id


async def test_the_first_of_two_people_wins_and_the_other_copy_says_who_it_was(database: Database) -> None:
    agent = ScriptedAgent(asks("Deploy?", "Now", "Later"))
    async with gateway(database, agent, routes=BOTH) as g:
        run = await g.run()
        first, second = g.memory.tapped("1001", "Now"), g.memory.tapped("2002", "Later")
        await g.receive(first)
        await g.receive(second)
        run = await g.settled(run.id)
        copies = {shown.message.to.contact: shown.message.title for shown in g.memory.shown if shown.edited}
        last_word = g.memory.titles("2002")[-1]
    assert run.result == ["now"]
    assert copies["alice"].startswith("✅ You chose “Now”")
    assert copies["ben"].startswith("✅ Alice chose “Now” on")
    assert last_word.startswith("Alice answered this at") and last_word.endswith("Nothing changed.")
    assert len(agent.journal) == 1


async def test_many_answers_at_the_same_moment_leave_one_winner(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        id = await only(g)

        async def answer(number: int) -> str:
            try:
                await g.app.receiver.respond(id, f"answer {number}", by="", via="api")
            except AlreadyAnswered:
                return "late"
            return f"answer {number}"

        results = await asyncio.gather(*(answer(number) for number in range(32)))
        run = await g.settled(run.id)
    winners = [result for result in results if result != "late"]
    assert run.result == winners and len(winners) == 1
    assert len(agent.journal) == 1


async def test_a_late_answer_through_the_api_is_refused_and_changes_nothing(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        run = await g.run()
        id = await only(g)
        await g.app.receiver.respond(id, "one", by="", via="api")
        with pytest.raises(AlreadyAnswered, match="Nothing changed"):
            await g.app.receiver.respond(id, "two", by="", via="api")
        assert (await g.settled(run.id)).result == ["one"]


async def test_who_comes_too_late_over_http_is_told_who_answered(database: Database) -> None:
    key = ApiKey("ops", SecretStr("a-key"))
    async with gateway(database, ScriptedAgent(asks("Which?")), routes=BOTH, api_keys=(key,)) as g:
        await g.run()
        id = await only(g)
        await g.types("2002", "this one")
        headers = {"authorization": "Bearer a-key"}
        async with through(site(g.app), "http://a", headers=headers) as client:
            responded = await client.post(f"/v1/interactions/{id}/respond", json={"response": "that one"})
            cancelled = await client.post(f"/v1/interactions/{id}/cancel")
            record = (await client.get(f"/v1/interactions/{id}")).json()
        for late in (responded, cancelled):
            assert late.status_code == 409
            body = late.json()
            assert body["detail"] == "This question was answered through memory, by ben. Nothing changed."
            assert body["settled_as"] == record["status"] == "completed"
            same = ("answered_by", "answered_via", "answered_at")
            assert [body[name] for name in same] == [record[name] for name in same]


async def test_what_does_not_fit_leaves_the_question_pending(database: Database) -> None:
    agent = ScriptedAgent(asks("Deploy?", confirm=True))
    async with gateway(database, agent) as g:
        run = await g.run()
        id = await only(g)
        for unfit in ("perhaps", 2**70, float("nan"), "\ud83d", None, {"q9": True}):
            with pytest.raises(DoesNotFit):
                await g.app.receiver.respond(id, unfit, by="", via="api")
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
        await g.types("1001", "yes but not prod")
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
        assert g.memory.titles("1001")[-1] == (
            "I need a clear yes or no for “Deploy?”. You wrote “yes but not prod”."
        )
        await g.taps("1001", "Yes")  # on the question that was asked again
        assert (await g.settled(run.id)).result == [True]


async def test_an_unknown_interaction_is_not_found(database: Database) -> None:
    async with gateway(database) as g:
        with pytest.raises(NotFound):
            await g.app.receiver.respond("no-such-id", "x", by="", via="api")


async def test_a_cancelled_question_takes_no_answer_and_its_copy_says_so(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A", "B"))
    async with gateway(database, agent) as g:
        run = await g.run()
        tap = g.memory.tapped("1001", "A")
        id = await only(g)
        await g.app.asker.cancel(id)
        await g.app.idle()
        await g.receive(tap)
        with pytest.raises(Closed):
            await g.app.receiver.respond(id, "a", by="", via="api")
        run = await g.settled(run.id)
        title = g.memory.titles("1001")[0]
    assert (run.status, agent.journal) == (RunStatus.CANCELLED, [])
    assert title == "↩️ The agent no longer needs this. Thanks anyway."


async def test_an_answer_on_one_provider_closes_the_copies_on_the_others(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?", "A", "B"))
    other = MemoryProvider("other")
    routes = {"default": Route("default", ask=("ben",), providers=("memory", "other"), at_once=True)}
    async with gateway(database, agent, providers={"other": other}, routes=routes) as g:
        await g.run()
        await g.receive(other.tapped("b", "B"), "other")
        assert [shown.edited for shown in (*g.memory.shown, *other.shown)][:1] == [True]
        assert g.memory.titles("2002")[0].startswith("✅ You chose “B”")
    assert ALICE.id != BEN.id
    assert agent.journal[0][2].via == "other"
