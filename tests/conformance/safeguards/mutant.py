"""What a mutant is, and the places that mutants and their tests are in."""

from dataclasses import dataclass

GATEWAY, ADAPTER = "gateway/answerback/", "agents/answerback_agents/langgraph/"
SERVER = "agents/answerback_agents/langgraph_server/"
UNIT_OF_SERVER = "tests/unit/agents/test_langgraph_server_reading.py::"
DIALECTS = "agents/answerback_agents/dialects/"
FLOW, GRAPH = "tests/flow/", "tests/flow/langgraph/"
BINDING, DOOR = GRAPH + "test_binding.py::", FLOW + "test_one_door.py::"
LOADING, INNER = GRAPH + "test_loading.py::", GRAPH + "test_inner_graphs.py::"
TASKS, TOOLS = GRAPH + "test_tasks.py::", GRAPH + "test_tools.py::"
MOVING, HANDLERS = GRAPH + "test_changed_questions.py::", GRAPH + "test_error_handlers.py::"
ROUTERS, AGAIN = GRAPH + "test_routers.py::", GRAPH + "test_trying_again.py::"
CRASHES, PHONE = GRAPH + "test_crashes.py::", GRAPH + "test_reviews_on_a_phone.py::"
TOLD = FLOW + "test_agents_are_told.py::"
HERE = "tests/conformance/test_safeguards.py::"


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` stands in `file` exactly once and is replaced by `new`; then `test` must fail."""

    safeguard: str
    file: str
    old: str
    new: str
    test: str
