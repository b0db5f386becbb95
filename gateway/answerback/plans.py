"""plans: who would be asked on a route now, where and when. Nothing is asked, and nothing is changed."""

from collections.abc import Iterator
from dataclasses import dataclass

from answerback.context import Context
from answerback.disturbing import after_quiet
from answerback.model import Address, Json
from answerback.routing import require_people, route_of
from answerback.store import Tx, contacts
from answerback.succession import Tried, addresses
from answerback.times import SECOND

DEFAULT = "default"  # the route of whoever has none


@dataclass(frozen=True, slots=True)
class Planned:
    """A person, the addresses at which they are asked, in that order, and when; microseconds.

    Without addresses they cannot be reached on this route. `at` is later than now in their quiet hours.
    """

    contact: str
    name: str
    language: str
    ways: tuple[Address, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a question that is asked at `now` would go through; durations in seconds.

    `agents` are those whose questions take this route where nothing else is named.
    `at_once`: at all addresses at the same time, instead of the next one when one fails. `first`: a stand-in
    that is asked before people. `fallback`: the provider that is told instead when no person can be reached.
    """

    route: str
    agents: tuple[str, ...]
    now: int
    at_once: bool
    first: str
    people: tuple[Planned, ...]
    stand_ins: tuple[str, ...]
    stand_ins_after: float | None
    reminders: tuple[float, ...]
    expires_in: float | None
    on_expire: str
    human_only: bool
    fallback: str


class Planner:
    """Reads only."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def names(self) -> tuple[str, ...]:
        """The routes there are."""
        return tuple(self._context.settings.routes)

    async def of(self, name: str, ask: tuple[str, ...] = ()) -> Plan:
        """The plan of a route; with `ask`, for these contacts. Raises `NotFound`."""
        return await self._context.store.snapshot(lambda tx: self._of(tx, name, ask))

    def _of(self, tx: Tx, name: str, ask: tuple[str, ...]) -> Plan:
        settings, stand_ins = self._context.settings, self._context.outbox.stand_ins
        require_people(tx, settings, ask)
        route = stand_ins.planned(route_of(settings, name, ask), sensitive=False, human_only=False)
        expires_in = route["expires_in"]
        deadline = None if expires_in is None else tx.now + round(expires_in * SECOND)
        return Plan(
            route=name,
            agents=tuple(each for each, agent in settings.agents.items() if (agent.route or DEFAULT) == name),
            now=tx.now,
            at_once=route["at_once"],
            first=route["first"],
            people=tuple(_people(tx, route, deadline)) if stand_ins.people else (),
            stand_ins=tuple(route["stand_ins"]),
            stand_ins_after=route["stand_ins_after"],
            reminders=tuple(route["reminders"]),
            expires_in=expires_in,
            on_expire=route["on_expire"],
            human_only=route["human_only"],
            fallback=stand_ins.told_instead(route) if stand_ins.people else "",
        )


def _people(tx: Tx, route: Json, deadline: int | None) -> Iterator[Planned]:
    for id in route["ask"]:
        person = contacts.contact(tx, id)
        if person is not None:
            yield Planned(
                id,
                person.name,
                person.language,
                tuple(_ways(tx, route, id)),
                after_quiet(tx, id, deadline, only_looks=True),
            )


def _ways(tx: Tx, route: Json, contact: str) -> Iterator[Address]:
    """As one address after the other would fail: what is asked next is asked of who decides it."""
    tried: Tried = frozenset()
    while found := addresses(tx, route | {"ask": [contact]}, tried=tried, only_looks=True):
        yield from found
        tried |= {(address.provider, address.external_id) for address in found}
