"""The HTTP API under /v1 as one application: its endpoints, its errors, its OpenAPI description."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

import answerback
from answerback.web import (
    audit,
    events,
    files,
    interactions,
    letters,
    notices,
    people,
    removals,
    routes,
    runs,
)
from answerback.web.problems import HANDLERS
from answerback.web.records import Ascii
from answerback.web.requests import MODELS
from answerback.web.services import Services

_REFERENCE = "#/components/schemas/{model}"
_PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object"}},
        "settled_as": {"type": "string"},
        "answered_by": {"type": "string"},
        "answered_via": {"type": "string"},
        "answered_at": {"type": "string"},
    },
}


class Api(FastAPI):
    """FastAPI with request bodies described by hand: they are read by the strict parser, not by FastAPI."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description, built once."""
        if self.openapi_schema is None:
            schema = super().openapi()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            modes = [(model, "validation") for model in (*MODELS, *notices.MODELS, *people.MODELS)]
            _, described = models_json_schema(modes, ref_template=_REFERENCE)  # type: ignore[arg-type]
            schemas.update(described["$defs"])
            schemas["Problem"] = _PROBLEM
            for name in ("HTTPValidationError", "ValidationError"):  # errors are problem documents here
                schemas.pop(name, None)
        return self.openapi_schema or {}


def _problem(about: str) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(model="Problem")}
    return {
        "description": f"A problem document (RFC 9457): {about}.",
        "content": {"application/problem+json": {"schema": schema}},
    }


# What each part of `Services` brings, in the order of the description.
_ADDED: Mapping[str, Callable[[FastAPI], None]] = {
    "runner": runs.add,
    "asker": interactions.add,
    "historian": interactions.add_history,
    "eraser": interactions.add_erasing,
    "notices": notices.add,
    "files": files.add,
    "letters": letters.add,
    "auditor": audit.add,
    "feed": events.add,
    "people": people.add,
    "planner": routes.add,
    "remover": removals.add,
    "erasure": removals.add_erasure,
}


def create_api(services: Services) -> Api:
    """The API; whoever calls it has been authenticated, and brings the services along: see `application`."""
    return _with(tuple(part for part in _ADDED if getattr(services, part) is not None))


@functools.cache
def _with(parts: tuple[str, ...]) -> Api:
    api = Api(
        title="answerback",
        version=answerback.__version__,
        description=answerback.__doc__ or "",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
        default_response_class=Ascii,
        responses={
            "4XX": _problem("what happened, then what to do"),
            "5XX": _problem("not the request's fault. 503: nothing was accepted, so try again"),
        },
    )
    for part in parts:
        _ADDED[part](api)
    return api
