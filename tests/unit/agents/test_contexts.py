"""Contexts: what the configuration gives a graph's steps is read by its schema, or refused at the start."""

from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

import pydantic
import pytest

from answerback.errors import ConfigurationError
from answerback_agents.langgraph.contexts import NO_SCHEMA, is_wanting, making

pytestmark = pytest.mark.needs_extra("langgraph")
GIVEN = {"city": "Graz", "days": "2"}  # a file's values are texts


class Connection:
    """What no file can give."""


@dataclass
class Place:
    city: str = "Vienna"
    days: int = 3
    seen: list[str] = field(default_factory=list)
    connection: Connection | None = None


@dataclass
class Where:
    city: str
    days: int = 3
    _zone: str = ""


@dataclass
class Refusing:
    city: str

    def __post_init__(self) -> None:
        if self.city == "Atlantis":
            raise ValueError(f"{self.city} is no city")


class Model(pydantic.BaseModel):
    city: str
    days: int = pydantic.Field(3, ge=1)

    @pydantic.field_validator("city")
    @classmethod
    def exists(cls, city: str) -> str:
        if city == "Atlantis":
            raise ValueError(f"{city} is no city")
        return city


class Named(pydantic.BaseModel):
    city: str = pydantic.Field(alias="town")


class Open(pydantic.BaseModel, extra="allow"):
    city: str


class Typed(TypedDict):
    city: str
    days: NotRequired[int]


@pytest.mark.parametrize(
    ("schema", "given", "made"),
    [
        (Place, GIVEN, "Place(city='Graz', days=2, seen=[], connection=None)"),
        (Place, {"seen": ["Linz"]}, "Place(city='Vienna', days=3, seen=['Linz'], connection=None)"),
        (Where, {"_zone": "CET", "city": "Graz"}, "Where(city='Graz', days=3, _zone='CET')"),
        (Refusing, {"city": "Graz"}, "Refusing(city='Graz')"),
        (Model, GIVEN, "Model(city='Graz', days=2)"),
        (Named, {"town": "Graz"}, "Named(city='Graz')"),
        (Open, {"city": "Graz", "river": "Mur"}, "Open(city='Graz', river='Mur')"),
        (Typed, {"days": "2", "city": "Graz"}, "{'city': 'Graz', 'days': 2}"),
        (Typed, {"city": "Graz"}, "{'city': 'Graz'}"),
    ],
)
def test_a_context_is_of_its_schema_and_the_same_in_every_process(
    schema: Any, given: dict[str, Any], made: str
) -> None:
    assert repr(making(schema, given)()) == made


@pytest.mark.parametrize(
    ("schema", "made", "wanting"),
    [(None, None, False), (Place, {}, False), (Where, None, True), (Model, None, True), (Typed, {}, True)],
)
def test_what_nobody_gives_has_its_defaults_or_is_not_there(schema: Any, made: Any, *, wanting: bool) -> None:
    assert making(schema, {})() == made
    assert is_wanting(schema, {}) is wanting
    assert not is_wanting(schema, GIVEN)


def test_each_context_is_made_anew() -> None:
    make = making(Place, {"seen": ["Linz"]})
    make().seen.append("Graz")
    assert make().seen == ["Linz"]


@pytest.mark.parametrize(
    ("schema", "given", "sentence"),
    [
        (Where, {"days": "2"}, "context.city: this is missing"),
        (Model, {"days": "2"}, "context.city: this is missing"),
        (Named, {"city": "Graz"}, "context.city: there is no such key; there are town"),
        (Typed, {"days": "2"}, "context.city: this is missing"),
        (Where, {"town": "Graz"}, "context.town: there is no such key; there are city, days, _zone"),
        (Model, {**GIVEN, "town": "Graz"}, "context.town: there is no such key; there are city, days"),
        (Typed, {"city": "Graz", "dyas": "2"}, "context.dyas: there is no such key; there are city, days"),
        (Place, {"days": "two"}, "context.days: Input should be a valid integer"),
        (Model, {"city": "Graz", "days": "0"}, "context.days: Input should be greater than or equal to 1"),
        (Place, {"connection": "db"}, "context.connection: Input should be an instance of Connection"),
        (Refusing, {"city": "Atlantis"}, "context: ValueError: … is no city"),
        (Model, {"city": "Atlantis"}, "context.city: Value error, … is no city"),
        (None, GIVEN, NO_SCHEMA),
    ],
)
def test_what_does_not_fit_is_said_without_what_was_given(
    schema: Any, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        making(schema, given)
    assert str(refused.value).startswith(sentence)
