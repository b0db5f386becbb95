"""Notices over HTTP: tell something that asks nothing, and see what became of it."""

from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import FastAPI, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from answerback.durations import seconds
from answerback.notices import LONGEST, LONGEST_TITLE, NoticeRequest
from answerback.web.auth import MayAsk, MayFollow, agent_for, require_sight
from answerback.web.parameters import accepts, known
from answerback.web.parts import part
from answerback.web.records import timestamp
from answerback.web.requests import FILLED, Name, Names, read
from answerback.web.services import Caller

if TYPE_CHECKING:
    from answerback.notices import Notice, Shown

LONGEST_WAIT = 120.0
NoticeId = Annotated[str, known("notice")]
_Key = Annotated[str, Header(alias="Idempotency-Key", max_length=255)]
_Timeout = Annotated[str, Query(max_length=40, description="Seconds, or a text such as 30s; at most 120.")]


class Notices(Protocol):
    async def send(self, request: NoticeRequest, /) -> "tuple[Notice, bool]": ...
    async def get(self, id: str, /) -> "Notice": ...
    async def wait(self, id: str, timeout: float, /) -> "Notice": ...
    async def page(self, token: str, /) -> "Shown": ...


class NoticeIn(BaseModel):
    """What is to be told, and whom; without `ask` and `route` it is those of the default route."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True, frozen=True)

    text: Annotated[str, Field(max_length=LONGEST, json_schema_extra=FILLED)]
    title: Annotated[str, Field(max_length=LONGEST_TITLE)] = ""
    ask: Names = []
    route: Name = ""
    sensitive: bool = False
    agent: Name = ""
    user: Name = ""


class ToldOut(BaseModel):
    """What became of it at one address; `provider` is empty for somebody who has none."""

    contact: str
    provider: str
    status: str
    error: str
    sent_at: str | None


class SentOut(BaseModel):
    id: str
    status: str


class NoticeOut(SentOut):
    """`status` is that of the person whom it is furthest from having reached."""

    agent: str
    title: str
    text: str
    sensitive: bool
    created_at: str
    deliveries: list[ToldOut]


MODELS: tuple[type[BaseModel], ...] = (NoticeIn,)


_Notices = Annotated[Notices, part("notices")]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/notices."""

    @api.post(
        "/v1/notices",
        status_code=201,
        responses={200: {"model": SentOut, "description": "It was told before."}},
        openapi_extra=accepts(NoticeIn),
    )
    async def send(
        request: Request, response: Response, key: MayAsk, notices: _Notices, idempotency_key: _Key = ""
    ) -> SentOut:
        """Tell somebody. The same `Idempotency-Key` again gets the first result again, with 200."""
        body = await read(request, NoticeIn)
        given = body.model_dump() | {"ask": tuple(body.ask), "agent": agent_for(key, body.agent)}
        notice, created = await notices.send(NoticeRequest(**given, idempotency_key=idempotency_key))
        response.status_code = 201 if created else 200
        response.headers["Location"] = f"/v1/notices/{notice.id}"
        return SentOut(id=notice.id, status=str(notice.status))

    @api.get("/v1/notices/{id}")
    async def show(id: NoticeId, key: MayFollow, notices: _Notices) -> NoticeOut:
        """What was told, and what became of it at each address."""
        return notice_out(await _own(notices, key, id))

    @api.get("/v1/notices/{id}/wait")
    async def wait(id: NoticeId, key: MayFollow, notices: _Notices, timeout: _Timeout = "30") -> NoticeOut:
        """The same as soon as nothing of it is queued any more, or as it is after `timeout`."""
        await _own(notices, key, id)
        return notice_out(await notices.wait(id, min(seconds(timeout), LONGEST_WAIT)))


async def _own(notices: Notices, key: Caller, id: str) -> "Notice":
    notice = await notices.get(id)
    require_sight(key, notice.agent, "notice")
    return notice


def notice_out(notice: "Notice") -> NoticeOut:
    return NoticeOut(
        id=notice.id,
        status=str(notice.status),
        agent=notice.agent,
        title=notice.title,
        text=notice.text,
        sensitive=notice.sensitive,
        created_at=timestamp(notice.created_at) or "",
        deliveries=[
            ToldOut(
                contact=told.contact,
                provider=told.provider,
                status=str(told.status),
                error=told.error,
                sent_at=timestamp(told.sent_at),
            )
            for told in notice.deliveries
        ],
    )
