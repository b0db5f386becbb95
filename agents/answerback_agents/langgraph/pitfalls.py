"""What in a graph's source goes on after a “no”, asks nobody, never asks the same, or does things again.

All of it looks right.

It is read, never run.
"""

import ast
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

ALWAYS_TRUE = (
    "this goes the same way after a “no”, and after silence: interrupt() gives a text or an object, and both "
    'count as true. For a yes or no, interrupt with {"type": "confirm_action", "action": …} and look at '
    'its "confirmed"'
)
SWALLOWED = (
    "this takes what interrupt() pauses by, and nobody is asked. Catch what you expect, or move interrupt() "
    "out of the try"
)
RESTLESS = (
    "this differs each time the step runs, so the answer that comes was to something else, and people are "
    "asked again. Leave it out of what interrupt() is given, or have an earlier step put it into the state"
)
REPEATED = (
    "this is done again for each later answer in the same step, which runs again from its start. Call it in "
    "a @task, let a ToolNode call the tools, or give each call a step of its own with Send"
)
LONGEST = 1 << 20  # characters of a file that are looked at
_BOOLEAN = "response_schema"  # with one, LangGraph may give True or False
_DIFFERS = frozenset(
    """
    datetime.now datetime.utcnow datetime.datetime.now datetime.datetime.utcnow time.time time.time_ns
    uuid4 uuid.uuid4 uuid1 uuid.uuid1 secrets.token_hex secrets.token_urlsafe
    random.random random.randint random.choice
    """.split()
)
_TOO_MUCH = frozenset({"Exception", "BaseException"})
_RUNS = frozenset({"invoke", "ainvoke", "run", "arun"})  # a tool
_TOOL_CALLS = "tool_calls"  # of what a model says
_PAUSES = frozenset({"GraphInterrupt", "GraphBubbleUp"})  # langgraph.errors
Parents = dict[ast.AST, ast.AST]
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Pitfall:
    """`line` is where it stands, counted from 1."""

    line: int
    sentence: str


def notes(modules: Iterable[ModuleType], *, ask_again_if_changed: bool = True) -> tuple[str, ...]:
    """The pitfalls of modules, as sentences that begin with the file and the line."""
    sources = {file: Source(_read(file)) for file in _files(modules)}
    tools_ask = any(source.has_tools_that_ask() for source in sources.values())
    return tuple(
        f"{file}:{found.line}: {found.sentence}."
        for file, source in sources.items()
        for found in source.pitfalls(tools_ask=tools_ask)
        if ask_again_if_changed or found.sentence != RESTLESS
    )


def _files(modules: Iterable[ModuleType]) -> list[str]:
    files = {getattr(module, "__file__", None) or "" for module in modules}
    return sorted(file for file in files if file.endswith(".py"))


def _read(file: str) -> str:
    """A file's text if it may call `interrupt` or tools, else ""; as Python reads it."""
    try:
        with tokenize.open(file) as opened:
            text = opened.read(LONGEST)
    except (OSError, SyntaxError, UnicodeDecodeError):  # it is in an archive, or was changed since
        return ""
    return text if "interrupt" in text or _TOOL_CALLS in text else ""


class Source:
    """The text of one module, which has nothing of what is looked for if it is no Python."""

    def __init__(self, text: str) -> None:
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = ast.Module([], [])
        self._nodes = list(ast.walk(self._tree))
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        names = set(_names(self._nodes))
        calls = (node for node in self._nodes if isinstance(node, ast.Call))
        self._asks = [call for call in calls if _dotted(call.func) in names]

    def has_tools_that_ask(self) -> bool:
        """Whether a tool of this module asks: a function that is decorated as one."""
        return any(_is_made(_around(call, self._parents), "tool") for call in self._asks)

    def pitfalls(self, *, tools_ask: bool = False) -> list[Pitfall]:
        """By line. `tools_ask`: whether there are tools that ask, here or elsewhere.

        Only what is certain is named: where the payload stands in the call itself, and nothing but the truth
        of the answer is used. Of tools that are called one after the other it is not to be seen which ask.
        """
        found = {pitfall for call in self._asks for pitfall in _of(call, self._parents)}
        found.update(self._repeated(tools_ask))
        return sorted(found, key=lambda pitfall: (pitfall.line, pitfall.sentence))

    def _repeated(self, tools_ask: bool) -> Iterator[Pitfall]:
        """The tools that a step calls one after the other, if it asks about each or they ask."""
        for loop in filter(_is_over_tool_calls, self._nodes):
            step = _around(loop, self._parents)
            within = [node for node in ast.walk(loop) if _around(node, self._parents) is step]
            if (tools_ask or any(call in within for call in self._asks)) and not _is_made(step, "task"):
                runs = (each for each in within if isinstance(each, ast.Call) and _is_run(each.func))
                yield from (Pitfall(each.lineno, REPEATED) for each in runs)


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What `langgraph.types.interrupt` is called here."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "langgraph.types":
            yield from (name.asname or name.name for name in node.names if name.name == "interrupt")
        elif isinstance(node, ast.ImportFrom) and node.module == "langgraph":
            yield from (
                f"{name.asname or name.name}.interrupt" for name in node.names if name.name == "types"
            )
        elif isinstance(node, ast.Import):
            yield from (
                f"{name.asname or name.name}.interrupt"
                for name in node.names
                if name.name == "langgraph.types"
            )


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _of(call: ast.Call, parents: Parents) -> Iterator[Pitfall]:
    if _gives_no_boolean(call):
        for node in _only_tested(call, parents):
            yield Pitfall(node.lineno, ALWAYS_TRUE)
    handler = _swallower(call, parents)
    if handler is not None:
        yield Pitfall(handler.lineno, SWALLOWED)
    for node in _differing(call):
        yield Pitfall(node.lineno, RESTLESS)


