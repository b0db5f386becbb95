"""Two gateways as their users start them: `answerback serve` twice, on one PostgreSQL, each with workers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from answerback_sandbox import Sandbox
from answerback_sandbox.sandbox import BOT_ID
from tests.flow.test_cli import Served, home_with, serve
from tests.replicas.fleet import PATIENCE, ROOT
from tests.replicas.watch import Poll, Watch

pytestmark = pytest.mark.needs_extra("telegram", "langgraph", "postgres")
KEY = "a-key-of-two-gateways"
CONFIG = """
listen: 127.0.0.1:0
database: "{database}"
secret: the same secret for both of them
api_keys: [{{name: test, key: {key}}}]
agents:
  graph: {{use: langgraph, graph: "{graph}:graph"}}
providers:
  telegram: {{use: telegram, token: "{token}", api_base: "{api_base}"}}
contacts:
  ana: {{name: Ana, addresses: {{telegram: "1001"}}}}
"""


@contextlib.asynccontextmanager
async def two(box: Sandbox, database: str, folder: Path) -> AsyncIterator[list[Served]]:
    """Both of them, started at the same moment."""
    homes = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        token = f"{BOT_ID}:{name:_<35}"
        graph = ROOT / "tests" / "replicas" / "graph.py"
        given = {"database": database, "graph": graph, "token": token, "api_base": box.url, "key": KEY}
        homes.append(home_with(folder / name, CONFIG.format(**given)))
    served = await asyncio.gather(*(asyncio.to_thread(serve, home) for home in homes))
    try:
        yield served
    finally:
        for one in served:
            if one.process.poll() is None:
                await asyncio.to_thread(one.stop)


@pytest.mark.slow  # four processes, each with everything to import
async def test_two_that_are_served_carry_one_run_to_its_end(postgres_url: str, tmp_path: Path) -> None:
    polls: list[Poll] = []
    box = Sandbox()
    box.app.add_middleware(Watch, polls=polls)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        box.serve(),
        two(box, postgres_url, tmp_path) as (one, other),
        aiohttp.ClientSession(headers=headers, raise_for_status=True) as http,
    ):
        given = {"agent": "graph", "input": {"folder": str(tmp_path), "run": "run"}}
        async with http.post(f"{one.url}/v1/runs", json=given) as started:
            run = (await started.json())["id"]
        for which, label in (("First", "Yes"), ("Second", "No")):
            asked = await box.wait_for(partial(shown, box, f"{which} of run?"), PATIENCE)
            box.tap(1001, asked, label)
        await box.wait_for(lambda: shown(box, "Graph is done"), PATIENCE)
        async with http.get(f"{other.url}/v1/runs/{run}") as found:
            ended = await found.json()
        assert (ended["status"], ended["result"]["heard"]) == ("completed", ["Yes", "No"])
        assert len(box.received(1001)) == 3
        assert [poll for poll in polls if poll.beside] == []
        assert [(await asyncio.to_thread(served.stop)).code for served in (other, one)] == [0, 0]


def shown(box: Sandbox, part: str) -> int | None:
    """The id of the message on Ana's phone that has this in it."""
    return next((message.id for message in box.received(1001) if part in message.text), None)
