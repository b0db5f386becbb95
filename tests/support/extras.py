"""Which test files the bare core can run: those whose imports, through our plugins too, need no extra.

Imports of the gateway are not followed. If one of its modules needs an extra to be imported, that is a fault,
and the test that finds it must run.
"""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Our own code that is read for its imports instead of being imported.
READ = {
    "answerback_providers": ROOT / "providers",
    "answerback_sandbox": ROOT / "providers",
    "answerback_agents": ROOT / "agents",
    "answerback_demo": ROOT / "demo",
    "tests": ROOT,
}
# Extra → a package that is importable only with it.
EXTRAS = {
    "telegram": "telegram",
    "whatsapp": "twilio",
    "email": "aiosmtplib",
    "postgres": "psycopg",
    "langgraph": "langgraph",
    "langgraph-server": "langgraph_sdk",
    "agents": "langchain",
    "mcp": "mcp",
}


def lacks(test_file: Path) -> str | None:
    """The first package that the file needs, directly or through our plugins, and that is not installed."""
    return next((name for name in sorted(_needs(test_file)) if not _installed(name)), None)


# What runs later, or holds no statement: no import stands there.
NEVER_THERE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)


@cache
def _installed(package: str) -> bool:
    return find_spec(package) is not None


@cache
def _needs(file: Path) -> frozenset[str]:
    """Top-level names of everything that importing `file` imports, except through the gateway."""
    found: set[str] = set()
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for module in _imports(current):
            if module.partition(".")[0] in READ:
                waiting.extend(_files(module))
            else:
                found.add(module.partition(".")[0])
    return frozenset(found)


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """Modules that `file` imports as it is imported: not inside functions, not for type checkers only."""
    found: dict[str, None] = {}
    waiting: list[ast.AST] = [ast.parse(file.read_bytes())]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.Import):
                found.update((alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = _module_of(node, file)
                found[module] = None
                found.update((f"{module}.{alias.name}", None) for alias in node.names)
            elif isinstance(node, NEVER_THERE) or _for_types(node):
                continue
            else:
                waiting.append(node)
    return tuple(found)


def _module_of(node: ast.ImportFrom, file: Path) -> str:
    """The full name of the module that `node`, which stands in `file`, imports from."""
    if not node.level:
        return node.module or ""
    root = next(root for name, root in READ.items() if file.is_relative_to(root / name))
    package = file.relative_to(root).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


@cache
def _files(module: str) -> list[Path]:
    """The files that importing `module` runs: its packages' __init__.py on the way down, and its own."""
    path = READ[module.partition(".")[0]]
    files = []
    for part in module.split("."):
        path = path / part
        files += [path / "__init__.py", path.with_suffix(".py")]
    return [file for file in files if file.is_file()]
