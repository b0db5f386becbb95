"""A way to a PostgreSQL server on which what it says can be lost."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psycopg


class Network:
    """The way to a server, over TCP. It can lose what the server says, from now on or after some word."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.lost, self.lose_after = asyncio.Event(), b""

    def heal(self) -> None:
        """New connections work again; what was lost is lost."""
        self.lost.clear()
        self.lose_after = b""

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.lost.is_set():
            writer.close()
            return
        answers, asks = await asyncio.open_unix_connection(self._socket)
        try:
            await asyncio.gather(self._asks(reader, asks), self._answers(answers, writer))
        except OSError:  # hung up on
            return
        finally:
            writer.close()
            asks.close()

    async def _asks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.read(1 << 16):
            if self.lose_after and self.lose_after in said:
                self.lost.set()
            writer.write(said)
        writer.write_eof()

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.read(1 << 16):
            if self.lost.is_set():
                return  # and the connection stays
            writer.write(said)


@contextlib.asynccontextmanager
async def network_to(postgres_url: str) -> AsyncIterator[tuple[Network, str]]:
    """Such a way, and the URL that takes it."""
    about = psycopg.conninfo.conninfo_to_dict(postgres_url)
    network = Network(f"{about['host']}/.s.PGSQL.{about.get('port', 5432)}")
    server = await asyncio.start_server(network.connect, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield network, f"postgresql://postgres@127.0.0.1:{port}/{about['dbname']}?sslmode=disable"
    finally:
        server.close()
        await server.wait_closed()
