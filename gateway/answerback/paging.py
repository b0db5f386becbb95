"""Lists a page at a time: each page says where the next one begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, oldest first, and the id to go on after; None at the end."""

    items: tuple[T, ...]
    next: str | None


def page_of(items: Sequence[T], limit: int) -> Page[T]:
    """The page that at most `limit` items make: a full one may have another after it."""
    return Page(tuple(items), items[-1].id if len(items) == limit else None)
