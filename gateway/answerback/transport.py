"""How requests reach a gateway: as JSON with a key; what it refuses is raised as its own error."""

import asyncio
import json
import math
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from answerback.errors import (
    AlreadyAnswered,
    AnswerbackError,
    Closed,
    ConfigurationError,
    Conflict,
    DoesNotFit,
    NotAllowed,
    NotFound,
    Refused,
)
from answerback.http import fits_header
from answerback.model import Json

URL_VARIABLE, KEY_VARIABLE = "ANSWERBACK_URL", "ANSWERBACK_KEY"
HERE = "http://127.0.0.1:8700"  # where a gateway listens that is not told otherwise
NO_KEY = (
    "The API key cannot be sent: an HTTP header carries printable ASCII without blanks, and no line breaks. "
    "Give the key alone, as it was made."
)
NO_URL = f"The address of the gateway cannot be read; it looks like {HERE}."
SECONDS, FETCH = 30.0, 90.0  # for one request, and for a file that the gateway fetches itself
WAIT = 25.0  # seconds that one request waits for an answer; proxies often give up at 30 or 60
LOOKS = (0.05, 1.0)  # seconds between looks at what cannot be waited for: the first, and the longest
AT_ONCE = 0.001  # seconds of waiting: it takes more than none
PAUSES = (0.1, 2.0)  # seconds between attempts while the gateway is away: the first, and the longest
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ERRORS: dict[str, type[Refused]] = {
    kind.code: kind for kind in (NotFound, NotAllowed, Conflict, AlreadyAnswered, Closed, DoesNotFit)
}
_BY_STATUS: dict[int, type[Refused]] = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 409: Conflict}
_AWAY = frozenset({502, 503, 504})  # 502 and 504 come from a proxy in front of a gateway that is away


class GatewayUnavailable(AnswerbackError):
    """The gateway cannot be reached, or cannot work right now; the same request may be sent again."""


