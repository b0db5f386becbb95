"""The client library as a program uses it: docs/client.md against a real gateway, and what restarts."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.client import Answered, Client, Expired, Outcome, Run
from answerback.errors import Conflict, NotFound
from tests.flow.test_cli import CONFIG, Served, environment, home_with, serve
from tests.unit.test_documents import Block, blocks

DOCUMENT = [block for block in blocks("python") if block.document == "docs/client.md"]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = serve(home_with(tmp_path_factory.mktemp("gateway"), CONFIG))
    yield served
    served.stop()


def key(served: Served) -> str:
    return (served.home / "var" / "api-key").read_text()


async def open_question(client: Client, text: str) -> str:
    """The id of a question, once it is open."""
    while True:
        for record in (await client.interactions("pending", 200))["items"]:
            if record["questions"][0]["text"] == text:
                return record["id"]
        await asyncio.sleep(0.02)


def names(block: Block) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "a_document"}
    exec(compile(block.text, str(block), "exec"), found)  # noqa: S102 - our own text
    return found


def defining(name: str) -> Any:
    """What a block of the document defines under this name."""
    [block] = [block for block in DOCUMENT if f"async def {name}(" in block.text]
    return names(block)[name]


# -- the document


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (lambda client, id: client.respond(id, "eu"), "local says: eu\n"),
        (lambda client, id: client.cancel(id, "not today"), "Taken back: not today\n"),
    ],
)
def test_the_first_program_says_how_it_ended(gateway: Served, end: Any, said: str) -> None:
    environ = environment(gateway.home, {"ANSWERBACK_URL": gateway.url, "ANSWERBACK_KEY": key(gateway)})
    words = [sys.executable, "-c", DOCUMENT[0].text]
    program = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True)

    async def ends(client: Client) -> None:
        await end(client, await open_question(client, "Which region?"))

    gateway.call(ends)
    out, _ = program.communicate(timeout=90)
    assert (program.returncode, out) == (0, said)


def test_the_functions_of_the_document_do_what_it_says(gateway: Served) -> None:
    async def answered(client: Client, asking: Any, text: str, response: Any) -> Any:
        task = asyncio.create_task(asking)
        await client.respond(await open_question(client, text), response)
        return await task

    async def work(client: Client) -> None:
        may_deploy, address, approved = map(defining, ("may_deploy", "address", "approved"))
        for response, deploys in (("yes", True), ("no", False)):
            assert await answered(client, may_deploy(client, "2.4"), "Deploy 2.4?", response) is deploys
        home = {"street": "Rua Nova", "town": "Lisbon"}
        assert await answered(client, address(client, "u-1"), "Which street?", home) == home
        assert await answered(client, approved(client, "17"), "Pay invoice 17?", "yes") is True
        assert await approved(client, "17") is True  # asked once: the answer is there at once
        ask, look = defining("ask"), defining("look")
        id = await ask(client)
        await client.respond(id, "blue")
        assert "Step 3: Answered(value='blue'" in await look(client, id)

    gateway.call(work)


def test_a_run_is_followed_to_its_end_and_told_on_the_way_as_the_document_does(
    gateway: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(client: Client) -> str:
        report, watch = defining("report"), defining("watch")
        reported = asyncio.create_task(report(client, "documents"))
        id = await open_question(client, "More about documents?")
        run = (await client.interaction(id))["run_id"]
        watched = asyncio.create_task(watch(client, run))
        early = await client.follow_run(run, timeout=0.2)
        assert (early["status"], early["interactions"]) == ("waiting", [id])
        await client.respond(id, "coding")
        await watched
        return await reported

    assert gateway.call(work) == "Done: done with coding"
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["It asks: More about documents?", "It is waiting."]
    assert said[-1] == "It is completed."
    failed = gateway.call(lambda client: defining("report")(client, "fail"))
    assert failed == "It is failed: The far side is closed."


def test_what_has_no_run_is_not_found(gateway: Served) -> None:
    async def work(client: Client) -> None:
        for id in ("nothing", "../runs"):
            with pytest.raises(NotFound):
                await client.follow_run(id)

    gateway.call(work)


# -- how it ends


def outcome(served: Served, *words: Any, **more: Any) -> Outcome:
    return served.call(lambda client: client.ask_and_wait(*words, **more))


def test_silence_is_a_type_of_its_own(gateway: Served) -> None:
    question = {"text": "Deploy?", "kind": "confirm"}
    silent = outcome(gateway, question, expires_in="200ms", on_expire="no-response")
    assert isinstance(silent, Expired) and silent.default is None
    denied = outcome(gateway, question, expires_in="200ms", on_expire="default", default=False)
    assert isinstance(denied, Expired) and denied.default is False
    taken_back = outcome(gateway, "Text?", expires_in="200ms", on_expire="cancel")
    assert isinstance(taken_back, Expired)


def test_whoever_stops_waiting_leaves_the_question_open_and_finds_it_again(gateway: Served) -> None:
    async def work(client: Client) -> Outcome:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await client.ask_and_wait("Again?", idempotency_key="again")
        await client.respond(await open_question(client, "Again?"), "yes, again")
        return await client.ask_and_wait("Again?", idempotency_key="again")

    found = gateway.call(work)
    assert isinstance(found, Answered) and found.value == "yes, again"


def test_whoever_has_gone_on_with_an_answer_has_what_was_kept_for_that_deleted(gateway: Served) -> None:
    async def work(client: Client) -> None:
        id = (await client.ask("Which step?", state={"step": 3}))["id"]
        with pytest.raises(Conflict, match="still open"):
            await client.drop_state(id)
        await client.respond(id, "the third")
        assert await client.state(id) == {"step": 3}
        for _ in range(2):
            await client.drop_state(id)
            assert await client.state(id) is None

    gateway.call(work)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts gateways of a test's own on the same data, and stops those that still run."""
    started: list[Served] = []

    def start(*words: str) -> Served:
        started.append(serve(home_with(tmp_path, CONFIG), *words))
        return started[-1]

    yield start
    for served in started:
        served.stop()


