"""Looking: which threads somebody may have changed on the server since the last look.

The server keeps no list of changes, but lists threads by when they last changed. The cursor is how far that
has been read, and what was seen in the moments before: changes may become visible a little out of order.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from answerback.agent import Change, Look, digest
from answerback_agents.langgraph_server import marks, reading
from answerback_agents.langgraph_server.server import Server
from answerback_agents.langgraph_server.settings import Settings

OVERLAP = 10_000_000  # microseconds
UNREAD = (("", ""),)  # nothing that was ever asked: whoever follows the thread finds out
WAITING = ("interrupted", "error")  # a refused answer leaves `error` on a thread that still waits


@dataclass(frozen=True, slots=True)
class Cursor:
    """Read up to `at` (microseconds, the server's clock) among the threads of a scope."""

    scope: str
    at: int = 0
    seen: dict[str, int] = field(default_factory=dict)  # thread id → when it had changed

    @classmethod
    def read(cls, text: str, scope: str) -> "Cursor":
        """The cursor of this scope; one that begins anew if the text is another's."""
        stored = json.loads(text) if text else {}
        return cls(**stored) if stored.get("scope") == scope else cls(scope)

    def write(self) -> str:
        return json.dumps({"scope": self.scope, "at": self.at, "seen": self.seen})

    def is_news(self, id: str, at: int) -> bool:
        return at > self.at - OVERLAP and self.seen.get(id, 0) < at

    def moved(self, found: dict[str, int]) -> "Cursor":
        """Behind these changes."""
        everything = {**self.seen, **found}
        at = max([self.at, *found.values()])
        return Cursor(self.scope, at, {id: when for id, when in everything.items() if when > at - OVERLAP})


async def look(server: Server, settings: Settings, scope: dict[str, str], cursor: str) -> Look:
    """What changed in this scope; the first time, what waits."""
    before = Cursor.read(cursor, digest([settings.url, scope]))
    if before.at:
        found = await _changed(server, scope, before)
    else:  # the newest first: what changes while the rest is read is news to the next look
        before = replace(before, at=await _newest(server, scope))
        found = await _waiting(server, scope)
    after = before.moved({id: when(thread) for id, thread in found.items()})
    settled = [thread for thread in found.values() if thread["status"] != "busy"]
    may_be_over = any(map(_lists, settled)) and await server.holds_inside()
    changes = [await _change(server, thread, may_be_over) for thread in settled]
    ours = tuple(change for change in changes if change.started or settings.adopt)
    return Look(ours, after.write(), settings.poll_seconds)


async def _changed(server: Server, scope: dict[str, str], before: Cursor) -> dict[str, Any]:
    found: dict[str, Any] = {}
    async for thread in server.threads(scope):
        if when(thread) <= before.at - OVERLAP:
            break
        if before.is_news(thread["thread_id"], when(thread)):
            found.setdefault(thread["thread_id"], thread)
    return found


async def _waiting(server: Server, scope: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status in WAITING:
        async for thread in server.threads(scope, status):
            found.setdefault(thread["thread_id"], thread)
    return found


async def _newest(server: Server, scope: dict[str, str]) -> int:
    async for thread in server.threads(scope):
        return when(thread)
    return 0


async def _change(server: Server, thread: dict[str, Any], may_be_over: bool) -> Change:
    _, name = marks.started_as(thread)
    return Change(name or thread["thread_id"], await _waits(server, thread, may_be_over), bool(name))


async def _waits(server: Server, thread: dict[str, Any], may_be_over: bool) -> tuple[tuple[str, str], ...]:
    """(id, digest) of what seems to wait; UNREAD of a thread that cannot be read, which hides no other.

    `may_be_over`: what is listed may have been asked before a breakpoint that holds the thread now.
    """
    try:
        waiting = reading.listed(thread)
        if thread["status"] == "interrupted" and (may_be_over or not waiting):
            state = await server.state(thread["thread_id"]) or {}
            if hold := reading.held(thread, reading.whole(thread, state)):  # no interrupt says so
                waiting = ((hold.interrupt_id, hold.digest),)
    except Exception:
        return UNREAD
    return waiting


def _lists(thread: dict[str, Any]) -> bool:
    return thread["status"] == "interrupted" and any((thread.get("interrupts") or {}).values())


def when(thread: dict[str, Any]) -> int:
    """When the thread last changed, in microseconds since the epoch by the server's clock."""
    return round(datetime.fromisoformat(thread["updated_at"]).timestamp() * 1e6)
