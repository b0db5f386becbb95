"""Who an HTTP request is from: the function that says so, what it is told, and what it may say."""

import dataclasses
from pathlib import Path

import pytest

from answerback.caller import EVERY_AGENT, Caller, Headers, Request
from answerback.errors import ConfigurationError
from answerback.identify import function_of, powerless, unusable
from answerback.settings import ApiKey, Plugin, Settings

SETTINGS = Settings(
    agents={"billing": Plugin("billing", "x")}, api_keys=(ApiKey("ops", key_sha256="0" * 64),)
)
ANA = Caller(name="ana@example.org", scopes={"answer"}, contact="ana")
SOURCE = """
import functools

def who(request): ...
async def later(request, cache=None): ...
def nothing(): ...
def more(request, settings): ...
def named(*, request): ...
class Who:
    def __call__(self, request): ...
    def method(self, request): ...
it, number, bound = Who(), 5, functools.partial(more, settings=1)
"""


def found(tmp_path: Path, path: str, source: str = SOURCE) -> object:
    """The function at a path, in a module of this test's own; `{}` stands for its name."""
    module = f"sso_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(source)
    settings = Settings(file="a.yaml", base_dir=str(tmp_path), authenticate=path.format(module))
    return function_of(settings)


@pytest.mark.parametrize("name", ["who", "later", "it", "it.method", "bound"])
def test_whatever_can_be_called_with_a_request_will_do(tmp_path, name):
    assert callable(found(tmp_path, f"{{}}:{name}"))


def test_without_the_setting_there_is_none():
    assert function_of(Settings()) is None


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no_such_module:who", "authenticate: there is no module no_such_module."),
        ("{}.inner:who", ".inner."),
        ("{}:nobody", "has nothing that is called nobody."),
        ("{}:it.nobody", "has nothing that is called it.nobody."),
        ("{}:number", "is no function."),
        ("{}:Who", "is no function."),
        ("{}:nothing", "must take one argument, the request; it takes ()."),
        ("{}:more", "must take one argument, the request; it takes (request, settings)."),
        ("{}:named", "must take one argument, the request; it takes (*, request)."),
    ],
)
def test_what_is_no_such_function_is_an_error_that_says_why(tmp_path, path, words):
    with pytest.raises(ConfigurationError) as caught:
        found(tmp_path, path)
    assert words in caught.value.message and caught.value.file == "a.yaml"


@pytest.mark.parametrize("source", ["import no_such_library", "def who(", "raise SystemExit(3)", "1 / 0"])
def test_a_module_that_cannot_be_imported_says_why(tmp_path, source):
    with pytest.raises(ConfigurationError, match=r"cannot be imported: [A-Z]"):
        found(tmp_path, "{}:who", source)


def test_headers_are_found_in_any_case_and_one_that_came_twice_replaces_nothing():
    headers = Headers([("X-User", "ana"), ("Via", "b"), ("x-user", "root")])
    assert (headers["X-USER"], headers.get("x-user"), "X-user" in headers) == ("ana, root",) * 2 + (True,)
    assert (len(headers), list(headers), headers.get("cookie")) == (2, ["x-user", "via"], None)
    assert Headers({"A": "b"}) == Headers([("a", "b")])


def test_law_11_a_request_shows_no_header_and_cannot_be_changed():
    request = Request("GET", "/v1/runs", Headers({"Authorization": "Bearer eyJ"}), "127.0.0.1")
    assert "eyJ" not in repr(request)
    for change in ({"headers": Headers()}, {"client": "x"}):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(request, *next(iter(change.items())))
    with pytest.raises(TypeError):
        request.headers["x-user"] = "root"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"scopes": ["ask", "read", "answer", "admin"]},
        {"agents": {"billing"}},
        {"agents": EVERY_AGENT},
        {"name": "ana"},
        {"name": "Ana Lima (Wien)"},
        {"contact": "", "operator": True},
        {"contact": "", "scopes": {"ask"}},
    ],
)
def test_what_can_be_used(more):
    caller = dataclasses.replace(ANA, **more)
    assert unusable(caller, SETTINGS) == powerless(caller) == ""


@pytest.mark.parametrize("value", [True, "ana", {"name": "ana"}, object(), Caller])
def test_law_7_whatever_else_is_returned_is_nobody(value):
    assert "must return a Caller or None" in unusable(value, SETTINGS)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"name": ""}, "a name must be one line"),
        ({"name": "a\nb"}, "a name must be one line"),
        ({"name": " ana"}, "a name must be one line"),
        ({"name": "a" * 201}, "a name must be one line"),
        ({"name": "ana\u202e"}, "a name must be one line"),
        ({"name": "\ud800"}, "a name must be one line"),
        ({"name": "stand-in:llm"}, "without a colon"),
        ({"name": None}, "texts"),
        ({"contact": None}, "texts"),
        ({"scopes": "answer"}, "scopes must be a set of these: ask, read, answer, admin"),
        ({"scopes": {"answers"}}, "scopes must be a set of these"),
        ({"scopes": {"answer", "root"}}, "scopes must be a set of these"),
        ({"scopes": None}, "scopes must be a set of these"),
        ({"scopes": [["answer"]]}, "scopes must be a set of these"),
        ({"agents": {"research"}}, "agents must be a set of agents that are configured"),
        ({"agents": "billing"}, "agents must be a set of agents that are configured"),
        ({"agents": None}, "agents must be a set of agents that are configured"),
        ({"operator": "no"}, "operator must be True or False"),
        ({"name": "ops"}, "must not be that of an API key"),
    ],
)
def test_law_7_what_says_nothing_clear_is_a_mistake_that_the_log_can_name(more, words):
    why = unusable(dataclasses.replace(ANA, **more), SETTINGS)
    assert words in why
    assert not any(str(value) in why for value in more.values() if value and len(str(value)) > 8)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"scopes": set()}, "without scopes"),
        ({"agents": frozenset()}, "without agents"),  # what was computed and came out empty is not all
        ({"contact": ""}, "who is no contact"),
    ],
)
def test_law_7_what_was_left_empty_gives_no_power(more, words):
    assert words in powerless(dataclasses.replace(ANA, **more))
