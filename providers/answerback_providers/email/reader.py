"""Has mail read by a process that is ended when it takes too long, and looks up what the DNS must say."""

import asyncio
import base64
import contextlib
import json
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import dns.asyncresolver
import dns.exception

from answerback_providers.email.reading import Reading, load
from answerback_providers.email.settings import EmailSettings

log = logging.getLogger(__name__)
PATIENCE = 2.0  # seconds for one mail, and for each MiB of it
START = 30.0  # seconds for the process to begin
DNS = 5.0  # seconds for all names of one mail
WORKER = "answerback_providers.email.worker"
LONGEST_LINE = 32 << 20  # an answer: a text each of whose octets is written as JSON, or a file in Base64
Lookup = Callable[[str], Awaitable[str]]


async def txt(name: str) -> str:
    """The TXT record of a name; "" where there is none, or nobody says."""
    try:
        found = await dns.asyncresolver.resolve(name, "TXT", lifetime=DNS)
    except (dns.exception.DNSException, OSError):
        return ""
    return b"".join(next(iter(found)).strings).decode("utf-8", "replace")


class Reader:
    """One process, started when the first mail is there, and again after it had to be ended."""

    def __init__(self, settings: EmailSettings, lookup: Lookup = txt, patience: float = PATIENCE) -> None:
        self._settings, self._lookup, self.patience = settings, lookup, patience
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def read(self, raw: bytes) -> Reading | None:
        """What a mail says; None: it could not be read, and the log says why (nothing of the mail itself)."""
        own, authserv_id = self._settings.address, self._settings.authserv_id
        told = await self._ask({"own": own, "authserv_id": authserv_id}, raw)
        if "reading" not in told:
            log.warning("a mail could not be read: %s", told.get("error", "no answer"))
            return None
        reading = load(told["reading"])
        return replace(reading, trusted=await self._proved(reading, raw)) if reading.lookups else reading

    async def file(self, raw: bytes, place: int) -> bytes | None:
        """The file at a place in a mail; None: it could not be read, and the log says why."""
        told = await self._ask({"place": place}, raw)
        if "file" not in told:
            log.warning("a file could not be read from a mail: %s", told.get("error", "no answer"))
            return None
        return base64.b64decode(told["file"])

    async def _proved(self, reading: Reading, raw: bytes) -> bool:
        answers = await asyncio.gather(*(self._lookup(name) for name in reading.lookups))
        records = dict(zip(reading.lookups, answers, strict=True))
        domain = reading.sender.rpartition("@")[2]
        return (await self._ask({"records": records, "domain": domain}, raw)).get("verified") is True

    async def _ask(self, job: dict[str, Any], raw: bytes) -> dict[str, Any]:
        async with self._turn:
            process, seconds = await self._started(), self.patience * (1 + (len(raw) >> 20))
            try:
                async with asyncio.timeout(seconds):
                    return await self._said(process, job, raw)
            except (TimeoutError, OSError, ValueError):
                await self.close()
                return {"error": f"no answer within {seconds:g} s"}
            except asyncio.CancelledError:
                await self.close()  # half an answer would be taken for the next one
                raise

    async def _said(self, process: Process, job: dict[str, Any], raw: bytes) -> dict[str, Any]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({**job, "size": len(raw)}).encode() + b"\n" + raw)
        await process.stdin.drain()
        told: dict[str, Any] = json.loads(await process.stdout.readline())
        return told

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", WORKER, stdin=PIPE, stdout=PIPE, limit=LONGEST_LINE
            )
            assert self._process.stdout is not None
            async with asyncio.timeout(START):
                await self._process.stdout.readline()  # it says that it is ready
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
