"""Law 10, sending: a failing provider is retried, then set aside with its reason, and stops nothing else."""

import asyncio
import itertools

from answerback.errors import Moved, TryLater, Undeliverable
from answerback.model import Address, Contact, RunStatus
from answerback.provider import Pace
from answerback.run import RunRequest
from answerback.settings import Route
from answerback.store import Row, Tx, deliveries
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from tests.flow.test_intake import until
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

IN_ORDER = {"default": Route("default", ask=("ben",), providers=("memory", "other"))}


async def rows(g: Gateway) -> list[Row]:
    (record,) = (await g.app.reader.interactions()).items

    def tx(tx: Tx) -> list[Row]:
        found = tx.all(deliveries.OF, interaction_id=record.id)
        return [row for row in found if row["provider"] != "form"]

    return await g.app.context.store.read(tx)


async def test_a_temporary_failure_is_tried_again_after_a_while(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.failures.extend([TryLater(30, "busy"), RuntimeError("a bug in the plugin")])
        await g.run()
        await g.later(29)
        assert g.memory.titles("1001") == []
        await g.later(2)
        assert g.memory.titles("1001") == []
        await g.later(60)
        assert g.memory.titles("1001") == ["Which?"]


async def test_a_permanent_failure_asks_on_the_next_provider_at_once(database: Database) -> None:
    other = MemoryProvider("other")
    async with gateway(
        database, ScriptedAgent(asks("Which?")), providers={"other": other}, routes=IN_ORDER
    ) as g:
        g.memory.failures.append(Undeliverable("blocked", address_dead=True))
        run = await g.run()
        assert (g.memory.titles("2002"), other.titles("b")) == ([], ["Which?"])
        assert {row["provider"]: (row["status"], row["error"]) for row in await rows(g)} == {
            "memory": ("failed", "blocked"),
            "other": ("sent", ""),
        }
        await g.receive(other.typed("b", "this"), "other")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED


async def test_a_provider_that_keeps_failing_is_set_aside_with_its_reason(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.failures.extend(TryLater(1, "still busy") for _ in range(100))
        await g.run()
        for _ in range(73):
            await g.later(3600)
        (row,) = await rows(g)
        assert (row["status"], row["error"], row["next_attempt_at"]) == ("failed", "still busy", None)


async def test_a_plugin_that_keeps_raising_is_set_aside_sooner(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.failures.extend(KeyError("a bug") for _ in range(30))
        await g.run()
        for _ in range(25):
            await g.later(600)
        (row,) = await rows(g)
        assert (row["status"], row["error"]) == ("failed", "KeyError in the provider")


async def test_a_place_that_moved_gets_the_message_at_its_new_id(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.failures.append(Moved("-100200"))
        await g.run()
        await g.later(1)
        assert g.memory.titles("-100200") == ["Which?"]


async def test_a_hanging_provider_delays_nobody_else(database: Database) -> None:
    other = MemoryProvider("other")
    routes = {"default": Route("default", ask=("ben",), providers=("memory", "other"), at_once=True)}
    async with gateway(
        database, ScriptedAgent(asks("Which?")), providers={"other": other}, routes=routes
    ) as g:
        g.memory.hang = asyncio.Event()
        await g.app.runner.start(RunRequest("scripted"))
        await g.app.runner.idle()
        for _ in range(200):
            if other.shown:
                break
            await asyncio.sleep(0.005)
        assert other.titles("b") == ["Which?"] and g.memory.shown == []
        g.memory.hang.set()
        await g.app.idle()


async def test_an_answer_while_a_copy_is_on_its_way_still_edits_that_copy(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.hang = asyncio.Event()
        await g.app.runner.start(RunRequest("scripted"))
        await g.app.runner.idle()
        await until(lambda: g.memory.held_up == 1)
        (record,) = (await g.app.reader.interactions()).items
        await g.app.receiver.respond(record.id, "first", by="", via="api")
        g.memory.hang.set()
        await g.app.idle()
        assert g.memory.shown[0].edited


async def test_a_claim_of_a_process_that_died_is_taken_up_by_the_next(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        g.memory.hang = asyncio.Event()  # never set: the process is stopped while the message is under way
        await g.app.runner.start(RunRequest("scripted"))
        await g.app.runner.idle()
        clock = g.clock
    async with gateway(database, agent, clock=clock) as g:
        await g.sweep()
        assert g.memory.titles("1001") == []  # the claim still stands
        await g.later(61)
        assert g.memory.titles("1001") == ["Which?"]


NIGHT = {"nora": Contact("nora", "Nora", quiet_hours="11:00-13:00", addresses=(Address("memory", "9", "9"),))}


async def test_a_question_in_quiet_hours_waits_until_they_end(database: Database) -> None:
    routes = {"default": Route("default", ask=("nora",), providers=("memory",))}
    async with gateway(database, ScriptedAgent(asks("Which?")), contacts=NIGHT, routes=routes) as g:
        await g.run()  # it is noon
        await g.later(3599)
        assert g.memory.titles("9") == []
        await g.later(1)
        assert g.memory.titles("9") == ["Which?"]


async def test_a_question_whose_deadline_does_not_wait_is_sent_all_the_same(database: Database) -> None:
    routes = {"default": Route("default", ask=("nora",), providers=("memory",), expires_in=600.0)}
    async with gateway(database, ScriptedAgent(asks("Which?")), contacts=NIGHT, routes=routes) as g:
        await g.run()
        assert g.memory.titles("9") == ["Which?"]


async def test_a_claim_that_lapsed_in_the_queue_is_not_sent_by_two(database: Database) -> None:
    async with gateway(database, ScriptedAgent(asks("Which?"))) as g:
        g.memory.hang = asyncio.Event()
        await g.app.runner.start(RunRequest("scripted"))
        await g.app.runner.idle()
        row = (await rows(g))[0]
        write, owner = g.app.context.store.write, g.app.context.owner
        assert await write(lambda tx: deliveries.keep(tx, row, owner))
        g.clock.advance(61)
        (again,) = await write(lambda tx: deliveries.claim(tx, "another process", 10))
        assert not await write(lambda tx: deliveries.keep(tx, row, owner))
        assert await write(lambda tx: deliveries.keep(tx, again, "another process"))
        g.memory.hang.set()


class Slow(MemoryProvider):
    """A service that takes one message a second in each place."""

    pace = Pace(account=30, place=1)


async def test_after_an_outage_messages_go_out_one_by_one_at_the_services_pace(database: Database) -> None:
    slow = Slow()
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": slow}) as g:
        slow.failures.extend(TryLater(30, "down") for _ in range(5))
        for _ in range(5):
            await g.app.runner.start(RunRequest("scripted"))
            g.clock.advance(2)
            await g.sweep()
        assert slow.shown == []
        sent = []
        for _ in range(60):
            await g.later(1)
            sent.append(len(slow.shown))
        steps = [after - before for before, after in itertools.pairwise(sent)]
        assert sent[-1] == 5 and max(steps) == 1
