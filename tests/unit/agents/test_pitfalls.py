"""Pitfalls: steps that go on after a “no”, ask nobody, never ask the same, or do things again, are found."""

from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from answerback_agents.langgraph.pitfalls import (
    ALWAYS_TRUE,
    REPEATED,
    RESTLESS,
    SWALLOWED,
    Source,
    notes,
)

pytestmark = pytest.mark.needs_extra("langgraph")
IMPORT = "from langgraph.types import interrupt\n"


def found(source: str) -> list[tuple[int, str]]:
    """Line, counted from the one after the import, and sentence."""
    return [
        (each.line - 1, each.sentence) for each in Source(IMPORT + dedent(source).lstrip("\n")).pitfalls()
    ]


@pytest.mark.parametrize(
    "step",
    [
        'if interrupt("Pay?"): pay()',
        'if not interrupt("Pay?"): return',
        'if interrupt({"question": "Pay?", "amount": state["amount"]}): pay()',
        'if interrupt(f"Pay {state}?"): pay()',
        'if (ok := interrupt("Pay?")): pay()',
        'if state["urgent"] and interrupt("Pay?"): pay()',
        'return "pay" if interrupt("Pay?") else "end"',
        'return bool(interrupt("Pay?"))',
        'interrupt("Pay?") and pay()',
        'assert interrupt("Pay?")',
        'return [each for each in state if interrupt("Pay?")]',
        'while not interrupt("Paid?"): wait()',
    ],
)
def test_a_truth_test_of_an_answer_is_always_true(step: str) -> None:
    assert found(f"def step(state):\n    {step}\n") == [(2, ALWAYS_TRUE)]


def test_the_approval_of_langgraphs_own_guide_is_found_where_it_decides() -> None:
    source = """
        def approval(state) -> Command[Literal["go", "stop"]]:
            is_approved = interrupt({"question": "Do you want to go on?", "details": state["details"]})
            if is_approved:
                return Command(goto="go")
            return Command(goto="stop" if not is_approved else "go")
    """
    assert found(source) == [(3, ALWAYS_TRUE)]


@pytest.mark.parametrize(
    "step",
    [
        'name = interrupt("Name?"); return {"name": name} if name else {}',
        'answer = interrupt("Pay?"); return answer == "yes" if answer else False',
        'if interrupt("Pay?") == "yes": pay()',
        'if interrupt({"type": "confirm_action", "action": "pay"})["confirmed"]: pay()',
        'if interrupt("Pay?", response_schema=bool): pay()',
        'if interrupt({"question": "Pay?", "response_schema": {"type": "boolean"}}): pay()',
        "if interrupt(payload(state)): pay()",  # what it asks is not to be seen here
        'if interrupt({**asked, "question": "Pay?"}): pay()',
        'name = interrupt("Name?") or "nobody"; return name',
        'ok = state["ok"]\n    ok = interrupt("Pay?")\n    if ok: pay()',
        'ok = interrupt("Pay?")',
    ],
)
def test_what_may_be_meant_is_left_alone(step: str) -> None:
    assert found(f"def step(state):\n    {step}\n") == []


def test_another_functions_interrupt_is_none_of_ours() -> None:
    assert Source('from signals import interrupt\nif interrupt("Pay?"): pay()\n').pitfalls() == []


@pytest.mark.parametrize(
    "lines",
    [
        'from langgraph import types\nif types.interrupt("Pay?"): pay()',
        'import langgraph.types\nif langgraph.types.interrupt("Pay?"): pay()',
        'import langgraph.types as t\nif t.interrupt("Pay?"): pay()',
        'from langgraph.types import interrupt as ask\nif ask("Pay?"): pay()',
    ],
)
def test_interrupt_is_known_by_whatever_name(lines: str) -> None:
    assert [each.line for each in Source(lines).pitfalls()] == [2]


@pytest.mark.parametrize("caught", ["", " Exception", " Exception as error", " (ValueError, BaseException)"])
def test_an_except_that_takes_everything_takes_the_pause(caught: str) -> None:
    source = f"""
        def step(state):
            try:
                return {{"name": interrupt("Name?")}}
            except{caught}:
                return {{"name": "nobody"}}
    """
    assert found(source) == [(4, SWALLOWED)]


@pytest.mark.parametrize(
    "handlers",
    [
        "except ValueError: pass",
        "except GraphInterrupt: raise\n    except Exception: pass",
        "except errors.GraphBubbleUp: raise\n    except Exception: pass",
        "except Exception:\n        log()\n        raise",
        "except Exception as error:\n        if isinstance(error, GraphInterrupt): raise error",
        "finally: close()",
    ],
)
def test_a_pause_that_gets_through_is_fine(handlers: str) -> None:
    assert found(f'def step(state):\n    try:\n        ask = interrupt("?")\n    {handlers}\n') == []


