"""Who wants to be asked again later: it stands in the question's own copy of its route. Pure."""

from typing import Any

from answerback.model import Json

AGAIN = "again"  # in the route: a person and a provider to when, microseconds since the epoch


def snoozed(route: Json, asked: Any, at: int) -> Json:
    """The route, once whoever was asked by a delivery wants to be asked again at `at`."""
    return route | {AGAIN: {**route.get(AGAIN, {}), _who(asked): at}}


def times(route: Json) -> list[int]:
    """When somebody is to be asked again."""
    return list(route.get(AGAIN, {}).values())


def sleeps(route: Json, asked: Any, now: int) -> bool:
    """Whether whoever a delivery asked wants no reminder there yet."""
    return bool(route.get(AGAIN, {}).get(_who(asked), 0) > now)


def is_due(route: Json, asked: Any, now: int) -> bool:
    """Whether it is time to ask them again there."""
    return bool(0 < route.get(AGAIN, {}).get(_who(asked), 0) <= now)


def awake(route: Json, now: int) -> Json:
    """The route without what has been due."""
    return route | {AGAIN: {who: at for who, at in route.get(AGAIN, {}).items() if at > now}}


def _who(asked: Any) -> str:
    return f"{asked['contact_id']} {asked['provider']}"