class Transport:
    """One gateway, one key, one session. Use it as `async with`."""

    def __init__(
        self,
        url: str = "",
        key: str = "",
        *,
        patience: float = 60.0,
        on_away: Callable[[str], None] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.url = (url or environ.get(URL_VARIABLE) or HERE).rstrip("/")
        if not self.url.startswith(("http://", "https://")):  # else it would be tried for a minute
            raise ConfigurationError(NO_URL)
        self._key = (key or environ.get(KEY_VARIABLE, "")).strip()
        if not self._key:
            raise ConfigurationError(
                f"There is no API key: give one, or set ${KEY_VARIABLE}. `answerback serve` says where it is."
            )
        if not fits_header(self._key):
            raise ConfigurationError(NO_KEY)
        self._patience, self._on_away = patience, on_away
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "application/json"}
        self._session = aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(SECONDS))
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def patiently(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Mapping[str, Json] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> Json:
        """A request that is repeated, for `patience` seconds, while the gateway is away.

        Only for what may arrive twice: a GET, or what carries a key that makes it count once.
        """
        pause, longest = PAUSES
        clock = asyncio.get_running_loop().time
        until = 0.0
        while True:
            try:
                return await self.call(method, path, body=body, query=query, headers=headers, seconds=seconds)
            except GatewayUnavailable as error:
                if not until:
                    until = clock() + self._patience
                    if self._on_away is not None and self._patience > 0:
                        self._on_away(str(error))
                if clock() + pause > until:
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, longest)

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Json] | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> Json:
        """One request; the JSON of its answer. Every call is this with a name."""
        sent = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        answer = await self._exchanged(
            seconds, method=method, url=self.url + path, data=data, params=query, headers=sent
        )
        return self._read(*answer)

    async def fetch(self, path: str, seconds: float = FETCH) -> bytes:
        """A GET of something that is no JSON."""
        status, raw = await self._exchanged(seconds, method="GET", url=self.url + path)
        if status != HTTPStatus.OK:
            self._read(status, raw)
        return raw

    async def _exchanged(self, seconds: float, **request: Any) -> tuple[int, bytes]:
        """One request: the status of its answer, and all of that."""
        if self._session is None:
            raise RuntimeError("use the client as `async with Client(…) as client:`")
        timeout = aiohttp.ClientTimeout(seconds)
        try:
            async with self._session.request(**request, allow_redirects=False, timeout=timeout) as answer:
                return answer.status, await answer.read()
        except aiohttp.InvalidURL:
            raise ConfigurationError(NO_URL) from None
        except aiohttp.ClientConnectorError:
            message = f"Nothing answers at {self.url}: is `answerback serve` running?"
            raise GatewayUnavailable(message) from None
        except TimeoutError:
            raise GatewayUnavailable(f"{self.url} did not answer within {seconds:g} s.") from None
        except aiohttp.ClientError:
            raise GatewayUnavailable(f"The connection to {self.url} was lost.") from None

    async def watch(self, path: str, timeout: float | None, done: Callable[[Json], bool]) -> Json:
        """Repeat a GET that waits at the gateway, until it is `done`, or `timeout` seconds passed."""
        clock = asyncio.get_running_loop().time
        end = None if timeout is None else clock() + timeout
        while True:
            span = WAIT if end is None else max(AT_ONCE, min(WAIT, end - clock()))
            record = await self.patiently(path, query={"timeout": f"{span:.3f}"}, seconds=span + SECONDS)
            if done(record) or (end is not None and clock() >= end):
                return record

    async def follow(
        self, path: str, timeout: float | None, parts: Callable[[Json], list[str] | None]
    ) -> AsyncIterator[Json]:
        """What a GET gives, and again when that is something else, or when one of its parts has ended.

        For `timeout` seconds at most. `parts` gives the paths at which a GET waits for the end of each part;
        None: all of it has ended.
        """
        clock = asyncio.get_running_loop().time
        end = math.inf if timeout is None else clock() + timeout
        pause, longest = LOOKS
        ended: set[str] = set()
        known: Json = None
        while True:
            record = await self.patiently(path)
            if (record, len(ended)) != known:
                yield record
                known, pause = (record, len(ended)), LOOKS[0]
            waits = parts(record)
            if waits is None or clock() >= end:
                return
            open_ = [each for each in waits if each not in ended]
            for number, each in enumerate(open_):
                span = min(longest, end - clock()) if number == 0 else 0.0
                query = {"timeout": f"{max(AT_ONCE, span):.3f}"}
                part = await self.patiently(each, query=query, seconds=span + SECONDS)
                ended |= {each} if part["status"] != "pending" else set()
            await asyncio.sleep(max(0.0, min(pause, end - clock())))
            pause = LOOKS[0] if open_ else min(pause * 2, longest)

    def _read(self, status: int, raw: bytes) -> Json:
        try:
            content = json.loads(raw) if raw else None
        except ValueError:
            content = None
        if 200 <= status < 300 and content is not None:
            return content
        problem = content if isinstance(content, dict) and isinstance(content.get("detail"), str) else None
        if status in _AWAY:
            detail = problem["detail"] if problem else f"The gateway at {self.url} is away ({status})."
            raise GatewayUnavailable(detail)
        if problem is None:
            raise Refused(f"{self.url} answered {status}, and not as answerback does. Is this its address?")
        kind = _ERRORS.get(str(problem.get("code")), _BY_STATUS.get(status, Refused))
        error = kind(problem["detail"])
        error.status, error.code = status, str(problem.get("code") or kind.code)
        raise error


def once(key: str) -> dict[str, str]:
    """The header that makes a request count once. Raises `DoesNotFit` for what would arrive otherwise."""
    if not key.isprintable() or key != key.strip():
        raise DoesNotFit("An idempotency key is one line of printable characters, without blanks around it.")
    return {"Idempotency-Key": key} if key else {}


def path_id(id: str, what: str) -> str:
    """An id as a part of a path; one that cannot be an id is not found."""
    if not _ID.fullmatch(id) or id.strip(".") == "":
        raise NotFound(f"There is no {what} with this id.")
    return quote(id, safe="")


def query_of(**values: Any) -> dict[str, str]:
    """A query of what was given."""
    return {name: str(value) for name, value in values.items() if value != ""}
