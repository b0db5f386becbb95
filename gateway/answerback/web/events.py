"""What happens, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Header, Query
from starlette.responses import StreamingResponse
from starlette.types import Send

from answerback.errors import StoreUnavailable
from answerback.identify import Identified
from answerback.web.auth import MayRead, sees
from answerback.web.limits import counted
from answerback.web.parts import part
from answerback.web.problems import Problem
from answerback.web.records import timestamp
from answerback.web.services import Caller, Feed

if TYPE_CHECKING:
    from answerback.feed import Begin, Happened, Step

QUIET = 15.0  # seconds after which a comment says that the stream is alive: proxies close silent ones
LONGEST = 900.0  # seconds of a stream without a key: who connects again is asked again who they are
AT_ONCE, AT_ONCE_EACH = 100, 50  # streams, in all and of one caller: each looks for itself
RETRY = 2000  # milliseconds after which a client connects again
_LONGEST = 40
_ID = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)
_ELSEWHERE = {"detail": "The last event that you have is none of this database: read the lists again."}
_After = Annotated[
    str, Query(max_length=_LONGEST, description="The id of the last event that you have; 0-0: all there are.")
]
_LastEventId = Annotated[str, Header(alias="Last-Event-ID", max_length=_LONGEST)]


class EventStream(StreamingResponse):
    """Lines that are counted as one stream of a caller while they are sent."""

    media_type = "text/event-stream"

    def __init__(self, lines: AsyncIterator[str], caller: str, open: Counter[str]) -> None:
        super().__init__(lines, headers={"X-Accel-Buffering": "no"})  # nginx would keep them back
        self._lines, self._caller, self._open = lines, caller, open

    async def stream_response(self, send: Send) -> None:
        with counted(self._open, self._caller):
            async with aclosing(self._lines):  # type: ignore[type-var]
                await super().stream_response(send)


_Feed = Annotated[Feed, part("feed")]
_Streams = Annotated[Counter[str], part("streams")]


def add(api: FastAPI) -> None:
    """Adds the endpoint for what happens."""

    @api.get(
        "/v1/events",
        response_class=StreamingResponse,
        responses={200: {"description": "Server-sent events.", "content": {EventStream.media_type: {}}}},
    )
    async def events(
        key: MayRead, feed: _Feed, streams: _Streams, after: _After = "", last_event_id: _LastEventId = ""
    ) -> EventStream:
        """What happens from now on, or since the event `after` (or `Last-Event-ID`), as server-sent events.

        Each says what it is about; nothing of what was said is in it. None is left out when you connect
        again, but one may come twice. 503 when too many programs follow already.
        """
        place = _place(last_event_id or after)
        if streams[key.name] >= AT_ONCE_EACH:
            raise _full(f"{AT_ONCE_EACH} programs follow the events with this key")
        if streams.total() >= AT_ONCE:
            raise _full(f"{AT_ONCE} programs follow the events here")
        return EventStream(_lines(key, feed, await feed.begin(*place)), key.name, streams)


def _full(why: str) -> Problem:
    return Problem(503, "unavailable", f"{why} already. Close one of them.", {"Retry-After": "60"})


def _place(id: str) -> tuple[int, int] | tuple[()]:
    """What an id says. Raises `Problem` 422."""
    if not id:
        return ()
    found = _ID.fullmatch(id)
    if found is None:
        raise Problem(422, "does-not-fit", "after: this is no event's id. Leave it out to begin now.")
    return int(found[1]), int(found[2])


async def _lines(key: Caller, feed: Feed, begin: "Begin", longest: float = LONGEST) -> AsyncIterator[str]:
    """The place comes first: who is cut off before the first event goes on there."""
    yield f"retry: {RETRY}\n{_id(begin)}\n"
    if begin.elsewhere:
        yield _event("reset", _ELSEWHERE)
    now = asyncio.get_running_loop().time
    said = now()
    until = said + longest if isinstance(key, Identified) else inf
    async with aclosing(feed.follow(begin.place)) as steps:
        try:
            async for step in steps:
                if now() >= until:
                    return
                line = ": still here\n\n" if step is None and now() - said >= QUIET else _step(key, step)
                if line:
                    said = now()
                    yield line
        except StoreUnavailable:
            return  # the client connects again, and is told then


def _step(key: Caller, step: "Step | None") -> str:
    """Its place stands with its last event: whoever is cut off before gets all of it again."""
    seen = [one for one in step.events if sees(key, one.agent)] if step is not None else []
    if step is None or not seen:
        return ""
    *first, last = map(_out, seen)
    return "".join(first) + _id(step) + last


def _id(at: "Begin | Step") -> str:
    return f"id: {at.place.audit}-{at.place.runs}\n"


def _out(happened: "Happened") -> str:
    return _event(happened.event, {**asdict(happened), "at": timestamp(happened.at)})


def _event(name: str, data: Mapping[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
