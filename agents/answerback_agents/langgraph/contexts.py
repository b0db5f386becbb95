"""The context that a graph's steps have as `runtime.context`, made from the configuration by its schema."""

import contextlib
import dataclasses
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NotRequired, Required, get_args, get_origin

import pydantic

from answerback.errors import ConfigurationError
from answerback_agents.langgraph import values

NO_SCHEMA = "`context` is for a graph with a `context_schema`, and this one has none; leave it out"
_USERS = ("value_error", "assertion_error")  # of pydantic's types: what the user's own checks have raised


def making(schema: Any, given: Mapping[str, Any]) -> Callable[[], Any]:
    """What makes the context of each run from what is given for it: texts, lists and mappings.

    `schema`: a dataclass, a pydantic model or a TypedDict; None if the graph has none. If nothing is given, a
    context is the schema's defaults, or None if it wants more. Raises `ConfigurationError`, without anything
    that is given, for the first thing that does not fit.
    """
    if not given:
        return lambda: _defaults(schema)
    if schema is None:
        raise ConfigurationError(NO_SCHEMA)
    keys = _keys(schema)
    if keys and (unknown := [key for key in given if key not in keys]):
        raise ConfigurationError(f"context.{unknown[0]}: there is no such key; there are {', '.join(keys)}")
    made = _reader(schema)
    with _told(given):
        made(given)
    return lambda: made(given)


def is_wanting(schema: Any, given: Mapping[str, Any]) -> bool:
    """Whether steps have no context, or an empty one, though the schema wants more."""
    if schema is None or given:
        return False
    return _defaults(schema) is None or bool(getattr(schema, "__required_keys__", None))


def _defaults(schema: Any) -> dict[str, Any] | None:
    if schema is None:
        return None
    try:
        schema()
    except Exception:
        return None
    return {}


def _is_model(schema: Any) -> bool:
    return isinstance(schema, type) and issubclass(schema, pydantic.BaseModel)


def _keys(schema: Any) -> list[str]:
    """What may be given; nothing if that is not certain."""
    if not _is_model(schema):
        return [name for name, _ in _fields(schema)]
    if schema.model_config.get("extra") == "allow":
        return []
    fields = schema.model_fields.items()
    named = [field.validation_alias or field.alias or name for name, field in fields]
    return named if all(isinstance(each, str) for each in named) else []


def _reader(schema: Any) -> Callable[[Mapping[str, Any]], Any]:
    if _is_model(schema):
        return schema.model_validate  # type: ignore[no-any-return]
    fields = dict(_fields(schema))
    names = {f"field{number}": name for number, name in enumerate(fields)}  # no name is wrong for pydantic
    model = pydantic.create_model(
        getattr(schema, "__name__", "Context"),
        __config__=pydantic.ConfigDict(arbitrary_types_allowed=True),
        **{
            field: (kind, pydantic.Field(... if is_required else None, alias=name))
            for field, (name, (kind, is_required)) in zip(names, fields.items(), strict=True)
        },
    )  # type: ignore[call-overload]  # its fields are not known before

    def made(given: Mapping[str, Any]) -> Any:
        read = model.model_validate(dict(given))
        return schema(**{names[each]: getattr(read, each) for each in names if each in read.model_fields_set})

    return made


def _fields(schema: Any) -> Iterator[tuple[str, tuple[Any, bool]]]:
    """Of each field its type, and whether it must be given."""
    try:
        kinds = typing.get_type_hints(schema, include_extras=True)
    except Exception:  # a name that only a type checker knows
        kinds = {}
    if dataclasses.is_dataclass(schema):
        for field in dataclasses.fields(schema):
            if field.init:
                is_required = field.default is field.default_factory is dataclasses.MISSING
                yield field.name, (kinds.get(field.name, Any), is_required)
        return
    required: frozenset[str] = getattr(schema, "__required_keys__", frozenset())
    for name in getattr(schema, "__annotations__", {}):
        kind = kinds.get(name, Any)
        inner = get_args(kind)[0] if get_origin(kind) in (Required, NotRequired) else kind
        yield name, (inner, name in required)


@contextlib.contextmanager
def _told(given: Mapping[str, Any]) -> Iterator[None]:
    """What does not fit the schema, as a sentence; what the user's own checks say may quote a secret."""
    try:
        yield
    except pydantic.ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False)
    except Exception as error:
        raise ConfigurationError(f"context: {values.error_line(error, given.values())}") from None
    else:
        return
    where = ".".join(("context", *map(str, first["loc"])))
    said = "this is missing" if first["type"] == "missing" else first["msg"]
    if first["type"] in _USERS:
        said = values.error_line(ValueError(said), given.values()).removeprefix("ValueError: ")
    raise ConfigurationError(f"{where}: {said}")
