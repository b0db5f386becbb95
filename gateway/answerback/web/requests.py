"""What the API takes: the request bodies, and how a refused one is explained."""

import difflib
import types
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request

from answerback import values
from answerback.errors import DoesNotFit
from answerback.model import Json
from answerback.web.limits import read_body, require_type
from answerback.web.parts import services_of
from answerback.web.problems import Problem

Name = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=100_000)]
Duration = Annotated[Any, Field(description="Seconds, or a text such as 10m or 1h30m.")]
Names = Annotated[list[Name], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


FILLED: dict[str, Any] = {"minLength": 1}  # documented here, and refused in a sentence of its own elsewhere


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True, frozen=True)


class ChoiceIn(_Body):
    """One option: `id` comes back in the answer, `label` is what the person sees."""

    id: Annotated[str, Field(max_length=1000, json_schema_extra=FILLED)]
    label: Annotated[str, Field(max_length=1000)] = ""


class ActionIn(_Body):
    """A call that is to be reviewed before it is made."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    args: dict[str, Any] = {}


def _choice(value: Json) -> Json:
    return {"id": value} if isinstance(value, str) else value


def _question(value: Json) -> Json:
    return {"text": value} if isinstance(value, str) else value


class QuestionIn(_Body):
    """One question. A plain string is a question for a free text."""

    text: Text = Field("", validation_alias=AliasChoices("text", "question"))
    kind: str = Field("", max_length=40, validation_alias=AliasChoices("kind", "type"))
    id: Annotated[str, Field(max_length=200)] = ""
    choices: Annotated[list[Annotated[ChoiceIn, BeforeValidator(_choice)]], Field(max_length=200)] = []
    free_text: bool = False
    required: bool = True
    minimum: float | None = Field(None, validation_alias=AliasChoices("min", "minimum"))
    maximum: float | None = Field(None, validation_alias=AliasChoices("max", "maximum"))
    whole: bool = False
    action: ActionIn | None = None
    decisions: list[Literal["approve", "edit", "reject", "respond"]] = []


Asked = Annotated[QuestionIn, BeforeValidator(_question)]


class InteractionIn(_Body):
    """An ask: one `question`, or several `questions` that are answered together."""

    question: Asked | None = None
    questions: Annotated[list[Asked], Field(max_length=50)] = []
    title: Annotated[str, Field(max_length=500)] = ""
    context: Text = ""
    ask: Names = []
    route: Name = ""
    expires_in: Duration = None
    on_expire: Literal["auto", "no-response", "default", "cancel", "leave"] | None = None
    default: Any = None
    sensitive: bool = False
    human_only: bool = False
    state: Any = None
    callback_url: Annotated[str, Field(max_length=2000)] = ""
    agent: Name = ""
    user: Name = ""


class RunIn(_Body):
    """A run to start: which agent, with what input, on which thread (a new one if none is named)."""

    agent: Annotated[str, Field(min_length=1, max_length=200)]
    input: Any = None
    thread_id: Name = ""
    route: Name = ""
    ask: Names = []
    expires_in: Duration = None
    replace: bool = False
    user: Name = ""


class ResponseIn(_Body):
    """An answer to an interaction: any JSON value that fits its question or questions."""

    response: Any


class CancelIn(_Body):
    """Why something is cancelled; the whole body may be left out."""

    reason: Annotated[str, Field(max_length=500)] = ""


MODELS: tuple[type[BaseModel], ...] = (RunIn, InteractionIn, ResponseIn, CancelIn)
Model = TypeVar("Model", bound=BaseModel)


async def read(request: Request, model: type[Model], *, optional: bool = False) -> Model:
    """The request's body as `model`. Raises `Problem` (408, 413, 415, 422) or `DoesNotFit`."""
    limit = services_of(request).settings.limits.body_bytes
    raw = await read_body(request, limit)
    if optional and not raw:
        return model()
    require_type(request, "application/json")
    body = values.parse(raw, limit)
    if not isinstance(body, dict):
        raise DoesNotFit("The body must be a JSON object.")
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise refused(error, model) from None


def refused(error: ValidationError, model: type[BaseModel]) -> Problem:
    """422 that names each field and what is wrong with it, never the value that was sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    errors = [_explained(item["loc"], item["type"], item["msg"], model) for item in found[:20]]
    detail = "; ".join(f"{item['field']}: {item['message']}" for item in errors[:3])
    return Problem(422, "does-not-fit", detail, errors=errors)


def _explained(
    place: tuple[int | str, ...], kind: str, message: str, model: type[BaseModel]
) -> dict[str, str]:
    if kind == "extra_forbidden":
        name = str(place[-1])
        close = difflib.get_close_matches(name, _names(model, place[:-1]), n=1, cutoff=0.6)
        message = "There is no such field." + (f" Did you mean {close[0]}?" if close else "")
    if kind == "string_too_short":
        message = "This must not be empty."
    message = message.removeprefix("Value error, ")  # pydantic's word for a check of ours
    return {"field": ".".join(str(part)[:60] for part in place) or "body", "message": message}


def _names(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The field names of the model found at `place` inside `model`."""
    for part in place:
        field = model.model_fields.get(str(part)) if isinstance(part, str) else None
        model = next(iter(_models(field.annotation)), model) if field else model
    names = list(model.model_fields)
    for field in model.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names += [str(choice) for choice in field.validation_alias.choices]
    return names


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for part in get_args(annotation) for found in _models(part)]
