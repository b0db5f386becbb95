"""What in a graph's source goes on after a “no”, asks nobody or never the same, though it looks right.

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
    return tuple(
        f"{file}:{found.line}: {found.sentence}."
        for file in _files(modules)
        for found in pitfalls(_read(file))
        if ask_again_if_changed or found.sentence != RESTLESS
    )


def _files(modules: Iterable[ModuleType]) -> list[str]:
    files = {getattr(module, "__file__", None) or "" for module in modules}
    return sorted(file for file in files if file.endswith(".py"))


def _read(file: str) -> str:
    """A file's text if it may call `interrupt`, else ""; as Python reads it."""
    try:
        with tokenize.open(file) as opened:
            text = opened.read(LONGEST)
    except (OSError, SyntaxError, UnicodeDecodeError):  # it is in an archive, or was changed since
        return ""
    return text if "interrupt" in text else ""


def pitfalls(source: str) -> list[Pitfall]:
    """Those of one module, by line; none of what is no Python.

    Only what is certain is named: where the payload stands in the call itself, and nothing but the truth of
    the answer is used.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = set(_names(tree))
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _dotted(each.func) in names]
    found = {pitfall for call in calls for pitfall in _of(call, parents)}
    return sorted(found, key=lambda pitfall: (pitfall.line, pitfall.sentence))


def _names(tree: ast.AST) -> Iterator[str]:
    """What `langgraph.types.interrupt` is called here."""
    for node in ast.walk(tree):
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
