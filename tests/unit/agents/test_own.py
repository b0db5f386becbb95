"""Which code counts as the user's, when types and tasks are looked for in it."""

import importlib

from answerback_agents.langgraph import own

OURS = {"answerback", "answerback_agents"}


def found_for(graph_module: str) -> set[str]:
    return {module.__name__ for module in own.modules(graph_module)}


def test_what_is_ours_is_not_the_user_s_wherever_it_is_installed() -> None:
    assert __name__ in found_for("my_graph")
    assert not {name for name in found_for("my_graph") if name.partition(".")[0] in OURS}


def test_what_belongs_to_a_graph_of_ours_counts_for_that_graph() -> None:
    graph = importlib.import_module("answerback_agents.research.flow").__name__
    found = found_for(graph)
    assert graph in found
    assert not {name for name in found if name.partition(".")[0] == "answerback"}
