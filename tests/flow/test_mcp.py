"""`answerback mcp`: a program that speaks MCP asks people, by the real client over a real pipe."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client as Mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

from answerback import __version__
from answerback.cli.desk import NO_ACTION
from tests.flow.test_cli import CONFIG, Served, do, environment, home_with, serve

MODES = ["legacy", "auto"]  # with a handshake, as programs did it first, and without


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = serve(home_with(tmp_path_factory.mktemp("gateway"), CONFIG))
    yield served
    served.stop()


@asynccontextmanager
async def program(g: Served, *options: str, mode: str = "auto") -> AsyncIterator[Mcp]:
    """A program that has started `answerback mcp`."""
    env = environment(g.home, {"ANSWERBACK_URL": g.url})
    words = ["-m", "answerback.cli", "mcp", "--to", "alice", "--as", "Claude", *options]
    server = StdioServerParameters(command=sys.executable, args=words, env=env, cwd=g.home)
    with (g.home / "mcp-log").open("w") as log:
        async with Mcp(stdio_client(server, errlog=log), mode=mode) as found:
            yield found


async def call(client: Mcp, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gave back, as its own schema has it."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Mcp, tool: str, **arguments: Any) -> str:
    """The sentence that the model reads."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def pending(g: Served) -> list[Any]:
    page = await asyncio.to_thread(g.call, lambda client: client.interactions("pending"))
    return list(page["items"])


async def open_question(g: Served, text: str) -> str:
    """The id of a question, once it is there."""
    found: list[Any] = []
    while not found:
        await asyncio.sleep(0.02)
        found = [each for each in await pending(g) if text in each["questions"][0]["text"]]
    return str(found[0]["id"])


async def answered(g: Served, text: str, response: Any) -> None:
    """Somebody answers, once the question is there."""
    await asyncio.to_thread(g.answers, await open_question(g, text), response)


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_waits_and_gets_exactly_what_was_written(gateway: Served, mode: str) -> None:
    async with program(gateway, mode=mode) as client:
        asking = asyncio.create_task(
            call(client, "ask_human", question=f"Which folder, {mode}?", context="Two are named “old”.")
        )
        await answered(gateway, f"Which folder, {mode}?", "  the one of 2019\n")
        heard = await asking
    assert (heard["status"], heard["answer"], heard["note"]) == ("answered", "  the one of 2019\n", "")
    record = await asyncio.to_thread(gateway.record, heard["id"])
    assert (record["title"], record["context"]) == ("Claude", "Two are named “old”.")


async def test_a_choice_is_told_by_its_words_and_own_words_are_possible(gateway: Served) -> None:
    async with program(gateway) as client:
        for given, read in (("The blue one", "The blue one"), ("neither", "neither")):
            asking = asyncio.create_task(
                call(client, "ask_human", question="Which one?", choices=["The red one", "The blue one"])
            )
            await answered(gateway, "Which one?", given)
            assert (await asking)["answer"] == read


@pytest.mark.parametrize(("response", "confirmed"), [("yes", True), ("no", False)])
async def test_a_confirmation_is_true_or_false(gateway: Served, response: str, confirmed: bool) -> None:
    async with program(gateway) as client:
        asking = asyncio.create_task(
            call(client, "confirm_action", action=f"Delete {response}", details="They are gone then.")
        )
        await answered(gateway, f"Shall I go ahead with “Delete {response}”?", response)
        heard = await asking
    assert (heard["confirmed"], heard["answer"]) == (confirmed, response)


async def test_a_question_outlasts_the_call_and_is_not_asked_twice(gateway: Served) -> None:
    async with program(gateway, "--wait", "100ms") as client:
        first = await call(client, "ask_human", question="Still there?")
        again = await call(client, "ask_human", question="Still there?")
        assert first == again
        assert (first["status"], first["confirmed"], first["answer"]) == ("waiting", None, "")
        assert "wait_for_answer" in first["note"]
        await answered(gateway, "Still there?", "I am")
        assert (await call(client, "wait_for_answer", id=first["id"]))["answer"] == "I am"
        other = await call(client, "ask_human", question="Still there?")
        assert other["id"] != first["id"]  # that one is answered: this is a new question
        heard = await call(client, "withdraw_question", id=other["id"], reason="not needed")
        assert heard["status"] == "withdrawn"


async def test_law_4_a_call_that_was_given_up_finds_its_question_and_the_answer_that_came_meanwhile(
    gateway: Served,
) -> None:
    said = {"action": "Pay 40 €", "details": "The invoice of May."}
    async with program(gateway) as client:
        lost = asyncio.create_task(call(client, "confirm_action", **said))
        id = await open_question(gateway, "40 €")
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        await client.list_tools()  # by then it has read that the call was given up
        await asyncio.to_thread(gateway.answers, id, "yes")
        heard = await call(client, "confirm_action", **said)
    assert (heard["id"], heard["confirmed"]) == (id, True)


