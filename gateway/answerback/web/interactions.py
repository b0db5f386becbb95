"""Interactions over HTTP: ask, look, wait, answer, cancel."""

from typing import Annotated

from fastapi import FastAPI, Header, Query, Request, Response

from answerback.ask import AskRequest
from answerback.durations import seconds
from answerback.model import Interaction, InteractionStatus, OnExpire
from answerback.web.auth import (
    MayAdminister,
    MayAnswer,
    MayAsk,
    MayFollow,
    MayRead,
    agent_for,
    require_sight,
)
from answerback.web.late import told
from answerback.web.listing import Wanted, page_out
from answerback.web.parameters import InteractionId, accepts
from answerback.web.parts import Given, part
from answerback.web.questions import questions
from answerback.web.records import (
    AskedOut,
    DoneOut,
    HistoryOut,
    InteractionOut,
    PageOut,
    StateOut,
    StatusOut,
    asked_out,
    history_out,
    interaction_out,
    status_out,
)
from answerback.web.requests import CancelIn, InteractionIn, ResponseIn, read
from answerback.web.services import Caller, Eraser, Historian, Reader

LONGEST_WAIT = 120.0
_Key = Annotated[str, Header(alias="Idempotency-Key", max_length=255)]
_User = Annotated[
    str | None,
    Query(min_length=1, max_length=200, pattern=r"^[^\x00]*$", description="Only what was asked for them."),
]
_Reader = Annotated[Reader, part("reader")]
_Timeout = Annotated[str, Query(max_length=40, description="Seconds, or a text such as 30s; at most 120.")]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/interactions."""

    @api.post(
        "/v1/interactions",
        status_code=201,
        responses={200: {"model": AskedOut, "description": "It was asked before."}},
        openapi_extra=accepts(InteractionIn),
    )
    async def ask(
        request: Request, response: Response, key: MayAsk, services: Given, idempotency_key: _Key = ""
    ) -> AskedOut:
        """Ask. The same `Idempotency-Key` again gets the first result again, with 200."""
        body = await read(request, InteractionIn)
        asked = await services.asker.ask(ask_request(body, agent_for(key, body.agent), idempotency_key))
        response.status_code = 201 if asked.created else 200
        response.headers["Location"] = f"/v1/interactions/{asked.interaction.id}"
        return asked_out(asked)

    @api.get("/v1/interactions")
    async def page(
        key: MayRead,
        wanted: Wanted,
        reader: _Reader,
        status: InteractionStatus | None = None,
        user: _User = None,
    ) -> PageOut[InteractionOut]:
        """Interactions, a page at a time; `next` is what `after` takes for the following page."""
        only = str(status) if status else None
        found = await reader.interactions(only, wanted.limit, wanted.after, user or "")
        return page_out(key, found, interaction_out)

    @api.get("/v1/interactions/{id}")
    async def show(id: InteractionId, key: MayFollow, reader: _Reader) -> InteractionOut:
        """The record."""
        return interaction_out(await own(reader, key, id))

    @api.get("/v1/interactions/{id}/status")
    async def status(id: InteractionId, key: MayFollow, reader: _Reader) -> StatusOut:
        """Only whether it is pending, completed, expired or cancelled, and since when."""
        return status_out(await own(reader, key, id))

    @api.get("/v1/interactions/{id}/state")
    async def state(id: InteractionId, key: MayFollow, reader: _Reader) -> StateOut:
        """What was asked with as `state`; null once its `callback_url` has it, or it is deleted or erased."""
        await own(reader, key, id)
        return StateOut(state=await reader.state(id))

    @api.delete("/v1/interactions/{id}/state")
    async def drop_state(id: InteractionId, key: MayAsk, services: Given) -> StateOut:
        """Delete what was asked with as `state`; again is as good. 409 while the question is open."""
        await own(services.reader, key, id)
        await services.asker.drop_state(id)
        return StateOut(state=None)

    @api.get("/v1/interactions/{id}/wait")
    async def wait(
        id: InteractionId, key: MayFollow, reader: _Reader, timeout: _Timeout = "30"
    ) -> InteractionOut:
        """The record as soon as it is not pending any more, or as it is after `timeout`."""
        await own(reader, key, id)
        return interaction_out(await reader.wait(id, min(seconds(timeout), LONGEST_WAIT)))

    @api.post("/v1/interactions/{id}/respond", openapi_extra=accepts(ResponseIn))
    async def respond(request: Request, id: InteractionId, key: MayAnswer, services: Given) -> DoneOut:
        """Answer. 409 if somebody has answered, 410 if it is closed, 422 if the value does not fit.

        A key that may read it is told who answered (`answered_by`), or how it closed (`settled_as`).
        """
        body = await read(request, ResponseIn)
        await own(services.reader, key, id)
        by = key.contact or key.name
        await told(services.reader, key, id, services.receiver.respond(id, body.response, by=by, via="api"))
        return DoneOut()

    @api.post("/v1/interactions/{id}/cancel", openapi_extra=accepts(CancelIn, optional=True))
    async def cancel(request: Request, id: InteractionId, key: MayAsk, services: Given) -> InteractionOut:
        """Withdraw the question; whoever was asked is told. 409 or 410, as for `respond`, if it has ended."""
        body = await read(request, CancelIn, optional=True)
        reader = services.reader
        interaction = await own(reader, key, id)
        if not interaction.readable and interaction.status is InteractionStatus.PENDING and services.letters:
            await services.letters.discard(id, key.name)
            return interaction_out(await reader.interaction(id))
        reason = body.reason or "cancelled by the asker"
        return interaction_out(await told(reader, key, id, services.asker.cancel(id, reason)))


def add_history(api: FastAPI) -> None:
    """Adds the endpoint that says what happened to one."""

    @api.get("/v1/interactions/{id}/history")
    async def history(
        id: InteractionId, key: MayRead, reader: _Reader, historian: Annotated[Historian, part("historian")]
    ) -> HistoryOut:
        """What happened to it, oldest first: messages, replies, reminders; nothing of what was said."""
        await own(reader, key, id)
        return history_out(await historian.of(id))


def add_erasing(api: FastAPI) -> None:
    """Adds the endpoint that erases one."""

    @api.post("/v1/interactions/{id}/erase")
    async def erase(
        id: InteractionId, key: MayAdminister, reader: _Reader, eraser: Annotated[Eraser, part("eraser")]
    ) -> InteractionOut:
        """Erase what was asked and answered, with its run and all that this asked. 409 while that goes on."""
        await own(reader, key, id)
        return interaction_out(await eraser.now(id, key.name))


async def own(reader: Reader, key: Caller, id: str) -> Interaction:
    """One that the key may see. Raises `NotFound`."""
    interaction = await reader.interaction(id)
    require_sight(key, interaction.agent, "interaction")
    return interaction


def ask_request(body: InteractionIn, agent: str, idempotency_key: str) -> AskRequest:
    """The ask that a request body stands for. Raises `DoesNotFit`."""
    return AskRequest(
        questions=questions(body),
        context=body.context,
        title=body.title,
        ask=tuple(body.ask),
        route=body.route,
        expires_in=None if body.expires_in is None else seconds(body.expires_in),
        on_expire=OnExpire(body.on_expire) if body.on_expire else None,
        default=body.default,
        sensitive=body.sensitive,
        human_only=body.human_only,
        state=body.state,
        callback_url=body.callback_url,
        agent=agent,
        user=body.user,
        idempotency_key=idempotency_key,
    )
