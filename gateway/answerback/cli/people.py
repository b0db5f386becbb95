"""`contacts`, `agents`: who can be asked, and who asks."""

from typing import TYPE_CHECKING, Any

import click

from answerback.cli.commands import Commands
from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import Client


AGAIN = 1.0  # seconds between two looks how far an erasure is


@click.group(cls=Commands)
def contacts() -> None:
    """The people who can be asked."""


@contacts.command("list")
@remote
def list_(config: str | None, url: str, as_json: bool) -> None:
    """List contacts and where they are reached."""
    from answerback.cli import terminal

    page = _call(config, url, "GET", "/v1/contacts")
    if as_json:
        return terminal.put_json(page)
    if not page["items"]:
        return terminal.note("There is nobody yet: answerback contacts add alice --name Alice")
    terminal.table([_person(contact) for contact in page["items"]])


@contacts.command()
@click.argument("id")
@click.option("--name", metavar="TEXT", help="As others are told who answered.  [default: the id]")
@click.option("--language", metavar="TAG", help="Such as de.  [default: en]")
@click.option("--timezone", metavar="ZONE", help="Such as Europe/Vienna.  [default: UTC]")
@click.option("--quiet-hours", metavar="FROM-TO", help='Such as 22:00-07:00, in that time zone; "" for none.')
@click.option(
    "--address", "addresses", metavar="PROVIDER=ID", multiple=True, help="Several times for several."
)
@remote
def add(
    config: str | None, url: str, as_json: bool, addresses: tuple[str, ...], **contact: str | None
) -> None:
    """Add a contact, or change one; who stands in the configuration is changed there.

    What is left out stays as it is. An address replaces what the contact had on the same provider.
    """
    from answerback.cli import terminal

    body: dict[str, Any] = {name: value for name, value in contact.items() if value is not None}
    body["addresses"] = dict(_address(text) for text in addresses)
    added = _call(config, url, "POST", "/v1/contacts", body)
    if as_json:
        return terminal.put_json(added)
    terminal.table([_person(added)])
    if not added["addresses"]:
        terminal.note(f"Now: answerback contacts link {added['id']} PROVIDER")


@contacts.command()
@click.argument("id")
@click.argument("provider")
@remote
def link(config: str | None, url: str, as_json: bool, id: str, provider: str) -> None:
    """Make a code with which a contact's own account is linked, once, such as a chat on Telegram."""
    from answerback.cli import terminal

    made = _call(config, url, "POST", f"/v1/contacts/{_part(id)}/link", {"provider": provider})
    if as_json:
        return terminal.put_json(made)
    terminal.note(f"Send this to the bot on {provider}, in a private chat, from {made['name']}'s account:")
    terminal.out(made["text"])
    if made["url"]:
        terminal.note("or open there:")
        terminal.out(made["url"])
    terminal.note(f"It works once, until {terminal.local_time(made['expires_at'])} (ten minutes).")


@contacts.command()
@click.argument("id")
@click.option("--provider", metavar="NAME", default="", help="Only the address there.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@remote
def remove(config: str | None, url: str, as_json: bool, id: str, provider: str, yes: bool) -> None:
    """Remove a contact, or an address of theirs; who stands in the configuration is taken out there.

    What they were asked goes on with others. What they answered stays.
    """
    from answerback.cli import terminal

    if not yes:
        what = f"the address of {id} on {provider}" if provider else id
        then = "Links and buttons that were sent there will answer nothing any more."
        click.confirm(f"Remove {what}? {then} Go on?", abort=True, err=True)
    path = f"/v1/contacts/{_part(id)}" + (f"/addresses/{_part(provider)}" if provider else "")
    removed = _call(config, url, "DELETE", path)
    if as_json:
        return terminal.put_json(removed)
    for line in _removed(removed, provider):
        terminal.note(line)


@contacts.command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@remote
def erase(config: str | None, url: str, as_json: bool, id: str, yes: bool) -> None:
    """Erase what is kept of somebody who was removed: what they said, and every id that names them.

    What was decided, when and by which contact id stays. It goes on in the gateway if this is stopped.
    """
    import time

    from answerback.cli import terminal

    if not yes:
        what = f"What {id} said, and where they were reached, will be gone for good."
        click.confirm(f"{what} Go on?", abort=True, err=True)
    before = None
    while _goes_on(erased := _call(config, url, "DELETE", f"/v1/contacts/{_part(id)}/data")):
        if erased["step"] != before and not as_json:
            terminal.note(f"Erasing {id}: {erased['step']} …")
        before = erased["step"]
        time.sleep(AGAIN)
    if as_json:
        return terminal.put_json(erased)
    terminal.note(said_of(erased))


def _goes_on(erased: dict[str, Any]) -> bool:
    """Whether it is worth waiting for; an agent may be away for days."""
    return not erased["done"] and not erased.get("waits")


def said_of(erased: dict[str, Any]) -> str:
    from answerback.cli import terminal

    if agents := ", ".join(erased.get("waits", [])):
        return (
            f"These agents cannot forget their part now: {agents}. All else that is kept of {erased['id']} "
            "is erased. They are told again every ten minutes. Run this once more to see whether it is done."
        )
    counts = ", ".join(f"{number} {kind}" for kind, number in erased["erased"].items())
    when = terminal.local_time(erased["erased_at"])
    left = f"Nothing is left but what was decided, under the id {erased['id']}."
    return f"What was kept of {erased['id']} was erased at {when}: {counts or 'there was nothing'}. {left}"


def _removed(removed: dict[str, Any], provider: str) -> list[str]:
    """What was done, and what is left."""
    name, elsewhere, unasked = removed["name"], removed["asked_elsewhere"], removed["unasked"]
    whose = f"The address of {name} on {provider}" if provider else name
    lines = [f"{whose} is removed."]
    if elsewhere:
        lines.append(f"Now asked elsewhere: {', '.join(elsewhere)}.")
    if unasked:
        lines.append(
            f"Still open, and nobody is asked any more: {', '.join(unasked)}. Answer or cancel them."
        )
    if not provider:
        lines.append(
            f"Left: what {name} was asked and answered, with the name. The id can be given again. "
            f"To take out what they said: answerback contacts erase {removed['id']}"
        )
    return lines


@click.command()
@remote
def agents(config: str | None, url: str, as_json: bool) -> None:
    """List the agents, and whether they can be used."""
    from answerback.cli import terminal

    page = _call(config, url, "GET", "/v1/agents")
    if as_json:
        return terminal.put_json(page)
    if not page["items"]:
        return terminal.note("No agent is configured: see agents in the configuration.")
    terminal.table([[item["name"], item["use"], item["state"]] for item in page["items"]])


def _call(config: str | None, url: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    from answerback.cli import gateway

    async def work(client: "Client") -> Any:
        return await client.call(method, path, body=body)

    return gateway.speak(gateway.find(config, url), work)


def _person(contact: dict[str, Any]) -> list[str]:
    places = ", ".join(f"{address['provider']} {address['id']}" for address in contact["addresses"])
    about = [contact[name] for name in ("id", "name", "language", "timezone")]
    return [*about, places or "no address"]


def _address(text: str) -> tuple[str, str]:
    provider, sign, id = text.partition("=")
    if not (provider and sign and id):
        message = "an address is written PROVIDER=ID, such as telegram=1001"
        raise click.BadParameter(message, param_hint="--address")
    return provider, id


def _part(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
