"""What is installed, with which versions, and what is loaded when: the package as a user gets it."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, entry_points, packages_distributions
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import answerback
from tests.support.extras import EXTRAS

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "gateway/answerback",
    "providers/answerback_providers",
    "providers/answerback_sandbox",
    "agents/answerback_agents",
    "demo/answerback_demo",
]
COLLECTION = "answerback_agents/research/documents"  # what the research agent searches
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRA_REQUIREMENTS = PROJECT["project"]["optional-dependencies"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text().splitlines()
PINNED = {
    canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in CONSTRAINTS)
}

# Below these each has a fault that breaks a law, lets someone in, or keeps every answer out.
LOWEST = {
    "aiosmtpd": "1.4.6",
    "click": "8.4.1",
    "h11": "0.16",
    "imap-tools": "1.15",
    "jinja2": "3.1.6",
    "langchain-core": "1.2.5",
    "langgraph": "1.2.20",
    "langgraph-checkpoint": "4.0.0",
    "langgraph-checkpoint-sqlite": "3.0.1",
    "langgraph-sdk": "0.4.14",
    "mcp": "2.1",
    "psycopg": "3.2.11",
    "python-multipart": "0.0.30",
    "standardwebhooks": "1.1",
    "starlette": "1.3.1",
    "twilio": "9.13",
    "urllib3": "2.7.0",
}
# What a command that only prints its help has no time for.
HEAVY = {
    "aiohttp",
    "alembic",
    "apscheduler",
    "fastapi",
    "importlib.metadata",
    "langgraph",
    "pydantic",
    "sqlalchemy",
    "sqlmodel",
    "starlette",
    "telegram",
    "uvicorn",
    "yaml",
}
all_extras = pytest.mark.needs_extra(*EXTRAS)


# The versions


def test_every_constraint_is_a_name_and_a_version_and_says_nothing_of_where_from() -> None:
    line = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!]*")
    assert [text for text in CONSTRAINTS if not line.fullmatch(text)] == []
    assert len(PINNED) == len(CONSTRAINTS)


@pytest.mark.parametrize(("name", "lowest"), LOWEST.items())
def test_no_version_with_a_known_fault_is_pinned(name: str, lowest: str) -> None:
    assert PINNED[canonicalize_name(name)] >= Version(lowest)


def test_no_version_with_a_known_fault_is_admitted() -> None:
    """Of what we name ourselves: whoever installs it beside something else has what that left there."""
    admitted = {name: lowest for name, bounds in _admitted().items() for lowest in bounds}
    faulty = {name for name, lowest in admitted.items() if lowest < Version(LOWEST.get(name, "0"))}
    assert faulty == set()


def test_every_library_has_one_lowest_version_which_can_be_tried() -> None:
    assert {name: bounds for name, bounds in _admitted().items() if len(set(bounds)) != 1} == {}


def _admitted() -> dict[str, list[Version]]:
    """The lower bounds of each library that we name, as often as it has one."""
    found: dict[str, list[Version]] = {}
    for text in chain(PROJECT["project"]["dependencies"], *EXTRA_REQUIREMENTS.values()):
        requirement = Requirement(text)
        if requirement.name != "answerback":
            bounds = [Version(each.version) for each in requirement.specifier if each.operator == ">="]
            found.setdefault(requirement.name, []).extend(bounds)
    return found


@all_extras
def test_every_package_that_can_be_installed_is_pinned_to_a_version_that_we_accept() -> None:
    unpinned = {str(requirement) for requirement in _all_requirements() if not _is_pinned(requirement)}
    assert unpinned == set()


def _is_pinned(requirement: Requirement) -> bool:
    version = PINNED.get(canonicalize_name(requirement.name))
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def _all_requirements() -> Iterator[Requirement]:
    """Ours with every extra, and theirs, and so on, as the installed packages declare them."""
    declared = [
        PROJECT["build-system"]["requires"],
        PROJECT["project"]["dependencies"],
        *EXTRA_REQUIREMENTS.values(),
    ]
    waiting = [Requirement(text) for text in chain.from_iterable(declared)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in seen or requirement.name == "answerback":
            continue
        seen.add(key)
        yield requirement
        waiting += _required_by(requirement)


def _required_by(requirement: Requirement) -> list[Requirement]:
    declared = [Requirement(text) for text in distribution(requirement.name).requires or []]
    return [
        each
        for each in declared
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras))
    ]


def test_all_is_every_extra_that_a_user_can_choose() -> None:
    named = next(Requirement(text) for text in EXTRA_REQUIREMENTS["all"] if text.startswith("answerback["))
    assert named.extras == EXTRA_REQUIREMENTS.keys() - {"all", "dev"} == EXTRAS.keys()


# The release


def test_the_version_is_the_newest_one_in_the_changelog() -> None:
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == answerback.__version__ == distribution("answerback").version


def test_the_licence_is_mit_and_lies_beside_the_code() -> None:
    assert PROJECT["project"]["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")


@all_extras
def test_a_wheel_holds_every_file_of_every_package(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not name.partition("/")[0].endswith(".dist-info")}
    documents = {f"{COLLECTION}/{name}" for name in ("README.md", "CHANGELOG.md")}
    documents |= {f"{COLLECTION}/docs/{file.name}" for file in (ROOT / "docs").iterdir()}
    assert packed == {str(file.relative_to(root)) for root, file in _files()} | documents


def _files() -> Iterator[tuple[Path, Path]]:
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                yield (ROOT / package).parent, file


# What imports what


def test_every_module_of_the_gateway_can_be_imported() -> None:
    for module in pkgutil.walk_packages(answerback.__path__, "answerback."):
        if not module.name.endswith(".__main__") and ".migrations." not in module.name:
            importlib.import_module(module.name)


@pytest.mark.bare_core
def test_the_bare_core_is_installed_without_any_extra() -> None:
    assert [package for package in EXTRAS.values() if find_spec(package)] == []
    assert Path(answerback.__file__).is_relative_to(sys.prefix)


@all_extras
@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        (group, name, value)
        for group, plugins in PROJECT["project"]["entry-points"].items()
        for name, value in plugins.items()
    ],
)
def test_every_built_in_plugin_is_found_by_its_entry_point(group: str, name: str, value: str) -> None:
    found = {each.name: each for each in entry_points(group=group) if each.value == value}
    assert found[name].load().__name__ == value.partition(":")[2]


@all_extras
@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_whatever_is_imported_is_declared(package: str) -> None:
    declared = _names(PROJECT["project"]["dependencies"])
    for extra in EXTRA_REQUIREMENTS.keys() - (set() if package == "tests" else {"dev"}):
        declared |= _names(EXTRA_REQUIREMENTS[extra])
    # answerback.testing is a suite for whoever writes a plugin, and runs where pytest is.
    declared |= {"pytest", "pytest-asyncio"}
    assert _undeclared(package, declared) == {}


def test_the_gateway_imports_only_what_is_always_installed_except_within_functions() -> None:
    declared = _names(PROJECT["project"]["dependencies"]) | {"pytest", "pytest-asyncio"}
    assert _undeclared("gateway/answerback", declared, only_at_import=True) == {}


def _names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


# What these import lives in environments of its own, never in ours: peers, and a worker's own Python.
ELSEWHERE = (
    ROOT / "tests" / "conformance" / "peers",
    ROOT / "tests" / "bench" / "hosts",
    ROOT / "tests" / "flow" / "workers" / "equipped.py",
)


def _undeclared(package: str, declared: set[str], *, only_at_import: bool = False) -> dict[str, str]:
    """File → the first package it imports that is not in `declared`."""
    ours = {Path(path).name for path in PACKAGES} | {"tests"}
    providers = packages_distributions()
    found = {}
    for file in sorted((ROOT / package).rglob("*.py")):
        if any(place in (file, *file.parents) for place in ELSEWHERE):
            continue
        for name in _imported(ast.parse(file.read_bytes()), only_at_import=only_at_import):
            if name in ours or name in sys.stdlib_module_names:
                continue
            if declared.isdisjoint(canonicalize_name(each) for each in providers.get(name, [name])):
                found[str(file.relative_to(ROOT))] = name
    return found


def _imported(tree: ast.AST, *, only_at_import: bool) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield node.module.partition(".")[0]
        elif not (only_at_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)


def test_help_loads_neither_a_web_framework_nor_a_database_nor_an_agent() -> None:
    script = (
        "import sys; from answerback.cli import main\n"
        "sys.argv = ['answerback', '--help']\n"
        "try: main()\n"
        "finally: print('loaded:', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text, _, loaded = done.stdout.rpartition("loaded:")
    assert "Usage: answerback" in text
    assert HEAVY & set(loaded.split()) == set()
