"""What others build on is named, complete, and stays."""

import importlib
import inspect

import answerback
from answerback import agent, caller, errors, provider


def test_every_public_name_is_there_and_nothing_else_is_promised() -> None:
    assert len(set(answerback.__all__)) == len(answerback.__all__)
    for name in answerback.__all__:
        assert getattr(answerback, name) is not None
    assert not hasattr(answerback, "no_such_name")


def test_every_error_that_a_caller_can_meet_is_public() -> None:
    met = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.Refused)
    }
    assert met <= set(answerback.__all__)


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    drawn = [line for line in (errors.__doc__ or "").splitlines() if "──" in line]
    kinds = [
        kind for kind in vars(errors).values() if inspect.isclass(kind) and kind is not errors.AnswerbackError
    ]
    assert [line.split("── ")[1].split()[0] for line in drawn] == [kind.__name__ for kind in kinds]


def test_a_plugin_author_needs_one_import() -> None:
    used = {
        name
        for name, value in vars(provider).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith(("answerback", "pydantic.types"))
    }
    assert used <= set(provider.__all__)


def test_who_says_who_calls_needs_one_import() -> None:
    own = {
        name for name, value in vars(caller).items() if getattr(value, "__module__", "") == caller.__name__
    }
    assert set(caller.__all__) == own | {"EVERY_AGENT"}


def test_the_contracts_have_versions() -> None:
    assert (provider.CONTRACT_VERSION, agent.CONTRACT_VERSION) == (1, 1)


def test_the_names_of_the_test_helpers_are_complete() -> None:
    testing = importlib.import_module("answerback.testing")
    assert all(hasattr(testing, name) for name in testing.__all__)
