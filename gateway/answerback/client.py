"""A client for the HTTP API: asks, waits, answers; what the gateway refuses is raised as its own error."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypedDict, cast
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
from answerback.model import Json

__all__ = ["Answer", "Asked", "Client", "GatewayUnavailable", "Interaction", "Interactions", "Run", "Runs"]

SECONDS = 30.0  # for one request
WAIT = 25.0  # seconds that one request waits for an answer; proxies often give up at 30 or 60
PAUSES = (0.1, 2.0)  # seconds between attempts while the gateway is away: the first, and the longest
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ERRORS: dict[str, type[Refused]] = {
    kind.code: kind for kind in (NotFound, NotAllowed, Conflict, AlreadyAnswered, Closed, DoesNotFit)
}
_BY_STATUS: dict[int, type[Refused]] = {401: NotAllowed, 403: NotAllowed, 404: NotFound, 409: Conflict}
_AWAY = frozenset({502, 503, 504})  # 502 and 504 come from a proxy in front of a gateway that is away


class GatewayUnavailable(AnswerbackError):
    """The gateway cannot be reached, or cannot work right now; the same request may be sent again."""


class Asked(TypedDict):
    """A question that was put. Times are RFC 3339 in UTC."""

    id: str
    status: str
    form_url: str
    expires_at: str | None


class Answer(TypedDict):
    """`value` is the value of the only question; of several it is null, see `values` then."""

    value: Json
    values: dict[str, Json]
    text: str
    by: str
    via: str
    at: str | None
    expired: bool
    default_used: bool


class Interaction(TypedDict):
    """The record of an ask; `status` is pending, completed, expired or cancelled."""

    id: str
    status: str
    code: str
    title: str
    context: str
    questions: list[dict[str, Json]]
    agent: str
    run_id: str
    thread_id: str
    created_at: str
    expires_at: str | None
    overdue_at: str | None
    answered_at: str | None
    answered_by: str
    answered_via: str
    answer: Answer | None
    reason: str


class Run(TypedDict):
    """One execution of an agent; `status` is running, waiting, completed, failed or cancelled."""

    id: str
    agent: str
    thread_id: str
    status: str
    result: Json
    error: str
    interactions: list[str]


class Interactions(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[Interaction]
    next: str | None


class Runs(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[Run]
    next: str | None


class Client:
    """One gateway. Use it as `async with Client(url, key) as client:`.

    All methods raise what the gateway refuses (`NotFound`, `NotAllowed`, `Conflict`, `AlreadyAnswered`,
    `Closed`, `DoesNotFit`, or `Refused` itself) with its sentence, and `GatewayUnavailable`.
    `wait` and `follow` bear with a gateway that is away for `patience` seconds (a restart); what they
    then wait for is told to `on_away`, once each time.
    """

    def __init__(
        self, url: str, key: str, *, patience: float = 60.0, on_away: Callable[[str], None] | None = None
    ) -> None:
        self.url, self._key = url.rstrip("/"), key.strip()
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

    async def ask(
        self,
        question: Json,
        *,
        ask: Sequence[str] = (),
        route: str = "",
        title: str = "",
        context: str = "",
        expires_in: float | str | None = None,
        on_expire: str = "",
        default: Json = None,
        sensitive: bool = False,
        agent: str = "",
        idempotency_key: str = "",
    ) -> Asked:
        """Ask. `question` is a text, an object such as `{"text": …, "kind": "confirm"}`, or a list of these.

        `ask` are contact ids; `expires_in` is in seconds, or a text such as "10m".
        """
        body = {
            "questions" if isinstance(question, list) else "question": question,
            "ask": list(ask), "route": route, "title": title, "context": context, "expires_in": expires_in,
            "on_expire": on_expire, "default": default, "sensitive": sensitive or None, "agent": agent,
        }  # fmt: skip
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        given = {name: value for name, value in body.items() if value not in (None, "", [])}
        if default is not None:
            given["default"] = default
        return cast(Asked, await self.call("POST", "/v1/interactions", body=given, headers=headers))

    async def interaction(self, id: str) -> Interaction:
        """The record."""
        return cast(Interaction, await self.call("GET", f"/v1/interactions/{_id(id, 'interaction')}"))

    async def interactions(self, status: str = "", limit: int = 50, after: str = "") -> Interactions:
        """A page of records, oldest first."""
        query = _query(status=status, limit=limit, after=after)
        return cast(Interactions, await self.call("GET", "/v1/interactions", query=query))

    async def wait(self, id: str, timeout: float | None = None) -> Interaction:
        """The record as soon as it is not pending any more, or as it is after `timeout` seconds."""
        path = f"/v1/interactions/{_id(id, 'interaction')}/wait"
        return cast(
            Interaction, await self._watch(path, timeout, lambda record: record["status"] != "pending")
        )

    async def respond(self, id: str, response: Json) -> None:
        """Answer. A text is read as a person's would be ("yes", "2", "tomorrow")."""
        path = f"/v1/interactions/{_id(id, 'interaction')}/respond"
        await self.call("POST", path, body={"response": response})

    async def cancel(self, id: str, reason: str = "") -> Interaction:
        """Withdraw a question; whoever was asked is told."""
        path = f"/v1/interactions/{_id(id, 'interaction')}/cancel"
        return cast(Interaction, await self.call("POST", path, body={"reason": reason}))

    async def start(
        self,
        agent: str,
        input: Json = None,
        *,
        thread_id: str = "",
        route: str = "",
        ask: Sequence[str] = (),
        replace: bool = False,
    ) -> Run:
        """Start a run; `replace` ends what waits on its thread."""
        body: dict[str, Json] = {"agent": agent, "input": input, "replace": replace, "ask": list(ask)}
        body |= _query(thread_id=thread_id, route=route)
        return cast(Run, await self.call("POST", "/v1/runs", body=body))

    async def run(self, id: str) -> Run:
        """The record of a run."""
        return cast(Run, await self.call("GET", f"/v1/runs/{_id(id, 'run')}"))

    async def runs(self, status: str = "", limit: int = 50, after: str = "") -> Runs:
        """A page of runs, oldest first."""
        return cast(
            Runs, await self.call("GET", "/v1/runs", query=_query(status=status, limit=limit, after=after))
        )

    async def steer(self, id: str, how: str) -> Run:
        """`cancel` a run, or give a failed one another try: `retry` with the same answer, or `reask`."""
        return cast(Run, await self.call("POST", f"/v1/runs/{_id(id, 'run')}/{how}"))

    async def patiently(
        self, path: str, *, query: Mapping[str, str] | None = None, seconds: float = SECONDS
    ) -> Json:
        """A GET that is repeated, for `patience` seconds, while the gateway is away."""
        pause, longest = PAUSES
        clock = asyncio.get_running_loop().time
        until = 0.0
        while True:
            try:
                return await self.call("GET", path, query=query, seconds=seconds)
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
        """One request; the JSON of its answer. Each method above is this with a name."""
        if self._session is None:
            raise RuntimeError("use the client as `async with Client(…) as client:`")
        sent = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        try:
            async with self._session.request(
                method, self.url + path, data=data, params=query, headers=sent, allow_redirects=False,
                timeout=aiohttp.ClientTimeout(seconds),
            ) as answer:  # fmt: skip
                return self._read(answer.status, await answer.read())
        except aiohttp.InvalidURL:
            message = "The address of the gateway cannot be read; it looks like http://127.0.0.1:8700."
            raise ConfigurationError(message) from None
        except aiohttp.ClientConnectorError:
            message = f"Nothing answers at {self.url}: is `answerback serve` running?"
            raise GatewayUnavailable(message) from None
        except TimeoutError:
            raise GatewayUnavailable(f"{self.url} did not answer within {seconds:g} s.") from None
        except aiohttp.ClientError:
            raise GatewayUnavailable(f"The connection to {self.url} was lost.") from None

    async def _watch(self, path: str, timeout: float | None, done: Callable[[Json], bool]) -> Json:
        clock = asyncio.get_running_loop().time
        end = None if timeout is None else clock() + timeout
        while True:
            span = WAIT if end is None else max(0.001, min(WAIT, end - clock()))
            record = await self.patiently(path, query={"timeout": f"{span:.3f}"}, seconds=span + SECONDS)
            if done(record) or (end is not None and clock() >= end):
                return record

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
        raise kind(problem["detail"])


def _id(id: str, what: str) -> str:
    """An id as a part of a path; one that cannot be an id is not found."""
    if not _ID.fullmatch(id) or id.strip(".") == "":
        raise NotFound(f"There is no {what} with this id.")
    return quote(id, safe="")


def _query(**values: Any) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if value != ""}
