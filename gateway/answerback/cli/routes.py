"""`routes`: on which ways people are asked, tried without asking anything."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from answerback.cli.commands import Commands
from answerback.cli.errors import Exit
from answerback.cli.options import patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Client, Notice, Plan, Planned, Way

SILENCE = {
    "auto": "its agent is told, or it stays open if the agent did not say what silence means",
    "no-response": "its agent is told that nobody answered",
    "default": "the default that its asker set counts; without one it ends as with auto",
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

    Nothing is sent without --send. Ends with 1 when somebody could not be reached, or nobody would be asked.
    """
    from answerback.cli import gateway, notify, reaching, terminal

    if send and not name:
        raise click.UsageError("--send needs the NAME of one route.")

    async def work(client: "Client") -> "tuple[list[Plan], list[Notice]]":
        plans = [await client.plan(name, to)] if name or to else await client.plans()
        return plans, await _sent(client, plans[0]) if send else []

    plans, notices = gateway.speak(gateway.find(config, url), work, patience=patience)
    unreached = [sentence for plan in plans if (sentence := reaching.nobody(plan))]
    if as_json:
        told: Any = plans[0] if name else {"items": plans}
        terminal.put_json({"plan": told, "notices": notices} if send else told)
    else:
        for plan in plans:
            _show(plan)
        for sentence in unreached:
            terminal.note(f"answerback: {sentence}")
    for notice in notices:
        notify.tell(notice)
    people = [person for plan in plans for person in plan["people"]]
    lost = unreached or any(not any(way["works"] for way in person["ways"]) for person in people)
    failed = any(notice["status"] not in notify.ARRIVED for notice in notices)
    click.get_current_context().exit(Exit.ERROR if lost or failed else Exit.FINE)


async def _sent(client: "Client", plan: "Plan") -> "list[Notice]":
    """What became of a notice to everybody who has an address, each in their language."""
    from answerback.sentences import say

    people = defaultdict(list)
    for person in plan["people"]:
        if person["ways"]:
            people[person["language"]].append(person["contact"])
    sent = [
        await client.notify(
            say("test_body", language), ask=ids, route=plan["route"], title=say("test_title", language)
        )
        for language, ids in people.items()
    ]
    return [await client.follow_notice(each["id"]) for each in sent]


def _show(plan: "Plan") -> None:
    """The people of a route in a table, and what else there is to it."""
    from answerback.cli import terminal

    terminal.out(plan["route"], bold=True)
    if plan["people"]:
        terminal.table([["", *row] for row in map(_person(plan), plan["people"])])
    for sentence in _sentences(plan):
        terminal.out(f"  {sentence}")


def _person(plan: "Plan") -> "Callable[[Planned], list[str]]":
    from answerback.cli import terminal

    between = " and " if plan["at_once"] else ", then "

    def row(person: "Planned") -> list[str]:
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
    if plan["agents"]:
        yield f"For {', '.join(plan['agents'])}, where no other route is named."
    if plan["first"]:
        yield f"{plan['first']} is asked first."
    if not any(person["ways"] for person in plan["people"]):
        yield f"No person is asked{_instead(plan['fallback'])}."
    if plan["reminders"]:
        yield f"Asked again after {', '.join(map(_span, plan['reminders']))}."
    if plan["stand_ins"]:
        after = plan["stand_ins_after"]
        when = f"after {_span(after)}" if after else "when nobody can be reached"
        yield f"Instead of people, {when}: {', then '.join(plan['stand_ins'])}."
    if plan["human_only"]:
        yield "Only people may answer."
    if plan["expires_in"] is None:
        yield "It waits until it is answered."
    else:
        yield f"After {_span(plan['expires_in'])} without an answer, {SILENCE[plan['on_expire']]}."


def _instead(provider: str) -> str:
    """Who hears of a question where no person does."""
    from answerback.settings.values import FALLBACK

    if provider == FALLBACK:
        return "; the gateway prints the link to the form"
    return f"; {provider} is told of it" if provider else ""


def _span(seconds: float) -> str:
    """A duration to the second, as the configuration writes it (90s, 10m, 1h30m); messages round it."""
    left, parts = round(seconds), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or f"{seconds:g}s"
