"""Holds calls of Twilio's API against Twilio's own description of it; described.json says from where."""

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from answerback_sandbox.twilio.state import Call

Json = dict[str, Any]
# The file of a message: its resource's URI without `.json`, which is no operation of its own.
# https://www.twilio.com/docs/messaging/api/media-resource#fetch-a-media-resource
FILE = re.compile(r"/2010-04-01/Accounts/AC[0-9a-f]{32}/Messages/(SM|MM)[0-9a-f]{32}/Media/ME[0-9a-f]{32}")
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")
URI = re.compile(r"https?://[^\s/]+(/\S*)?")


@cache
def operations() -> list[Json]:
    found: list[Json] = json.loads((Path(__file__).parent / "described.json").read_text())["operations"]
    return found


def misfits(call: Call) -> list[str]:
    """What of one call Twilio does not describe; of its answer, if it succeeded, too."""
    if call.method == "GET" and FILE.fullmatch(call.path):
        return ["a file takes no parameters"] if call.query or call.body else []
    named = [(each, found) for each in operations() if (found := _path(each, call)) is not None]
    if not named:
        return [f"there is no {call.method} {call.path}"]
    operation, in_path = named[0]
    wrong = [] if call.signed_in or call.status == 401 else ["not signed in by Basic auth"]
    wrong += _fields("path", in_path, operation["in_path"])
    wrong += _fields("query", dict(call.query), operation["query"])
    wrong += ["a parameter of the query stands there twice"] * (len(dict(call.query)) < len(call.query))
    wrong += _body(call, operation)
    if call.status < 300 and call.answer:
        wrong += _answer(call, operation)
    return wrong


def _path(operation: Json, call: Call) -> dict[str, str] | None:
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+?)", operation["path"].replace(".", r"\."))
    found = re.fullmatch(pattern, call.path) if call.method == operation["method"] else None
    return found.groupdict() if found else None


def _body(call: Call, operation: Json) -> list[str]:
    described = operation.get("body")
    if described is None:
        return ["there is a body"] if call.body else []
    if call.content_type.partition(";")[0] != operation["content_type"]:
        return [f"the body is {call.content_type}"]
    if operation["content_type"] == "application/json":
        return _value("body", json.loads(call.body), described)
    pairs = parse_qsl(call.body.decode(), keep_blank_values=True, strict_parsing=True)
    lists = {name for name, schema in described["properties"].items() if schema.get("type") == "array"}
    given: Json = {name: value for name, value in pairs if name not in lists}
    wrong = [f"{name} stands there twice" for name in given if [key for key, _ in pairs].count(name) > 1]
    return wrong + _fields("body", given, described["properties"], described.get("required", ()))


def _fields(where: str, given: Json, described: Json, required: Any = ()) -> list[str]:
    """Texts of a form or a query against what they must read as."""
    wrong = [f"{where}: {name} is not described" for name in given if name not in described]
    wrong += [f"{where}: {name} is missing" for name in required if name not in given]
    for name, text in given.items():
        wrong += _text(f"{where}: {name}", text, described.get(name, {}))
    return wrong


def _text(name: str, text: str, schema: Json) -> list[str]:
    patterns = {"integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "boolean": "true|false"}
    fits = (
        re.fullmatch(patterns.get(schema.get("type", ""), r"(?s).*"), text)
        and re.search(schema.get("pattern", ""), text)
        and text in schema.get("enum", (text,))
        and (schema.get("format") != "date-time" or TIME.fullmatch(text))
        and (schema.get("format") != "uri" or URI.fullmatch(text))
        and float(schema.get("minimum", "-inf"))
        <= _number(text, schema)
        <= float(schema.get("maximum", "inf"))
    )
    return [] if fits else [f"{name} is not of its kind"]


def _number(text: str, schema: Json) -> float:
    return float(text) if schema.get("type") in ("integer", "number") else 0.0


def _value(name: str, value: Any, schema: Json) -> list[str]:
    """A value of JSON against its schema."""
    kind = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}[schema["type"]]
    if not isinstance(value, kind) or value not in schema.get("enum", (value,)):
        return [f"{name} is not of its kind"]
    if isinstance(value, list):
        return [each for item in value for each in _value(f"{name}[]", item, schema["items"])]
    if not isinstance(value, dict):
        return []
    described = schema.get("properties", {})
    wrong = [f"{name}: {key} is missing" for key in schema.get("required", ()) if key not in value]
    for key, inner in value.items():
        known = described.get(key, schema.get("values"))
        wrong += (
            [f"{name}: {key} is not described"] if known is None else _value(f"{name}.{key}", inner, known)
        )
    return wrong


def _answer(call: Call, operation: Json) -> list[str]:
    """The sandbox's own answer: the status, and every field that Twilio describes and no other."""
    wrong = [] if call.status == operation["status"] else [f"answered with {call.status}"]
    return wrong + _same("answer", json.loads(call.answer), operation["answer"])


def _same(name: str, value: Any, described: Any) -> list[str]:
    if isinstance(described, list):  # a list of objects with these fields
        return [each for item in value for each in _same(f"{name}[]", item, dict.fromkeys(described[0]))]
    if not isinstance(described, dict):
        return []
    wrong = [f"{name}: {key} is not described" for key in value if key not in described]
    wrong += [f"{name}: {key} is missing" for key in described if key not in value]
    for key in value.keys() & described.keys():
        wrong += _same(f"{name}.{key}", value[key], described[key])
    return wrong


def basic(name: str, password: str) -> dict[str, str]:
    """The header of Basic auth (RFC 7617)."""
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}
