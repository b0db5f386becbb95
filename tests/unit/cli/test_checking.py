"""What `check` says before anything is started."""

from pathlib import Path

import pytest

from answerback.cli.checking import check
from answerback.settings import load


async def test_a_mode_that_names_a_way_to_people_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("providers: {page: {use: webform}}\nhitl: {mode: page}\n")
    found = await check(load(str(file), environ={}), online=False)
    (problem,) = found.problems
    assert problem.startswith(str(file)) and "page reaches people" in problem


async def test_stand_ins_are_checked_like_any_provider(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        "providers:\n"
        "  usual: {use: default, answers: [{text: a, answer: b}]}\n"
        "  script: {use: scripted, answers: [a]}\n"
        "  advisor: {use: llm, model: 'openai:gpt-5', prompt: '{whom}'}\n"
        "hitl: {mode: console}\n"
    )
    found = await check(load(str(file), environ={}), online=False)
    (problem,) = found.problems
    assert problem.startswith(f"{file}:4") and "there is no gap whom in a prompt" in problem
    assert {"provider usual", "provider script", "provider console"} <= dict(found.facts).keys()


async def test_a_route_that_ends_with_a_default_is_told_who_sets_it(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("routes: {calm: {expires_in: 1h, on_expire: default}, urgent: {expires_in: 1h}}\n")
    found = await check(load(str(file), environ={}), online=False)
    told = dict(found.facts)
    assert not found.problems and "whose asker sets a default" in told["route calm"]
    assert "route urgent" not in told


async def test_the_function_that_says_who_calls_is_imported(tmp_path: Path) -> None:
    (tmp_path / "checked_sso.py").write_text("async def who(request): ...\n")
    file = tmp_path / "a.yaml"
    file.write_text("authenticate: checked_sso:who\n")
    found = await check(load(str(file), environ={}), online=False)
    assert not found.problems and dict(found.facts)["authenticate"] == "checked_sso:who, loads"


async def test_one_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("authenticate: no_such_sso:who\n")
    found = await check(load(str(file), environ={}), online=False)
    assert found.problems == [f"{file}: authenticate: there is no module no_such_sso."]


async def test_a_function_that_is_told_of_questions_is_looked_for_without_asking_any_service(
    tmp_path: Path,
) -> None:
    (tmp_path / "checked_told.py").write_text("def notify(agent_message): ...\n")
    file = tmp_path / "a.yaml"
    file.write_text(
        "providers:\n"
        "  there: {use: callback, function: 'checked_told:notify'}\n"
        "  gone: {use: callback, function: 'checked_told:notfiy'}\n"
    )
    found = await check(load(str(file), environ={}), online=False)
    (problem,) = found.problems
    assert problem.startswith(f"{file}:3") and "has no attribute 'notfiy'" in problem
    assert dict(found.facts)["provider there"] == "checked_told.notify is there"
    assert "provider gone" not in dict(found.facts)


@pytest.mark.needs_extra("langgraph")
async def test_what_a_graphs_author_should_look_at_is_noted_with_its_line_and_is_no_problem(
    tmp_path: Path,
) -> None:
    (tmp_path / "hasty.py").write_text(
        "from langgraph.graph import START, StateGraph\n"
        "from langgraph.types import interrupt\n"
        "def pay(state):\n"
        '    if interrupt({"question": "Pay?"}):\n'
        '        return {"paid": True}\n'
        "graph = StateGraph(dict).add_node(pay).add_edge(START, 'pay')\n"
    )
    file = tmp_path / "a.yaml"
    file.write_text("agents: {mine: {use: langgraph, graph: 'hasty.py:graph'}}\n")
    found = await check(load(str(file), environ={}), online=False)
    assert (found.problems, dict(found.facts)["agent mine"]) == ([], "langgraph, loads")
    (note,) = found.notes
    assert note.startswith(f"{tmp_path / 'hasty.py'}:4: ") and "confirm_action" in note


PEOPLE = "contacts:\n  alice: {name: Alice}\n  ben: {name: Ben, addresses: {there: b}}\n"
HOOK = "{use: webhook, url: 'https://example.org/', secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3}"
THERE = f"providers: {{there: {HOOK}, here: {HOOK}}}\n"
STAND_IN = f"providers: {{there: {HOOK}, usual: {{use: default, answers: [{{text: a, answer: b}}]}}}}\n"
NO_CONTACT = "it asks no contact. Name people under contacts, each with their addresses."


def lacks(people: str, ways: str, first: str) -> str:
    return (
        f"there is no address of {people} on {ways}. Give one under contacts.alice.addresses, or link an "
        f"account once the gateway runs: answerback contacts link alice {first}"
    )


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (THERE, NO_CONTACT),
        (THERE + PEOPLE + "routes: {default: {ask: [alice]}}\n", lacks("alice", "there or here", "there")),
        (
            THERE + PEOPLE + "routes: {default: {ask: [alice, ben], providers: [here]}}\n",
            lacks("alice, ben", "here", "here"),
        ),
        (STAND_IN + "hitl: {mode: usual}\nroutes: {default: {human_only: true}}\n", NO_CONTACT),
    ],
    ids=["no contact", "no address", "an address elsewhere", "only people"],
)
async def test_a_route_that_reaches_nobody_is_noted_and_is_no_problem(
    tmp_path: Path, config: str, why: str
) -> None:
    """Whoever is linked with a code is in the database only."""
    file = tmp_path / "a.yaml"
    file.write_text(config)
    found = await check(load(str(file), environ={}), online=False)
    assert found.problems == []
    assert found.notes == [f"{file}: nobody can be asked on the route default: {why}"]


@pytest.mark.parametrize(
    "config",
    [
        THERE + PEOPLE,
        "contacts: {alice: {name: Alice}}\n",
        "",
        "providers: {page: {use: webform}, there: " + HOOK + "}\n",
        THERE + "hitl: {enabled: false}\n",
        STAND_IN + "hitl: {mode: usual}\n",
        STAND_IN + "routes: {default: {stand_ins: [usual]}}\n",
    ],
    ids=["an address", "no provider", "nothing", "a page", "no people wanted", "a mode", "a stand-in"],
)
async def test_where_somebody_or_the_form_is_reached_nothing_is_noted(tmp_path: Path, config: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(config)
    assert (await check(load(str(file), environ={}), online=False)).notes == []


@pytest.mark.needs_extra("postgres")
async def test_a_postgresql_is_tried_online(postgres_url: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"database: {postgres_url}\n")
    found = await check(load(str(file), environ={}), online=True)
    assert ("postgresql", "takes connections") in found.facts and found.problems == []
    file.write_text(f"database: {postgres_url.replace('/answerback_', '/nothing_')}\n")
    (problem,) = (await check(load(str(file), environ={}), online=True)).problems
    assert problem.startswith(f"{file}: PostgreSQL cannot be used") and "does not exist" in problem
    assert (await check(load(str(file), environ={}), online=False)).problems == []
