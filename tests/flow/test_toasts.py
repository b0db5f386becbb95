"""Law 10: what a service is told of a reply keeps nobody else waiting, even where it hangs."""

import asyncio

import pytest

from answerback.model import Outcome, RunStatus
from answerback.provider import Batch, Reply
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback.toasts import MOST, Toasts
from tests.flow.test_intake import until
from tests.support.databases import Database
from tests.support.gateway import gateway

REPLY = Reply(event_id="e", sender="1001", place="1001", text="yes")


class Hanging(MemoryProvider):
    """The toasts with these texts hang, all others arrive."""

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.texts, self.begun = texts, 0

    async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
        self.begun += 1
        if reply.text in self.texts:
            await asyncio.Event().wait()
        await super().acknowledge(reply, outcome, text)


async def test_law_10_a_toast_that_hangs_keeps_what_came_with_it_from_nothing(database: Database) -> None:
    service = Hanging()
    async with gateway(database, ScriptedAgent(asks("Which?")), providers={"memory": service}) as g:
        first, second = await g.run(), await g.run()
        texts = [f"this #{shown.message.code}" for shown in service.shown]
        events = [service.typed("1001", text) for text in texts]
        service.texts = (texts[0],)
        polled = asyncio.create_task(g.app.receiver.polled("memory", Batch(tuple(events), "all")))
        await until(lambda: len(service.toasts) == 1)
        for run in (first, second):
            await g.app.idle()
            assert (await g.app.runner.get(run.id)).status is RunStatus.COMPLETED
        assert all(shown.edited for shown in service.shown[:2])
        polled.cancel()


async def test_whoever_brought_a_reply_waits_for_its_toast_but_not_for_long() -> None:
    toasts, service = Toasts(patience=0.01), Hanging("hangs")
    hangs = Reply(event_id="e", sender="1001", place="1001", text="hangs")
    await toasts.show(service, [(hangs, Outcome.ACCEPTED, "Noted"), (REPLY, Outcome.ACCEPTED, "Done")])
    assert service.toasts == [(Outcome.ACCEPTED, "Done")] and toasts.busy
    await toasts.close()


async def test_of_toasts_that_hang_only_so_many_are_kept_and_another_service_has_its_own() -> None:
    toasts, service, other = Toasts(patience=0.01), Hanging("yes"), MemoryProvider("other")
    for _ in range(3):
        await toasts.show(service, [(REPLY, Outcome.ACCEPTED, "")] * (MOST // 2))
    assert service.begun == MOST
    await toasts.show(other, [(REPLY, Outcome.ACCEPTED, "Done")])
    assert other.toasts == [(Outcome.ACCEPTED, "Done")]
    await toasts.close()


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
async def test_one_that_fails_is_no_trouble_for_the_others(error: type[BaseException]) -> None:
    class Failing(MemoryProvider):
        async def acknowledge(self, reply: Reply, outcome: Outcome, text: str) -> None:
            if not text:
                raise error
            await super().acknowledge(reply, outcome, text)

    toasts, service = Toasts(), Failing()
    await toasts.show(service, [(REPLY, Outcome.UNKNOWN, ""), (REPLY, Outcome.ACCEPTED, "Done")])
    assert service.toasts == [(Outcome.ACCEPTED, "Done")]
