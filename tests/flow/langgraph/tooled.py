"""Graphs whose model calls several tools in one turn, which a `ToolNode` runs in one step."""

import asyncio
import os
import signal
import time
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.channels import UntrackedValue
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, RetryPolicy, Send, interrupt

from tests.flow.langgraph.graphs import note, noted


class Handle:
    """As of something that is open: no checkpoint can keep one."""


class State(MessagesState, total=False):
    log: str
    handle: Annotated[Any, UntrackedValue]


@tool
async def pay(amount: int, runtime: ToolRuntime) -> str:
    """Pay an amount, if a person agrees."""
    await asyncio.sleep(0.001 * (-amount % 3))  # the last ones first
    agreed = interrupt(f"Pay {amount}?")
    note(runtime.state, f"{amount}:{agreed}")
    return f"{runtime.tool_call_id} {agreed}"


@tool
def pay_in_thread(amount: int, runtime: ToolRuntime) -> str:
    """The same."""
    agreed = interrupt(f"Pay {amount}?")
    note(runtime.state, f"{amount}:{agreed}")
    return f"{runtime.tool_call_id} {agreed}"


@tool
def mail(runtime: ToolRuntime) -> str:
    """Send a mail, without asking anybody."""
    note(runtime.state, "mailed")
    return "sent"


@tool
def meet(runtime: ToolRuntime) -> str:
    """Wait until six have met."""
    note(runtime.state, "met")
    end = time.monotonic() + 10
    while noted(runtime.state).count("met") < 6 and time.monotonic() < end:
        time.sleep(0.01)
    return "met"


@tool
def unkept(runtime: ToolRuntime) -> Command[Any]:
    """Open something that no checkpoint can keep."""
    note(runtime.state, "opened")
    opened = ToolMessage("opened", tool_call_id=runtime.tool_call_id)
    return Command(update={"handle": Handle(), "messages": [opened]})


@tool
async def fail(times: int, runtime: ToolRuntime) -> str:
    """Fail so many times."""
    note(runtime.state, "fails")
    if noted(runtime.state).count("fails") <= times:
        raise ConnectionError("no route")
    return "done"


@tool
async def pay_in_two_tries(amount: int, runtime: ToolRuntime) -> str:
    """Fail once after a person has agreed, then ask for a receipt."""
    agreed = interrupt(f"Pay {amount}?")
    note(runtime.state, f"{amount}:{agreed}")
    if noted(runtime.state).count(f"{amount}:{agreed}") == 1:
        raise ConnectionError("no route")
    receipt = interrupt(f"A receipt for {amount}?")
    note(runtime.state, f"{amount}:{agreed}:{receipt}")
    return f"{agreed} {receipt}"


@tool
def die(runtime: ToolRuntime) -> str:
    """Die by SIGKILL once a person agrees, the first time."""
    agreed = interrupt("Die?")
    note(runtime.state, f"die:{agreed}")
    if noted(runtime.state).count(f"die:{agreed}") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"alive {agreed}"


@tool
def ask_something_else(runtime: ToolRuntime) -> str:
    """Ask something else each time."""
    note(runtime.state, "asks")
    return str(interrupt(f"Time {noted(runtime.state).count('asks')}?"))


@tool
def hand_over(runtime: ToolRuntime) -> Command[Any]:
    """Have a report written."""
    note(runtime.state, "handed-over")
    over = ToolMessage("handed over", tool_call_id=runtime.tool_call_id)
    return Command(goto="report", update={"messages": [over]})


def leave(state: State) -> Command[Any]:
    note(state, "left")
    return Command(graph=Command.PARENT, goto="report")


leaving = StateGraph(State)
leaving.add_node("leave", leave)
leaving.add_edge(START, "leave")
leaver = leaving.compile()


@tool
async def leave_by_a_graph(runtime: ToolRuntime) -> str:
    """Have a graph hand over, which ends this call."""
    await leaver.ainvoke(State(messages=[], log=runtime.state["log"]))
    return "stayed"


@tool
def leave_in_thread(runtime: ToolRuntime) -> str:
    """The same."""
    leaver.invoke(State(messages=[], log=runtime.state["log"]))
    return "stayed"


