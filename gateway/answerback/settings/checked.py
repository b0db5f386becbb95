"""Plain data from the configuration → a pydantic model; errors name the line and the key that was meant.

Used for the file itself and for every plugin's own `Settings`.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from answerback.settings import sentences
from answerback.settings.source import Source

Model = TypeVar("Model", bound=BaseModel)
MAX_SECRET_BYTES = 64 << 10
_UNIONS = (Union, types.UnionType)

# pydantic's error type → a sentence for a person, with what it names as the limit. Inputs are never shown.
_SENTENCES = {
    "missing": "this is missing.",
    "string_type": "this must be a single value.",
    "int_type": "this must be a whole number.",
    "int_parsing": "this must be a whole number.",
    "int_from_float": "this must be a whole number.",
    "float_type": "this must be a number.",
    "float_parsing": "this must be a number.",
    "bool_type": "this must be true or false.",
    "bool_parsing": "this must be true or false.",
    "dict_type": "this must be a mapping: lines of `key: value` below it.",
    "model_type": "this must be a mapping: lines of `key: value` below it.",
    "list_type": "this must be a list.",
    "tuple_type": "this must be a list.",
    "greater_than": "this must be more than {gt:g}.",
    "greater_than_equal": "this must be {ge:g} or more.",
    "less_than": "this must be less than {lt:g}.",
    "less_than_equal": "this must be {le:g} or less.",
}


def checked(model: type[Model], data: Mapping[str, Any], source: Source, *, foreign: bool = False) -> Model:
    """`data` as `model`. Raises ConfigurationError for the first thing in the file that is wrong with it.

    `foreign`: the model is somebody else's; what its validators say may quote a secret, which is masked.
    """
    preparation = _Preparation(source)
    prepared = preparation.fields([model], data, "")
    hiding = source.hiding(frozenset(preparation.secrets if foreign else ()))
    try:
        return model.model_validate(prepared)
    except ValidationError as error:
        problems = [_problem(details, prepared) for details in error.errors(include_url=False)]
    path, message = min(problems, key=lambda problem: hiding.line_of(problem[0]))
    where = hiding.full(path)
    raise hiding.error(path, f"{where}: {message}" if where else _capital(message))


class _Preparation:
    """What pydantic cannot do alone: unknown keys with a suggestion, secrets from files, empty keys."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.secrets: set[str] = set()

    def value(self, annotation: Any, value: Any, path: str) -> Any:
        kinds = list(_alternatives(annotation))
        if Any in kinds:
            return value
        if isinstance(value, str):
            if SecretStr in kinds:
                self.secret(value, path)
            return value
        if isinstance(value, list):
            item = _item(kinds, list, tuple, set, frozenset, Sequence)
            return [self.value(item, each, f"{path}.{index}") for index, each in enumerate(value)]
        models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if models:
            return self.fields(models, value, path)
        item = _item(kinds, dict, Mapping)
        entries = {key: self.filled(item, each) for key, each in value.items()}
        return {key: self.value(item, each, f"{path}.{key}") for key, each in entries.items()}

    def fields(self, models: list[type[BaseModel]], data: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The keys of a model, or of any of several where a union leaves it open which."""
        known = {field.alias or name: field for model in models for name, field in model.model_fields.items()}
        secrets = {f"{key}_file": key for key, field in known.items() if _is_secret(field.annotation)}
        open_ended = any(model.model_config.get("extra") != "forbid" for model in models)
        result: dict[str, Any] = {}
        for key, value in data.items():
            inner = f"{path}.{key}" if path else key
            if key in known:
                if value is not None:
                    result[key] = self.value(known[key].annotation, value, inner)
            elif key in secrets:
                if value is not None:
                    self.only_once(secrets[key], data, inner)
                    result[secrets[key]] = self.secret(self.from_file(value, inner), inner)
            elif open_ended:
                result[key] = value
            else:
                where = self.source.full(path)
                message = f"Unknown key {sentences.named(key)}{' in ' + where if where else ''}. "
                choices = [*known, *(secrets if key.endswith("file") else ())]
                raise self.source.error(inner, message + sentences.suggestion(key, choices))
        return result

    @staticmethod
    def filled(annotation: Any, value: Any) -> Any:
        """What an entry of a mapping is when nothing stands behind its name: all defaults."""
        kinds = list(_alternatives(annotation))
        if value is not None or Any in kinds:
            return value
        structured = any(
            get_origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, BaseModel | dict))
            for kind in kinds
        )
        return {} if structured else ""

    def secret(self, value: str, path: str) -> str:
        if not value:
            raise self.source.error(path, f"{self.source.full(path)}: this is empty.")
        self.secrets.add(value)
        return value

    def only_once(self, key: str, data: Mapping[str, Any], path: str) -> None:
        if data.get(key) is not None:
            message = f"{self.source.full(path)}: {key} is given too; keep one of the two."
            raise self.source.error(path, message)

    def from_file(self, name: Any, path: str) -> str:
        """The text of a secret's file, without the line break at its end."""
        complain = self.source.full(path)
        if not isinstance(name, str):
            raise self.source.error(path, f"{complain}: this must be the path of a file.")
        try:
            with Path(self.source.base_dir, name).open("rb") as file:
                raw = file.read(MAX_SECRET_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", "") or "not a path"
            message = f"{complain}: the file {name} cannot be read: {reason}."
            raise self.source.error(path, message) from None
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = "\0"
        if len(raw) > MAX_SECRET_BYTES or "\0" in text:
            message = f"{complain}: the file {name} does not hold a secret as UTF-8 text."
            raise self.source.error(path, message)
        return text.rstrip("\r\n")


def _alternatives(annotation: Any) -> Iterator[Any]:
    """What a value may be: `Annotated` and unions taken apart."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in _UNIONS:
        for part in get_args(annotation):
            yield from _alternatives(part)
    else:
        yield annotation


def _item(kinds: list[Any], *containers: Any) -> Any:
    """The type of what is in a container: the values of a mapping, the items of a list."""
    for kind in kinds:
        if get_origin(kind) in containers:
            arguments = [part for part in get_args(kind) if part is not Ellipsis]
            return arguments[-1] if arguments else Any
    return Any


def _is_secret(annotation: Any) -> bool:
    return SecretStr in _alternatives(annotation)


def _problem(details: ErrorDetails, data: Any) -> tuple[str, str]:
    """Where one of pydantic's errors is, and what is said about it."""
    path, value = _path(details["loc"], data)
    kind, context = details["type"], details.get("ctx", {})
    if kind in ("literal_error", "enum"):
        return path, _choose(value, str(context.get("expected", "")))
    if kind in ("value_error", "assertion_error"):
        return path, _ended(str(context.get("error") or details["msg"]))
    return path, _SENTENCES[kind].format(**context) if kind in _SENTENCES else _ended(details["msg"])


def _choose(value: Any, expected: str) -> str:
    words = [word.strip(" '") for part in expected.split(" or ") for word in part.split(",")]
    match = sentences.closest(value, words) if isinstance(value, str) else ""
    return f"this must be {expected}.{f' Did you mean {match!r}?' if match else ''}"


def _path(location: tuple[int | str, ...], data: Any) -> tuple[str, Any]:
    """The dotted path of an error, without the steps that pydantic adds for unions and validators."""
    path: list[str] = []
    for index, step in enumerate(location):
        if (isinstance(data, dict) and step in data) or (isinstance(data, list) and isinstance(step, int)):
            data = data[step]  # type: ignore[index]  # mypy does not see that the step fits
            path.append(str(step))
        elif index == len(location) - 1 and isinstance(data, dict) and step != "[key]":
            data = None
            path.append(str(step))  # what is missing
    return ".".join(path), data


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
