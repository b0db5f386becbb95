"""Runs over HTTP: start one, look at it, stop it, or give it another try."""

from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, Request

from answerback.durations import seconds
from answerback.errors import NotFound
from answerback.model import RunStatus
from answerback.run import RunRequest
from answerback.web.auth import MayAsk, MayFollow, MayRead, require_sight, sees
from answerback.web.listing import Wanted, page_out
from answerback.web.parameters import RunId, accepts
from answerback.web.parts import part
from answerback.web.records import PageOut, RunOut, StartedOut, run_out
from answerback.web.requests import RunIn, read
from answerback.web.services import Caller, Runner

if TYPE_CHECKING:
    from answerback.run import Run


_Runner = Annotated[Runner, part("runner")]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/runs."""

    @api.post("/v1/runs", status_code=202, openapi_extra=accepts(RunIn))
    async def start(request: Request, key: MayAsk, runner: _Runner) -> StartedOut:
        """Start a run. 409 if its thread waits for an answer, unless `replace` is true."""
        body = await read(request, RunIn)
        if not sees(key, body.agent):
            raise NotFound("There is no such agent.")
        started = await runner.start(
            RunRequest(
                agent=body.agent,
                input=body.input,
                thread_id=body.thread_id,
                route=body.route,
                ask=tuple(body.ask),
                expires_in=None if body.expires_in is None else seconds(body.expires_in),
                replace=body.replace,
                user=body.user,
            )
        )
        return StartedOut.model_validate(run_out(started).model_dump())

    @api.get("/v1/runs")
    async def page(
        key: MayRead, wanted: Wanted, runner: _Runner, status: RunStatus | None = None
    ) -> PageOut[RunOut]:
        """Runs, a page at a time; `next` is what `after` takes for the following page."""
        found = await runner.list(str(status) if status else None, wanted.limit, wanted.after)
        return page_out(key, found, run_out)

    @api.get("/v1/runs/{id}")
    async def show(id: RunId, key: MayFollow, runner: _Runner) -> RunOut:
        """One run: its status, the interactions it waited for, its result or error."""
        return run_out(await _own(runner, key, id))

    @api.post("/v1/runs/{id}/cancel")
    async def cancel(id: RunId, key: MayAsk, runner: _Runner) -> RunOut:
        """Stop a run; what it asked is cancelled."""
        await _own(runner, key, id)
        return run_out(await runner.cancel(id))

    @api.post("/v1/runs/{id}/retry")
    async def retry(id: RunId, key: MayAsk, runner: _Runner) -> RunOut:
        """Try a failed step again with the answer it was given before."""
        await _own(runner, key, id)
        return run_out(await runner.retry(id))

    @api.post("/v1/runs/{id}/reask")
    async def reask(id: RunId, key: MayAsk, runner: _Runner) -> RunOut:
        """Ask a failed step's question anew."""
        await _own(runner, key, id)
        return run_out(await runner.reask(id))


async def _own(runner: Runner, key: Caller, id: str) -> "Run":
    run = await runner.get(id)
    require_sight(key, run.agent, "run")
    return run
