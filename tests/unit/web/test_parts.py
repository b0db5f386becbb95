"""Endpoints that are made once for all applications of a process, and what comes along with a request."""

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields
from types import SimpleNamespace

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from answerback.web.api import create_api
from answerback.web.services import Services
from tests.unit.web.fakes import World, interaction

EVERYTHING = Services(**{field.name: SimpleNamespace() for field in fields(Services)})
LITTLE = Services(**{field.name: SimpleNamespace() for field in fields(Services) if field.default is MISSING})


def called(dependant: Dependant) -> Iterator[object]:
    yield dependant.call
    for inner in dependant.dependencies:
        yield from called(inner)


def is_awaited(call: object) -> bool:
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


async def test_two_applications_of_a_process_share_endpoints_and_nothing_else():
    here, there = World(), World()
    there.reader.record = interaction(id="0193-b2")
    assert create_api(EVERYTHING) is create_api(EVERYTHING)
    async with here.client() as client, there.client() as other:
        found = [
            await each.get(f"/v1/interactions/{id}")
            for each in (client, other)
            for id in ("0193-a1", "0193-b2")
        ]
    assert [one.status_code for one in found] == [200, 404, 404, 200]


def test_what_an_application_lacks_has_no_endpoints_in_it():
    few, many = ({*create_api(each).openapi()["paths"]} for each in (LITTLE, EVERYTHING))
    assert few < many and "/v1/dead-letters" in many - few and "/v1/interactions" in few


def test_no_endpoint_and_nothing_that_it_needs_goes_through_a_thread():
    """FastAPI runs what is no coroutine function in a thread, which cost half the time of a request."""
    routes = [route for route in create_api(EVERYTHING).routes if isinstance(route, APIRoute)]
    slow = {
        (route.path, call)
        for route in routes
        for call in called(route.dependant)
        if call is not None and not is_awaited(call)
    }
    assert len(routes) > 25 and not slow