def remember(state: State) -> dict[str, Any]:
    count = len(state["messages"])
    heard = interrupt(f"Pay {count}?") if state["messages"][-1].content == "ask" else "nothing"
    return {"messages": [AIMessage(f"{count} {heard}")]}


remembering = StateGraph(State)
remembering.add_node("remember", remember)
remembering.add_edge(START, "remember")
memory = remembering.compile(checkpointer=True)


@tool
async def recall(say: str) -> str:
    """Tell how much has been said before, this included, and what was answered."""
    given = await memory.ainvoke(State(messages=[HumanMessage(say)]))
    return str(given["messages"][-1].content)


TOOLS = [pay, pay_in_thread, mail, unkept, die, fail, pay_in_two_tries, ask_something_else, hand_over, meet]
TOOLS += [leave_by_a_graph, leave_in_thread, recall]


def turn(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """What a model says that calls these."""
    made = [
        {"name": name, "args": given, "id": f"call{number}"} for number, (name, given) in enumerate(calls, 1)
    ]
    return AIMessage("", tool_calls=made)


def calls(*made: tuple[str, dict[str, Any]], **options: Any) -> StateGraph[Any]:
    """A model that makes these calls in one turn, and the `ToolNode` for them."""

    def model(state: State) -> dict[str, Any]:
        return {"messages": [turn(*made)]}

    builder = StateGraph(State)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode(TOOLS, **options.pop("tools", {})), **options)
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    return builder


def pays(name: str, *amounts: int) -> list[tuple[str, dict[str, Any]]]:
    return [(name, {"amount": amount}) for amount in amounts]


def with_report(builder: StateGraph[Any]) -> StateGraph[Any]:
    def report(state: State) -> dict[str, Any]:
        note(state, "report")
        return {}

    builder.add_node("report", report)
    return builder


def in_turns(*turns: list[tuple[str, dict[str, Any]]]) -> StateGraph[Any]:
    """A model that makes these calls, one turn after the other."""

    def model(state: State) -> dict[str, Any]:
        made = sum(message.type == "ai" for message in state["messages"])
        return {"messages": [turn(*turns[made]) if made < len(turns) else AIMessage("done")]}

    builder = StateGraph(State)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode(TOOLS))
    builder.add_edge(START, "model")
    builder.add_edge("tools", "model")
    builder.add_conditional_edges("model", tools_condition)
    return builder


three = calls(*pays("pay", 5, 6, 7), ("mail", {}))
in_threads = calls(*pays("pay_in_thread", 5, 6, 7), ("mail", {}))
equal = calls(*pays("pay", 5, 5), ("mail", {}))
one = calls(*pays("pay", 5))
one_at_a_time = three.compile().with_config({"max_concurrency": 1})
with_unkept = calls(*pays("pay", 5), ("unkept", {}))
failing = calls(*pays("pay", 5), ("fail", {"times": 1}))
AGAIN = RetryPolicy(initial_interval=0.001)
retried = calls(*pays("pay", 5), ("fail", {"times": 2}), retry_policy=AGAIN)
in_two_tries = calls(*pays("pay_in_two_tries", 5), ("mail", {}), retry_policy=AGAIN)
both_in_two_tries = calls(*pays("pay_in_two_tries", 5, 6), ("mail", {}), retry_policy=AGAIN)
unhandled = calls(("fail", {"times": 9}), *pays("pay", 5), tools={"handle_tool_errors": True})
deadly = calls(*pays("pay", 5), ("die", {}), ("mail", {}))
changing = calls(("ask_something_else", {}), *pays("pay", 5))
handing_over = with_report(calls(*pays("pay", 5), ("hand_over", {})))
leaving_early = with_report(calls(("mail", {}), ("leave_by_a_graph", {})))
leaving_early_in_thread = with_report(calls(("mail", {}), ("leave_in_thread", {})))
SAY, ASK = ("recall", {"say": "this"}), ("recall", {"say": "ask"})
recalling = in_turns([SAY], [SAY, ("mail", {})], [SAY])
recalling_twice = in_turns([SAY], [ASK, ASK, ("mail", {})], [SAY])


def stepping(step: Any) -> StateGraph[Any]:
    """A graph with one step, this one."""
    builder = StateGraph(State)
    builder.add_node("step", step)
    builder.add_edge(START, "step")
    return builder


inner = stepping(three.compile())