def _is_over_tool_calls(node: ast.AST) -> bool:
    match node:
        case ast.For() | ast.AsyncFor():
            over = [node.iter]
        case ast.ListComp() | ast.GeneratorExp():
            over = [each.iter for each in node.generators]
        case _:
            return False
    named = (getattr(part, "attr", getattr(part, "value", None)) for each in over for part in ast.walk(each))
    return _TOOL_CALLS in named


def _is_run(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in _RUNS


def _is_made(function: ast.AST | None, by: str) -> bool:
    """Whether a function is decorated by this, called or not, and from whatever module."""
    decorators = getattr(function, "decorator_list", [])
    names = (_dotted(each.func if isinstance(each, ast.Call) else each) for each in decorators)
    return any(name.rpartition(".")[2] == by for name in names)


def _gives_no_boolean(call: ast.Call) -> bool:
    """Whether what is asked stands here, in a form that is resumed with a text or an object."""
    if len(call.args) != 1 or call.keywords:
        return False
    payload = call.args[0]
    if isinstance(payload, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in payload.keys]
        return None not in keys and _BOOLEAN not in keys
    return isinstance(payload, ast.JoinedStr) or (
        isinstance(payload, ast.Constant) and isinstance(payload.value, str)
    )


def _differing(call: ast.Call) -> Iterator[ast.Call]:
    """What is made anew whenever the payload is, as far as that stands in the call itself."""
    for node in (node for payload in call.args[:1] for node in ast.walk(payload)):
        if isinstance(node, ast.Call) and _dotted(node.func) in _DIFFERS:
            yield node


def _only_tested(call: ast.Call, parents: Parents) -> Iterator[ast.expr]:
    """Where the answer is first tested for truth, if that is all that is ever done with it."""
    if _is_tested(call, parents):
        yield call
        return
    holder = parents[call]
    name, function = _assigned(holder), _around(call, parents)
    if name is None or function is None:
        return
    named = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    uses: list[ast.expr] = [node for node in named if isinstance(node.ctx, ast.Load)]
    is_its_only_value = len(named) == len(uses) + 1
    if isinstance(holder, ast.NamedExpr):
        uses.append(holder)
    if uses and is_its_only_value and all(_is_tested(use, parents) for use in uses):
        yield min(uses, key=lambda use: use.lineno)


def _assigned(holder: ast.AST) -> str | None:
    """The one name that is given the value."""
    targets: list[ast.expr] = []
    if isinstance(holder, ast.Assign):
        targets = holder.targets
    elif isinstance(holder, ast.AnnAssign | ast.NamedExpr):
        targets = [holder.target]
    only = targets[0] if len(targets) == 1 else None
    return only.id if isinstance(only, ast.Name) else None


def _around(node: ast.AST, parents: Parents) -> ast.AST | None:
    """The function that a node stands in."""
    while node in parents and not isinstance(node, _Function):
        node = parents[node]
    return node if isinstance(node, _Function) else None


def _is_tested(node: ast.AST, parents: Parents) -> bool:
    """Whether nothing but the truth of this value counts where it stands."""
    around = parents[node]
    match around:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            return around.test is node
        case ast.UnaryOp():
            return isinstance(around.op, ast.Not)
        case ast.Call():
            return _dotted(around.func) == "bool"
        case ast.comprehension():
            return node in around.ifs
        case ast.BoolOp():
            goes_on = isinstance(around.op, ast.And) and node is not around.values[-1]
            return goes_on or _is_tested(around, parents)
    return False


def _swallower(call: ast.Call, parents: Parents) -> ast.ExceptHandler | None:
    """The `except` around a call that lets nothing through."""
    node: ast.AST = call
    while node in parents and not isinstance(node, _Function):
        around = parents[node]
        if isinstance(around, ast.Try) and node in around.body:
            handler = next((each for each in around.handlers if _caught(each) & (_TOO_MUCH | _PAUSES)), None)
            if handler is not None and not _caught(handler) & _PAUSES and not _raises_it_again(handler):
                return handler
        node = around
    return None


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of what a handler takes, without their modules."""
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {_dotted(kind).rpartition(".")[2] for kind in kinds}


def _raises_it_again(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, ast.Raise)
        and (node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name))
        for node in ast.walk(handler)
    )
