"""Lists over HTTP: which page is wanted, and what of it a key may see."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel

from answerback.web.auth import sees
from answerback.web.records import PageOut
from answerback.web.services import Caller, OfAgent, Page

_Limit = Annotated[int, Query(ge=1, le=200, description="How many items at most.")]
_After = Annotated[
    str | None,
    Query(max_length=200, pattern=r"^[A-Za-z0-9_.:=~-]+$", description="`next` of the page before."),
]
Item = TypeVar("Item", bound=OfAgent)
Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class _Wanted:
    limit: int
    after: str | None


async def _wanted(limit: _Limit = 50, after: _After = None) -> _Wanted:
    return _Wanted(limit, after)


Wanted = Annotated[_Wanted, Depends(_wanted)]


def page_out(key: Caller, page: Page[Item], out: Callable[[Item], Out]) -> PageOut[Out]:
    """A page as the API shows it. What belongs to other agents is left out of it, so it may be shorter."""
    return PageOut(items=[out(item) for item in page.items if sees(key, item.agent)], next=page.next)
