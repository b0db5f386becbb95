"""The rule for what a machine lacks: a test of it fails in CI, and is skipped with the reason elsewhere."""

import os
from typing import NoReturn, TypeVar

import pytest

Found = TypeVar("Found")


def missing(what: str) -> NoReturn:
    """Ends the test: failed when the environment variable CI is set, otherwise skipped.

    `what` is one sentence that says what is missing and how to get it.
    """
    if os.environ.get("CI"):
        pytest.fail(f"{what} (CI must have it)", pytrace=False)
    pytest.skip(what)


def require(found: Found | None, what: str) -> Found:
    """Gives `found` back, or ends the test as `missing` does when it is None or False."""
    if found is None or found is False:
        missing(what)
    return found
