"""Routes on which nobody can be asked, as far as the configuration and a plan can tell."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from answerback.settings import Route, Settings
from answerback.settings.values import FALLBACK, HUMAN, reaching

if TYPE_CHECKING:
    from answerback.client import Plan
    from answerback.provider import Provider


def notes(settings: Settings, providers: Mapping[str, "Provider"]) -> Iterator[str]:
    """A note on each such route, with the file. It is no problem: an account may be linked with a code."""
    told = {name for name, provider in providers.items() if not provider.needs_address}
    for route in settings.routes.values():
        if not told.intersection(route.providers) and not reaches(settings, route):
            yield f"{settings.file}: {_unreached(settings, route)}"


def reaches(settings: Settings, route: Route) -> bool:
    """Whether anybody is asked on a route: a person with an address, a stand-in, or who sees the link.

    Where no person is to be asked (`hitl.enabled: false`), that is what was wanted.
    """
    if not settings.hitl.enabled or not reaching(settings.providers):
        return True
    if not route.human_only and (route.stand_ins or settings.hitl.mode != HUMAN):
        return True
    people = [settings.contacts[id] for id in route.ask if id in settings.contacts]
    return any(address.provider in route.providers for person in people for address in person.addresses)


def _unreached(settings: Settings, route: Route) -> str:
    what = f"nobody can be asked on the route {route.name}"
    if not route.ask:
        return f"{what}: it asks no contact. Name people under contacts, each with their addresses."
    if not route.providers:
        return f"{what}: it names no provider."
    people, ways = ", ".join(route.ask), " or ".join(route.providers)
    return (
        f"{what}: there is no address of {people} on {ways}. Give one under "
        f"contacts.{route.ask[0]}.addresses, or link an account once the gateway runs: "
        f"answerback contacts link {route.ask[0]} {route.providers[0]}"
    )


def nobody(plan: "Plan") -> str:
    """What to do where a plan of the gateway asks nobody; "" where it asks somebody."""
    ways = [way for person in plan["people"] for way in person["ways"]]
    if any(way["works"] for way in ways) or plan["first"] or plan["stand_ins"]:
        return ""
    if plan["fallback"] not in ("", FALLBACK):  # a function, say, hears of it
        return ""
    what = f"Nobody can be asked on the route {plan['route']}"
    if ways:
        return f"{what}: none of its providers works now. See: answerback providers"
    if plan["fallback"] == FALLBACK:
        return f"{what}: no provider is configured, so the gateway prints the link to the form."
    if not plan["people"]:
        return f"{what}: it asks no contact. Name people under contacts, each with their addresses."
    first = plan["people"][0]["contact"]
    return (
        f"{what}: none of its people has an address on its providers. Give one under contacts, or link an "
        f"account: answerback contacts link {first} PROVIDER"
    )
