"""Steps that run out of time: LangGraph keeps nothing of such a try, the answer that it got neither."""

from collections.abc import Callable

from answerback.agent import Failed, Finished
from answerback.model import RunStatus
from tests.flow.langgraph.harness import Harness, only, said, target
from tests.support.databases import Database
from tests.support.gateway import gateway

Log = Callable[[], list[str]]


async def test_what_was_answered_is_given_again_by_whoever_gave_it(harness: Harness, log: Log) -> None:
    mine = await harness.open("mended.py:timed")
    question = only(await mine.start("t", harness.input()))
    failed = await mine.resume("t", target(question), said("yes"))
    assert isinstance(failed, Failed)
    assert "exceeded its run timeout" in failed.error
    assert isinstance(await mine.resume("t", target(question), said("yes"), again=True), Finished)
    assert log() == ["told:yes", "told:yes", "paid:yes"]


async def test_whoever_retries_the_run_has_its_question_asked_again(
    database: Database, harness: Harness, log: Log
) -> None:
    mine = await harness.open("mended.py:timed")
    async with gateway(database, mine) as g:
        run = await g.run("mine", input=harness.input())
        await g.types("1001", "yes")
        failed = await g.settled(run.id)
        assert failed.status is RunStatus.FAILED
        assert "exceeded its run timeout" in failed.error
        await g.app.runner.retry(run.id)
        assert (await g.settled(run.id)).status is RunStatus.WAITING
        await g.types("1001", "no")
        assert (await g.settled(run.id)).status is RunStatus.COMPLETED
        assert log() == ["told:yes", "told:no", "paid:no"]
        assert [shown.message.title for shown in g.memory.shown if shown.message.body == "Pay 5?"] == [
            "✅ You wrote “yes” · 12:00. Going on.",
            "✅ You wrote “no” · 12:00. Going on.",
        ]
