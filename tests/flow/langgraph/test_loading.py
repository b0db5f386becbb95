"""Loading a graph: what a path may name, and errors that say file, fault and remedy."""

import sys
from pathlib import Path
from typing import Any

import pytest

from answerback.agent import Finished
from answerback.errors import ConfigurationError
from tests.flow.langgraph.harness import Harness, only, said, target

GRAPH = """
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
{imports}
builder = StateGraph(dict)
builder.add_node("ask", lambda state: {{"heard": interrupt({question})}})
builder.add_edge(START, "ask")
"""

REMOTE = """
from langgraph.graph import StateGraph
from langgraph.pregel.remote import RemoteGraph
inner = StateGraph(dict)
inner.add_node("deploy", RemoteGraph("deployer", url="http://127.0.0.1:1"))
inner.set_entry_point("deploy")
graph = inner.compile()
outer = StateGraph(dict)
outer.add_node("inside", graph)
outer.set_entry_point("inside")
"""


def written(folder: Path, name: str, imports: str = "", question: str = "'Which term?'") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(GRAPH.format(imports=imports, question=question))
    return file


async def refusal(light: Harness, graph: str, **settings: Any) -> str:
    with pytest.raises(ConfigurationError) as refused:
        await light.open(graph, **settings)
    assert "Traceback" not in str(refused.value)
    return str(refused.value)


async def test_a_file_imports_its_siblings(light: Harness, tmp_path: Path) -> None:
    file = written(tmp_path, "with_sibling.py", "from sibling_of_it import QUESTION", "QUESTION")
    (tmp_path / "sibling_of_it.py").write_text("QUESTION = 'From beside?'")
    mine = await light.open(f"{file}:builder")
    question = only(await mine.start("t", {}))
    assert question.questions[0].text == "From beside?"
    assert await mine.resume("t", target(question), said("yes")) == Finished({"heard": "yes"})


async def test_a_file_in_a_package_may_use_relative_imports(light: Harness, tmp_path: Path) -> None:
    file = written(tmp_path / "my_pack", "flow.py", "from .words import QUESTION", "QUESTION")
    (tmp_path / "my_pack/__init__.py").touch()
    (tmp_path / "my_pack/words.py").write_text("QUESTION = 'From the package?'")
    assert (
        only(await (await light.open(f"{file}:builder")).start("t", {})).questions[0].text
        == "From the package?"
    )


async def test_a_module_is_named_with_dots(light: Harness, tmp_path: Path) -> None:
    written(tmp_path / "dotted_pack", "flow.py")
    (tmp_path / "dotted_pack/__init__.py").touch()
    sys.path.insert(0, str(tmp_path))
    try:
        mine = await light.open("dotted_pack.flow:builder")
    finally:
        sys.path.remove(str(tmp_path))
    assert only(await mine.start("t", {})).questions


async def test_a_file_called_like_a_library_hides_nothing(light: Harness, tmp_path: Path) -> None:
    before = sys.modules["json"]
    mine = await light.open(f"{written(tmp_path, 'json.py')}:builder")
    assert only(await mine.start("t", {})).questions
    assert sys.modules["json"] is before


async def test_a_missing_file_is_named(light: Harness, tmp_path: Path) -> None:
    said = await refusal(light, f"{tmp_path}/nothing.py:graph")
    assert "nothing.py" in said
    assert "no such file" in said


async def test_a_path_without_a_name_is_explained(light: Harness) -> None:
    with pytest.raises(ConfigurationError, match=r"path/to/file\.py:name or package\.module:name"):
        await light.open("graphs.py:")


async def test_a_wrong_name_lists_the_graphs_that_are_there(light: Harness) -> None:
    assert "it has builder, bare, silent" in await refusal(light, "graphs.py:grahp")


async def test_what_is_not_a_graph_is_refused(light: Harness) -> None:
    assert "this is of the type int, not a graph" in await refusal(light, "graphs.py:not_a_graph")
    assert "this is the type State, not a graph; name a StateGraph" in await refusal(light, "graphs.py:State")


