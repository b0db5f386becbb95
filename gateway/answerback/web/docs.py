"""The API's description: /openapi.json for programs, /docs for people, without assets from elsewhere."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answerback.web.api import Api
from answerback.web.pages import docs_page
from answerback.web.records import Ascii

_METHODS = ("get", "post", "put", "patch", "delete")


def routes(api: Api) -> list[Route]:
    """`/openapi.json` and `/docs`."""

    async def description(request: Request) -> Response:
        return Ascii(api.openapi())

    async def page(request: Request) -> Response:
        return docs_page(api.openapi(), operations(api.openapi()))

    return [Route("/openapi.json", description, name="openapi"), Route("/docs", page, name="docs")]


def operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The operations in the order of the description, each with what it takes."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "description": found.get("description", ""),
            "parameters": found.get("parameters", []),
            "fields": _fields(schema, found),
        }
        for path, methods in schema["paths"].items()
        for method, found in methods.items()
        if method in _METHODS
    ]


def _fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    model = schema["components"]["schemas"].get(name, {})
    required = model.get("required", [])
    return [
        {
            "name": field,
            "required": field in required,
            "type": _type(rule),
            "about": rule.get("description", ""),
        }
        for field, rule in model.get("properties", {}).items()
    ]


def _type(rule: dict[str, Any]) -> str:
    if "anyOf" in rule:
        return " or ".join(_type(option) for option in rule["anyOf"])
    if "enum" in rule:
        return ", ".join(str(value) for value in rule["enum"])
    if "$ref" in rule:
        return str(rule["$ref"]).rpartition("/")[2]
    return str(rule.get("type", "any"))
