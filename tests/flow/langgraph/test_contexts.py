"""What a graph's steps are told by their context: from the configuration, and the same when they go on."""

from typing import Any

import pytest

from answerback.agent import Finished, Paused
from answerback.errors import ConfigurationError
from answerback_agents.langgraph.opening import FORGETS, NO_CONTEXT
from tests.flow.langgraph.harness import Harness, only, said, target, texts

GIVEN = {"city": "Graz", "days": "2"}  # a file's values are texts


@pytest.mark.parametrize(
    ("graph", "context", "told"),
    [
        ("place", {}, "Place(city='Vienna', days=3, seen=[], connection=None)"),
        ("place", GIVEN, "Place(city='Graz', days=2, seen=[], connection=None)"),
        ("place", {"seen": ["Linz"]}, "Place(city='Vienna', days=3, seen=['Linz'], connection=None)"),
        ("where", {**GIVEN, "_zone": "CET"}, "Where(city='Graz', days=2, _zone='CET')"),
        ("model", GIVEN, "Model(city='Graz', days=2)"),
        ("typed", GIVEN, "{'city': 'Graz', 'days': 2}"),
        ("typed", {"city": "Graz"}, "{'city': 'Graz'}"),
        ("refusing", {"city": "Graz"}, "Refusing(city='Graz')"),
        ("where", {}, "None"),
        ("typed", {}, "None"),
        ("plain", {}, "None"),
    ],
)
async def test_a_context_is_made_from_the_configuration_for_the_step_that_asks_and_that_goes_on(
    light: Harness, graph: str, context: dict[str, Any], told: str
) -> None:
    mine = await light.open(f"told.py:{graph}", context=context)
    state = await mine.start("t", light.input())
    assert texts(state) == [told]
    ended = await mine.resume("t", target(only(state)), said("yes"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == f"yes {told}"


async def test_what_one_run_changes_in_its_context_no_other_has(light: Harness) -> None:
    mine = await light.open("told.py:marked", context={"seen": ["given"]})
    for thread in "tu":
        ended = await mine.start(thread, light.input())
        assert isinstance(ended, Finished)
        assert ended.result["heard"] == "given,once"


@pytest.mark.parametrize(
    ("graph", "context", "sentence"),
    [
        ("where", {"days": "2"}, "context.city: this is missing"),
        ("typed", {"days": "2"}, "context.city: this is missing"),
        (
            "place",
            {"town": "Graz"},
            "context.town: there is no such key; there are city, days, seen, connection",
        ),
        (
            "model",
            {"city": "Graz", "town": "Graz"},
            "context.town: there is no such key; there are city, days",
        ),
        ("typed", {"city": "Graz", "dyas": "2"}, "context.dyas: there is no such key; there are city, days"),
        ("place", {"days": "two"}, "context.days: Input should be a valid integer"),
        ("model", {"city": "Graz", "days": "0"}, "context.days: Input should be greater than or equal to 1"),
        ("place", {"connection": "db"}, "context.connection: Input should be an instance of Connection"),
        ("refusing", {"city": "Atlantis"}, "context: ValueError: … is no city"),
        ("model", {"city": "Atlantis"}, "context.city: Value error, … is no city"),
        (
            "plain",
            GIVEN,
            "`context` is for a graph with a `context_schema`, and this one has none; leave it out",
        ),
    ],
)
async def test_what_does_not_fit_is_said_at_the_start(
    light: Harness, graph: str, context: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        await light.open(f"told.py:{graph}", context=context)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("graph", "context", "said"),
    [
        ("where", {}, [NO_CONTEXT]),
        ("typed", {}, [NO_CONTEXT]),
        ("where", GIVEN, []),
        ("place", {}, []),
        ("plain", {}, []),
        ("remembering", {}, [FORGETS]),
    ],
)
async def test_what_a_graph_lacks_is_noted(
    light: Harness, graph: str, context: dict[str, Any], said: list[str]
) -> None:
    mine = await light.open(f"told.py:{graph}", context=context)
    notes = [note for note in await mine.notes() if "told.py: " in note]
    assert [note.partition("told.py: ")[2] for note in notes] == said
    assert isinstance(await mine.start("t", light.input()), Paused)
