"""A whole gateway before a real server: threads that others start, answer and move on are followed."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.errors import AgentUnavailable
from answerback.model import InteractionStatus, RunStatus
from answerback.run import Run
from answerback.settings import Plugin, Route
from answerback.store import leases
from tests.flow.langgraph_server import stumbling
from tests.flow.langgraph_server.development import Rule
from tests.flow.langgraph_server.harness import Elsewhere, Harness
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database


@pytest.fixture
def stumbles() -> Iterator[set[str]]:
    """The payloads that the dialect `stumbling` fails at."""
    yield stumbling.odd
    stumbling.odd.clear()


class Followed:
    """A gateway, and the looks that the clock would make."""

    def __init__(self, inside: Gateway) -> None:
        self.inside = inside

    async def look(self) -> float | None:
        seconds = await self.inside.app.adopter.look("remote")
        await self.inside.app.idle()
        return seconds

    async def runs(self) -> list[Run]:
        return list((await self.inside.app.runner.list()).items)

    async def pending(self) -> list[Any]:
        return list((await self.inside.app.reader.interactions("pending")).items)


@contextlib.asynccontextmanager
async def following(
    database: Database, harness: Harness, elsewhere: Elsewhere, assistant: str, **more: Any
) -> AsyncIterator[Followed]:
    """A gateway whose agent `remote` adopts what `elsewhere` starts, and nothing of other tests."""
    settings = {"adopt": True, "metadata": elsewhere.metadata, **more}
    async with gateway(database, await harness.open(assistant, **settings)) as inside:
        yield Followed(inside)


async def test_a_run_of_ours_is_asked_answered_and_finished(database: Database, harness: Harness) -> None:
    async with gateway(database, await harness.open("questions")) as g:
        run = await g.run("remote", input=harness.input())
        assert run.status is RunStatus.WAITING
        await g.types("1001", "one")
        await g.types("1001", "two")
        run = await g.settled(run.id)
        assert (run.status, run.result["answers"]) == (RunStatus.COMPLETED, ["one", "two"])
        assert harness.log == ["two:one,two"]


async def test_an_answer_is_given_when_the_server_is_back(database: Database, harness: Harness) -> None:
    async with gateway(database, await harness.open("asking")) as g:
        run = await g.run("remote", input=harness.input())
        harness.front.rules.append(Rule("threads", status=503, times=3))
        await g.types("1001", "kept")
        for _ in range(4):
            await g.later(600)
        assert (await g.settled(run.id)).result["answers"] == ["kept"]
        assert harness.log == ["ask:kept"]


async def test_a_thread_that_somebody_else_started_is_asked_and_goes_on_with_the_answer(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("questions")
    async with following(database, harness, elsewhere, "questions") as f:
        assert await f.look() == 10.0
        (run,) = await f.runs()
        assert (run.status, run.thread_id) == (RunStatus.WAITING, thread)
        await f.inside.types("1001", "one")
        await f.inside.types("1001", "two")
        assert (await f.inside.settled(run.id)).result["answers"] == ["one", "two"]
        assert harness.log == ["two:one,two"]


async def test_a_thread_is_asked_once_however_often_it_is_seen(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("asking")
    async with following(database, harness, elsewhere, "asking") as f:
        await f.look()
        await f.look()
        assert len(await f.runs()) == len(await f.pending()) == 1
        harness.front.requests.clear()
        await f.look()
        assert harness.front.count("state") == 0  # nothing has changed, so nothing is read


async def test_a_thread_that_begins_to_wait_later_is_found_by_the_next_look(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    async with following(database, harness, elsewhere, "asking") as f:
        await f.look()
        assert await f.runs() == []
        await elsewhere.start("asking")
        await f.look()
        await elsewhere.start("asking")
        await f.look()
        assert len(await f.pending()) == 2


async def test_a_question_that_somebody_else_answers_is_withdrawn_and_the_next_one_asked(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("questions")
    async with following(database, harness, elsewhere, "questions") as f:
        await f.look()
        (first,) = await f.pending()
        await elsewhere.answer(thread, "questions", {"content": "theirs"})
        await f.look()
        (second,) = await f.pending()
        assert second.questions[0].text == "Second?"
        first = await f.inside.app.reader.interaction(first.id)
        assert (first.status, first.reason) == (InteractionStatus.CANCELLED, "superseded")
        await elsewhere.answer(thread, "questions", {"content": "too"})
        await f.look()
        (run,) = await f.runs()
        assert (run.status, run.result["answers"]) == (RunStatus.COMPLETED, ["theirs", "too"])
        assert await f.pending() == []


async def test_a_run_of_ours_that_somebody_else_answers_is_followed_without_adopting(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    name = f"remote-{uuid.uuid4().hex}"
    agent = await harness.open("asking", name=name)
    async with gateway(database, agent) as g:
        run = await g.run(name, input=harness.input())
        await elsewhere.copy(run.thread_id, "asking")
        await g.app.adopter.look(name)
        await elsewhere.answer(run.thread_id, "asking", "theirs")
        await g.app.adopter.look(name)
        (run,) = (await g.app.runner.list()).items
        assert (run.status, run.result["answers"]) == (RunStatus.COMPLETED, ["theirs"])


async def test_without_adopt_nobody_elses_threads_are_asked(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("asking")
    async with following(database, harness, elsewhere, "asking", adopt=False) as f:
        await f.look()
        assert await f.runs() == []


async def test_threads_of_other_assistants_and_without_the_metadata_are_left_alone(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("questions")
    stranger = Elsewhere(elsewhere.client, elsewhere.place)
    await stranger.start("asking")
    async with following(database, harness, elsewhere, "asking") as f:
        await f.look()
        assert await f.runs() == []


async def test_a_thread_that_another_gateway_started_is_left_to_it(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    other = await harness.open("asking", name="remote", metadata=elsewhere.metadata)
    await other.start(str(uuid.uuid4()), harness.input(), "their run")
    async with following(database, harness, elsewhere, "asking") as f:
        await f.look()
        assert await f.runs() == []


async def test_a_copy_of_a_thread_of_ours_is_somebody_elses_thread(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    async with following(database, harness, elsewhere, "asking") as f:
        run = await f.inside.run("remote", input=harness.input())
        copy = await elsewhere.copy(run.thread_id, "asking")
        await f.look()
        adopted = [each for each in await f.runs() if each.thread_id == copy]
        assert len(adopted) == 1
        await f.inside.app.runner.cancel(adopted[0].id)
        assert len(await elsewhere.interrupts(copy)) == 1


async def test_what_was_cancelled_here_is_not_asked_again(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("questions")
    async with following(database, harness, elsewhere, "questions") as f:
        await f.look()
        (run,) = await f.runs()
        await f.inside.app.runner.cancel(run.id)
        await elsewhere.client.threads.update(thread, metadata={"touched": "yes"})
        await f.look()
        assert await f.pending() == []
        await elsewhere.answer(
            thread, "questions", {"content": "theirs"}
        )  # and goes on there: a new question
        await f.look()
        assert [each.questions[0].text for each in await f.pending()] == ["Second?"]


async def test_a_thread_held_at_a_breakpoint_is_asked_about(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("guarded")
    await elsewhere.answer(thread, "guarded", "fine")
    async with following(database, harness, elsewhere, "guarded") as f:
        await f.look()
        await f.inside.types("1001", "yes")
        (run,) = await f.runs()
        assert run.status is RunStatus.COMPLETED
        assert harness.log == ["ask:fine", "danger"]


async def test_a_breakpoint_in_a_graph_that_somebody_elses_answer_comes_to_is_asked_about(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    """The server goes on listing the question that they answered."""
    thread = await elsewhere.start("guarded_inside")
    async with following(database, harness, elsewhere, "guarded_inside") as f:
        await f.look()
        (first,) = await f.pending()
        await elsewhere.answer(thread, "guarded_inside", "theirs")
        await f.look()
        (second,) = await f.pending()
        assert second.questions[0].text == "The next step is “danger”. Go on?"
        first = await f.inside.app.reader.interaction(first.id)
        assert (first.status, first.reason) == (InteractionStatus.CANCELLED, "superseded")
        await f.inside.types("1001", "yes")
        (run,) = await f.runs()
        assert run.status is RunStatus.COMPLETED
        assert harness.log == ["ask:theirs", "danger"]


async def test_one_that_somebody_else_passes_is_no_longer_asked_about_but_the_next_one_is(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("guarded_twice_inside")
    async with following(database, harness, elsewhere, "guarded_twice_inside") as f:
        await f.look()
        await elsewhere.client.runs.wait(thread, "guarded_twice_inside", input=None)
        await f.look()
        (second,) = await f.pending()
        assert second.questions[0].text == "The next step is “more_danger”. Go on?"


async def test_laws_1_and_3_answers_at_once_beside_a_breakpoint_both_count_and_it_is_asked_first(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("guarded_beside")
    async with following(database, harness, elsewhere, "guarded_beside") as f:
        await f.look()
        answers = {"Go on?": "fine", "A number?": "7"}
        respond = f.inside.app.receiver.respond
        await asyncio.gather(
            *(
                respond(each.id, answers[each.questions[0].text], by="", via="api")
                for each in await f.pending()
            )
        )
        await f.inside.app.idle()
        assert "danger" not in harness.log
        (hold,) = await f.pending()
        assert hold.questions[0].text == "The next step is “danger”. Go on?"
        await respond(hold.id, True, by="", via="api")
        await f.inside.app.idle()
        (run,) = await f.runs()
        assert run.status is RunStatus.COMPLETED
        assert sorted(map(str, run.result["answers"])) == ["7", "danger", "fine"]
        assert sorted(set(harness.log)) == ["ask:fine", "danger", "picky:7"]


async def test_a_thread_that_still_waits_after_a_refused_answer_is_found(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("asking")
    strict: Any = {"configurable": {"__pregel_strict_resume": True}}
    run = await elsewhere.client.runs.create(
        thread, "asking", command={"resume": {"0" * 32: "x"}}, config=strict
    )
    await elsewhere.client.runs.join(thread, run["run_id"])
    assert (await elsewhere.client.threads.get(thread))["status"] == "error"
    async with following(database, harness, elsewhere, "asking") as f:
        await f.look()
        assert len(await f.pending()) == 1


async def test_what_is_adopted_is_asked_on_the_route_of_the_configuration(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("asking")
    routes = {
        "default": Route("default", ask=("alice",), providers=("memory",)),
        "night": Route("night", ask=("ben",), providers=("memory",)),
    }
    agent = await harness.open("asking", adopt=True, metadata=elsewhere.metadata)
    agents = {agent.name: Plugin(agent.name, "langgraph-server", route="night")}
    async with gateway(database, agent, routes=routes, agents=agents) as inside:
        await Followed(inside).look()
        assert inside.memory.titles("2002")
        assert not inside.memory.titles("1001")


async def test_a_look_that_fails_halfway_is_made_again_from_where_it_began(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("asking")
    async with following(database, harness, elsewhere, "asking") as f:
        harness.front.rules.append(Rule(r"GET /threads/[^/]+/state", status=500))
        with pytest.raises(AgentUnavailable, match="500"):
            await f.look()
        assert await f.runs() == []
        await f.look()
        assert len(await f.pending()) == 1


@pytest.mark.parametrize("assistant", ["asking", "guarded"])
async def test_law_10_a_thread_that_the_server_cannot_read_keeps_none_of_the_others_waiting(
    database: Database, harness: Harness, elsewhere: Elsewhere, assistant: str
) -> None:
    good, bad = await elsewhere.start(assistant), await elsewhere.start(assistant)
    if assistant == "guarded":  # then they are held, which no list of threads says
        for thread in (good, bad):
            await elsewhere.answer(thread, assistant, "fine")
    async with following(database, harness, elsewhere, assistant) as f:
        harness.front.rules.append(Rule(f"GET /threads/{bad}/state", status=500, times=99))
        for _ in range(2):
            with pytest.raises(AgentUnavailable, match="500"):
                await f.look()
            assert [run.thread_id for run in await f.runs()] == [good]
        harness.front.rules.clear()
        await f.look()
        assert {run.thread_id for run in await f.runs()} == {good, bad}
        assert len(await f.pending()) == 2


async def test_a_thread_that_a_process_died_with_is_taken_up_by_another_when_the_lease_lapses(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("asking")
    async with following(database, harness, elsewhere, "asking") as f:
        store = f.inside.app.context.store
        assert await store.write(lambda tx: leases.take(tx, "remote", thread, "the dead"))
        await f.look()
        assert await f.pending() == []
        f.inside.clock.advance(60)
        await f.look()
        assert len(await f.pending()) == 1


async def test_what_happened_on_the_server_while_the_gateway_was_away_is_seen_when_it_is_back(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("questions")
    async with following(database, harness, elsewhere, "questions") as f:
        await f.look()
        assert len(await f.pending()) == 1
    await elsewhere.answer(thread, "questions", {"content": "theirs"})
    async with following(database, harness, elsewhere, "questions") as f:
        await f.look()
        assert [each.questions[0].text for each in await f.pending()] == ["Second?"]


async def test_two_gateways_on_one_database_ask_a_thread_once(
    postgres_url: str, tmp_path: Path, harness: Harness, elsewhere: Elsewhere
) -> None:
    for _ in range(3):
        await elsewhere.start("asking")
    database = Database(postgres_url, tmp_path)
    async with (
        following(database, harness, elsewhere, "asking") as one,
        following(database, harness, elsewhere, "asking") as two,
    ):
        await asyncio.gather(one.look(), two.look(), one.look(), two.look())
        assert len(await one.runs()) == len(await two.pending()) == 3


async def test_a_run_that_failed_is_followed_again_when_somebody_else_gets_its_thread_to_ask(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    thread = await elsewhere.start("strict")
    async with following(database, harness, elsewhere, "strict") as f:
        await f.look()
        await f.inside.types("1001", "seven")
        (failed,) = await f.runs()
        assert failed.status is RunStatus.FAILED
        state = await elsewhere.client.threads.get_state(thread)
        at = state["checkpoint"]["checkpoint_id"]
        await elsewhere.client.runs.wait(thread, "strict", input=None, checkpoint_id=at)
        await f.look()
        await f.inside.types("1001", "7")
        _, run = await f.runs()
        assert (run.status, run.result["answers"]) == (RunStatus.COMPLETED, [7])


async def test_an_adopted_run_that_failed_can_be_asked_anew_here(
    database: Database, harness: Harness, elsewhere: Elsewhere
) -> None:
    await elsewhere.start("strict")
    async with following(database, harness, elsewhere, "strict") as f:
        await f.look()
        await f.inside.types("1001", "seven")
        (run,) = await f.runs()
        await f.inside.app.runner.reask(run.id)
        await f.inside.app.idle()
        await f.inside.types("1001", "7")
        assert (await f.inside.settled(run.id)).result["answers"] == [7]


async def test_a_thread_that_cannot_be_read_is_set_aside_and_holds_up_none_of_the_others(
    database: Database, harness: Harness, elsewhere: Elsewhere, stumbles: set[str]
) -> None:
    bad = await elsewhere.start("parallel")
    stumbles.add("Right, with 0 lines in the log?")
    (harness.place / "log").write_text("something\n")
    good = await elsewhere.start("parallel")
    async with following(database, harness, elsewhere, "parallel", dialect=f"{stumbling.__name__}:own") as f:
        await f.look()
        found = {run.thread_id: run for run in await f.runs()}
        assert found[good].status is RunStatus.WAITING
        assert len(await f.pending()) == 2
        why = "What waits on this thread could not be read: RuntimeError."
        assert (found[bad].status, found[bad].error) == (RunStatus.FAILED, why)
        stumbles.clear()
        await f.inside.app.runner.retry(found[bad].id)
        await f.inside.app.idle()
        assert len(await f.pending()) == 4


async def test_neither_the_key_nor_an_answer_is_logged(
    database: Database, harness: Harness, elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await elsewhere.start("strict")
    async with following(database, harness, elsewhere, "strict", api_key="key-of-the-server") as f:
        harness.front.rules.append(Rule("POST /threads/search", status=500))
        with pytest.raises(AgentUnavailable) as raised:
            await f.look()
        await f.look()
        await f.inside.types("1001", "the combination is 7-21-9")
        (run,) = await f.runs()
    logged = "\n".join(f"{each.getMessage()} {each.exc_text}" for each in caplog.records)
    for text in (logged, str(raised.value), repr(harness.stack), run.error):
        assert "key-of-the-server" not in text
        assert "7-21-9" not in text