def invoked(graph: StateGraph[Any], state: State) -> dict[str, Any]:
    given = graph.compile().invoke({"messages": [], "log": state["log"]})
    return {"messages": given["messages"]}


def paying(name: str, tens: int) -> StateGraph[Any]:
    """An agent that pays three amounts, and writes a mail."""
    return calls(*pays(name, *(tens * 10 + more for more in (1, 2, 3))), ("mail", {}))


def told(given: dict[str, Any]) -> str:
    return ", ".join(message.content for message in given["messages"] if message.type == "tool")


@tool
async def pay_group(tens: int, runtime: ToolRuntime) -> str:
    """Have an agent pay three amounts."""
    return told(await paying("pay", tens).compile().ainvoke(State(messages=[], log=runtime.state["log"])))


@tool
def pay_group_in_thread(tens: int, runtime: ToolRuntime) -> str:
    """The same."""
    agent = paying("pay_in_thread", tens).compile()
    return told(agent.invoke(State(messages=[], log=runtime.state["log"])))


TOOLS += [pay_group, pay_group_in_thread]
agents_as_tools, agents_in_threads = (
    calls((name, {"tens": 1}), (name, {"tens": 2}), ("mail", {}))
    for name in ("pay_group", "pay_group_in_thread")
)


invoking = stepping(lambda state: invoked(in_threads, state))


def sent(*turns: AIMessage, tools: Any = None) -> StateGraph[Any]:
    """A `ToolNode` for each of these, at the same time."""

    def send(state: State) -> list[Send]:
        return [Send("tools", {"log": state["log"], "messages": [turn]}) for turn in turns]

    sender = StateGraph(State)
    sender.add_node("tools", tools or ToolNode(TOOLS))
    sender.add_conditional_edges(START, send, ["tools"])
    return sender


two_turns = sent(*(turn(*pays("pay", amount), ("mail", {})) for amount in (5, 7)))
two_at_a_time = two_turns.compile().with_config({"max_concurrency": 2})


def by_hand(state: State) -> Any:
    """A `ToolNode` called by a step of one's own, as it is when something else is done there too."""
    return ToolNode(TOOLS).invoke(state)


async def by_hand_in_a_loop(state: State) -> Any:
    """The same in an async step, which holds up what else runs there."""
    return by_hand(state)


def by_hand_in_its_own_loop(state: State) -> Any:
    """The same in a step that runs an event loop by itself."""
    return asyncio.run(ToolNode(TOOLS).ainvoke(state))


in_turn = turn(*pays("pay_in_thread", 5, 6, 7), ("mail", {}))
calling = sent(in_turn, tools=by_hand)
pay_and_mail = turn(*pays("pay_in_thread", 5), ("mail", {}))
calling_in_a_loop = sent(pay_and_mail, tools=by_hand_in_a_loop)
calling_in_its_own_loop = sent(pay_and_mail, tools=by_hand_in_its_own_loop)
calling_in_loops_in_threads = stepping(lambda state: invoked(calling_in_its_own_loop, state))
calling_in_threads = stepping(lambda state: invoked(calling, state))
MAILS = [turn(("mail", {}), ("mail", {}))] * 40
crowded_by_hand = sent(*MAILS, tools=by_hand)
groups = turn(*[("pay_group_in_thread", {"tens": tens}) for tens in (1, 2)], ("mail", {}))
agents_by_hand = sent(groups, tools=by_hand)


def crowd(state: State) -> dict[str, Any]:
    """More at a time, in threads, than a pool has."""
    return invoked(sent(*MAILS), state)


crowded = stepping(crowd)


def pay_two_turns(tens: int) -> Any:
    """A graph of its own pays two amounts, each in a turn of its own."""
    turns = [turn(("meet", {}), *pays("pay_in_thread", tens * 10 + more)) for more in (1, 2)]
    return lambda state: invoked(sent(*turns), state)


several_pools = StateGraph(State)
for each in (1, 2, 3):
    several_pools.add_node(f"group{each}", pay_two_turns(each))
    several_pools.add_edge(START, f"group{each}")


@entrypoint()
async def functional(given: dict[str, Any]) -> dict[str, Any]:
    said = turn(*pays("pay", 5, 6, 7), ("mail", {}))
    return await ToolNode(TOOLS).ainvoke({"messages": [said], "log": given["log"]})
