"""`routes`: on which ways people are asked, tried without asking anything."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from answerback.cli.errors import Commands, Exit
from answerback.cli.options import patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Client, Notice, Plan, Way

TEXT = "This is a test of the route “{}”. Nothing is asked."
SILENCE = {
    "auto": "its agent is told, or it stays open if the agent did not say what silence means",
    "no-response": "its agent is told that nobody answered",
    "default": "the asker's default counts",
    "cancel": "the run is cancelled",
    "leave": "it can still be answered",
}


@click.group(cls=Commands)
def routes() -> None:
    """On which ways people are asked."""


@routes.command()
@click.argument("name", required=False, default="")
@click.option(
    "--to", metavar="NAME", multiple=True, help="A contact instead of the route's; several times for several."
)
@click.option("--send", is_flag=True, help="Send these people a notice that says that it is a test.")
@patience_option
@remote
def test(
    config: str | None, url: str, as_json: bool, name: str, to: tuple[str, ...], send: bool, patience: float
) -> None:
    """Show who would be asked now on a route, or on every one: where, in which order and when.

    Nothing is sent without --send. Ends with 1 when somebody could not be reached.
    """
    from answerback.cli import gateway, notify, terminal

    if send and not name:
        raise click.UsageError("--send needs the NAME of one route.")

    async def work(client: "Client") -> "tuple[list[Plan], Notice | None]":
        plans = [await client.plan(name, to)] if name or to else await client.plans()
        return plans, await _sent(client, name, to) if send else None

    plans, notice = gateway.speak(gateway.find(config, url), work, patience=patience)
    if as_json:
        told: Any = plans if not name else plans[0]
        terminal.put_json(told if notice is None else {"plan": told, "notice": notice})
    else:
        for plan in plans:
            _show(plan)
    if notice is not None:
        notify.tell(notice)
    lost = any(not any(way["works"] for way in person["ways"]) for plan in plans for person in plan["people"])
    failed = notice is not None and notice["status"] not in notify.ARRIVED
    click.get_current_context().exit(Exit.ERROR if lost or failed else Exit.FINE)


async def _sent(client: "Client", name: str, to: tuple[str, ...]) -> "Notice":
    sent = await client.notify(TEXT.format(name), ask=to, route=name, title="Test")
    return await client.follow_notice(sent["id"])


def _show(plan: "Plan") -> None:
    """The people of a route in a table, and what else there is to it."""
    from answerback.cli import terminal

    terminal.out(plan["route"], bold=True)
    if plan["people"]:
        terminal.table([["", *row] for row in map(_person(plan), plan["people"])])
    for sentence in _sentences(plan):
        terminal.out(f"  {sentence}")


def _person(plan: "Plan") -> Any:
    from answerback.cli import terminal

    between = " and " if plan["at_once"] else ", then "

    def row(person: Any) -> list[str]:
        if not person["ways"]:
            return [person["name"], "cannot be reached: no address on this route's providers"]
        quiet = f"; at {terminal.local_time(person['at'])}, after quiet hours" if person["quiet"] else ""
        return [person["name"], between.join(map(_way, person["ways"])) + quiet]

    return row


def _way(way: "Way") -> str:
    trouble = "" if way["reachable"] else " (does not answer any more)"
    if not way["works"]:
        trouble = " (does not work now, see answerback providers)"
    return f"{way['provider']} {way['id']}{trouble}"


def _sentences(plan: "Plan") -> Iterable[str]:
    if plan["first"]:
        yield f"{plan['first']} is asked first."
    if not any(person["ways"] for person in plan["people"]):
        shown = "; the gateway prints the link to the form" if plan["fallback"] else ""
        yield f"No person is asked{shown}."
    if plan["reminders"]:
        yield f"Asked again after {', '.join(map(span, plan['reminders']))}."
    if plan["stand_ins"]:
        after = plan["stand_ins_after"]
        when = f"after {span(after)}" if after else "when nobody can be reached"
        yield f"Instead of people, {when}: {', then '.join(plan['stand_ins'])}."
    if plan["human_only"]:
        yield "Only people may answer."
    if plan["expires_in"] is None:
        yield "It waits until it is answered."
    else:
        yield f"After {span(plan['expires_in'])} without an answer, {SILENCE[plan['on_expire']]}."


def span(seconds: float) -> str:
    """A duration as the configuration writes it: 90s, 10m, 1h30m."""
    left, parts = round(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or f"{seconds:g}s"
