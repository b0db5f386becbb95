"""No look for garbage for a while, and afterwards as it was."""

import contextlib
import gc
from collections.abc import Iterator

import pytest

from answerback import garbage


@pytest.fixture(params=[True, False], ids=["looked for", "not looked for"])
def before(request: pytest.FixtureRequest) -> Iterator[bool]:
    looked_for = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if looked_for else gc.disable)()


def test_it_is_as_before_also_after_an_error(*, before: bool) -> None:
    within: list[bool] = []
    with contextlib.suppress(ValueError), garbage.Ignored():
        within.append(gc.isenabled())
        raise ValueError
    assert within == [False]
    assert gc.isenabled() is before