@pytest.mark.parametrize("graph", ["outer", "graph"])
async def test_law_1_a_step_that_runs_on_a_server_is_refused_with_the_way_out(
    light: Harness, tmp_path: Path, graph: str
) -> None:
    """LangGraph's RemoteGraph gave the answer to one question to the next of the same step."""
    (tmp_path / "remote.py").write_text(REMOTE)
    said = await refusal(light, f"{tmp_path / 'remote.py'}:{graph}")
    assert "the step “deploy” runs on a LangGraph server (RemoteGraph)" in said
    assert "use: langgraph-server" in said


async def test_a_factory_that_wants_more_is_explained(light: Harness) -> None:
    assert "the factory wants “tenant”" in await refusal(light, "graphs.py:greedy_factory")


async def test_a_factory_is_given_the_agents_options_as_they_stand(light: Harness) -> None:
    options = {"model": "fast", "hitl": "no", "more": {"days": ["1", "2"]}}
    mine = await light.open("options_factory", options=options)
    assert await mine.start("t", {}) == Finished({"heard": [], "report": repr(options)})


async def test_a_factory_that_takes_options_is_given_none_where_there_are_none(light: Harness) -> None:
    mine = await light.open("options_factory")
    assert await mine.start("t", {}) == Finished({"heard": [], "report": "{}"})


@pytest.mark.parametrize("graph", ["builder", "bare", "factory"])
async def test_options_for_what_takes_none_are_refused_and_no_value_of_them_is_shown(
    light: Harness, graph: str
) -> None:
    said = await refusal(light, graph, options={"password": "hunter2"})
    assert "`options` are for a function that takes `options` and returns a graph" in said
    assert "leave them out, or name such a function" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("line", "fault", "remedy"),
    [
        ("import no_such_library", "ModuleNotFoundError", "install “no_such_library”"),
        ("from .words import X", "relative import", "__init__.py"),
        ("1 / 0", "ZeroDivisionError", "correct this line"),
        ("def (", "SyntaxError", "correct this line"),
        ("raise SystemExit(2)", "SystemExit", "__main__"),
    ],
)
async def test_a_file_that_does_not_import_is_named_with_line_fault_and_remedy(
    light: Harness, tmp_path: Path, line: str, fault: str, remedy: str
) -> None:
    file = written(tmp_path, f"faulty_{fault.partition(' ')[0].lower()}.py", line)
    refused = await refusal(light, f"{file}:builder")
    assert refused.startswith(f"{file}:4: ")
    assert fault in refused
    assert remedy in refused


async def test_an_own_dialect_is_loaded_like_a_graph(light: Harness, tmp_path: Path) -> None:
    (tmp_path / "own_dialect.py").write_text(
        "from answerback_agents import dialects\n"
        "class Loud(dialects.Plain):\n"
        "    def write(self, payload, answer):\n"
        "        return super().write(payload, answer).upper()\n"
        "def loud(payload):\n"
        "    return Loud()\n"
    )
    mine = await light.open("bare", dialect=f"{tmp_path}/own_dialect.py:loud")
    question = only(await mine.start("t", light.input()))
    ended = await mine.resume("t", target(question), said("coding"))
    assert isinstance(ended, Finished)
    assert ended.result["report"] == "about CODING"


async def test_a_missing_environment_variable_is_said_to_be_one(light: Harness, tmp_path: Path) -> None:
    file = written(tmp_path, "keyed.py", "import os\nKEY = os.environ['NOWHERE_SET']")
    said = await refusal(light, f"{file}:builder")
    assert f"{file}:5: the graph does not import: KeyError: 'NOWHERE_SET'; set this environment" in said


FACTORIES = """
import sys

def connects():
    raise RuntimeError("db is down: postgresql://u:hunter2@h/x")

def ends():
    sys.exit("bye")

def misses():
    return {}["region"]
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("connects", ":5: the graph cannot be made: RuntimeError: db is down: postgresql://…@h/x"),
        ("ends", ":8: the graph cannot be made: SystemExit: bye"),
        ("misses", ":11: the graph cannot be made: KeyError: 'region'"),
    ],
)
async def test_law_11_a_factory_that_fails_says_where_and_shows_no_password(
    light: Harness, tmp_path: Path, name: str, why: str
) -> None:
    file = tmp_path / "failing_factories.py"
    file.write_text(FACTORIES)
    assert await refusal(light, f"{file}:{name}") == f"{file}{why}"
