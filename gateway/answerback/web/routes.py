"""Routes over HTTP: who would be asked on each of them now, where and when."""

from collections.abc import Container
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI
from pydantic import BaseModel

from answerback.web.auth import MayRead
from answerback.web.parameters import known
from answerback.web.parts import part
from answerback.web.people import People
from answerback.web.records import timestamp
from answerback.web.services import Planner

if TYPE_CHECKING:
    from answerback.plans import Plan, Planned

RouteId = Annotated[str, known("route")]


class WayOut(BaseModel):
    """`reachable` is false when a message there failed for good; `works`, when its provider does not work."""

    provider: str
    id: str
    place: str
    reachable: bool
    works: bool


class PlannedOut(BaseModel):
    """`ways` are tried in this order; without any, this person cannot be reached on this route.

    They are asked `at`; if that is `quiet`, they want to be left alone until then.
    """

    contact: str
    name: str
    language: str
    ways: list[WayOut]
    at: str
    quiet: bool


class PlanOut(BaseModel):
    """`agents` ask on it where nothing else is named.

    Durations are in seconds; `expires_in` is null where a question waits for ever.
    """

    route: str
    agents: list[str]
    at_once: bool
    first: str
    people: list[PlannedOut]
    stand_ins: list[str]
    stand_ins_after: float | None
    reminders: list[float]
    expires_in: float | None
    on_expire: str
    human_only: bool
    fallback: str


class PlansOut(BaseModel):
    items: list[PlanOut]


_Planner = Annotated[Planner, part("planner")]
_People = Annotated[People, part("people")]


def add(api: FastAPI) -> None:
    """Adds the endpoints under /v1/routes."""

    @api.get("/v1/routes")
    async def routes(key: MayRead, planner: _Planner, people: _People) -> PlansOut:
        """What a question that is asked now would go through, on every route."""
        plans = [await planner.of(name, ()) for name in planner.names()]
        return PlansOut(items=[plan_out(plan, people.working()) for plan in plans])

    @api.get("/v1/routes/{id}")
    async def route(id: RouteId, key: MayRead, planner: _Planner, people: _People, ask: str = "") -> PlanOut:
        """The same on one of them; `ask`: for these contacts, with commas between, not for the route's."""
        return plan_out(await planner.of(id, tuple(filter(None, ask.split(",")))), people.working())


def plan_out(plan: "Plan", working: Container[str]) -> PlanOut:
    return PlanOut(
        route=plan.route,
        agents=list(plan.agents),
        at_once=plan.at_once,
        first=plan.first,
        people=[_person_out(person, plan.now, working) for person in plan.people],
        stand_ins=list(plan.stand_ins),
        stand_ins_after=plan.stand_ins_after,
        reminders=list(plan.reminders),
        expires_in=plan.expires_in,
        on_expire=plan.on_expire,
        human_only=plan.human_only,
        fallback=plan.fallback,
    )


def _person_out(person: "Planned", now: int, working: Container[str]) -> PlannedOut:
    ways = [
        WayOut(
            provider=way.provider,
            id=way.external_id,
            place=way.place,
            reachable=way.reachable,
            works=way.provider in working,
        )
        for way in person.ways
    ]
    return PlannedOut(
        contact=person.contact,
        name=person.name,
        language=person.language,
        ways=ways,
        at=timestamp(person.at) or "",
        quiet=person.at > now,
    )
