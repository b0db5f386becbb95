"""The server: every call that the adapter makes of it, its faults as our errors."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError

from answerback.errors import AgentUnavailable
from answerback_agents.langgraph_server import inside
from answerback_agents.langgraph_server.marks import Mark, given, is_marked
from answerback_agents.langgraph_server.reading import Ended
from answerback_agents.langgraph_server.settings import Settings

PAGE = 100
LAP = 10  # rows read twice between two pages: while we turn the page, some may leave the ones before
SOON = 0.5  # seconds until a run that still works is waited for again
ACTIVE = ("pending", "running")
OLDEST = (1, 2, 20)  # LangGraph on the server: before it, two interrupts of a node share an id
# Makes LangGraph refuse an answer to what does not wait, before anything is written. The SDK's own
# `strict_resume` says the same to servers that know it; the others pass this key on to LangGraph.
STRICT = {"__pregel_strict_resume": True}
NO_CACHE = {"__pregel_cache": None}  # it would keep what a step was told, for others with the same input


class Rejected(AgentUnavailable):
    """The server is there and cannot be used as it is configured."""


class Busy(AgentUnavailable):
    """Somebody else's run is at work on the thread."""


class Missing(AgentUnavailable):
    """The server knows no such thing."""


class Server:
    """One assistant on one server. Raises `AgentUnavailable` and its children, nothing of the SDK's."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.place = urlsplit(settings.url).netloc
        secrets = {"x-api-key": settings.api_key, "authorization": settings.authorization}
        # Not `get_client`: it tries calls again by itself, and takes keys from the environment.
        self._client = LangGraphClient(
            httpx.AsyncClient(
                base_url=settings.url,
                timeout=settings.timeout,
                headers={name: secret.get_secret_value() for name, secret in secrets.items() if secret},
            )
        )
        self.scope: dict[str, str] = {}  # what the metadata of the assistant's threads say of it

    async def close(self) -> None:
        await self._client.aclose()

    async def meet(self) -> None:
        """Find the assistant, and out whether LangGraph is new enough. Raises `Rejected`."""
        with self._faults():
            about = await self._client.http.get("/info")
        version = str(about.get("langgraph_py_version") or "")
        if version and _numbers(version) < OLDEST:
            raise Rejected(
                f"The server at {self.place} runs LangGraph {version}, which can give an answer "
                f"to another question. Update it to {'.'.join(map(str, OLDEST))} or newer."
            )
        wanted = self._settings.assistant
        with self._faults():
            found = await self._assistants(wanted)
        if wanted in found:
            self.scope = {"assistant_id": wanted}
        elif wanted in found.values():
            self.scope = {"graph_id": wanted}
        else:
            known = ", ".join(sorted(set(found.values()))) or "none"
            raise Rejected(f"The server at {self.place} has no assistant “{wanted}”. Its graphs: {known}.")

    async def _assistants(self, wanted: str) -> dict[str, str]:
        """Id → graph: the one of this id, or all."""
        with contextlib.suppress(APIStatusError):
            one = await self._client.assistants.get(wanted)
            return {one["assistant_id"]: one["graph_id"]}
        found: dict[str, str] = {}
        while rows := await self._client.assistants.search(limit=PAGE, offset=len(found)):
            found |= {row["assistant_id"]: row["graph_id"] for row in rows}
            if len(rows) < PAGE:
                break
        return found

    # -- threads

    async def own_thread(self, id: str, mark: Mark) -> None:
        """Make sure that the thread is there, with our mark in its metadata."""
        with self._faults():
            found = await self._client.threads.create(thread_id=id, if_exists="do_nothing", metadata=mark)
            if not is_marked(cast(dict[str, Any], found), mark):
                await self._client.threads.update(id, metadata=mark)

    async def thread(self, id: str) -> dict[str, Any] | None:
        """Status, metadata, interrupts and error of a thread; None if there is none."""
        with contextlib.suppress(Missing), self._faults():
            return cast(dict[str, Any], await self._client.threads.get(id))
        return None

    async def state(self, id: str) -> dict[str, Any] | None:
        """The newest checkpoint: values, next steps, tasks with their interrupts; so for graphs inside it.

        None if there is none.
        """
        with contextlib.suppress(Missing), self._faults():
            shown = cast(dict[str, Any], await self._client.threads.get_state(id, subgraphs=True))
            found = inside.of_now(shown)
            return await self._held(id, found) if any(inside.holds(found)) else found
        return None

    async def _held(self, id: str, state: dict[str, Any]) -> dict[str, Any]:
        """Held where the graph has breakpoints; where that cannot be found out, as it seems."""
        over = set[str]()
        if inside.doubtful(state):
            over = {given(run) async for run in self.runs(id) if run["status"] == "success"}
        return inside.held_by(await self._breakpoints(), over, state)

    async def holds_inside(self) -> bool:
        """Whether a graph that is a step of another one has breakpoints, or may have."""
        breakpoints = await self._breakpoints()
        return breakpoints is None or any(":" in path for path in breakpoints)

    async def _breakpoints(self) -> dict[str, str] | None:
        """What `inside.held_by` takes; None where the server cannot draw the graph.

        A step whose graph is drawn is not drawn itself: so it is drawn to one depth after the other.
        """
        found, paths = dict[str, str](), set[str]()
        with self._faults(), contextlib.suppress(APIStatusError):
            for depth in itertools.count(1):
                drawn = await self._client.assistants.get_graph(self._settings.assistant, xray=depth)
                nodes = {str(node["id"]): node.get("metadata") or {} for node in drawn["nodes"]}
                found |= {
                    path: str(said["__interrupt"]) for path, said in nodes.items() if "__interrupt" in said
                }
                if nodes.keys() <= paths:
                    return found
                paths = {*nodes}
        return None

    async def history(self, id: str) -> AsyncIterator[dict[str, Any]]:
        """The thread's checkpoints, newest first."""
        before: Any = None
        while True:
            with self._faults():
                rows = await self._client.threads.get_history(id, limit=PAGE, before=before)
            for row in rows:
                yield cast(dict[str, Any], row)
            if len(rows) < PAGE:
                return
            before = rows[-1]["checkpoint"]

    async def threads(self, metadata: dict[str, str], status: str | None = None) -> AsyncIterator[Any]:
        """Threads with this metadata, the last changed first; without their values."""
        offset = 0
        while True:
            with self._faults():
                rows = await self._client.threads.search(
                    metadata=cast(Any, metadata),
                    status=cast(Any, status),
                    limit=PAGE,
                    offset=offset,
                    sort_by="updated_at",
                    sort_order="desc",
                    select=["thread_id", "status", "updated_at", "metadata", "interrupts"],
                )
            for row in rows:
                yield row
            if len(rows) < PAGE:
                return
            offset += PAGE - LAP

    async def end(self, id: str) -> None:
        """Leave the thread without next steps, so that nothing waits on it any more."""
        with self._faults():
            await self._client.threads.update_state(id, None, as_node="__end__")

    async def delete(self, id: str) -> None:
        """Delete the thread, if there is one."""
        with contextlib.suppress(Missing), self._faults():
            await self._client.threads.delete(id)

    # -- runs

    async def run(self, id: str, mark: Mark, **what: Any) -> str:
        """Begin a run with `input`, `command` or `checkpoint_id`; its id. Raises `Busy` if another works."""
        configurable = STRICT if what.get("input") is not None else {**STRICT, **NO_CACHE}
        with self._faults():
            run = await self._client.runs.create(
                id,
                self._settings.assistant,
                metadata=mark,
                multitask_strategy="reject",
                durability="sync",
                strict_resume=True,
                config=cast(Any, {"configurable": configurable}),
                **what,
            )
        return run["run_id"]

    async def runs(self, id: str) -> AsyncIterator[Any]:
        """The thread's runs, newest first: id, status, metadata."""
        offset = 0
        while True:
            try:
                with self._faults():
                    rows = await self._client.runs.list(
                        id, limit=PAGE, offset=offset, select=["run_id", "status", "metadata"]
                    )
            except Missing:
                return
            for row in rows:
                yield row
            if len(rows) < PAGE:
                return
            offset += PAGE - LAP

    async def ended(self, id: str, run: str) -> Ended:
        """Wait until a run has ended, however long that takes, as long as the server says that it works."""
        while True:
            said: Any = None
            with contextlib.suppress(httpx.ReadTimeout), self._faults(patient=True):
                said = await self._client.runs.join(id, run)
            with self._faults():
                status = str((await self._client.runs.get(id, run))["status"])
            if status not in ACTIVE:
                error = said.get("__error__") if isinstance(said, dict) else None
                return Ended(status, error if isinstance(error, dict) else {})
            await asyncio.sleep(SOON)

    async def stop(self, id: str, run: str) -> None:
        """Stop a run, and wait until it has stopped."""
        with contextlib.suppress(Missing, Busy), self._faults():
            await self._client.runs.cancel(id, run, wait=True)

    # -- faults

    @contextlib.contextmanager
    def _faults(self, *, patient: bool = False) -> Iterator[None]:
        """`patient` lets a read time out, so that the caller can look whether the run still works."""
        try:
            yield
        except httpx.ReadTimeout:
            if patient:
                raise
            raise self._away() from None
        except APIStatusError as error:
            raise self._refusal(error.status_code, error) from None
        except httpx.HTTPStatusError as error:
            raise self._refusal(error.response.status_code, error) from None
        except (httpx.HTTPError, httpx.StreamError, ValueError):
            raise self._away() from None

    def _away(self) -> AgentUnavailable:
        return AgentUnavailable(f"The LangGraph server at {self.place} does not answer.")

    def _refusal(self, status: int, error: Exception) -> AgentUnavailable:
        if status in (401, 403):
            return Rejected(
                f"The LangGraph server at {self.place} does not let us in ({status}): "
                "check api_key or authorization."
            )
        if status == 404:
            return Missing(f"The LangGraph server at {self.place} does not know this thread or run.")
        if status == 409:
            return Busy("Somebody else's run is at work on this thread.")
        if status == 422 and "assistant" in str(error):
            wanted = self._settings.assistant
            return Rejected(f"The server at {self.place} has no assistant “{wanted}” any more.")
        return AgentUnavailable(f"The LangGraph server at {self.place} answers with {status}.")


def _numbers(version: str) -> tuple[int, ...]:
    """`1.2.20rc1` → (1, 2, 20)."""
    parts = (part for part in version.split(".")[:3])
    return tuple(int("".join(mark for mark in part if mark.isdigit())[:4] or 0) for part in parts)