def test_a_gateway_that_is_killed_while_a_program_waits_costs_nothing(serving: Callable[..., Served]) -> None:
    served = serving()
    url, secret = served.url, key(served)

    async def work() -> Outcome:
        async with Client(url, secret) as client:
            waiting = asyncio.create_task(client.ask_and_wait("Through a restart?"))
            id = await open_question(client, "Through a restart?")
            os.kill(served.process.pid, signal.SIGKILL)
            await asyncio.to_thread(served.stop)
            late = asyncio.create_task(client.ask_and_wait("Asked while it is away?"))
            await asyncio.to_thread(serving, "--listen", url.removeprefix("http://"))
            await client.respond(id, "through")
            await client.respond(await open_question(client, "Asked while it is away?"), "late")
            page = await client.interactions()
            assert len(page["items"]) == 2
            assert (await late).value == "late"
            return await waiting

    found = asyncio.run(work())
    assert isinstance(found, Answered) and found.value == "through"


def test_a_gateway_that_is_killed_while_a_run_is_followed_costs_nothing(
    serving: Callable[..., Served],
) -> None:
    served = serving()
    url, secret = served.url, key(served)
    away: list[str] = []

    async def work() -> Run:
        async with Client(url, secret, on_away=away.append) as client:
            started = await client.start("mine", "tea")
            following = asyncio.create_task(client.follow_run(started["id"]))
            id = await open_question(client, "More about tea?")
            os.kill(served.process.pid, signal.SIGKILL)
            await asyncio.to_thread(served.stop)
            while not away:  # noqa: ASYNC110 (it is told by another task)
                await asyncio.sleep(0.02)
            await asyncio.to_thread(serving, "--listen", url.removeprefix("http://"))
            await client.cancel(id, "not today")
            return await following

    found = asyncio.run(work())
    assert found["status"] in ("cancelled", "failed")
    assert len(away) == 1
