"""Graphs at random on a server: whoever answers when, and whatever fails, they give what answers mean."""

import contextlib
import uuid
from pathlib import Path

import pytest

from answerback_agents.langgraph_server import LangGraphServer
from tests.flow.langgraph.playing import Person
from tests.flow.langgraph.programs import ALIKE
from tests.flow.langgraph_server.development import Proxy
from tests.flow.langgraph_server.harness import Harness
from tests.flow.langgraph_server.made_graphs import FEW, MANY, made


async def prove(harness: Harness, tmp_path: Path, seed: int, topic: str) -> None:
    name = f"remote-{uuid.uuid4().hex}"  # its threads are nobody else's

    async def begin() -> LangGraphServer:
        return await harness.open(f"made_{seed}", name=name)

    await Person(begin, made(seed), seed, topic).play(tmp_path / "log")


@pytest.mark.parametrize("seed", FEW)
async def test_law_1_every_answer_counts_where_it_was_given(
    harness: Harness, tmp_path: Path, seed: int
) -> None:
    await prove(harness, tmp_path, seed, ALIKE if seed % 2 else "")


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["", ALIKE])
@pytest.mark.parametrize("seed", MANY)
async def test_so_it_does_in_many_more(larger_server: str, tmp_path: Path, seed: int, topic: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        front = Proxy(larger_server, larger_server)
        await prove(Harness(front, tmp_path, stack), tmp_path, seed, topic)
