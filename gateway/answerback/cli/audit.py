"""`audit`: what is kept of all that happened: verify, export."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from answerback.cli.commands import Commands
from answerback.cli.options import remote

if TYPE_CHECKING:
    from answerback.client import Client, Entry, Flaw

Kept = dict[tuple[str, int], str]  # an entry's question and number, and its hash


@click.group(cls=Commands)
def audit() -> None:
    """What is kept of all that happened, and whether it is whole."""


@audit.command()
@click.argument("export", required=False, type=click.Path(path_type=Path))
@remote
def verify(config: str | None, url: str, as_json: bool, export: Path | None) -> None:
    """Check that the audit is whole, and says the same as the questions and answers that are kept.

    With an EXPORT, also that all of it is still there, unchanged. Ends with 1 if anything is wrong.
    """
    from answerback.cli import gateway, terminal

    kept = _read(export) if export is not None else {}

    async def work(client: "Client") -> dict[str, Any]:
        found = await _check(client)
        if kept:
            found["flaws"] += await _compare(client, dict(kept))
        return found

    found = gateway.speak(gateway.find(config, url), work)
    flaws: list[Flaw] = found["flaws"]
    if as_json:
        terminal.put_json(found)
    elif flaws:
        terminal.table([[flaw["interaction_id"], flaw["what"]] for flaw in flaws])
        terminal.note(
            f"{len(flaws)} of these. The database was changed by something else than the gateway, or is "
            "damaged: compare it with a backup."
        )
    else:
        terminal.note(f"All is as it was written: {found['entries']} entries of {found['chains']} questions.")
        if export is not None:
            terminal.note(f"All {len(kept)} entries of {export.name} are among them.")
    if flaws:
        click.get_current_context().exit(1)


@audit.command()
@remote
def export(config: str | None, url: str, as_json: bool) -> None:
    """Print the whole audit, an entry a line, as JSON. Keep it elsewhere, and give it to `verify` later.

    Nothing in it tells what was asked or answered.
    """
    import json

    from answerback.cli import gateway, terminal

    async def work(client: "Client") -> int:
        number = 0
        async for entry in _entries(client):
            click.echo(json.dumps(entry))
            number += 1
        return number

    number = gateway.speak(gateway.find(config, url), work)
    terminal.note(f"{number} entries.")


async def _check(client: "Client") -> dict[str, Any]:
    found: dict[str, Any] = {"chains": 0, "entries": 0, "flaws": []}
    after: str | None = ""
    while after is not None:
        page = await client.check_audit(after=after)
        for name in found:
            found[name] += page[name]  # type: ignore[literal-required]
        after = page["next"]
    return found


async def _entries(client: "Client") -> AsyncIterator["Entry"]:
    after: str | None = ""
    while after is not None:
        page = await client.audit(after=after)
        for entry in page["items"]:
            yield entry
        after = page["next"]


async def _compare(client: "Client", kept: Kept) -> list["Flaw"]:
    """What of an export is not there any more as it was."""
    flaws: list[Flaw] = []
    async for entry in _entries(client):
        hash = kept.pop((entry["interaction_id"], entry["seq"]), entry["hash"])
        if hash != entry["hash"]:
            flaws.append(_flaw(entry["interaction_id"], entry["seq"], "is not the one that was exported"))
    return flaws + [_flaw(id, seq, "was exported and is gone") for id, seq in kept]


def _flaw(id: str, seq: int, what: str) -> "Flaw":
    return {"interaction_id": id, "entry": seq, "what": f"Entry {seq} {what}."}


def _read(file: Path) -> Kept:
    """The entries of an export, or wrong usage with the line that is none."""
    import json

    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror}.") from None
    kept: Kept = {}
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            kept[entry["interaction_id"], entry["seq"]] = entry["hash"]
        except (ValueError, TypeError, KeyError):
            message = f"{file}, line {number}: this is no entry that `answerback audit export` printed."
            raise click.UsageError(message) from None
    return kept
