"""HTTP to services: what hangs takes nothing from what else is sent there."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from answerback.http import Http

POOL = 100  # connections that a pool has, where it is not told otherwise


class Service:
    """Answers at /quick, and nowhere else."""

    def __init__(self) -> None:
        self.url = ""
        self.connections = set[asyncio.Task[None] | None]()
        self.full = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(asyncio.current_task())
        if len(self.connections) >= POOL:
            self.full.set()
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if b" /quick " in head:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await reader.read()  # until the other side leaves
        finally:
            writer.close()


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    there = Service()
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0, backlog=2 * POOL)
    there.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield there
    server.close()
    await asyncio.gather(*filter(None, there.connections))


async def test_law_10_requests_that_hang_take_no_connection_from_the_others(service: Service) -> None:
    http = Http()
    hang = [
        asyncio.create_task(http.call("GET", f"{service.url}/hang", seconds=60, limit=10))
        for _ in range(POOL + 20)
    ]
    async with asyncio.timeout(30):
        await service.full.wait()
    answer = await http.call("GET", f"{service.url}/quick", seconds=30, limit=10)
    assert (answer.status, answer.body) == (200, b"ok")
    for task in hang:
        task.cancel()
    await asyncio.gather(*hang, return_exceptions=True)
    await http.close()
