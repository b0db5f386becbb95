"""What a graph's steps are told by their context: from the configuration, and the same when they go on."""

from typing import Any

import pytest

from answerback.agent import Finished
from answerback.errors import ConfigurationError
from answerback_agents.langgraph.contexts import NO_SCHEMA
from answerback_agents.langgraph.opening import FORGETS, NO_CONTEXT
from tests.flow.langgraph.harness import Harness, only, said, target, texts

GIVEN = {"city": "Graz", "days": "2"}  # a file's values are texts


@pytest.mark.parametrize(
    ("graph", "context", "told", "lacks"),
    [
        ("place", {}, "Place(city='Vienna', seen=[])", []),
        ("where", GIVEN, "Where(city='Graz', days=2)", []),
        ("typed", GIVEN, "{'city': 'Graz', 'days': 2}", []),
        ("where", {}, "None", [NO_CONTEXT]),
        ("remembering", {}, "None", [FORGETS]),
    ],
)
async def test_a_step_has_its_context_as_it_asks_and_as_it_goes_on_and_what_it_lacks_is_noted(
    light: Harness, graph: str, context: dict[str, Any], told: str, lacks: list[str]
) -> None:
    mine = await light.open(f"told.py:{graph}", context=context)
    notes = [note.partition("told.py: ")[2] for note in await mine.notes()]
    assert list(filter(None, notes)) == lacks
    state = await mine.start("t", light.input())
    assert texts(state) == [told]
    ended = await mine.resume("t", target(only(state)), said("yes"))
    assert isinstance(ended, Finished)
    assert ended.result["heard"] == f"yes {told}"


async def test_what_one_run_changes_in_its_context_no_other_has(light: Harness) -> None:
    mine = await light.open("told.py:seeing", context={"seen": ["given"]})
    for thread in "tu":
        ended = await mine.start(thread, light.input())
        assert isinstance(ended, Finished)
        assert ended.result["heard"] == "given,once"


async def test_a_context_for_a_graph_that_takes_none_is_refused_at_the_start(light: Harness) -> None:
    with pytest.raises(ConfigurationError) as refused:
        await light.open("told.py:plain", context=GIVEN)
    assert str(refused.value) == NO_SCHEMA