async def test_law_4_the_same_call_twice_at_once_asks_once(gateway: Served) -> None:
    async with program(gateway, "--wait", "100ms") as client:
        both = await asyncio.gather(*(call(client, "ask_human", question="At once?") for _ in range(2)))
    assert both[0]["id"] == both[1]["id"]


async def test_law_4_a_call_with_a_key_is_the_same_in_another_session_too(gateway: Served) -> None:
    said = {"question": "Which tag?", "idempotency_key": "größe\n1"}
    async with program(gateway) as client:
        asking = asyncio.create_task(call(client, "ask_human", **said))
        await answered(gateway, "Which tag?", "v1")
        first = await asking
    async with program(gateway) as client:
        again = await call(client, "ask_human", **said)
        assert (again | {"note": ""}, first["note"]) == (first, "")
        assert "nobody was asked anew" in again["note"]  # or an old yes would pass for a new one
        why = await refused(client, "ask_human", **{**said, "to": ["ben"]})
        assert "who is asked differs" in why
        for _ in range(2):
            await client.call_tool("notify", {"text": "Tagged.", "idempotency_key": "n1"})
        assert "another notice" in await refused(client, "notify", text="Not tagged.", idempotency_key="n1")


async def test_law_6_silence_is_told_apart_from_a_no(gateway: Served) -> None:
    asked = await asyncio.to_thread(
        gateway.asks, {"text": "Deploy?", "kind": "confirm"}, ask=["alice"], expires_in="1s"
    )
    async with program(gateway) as client:
        heard = await call(client, "wait_for_answer", id=asked)
    assert (heard["status"], heard["confirmed"]) == ("nobody answered", None)
    assert "no “no”" in heard["note"]


async def test_what_others_asked_can_be_waited_for_whatever_it_is(gateway: Served) -> None:
    several = [{"text": "Which ones?", "kind": "choices", "choices": ["a", "b"]}, {"text": "And why?"}]
    answers = {"q1": ["a", "b"], "q2": "because"}
    asked = await asyncio.to_thread(gateway.asks, several, ask=["alice"])
    record = await asyncio.to_thread(gateway.record, asked)
    ids = [question["id"] for question in record["questions"]]
    await asyncio.to_thread(gateway.answers, asked, dict(zip(ids, answers.values(), strict=True)))
    async with program(gateway) as client:
        heard = await call(client, "wait_for_answer", id=asked)
    assert json.loads(heard["answer"]) == dict(zip(ids, answers.values(), strict=True))


async def test_a_notice_says_whom_it_reached(gateway: Served) -> None:
    async with program(gateway) as client:
        told = await client.call_tool("notify", {"text": "It is live."})
    assert not told.is_error
    assert told.content[0].text == "Here: sent"  # she has no address: it stands behind a link


async def test_what_cannot_be_asked_is_a_sentence_for_the_model(gateway: Served) -> None:
    async with program(gateway) as client:
        assert "There is no contact 'carol'" in await refused(client, "ask_human", question="?", to=["carol"])
        assert "no interaction" in await refused(client, "wait_for_answer", id="nothing")
        assert "question" in await refused(client, "ask_human", question="")
        for blank in ("", " \n"):
            assert NO_ACTION in await refused(client, "confirm_action", action=blank)


async def test_a_gateway_that_is_away_is_named(tmp_path: Path) -> None:
    served = serve(home_with(tmp_path, CONFIG))
    served.stop()
    async with program(served, "--patience", "100ms") as client:
        assert "is `answerback serve` running?" in await refused(client, "ask_human", question="Anybody?")


async def test_the_tools_say_what_they_do(gateway: Served) -> None:
    async with program(gateway) as client:
        found = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert (client.server_info.name, client.server_info.version) == ("answerback", __version__)
    assert set(found) == {"ask_human", "confirm_action", "wait_for_answer", "withdraw_question", "notify"}
    assert all(tool.description and tool.input_schema["properties"] for tool in found.values())
    for name in ("ask_human", "confirm_action", "notify"):
        assert "idempotency_key" in found[name].input_schema["properties"]
        assert "call" not in found[name].input_schema["properties"]
    assert found["wait_for_answer"].annotations.read_only_hint is True


def test_it_ends_when_the_program_does_and_says_nothing_on_stdout(gateway: Served) -> None:
    done = do(gateway.home, "mcp", ANSWERBACK_URL=gateway.url)
    assert (done.code, done.out) == (0, "")
