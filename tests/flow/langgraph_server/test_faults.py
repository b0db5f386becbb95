"""A server that is away, broken or locked, or does not know what is configured: said in a clear sentence."""

import contextlib
from pathlib import Path

import pydantic
import pytest

from answerback.agent import AgentContext
from answerback.cli.checking import check
from answerback.errors import AgentUnavailable, ConfigurationError
from answerback.settings import load
from answerback_agents.langgraph_server import LangGraphServer, Settings
from tests.flow.langgraph_server.development import Proxy, Rule, proxy
from tests.flow.langgraph_server.harness import Harness

USE = "answerback_agents.langgraph_server:LangGraphServer"
SAYS_IT_IS = '{"langgraph_py_version": "1.2.22"}'


@contextlib.asynccontextmanager
async def agent_at(url: str, **settings: object):
    made = LangGraphServer("remote", Settings(url=url, assistant="asking", **settings), AgentContext("."))
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def alone():
    """A server that answers only what rules say: nothing is behind it."""
    async with proxy("http://127.0.0.1:1") as made:
        yield made


async def test_an_assistant_that_the_server_does_not_have_is_named_beside_those_it_has(
    harness: Harness,
) -> None:
    with pytest.raises(ConfigurationError, match=r"has no assistant “nobody”\. Its graphs: asking, "):
        await harness.open("nobody")


async def test_an_assistant_may_be_named_by_its_id(harness: Harness, elsewhere) -> None:
    (known, *_) = await elsewhere.client.assistants.search(graph_id="asking")
    await harness.open(known["assistant_id"])


@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_refused_is_said_so(alone: Proxy, status: int) -> None:
    alone.rules.append(Rule("/info", status=status))
    async with agent_at(alone.url, api_key="secret-key-1") as agent:
        with pytest.raises(ConfigurationError, match=f"does not let us in \\({status}\\)") as raised:
            await agent.open()
    assert "secret-key-1" not in str(raised.value)


async def test_a_langgraph_that_misdirects_answers_is_refused(alone: Proxy) -> None:
    alone.rules.append(Rule("/info", text='{"langgraph_py_version": "1.2.19"}'))
    async with agent_at(alone.url) as agent:
        with pytest.raises(ConfigurationError, match=r"LangGraph 1\.2\.19, which can give an answer"):
            await agent.open()


async def test_a_server_that_is_away_is_unavailable() -> None:
    async with agent_at("http://127.0.0.1:1") as agent:
        with pytest.raises(AgentUnavailable, match=r"server at 127\.0\.0\.1:1 does not answer"):
            await agent.open()


@pytest.mark.parametrize(
    "rule",
    [
        Rule("pending|threads", status=500, times=9),
        Rule("threads", status=503, times=9),
        Rule("threads", status=429, times=9),
        Rule("threads", text="<html>garbage</html>", times=9),
        Rule("threads", hangs=True, times=9),
        Rule("threads", lost=True, times=9),
    ],
    ids=["500", "503", "429", "garbage", "hangs", "reset"],
)
async def test_a_server_that_is_broken_is_unavailable(alone: Proxy, rule: Rule) -> None:
    alone.rules.append(rule)
    async with agent_at(alone.url, timeout=0.2) as agent:
        with pytest.raises(AgentUnavailable, match=r"The LangGraph server at 127\.0\.0\.1"):
            await agent.pending("t1")


async def test_a_key_that_stops_working_is_tried_again_later(harness: Harness) -> None:
    agent = await harness.open("asking")
    harness.front.rules.append(Rule("threads", status=401))
    with pytest.raises(AgentUnavailable, match="does not let us in"):
        await agent.pending("t1")
    assert await agent.pending("t1") == ()


def test_an_url_that_is_none_and_credentials_in_one_are_refused() -> None:
    for url in ("127.0.0.1:2024", "ftp://host", "http://user:word@host"):
        with pytest.raises(pydantic.ValidationError) as raised:
            Settings(url=url, assistant="a")
        assert "word" not in str(raised.value)


async def test_check_names_an_unknown_assistant_and_its_line(harness: Harness, tmp_path: Path) -> None:
    file = tmp_path / "answerback.yaml"
    file.write_text(
        f'agents:\n  remote:\n    use: {USE}\n    url: "{harness.front.url}"\n    assistant: nobody\n'
    )
    found = await check(load(str(file), environ={}), online=False)
    (problem,) = found.problems
    assert problem.startswith(f"{file}:")
    assert "has no assistant “nobody”" in problem


async def test_check_says_that_a_server_is_away(tmp_path: Path) -> None:
    file = tmp_path / "answerback.yaml"
    file.write_text(f'agents:\n  remote: {{use: "{USE}", url: "http://127.0.0.1:1", assistant: asking}}\n')
    found = await check(load(str(file), environ={}), online=False)
    assert found.problems == []
    (said,) = [text for name, text in found.facts if name == "agent remote"]
    assert "The LangGraph server at 127.0.0.1:1 does not answer." in said