def test_what_stands_beside_the_try_is_not_in_it() -> None:
    source = """
        def step(state):
            try:
                def later():
                    return interrupt("?")
                load()
            except Exception:
                return interrupt("What now?")
            else:
                return interrupt("?")
    """
    assert found(source) == []


@pytest.mark.parametrize("source", ["", "if interrupt(:", "\0", "(" * 5000])
def test_what_is_no_python_has_none(source: str) -> None:
    assert Source(source).pitfalls() == []


@pytest.mark.parametrize(
    "payload",
    [
        '{"question": "Pay?", "asked": datetime.now().isoformat()}',
        '{"question": "Pay?", "id": str(uuid.uuid4())}',
        'f"Pay, as of {time.time()}?"',
        '[{"action_request": {"action": "pay", "args": {"key": secrets.token_hex(8)}}}]',
    ],
)
def test_a_payload_that_differs_each_time_is_found(payload: str) -> None:
    assert found(f"def step(state):\n    answer = interrupt({payload})\n") == [(2, RESTLESS)]


@pytest.mark.parametrize(
    "source",
    [
        'answer = interrupt({"question": "Pay?", "asked": state["asked"]})',
        'return {"answer": interrupt("Pay?"), "at": datetime.now()}',
        'answer = interrupt({"question": "Pay?", "on": date(2026, 1, 2).isoformat()})',
    ],
)
def test_what_stays_the_same_or_is_not_asked_is_none(source: str) -> None:
    assert found(f"def step(state):\n    {source}\n") == []


REVIEWING = """
    def tools(state):
        results = []
        for call in state["messages"][-1].tool_calls:
            if interrupt({"question": call["name"]}) == "yes":
                results.append(by_name[call["name"]].invoke(call["args"]))
        return {"messages": results}
"""
CALLING = """
    async def tools(state):
        return [await by_name[call["name"]].ainvoke(call) for call in state["messages"][-1].tool_calls]
"""
ASKING = f"""{IMPORT}
@tool("pay", return_direct=True)
def pay(amount: int) -> str:
    return interrupt(amount)
"""


def test_a_step_that_asks_about_one_tool_after_the_other_calls_them_again() -> None:
    assert found(REVIEWING) == [(5, REPEATED)]


GATHERING = """
    async def tools(state):
        calls = (by_name[each["name"]].ainvoke(each) for each in state["messages"][-1].tool_calls)
        return await asyncio.gather(*calls)
"""


@pytest.mark.parametrize("source", [CALLING, GATHERING])
def test_and_so_does_one_that_calls_tools_that_ask_wherever_they_stand(source: str) -> None:
    assert [each.sentence for each in Source(dedent(source)).pitfalls(tools_ask=True)] == [REPEATED]
    assert Source(ASKING).has_tools_that_ask()


@pytest.mark.parametrize(
    "source",
    [
        CALLING,  # tools that do not ask
        REVIEWING.replace(".invoke(", ".describe("),
        REVIEWING.replace("tool_calls", "drafts"),
        REVIEWING.replace("    def", "    @task\n    def"),
        """
            def tools(state):
                names = [call["name"] for call in state["messages"][-1].tool_calls]
                return model.invoke(interrupt(names))
        """,
        """
            def tools(state):
                for call in state["messages"][-1].tool_calls:
                    def later():
                        return pay.invoke(call)
                    interrupt("?")
        """,
    ],
)
def test_what_calls_no_tool_between_two_questions_is_none(source: str) -> None:
    assert found(source) == []


@pytest.mark.parametrize("source", [ASKING.replace("@tool", "@node"), ASKING.replace("interrupt(", "ask(")])
def test_what_is_no_tool_or_asks_nobody_is_none_that_asks(source: str) -> None:
    assert not Source(source).has_tools_that_ask()


def test_tools_are_known_from_one_module_to_the_other(tmp_path: Path) -> None:
    modules = []
    for name, source in {"graph": dedent(CALLING), "tools": ASKING}.items():
        module = ModuleType(name)
        module.__file__ = str(tmp_path / f"{name}.py")
        Path(module.__file__).write_text(source)
        modules.append(module)
    assert notes(modules) == (f"{tmp_path}/graph.py:3: {REPEATED}.",)
    assert notes(modules[:1]) == ()
