"""`ask`: put a question, and, where wanted, wait for its answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from answerback.cli.errors import Exit
from answerback.cli.options import duration, here_option, patience_option, remote

if TYPE_CHECKING:
    from answerback.client import Asked, Client, Interaction

AT_ONCE = 0.001  # seconds of waiting
ON_EXPIRE = click.Choice(["auto", "no-response", "default", "cancel", "leave"])


@click.command()
@click.argument("text")
@click.option("--to", metavar="NAME", multiple=True, help="A contact; several times for several.")
@click.option("--route", metavar="NAME", default="", help="A route of the configuration.")
@click.option("--choice", "choices", metavar="TEXT", multiple=True, help="To choose from; several times.")
@click.option("--other", is_flag=True, help="With --choice: a text of one's own is an answer too.")
@click.option("--confirm", is_flag=True, help="Ask for yes or no; waits, and exits with 0 on yes only.")
@click.option("--context", metavar="TEXT", default="", help="Why this is asked.")
@click.option("--title", metavar="TEXT", default="", help="Who asks and about what, in one line.")
@click.option("--expires", metavar="TIME", callback=duration, help="Until when: 90s, 10m, 24h.")
@click.option("--on-expire", type=ON_EXPIRE, help="What silence means. [default: the route's]")
@click.option("--default", metavar="TEXT", help="The answer that --on-expire default gives.")
@click.option("--sensitive", is_flag=True, help="Say only that a question waits; show it on the form.")
@click.option("--human-only", is_flag=True, help="No stand-in answers: a person, or nobody.")
@click.option("--callback-url", metavar="URL", default="", help="Where its end is posted to, signed.")
@click.option("--idempotency-key", metavar="KEY", default="", help="The same key again does not ask again.")
@click.option("--wait/--no-wait", help="Wait for the answer. [default: only with --confirm]")
@here_option
@patience_option
@remote
def ask(**options: Any) -> None:
    """Ask a person.

    \b
    answerback ask "Deploy now?" --confirm --to alice && ./deploy
    term=$(answerback ask "Which term?" --choice coding --choice costing --wait)

    Without --wait this prints the id of the question. With it, stdout gets the answer and nothing else, and
    the exit code says how it ended: 0 answered (with --confirm: yes), 3 expired, 4 cancelled, 5 answered no.
    On a terminal you can answer right there, if the key has the scope answer, until somebody else does.
    """
    from answerback.cli import answering, gateway, terminal

    question = _question(options)
    waits = options["wait"] if _is_said("wait") else options["confirm"]
    seen: list[Asked] = []

    async def work(client: "Client") -> "Interaction | None":
        asked = await client.ask(question, **_more(options))
        seen.append(asked)
        here = await answering.allowed(client, asked["id"], keyboard) if waits else None
        people = options["to"] or place.asked(options["route"])
        await _say_asked(client, asked, people, waits=waits and here is None)
        if here is not None:
            await answering.shown(client, await client.wait(asked["id"], AT_ONCE), here)
        return await client.wait(asked["id"]) if waits else None

    place = gateway.find(options["config"], options["url"])
    keyboard = answering.keyboard(options)
    say = keyboard.say if keyboard else terminal.note
    try:
        record = gateway.speak(place, work, patience=options["patience"], say=say)
    except KeyboardInterrupt:
        if seen:
            terminal.note(f"\n{answering.still_open(seen[0]['id'])}")
        raise
    if record is None:
        (terminal.put_json if options["as_json"] else lambda asked: terminal.out(asked["id"]))(seen[0])
        return
    tell(record, as_json=options["as_json"])


def _is_said(option: str) -> bool:
    """Whether it was given. Releases of click differ in what a flag without a default is that was not."""
    source = click.get_current_context().get_parameter_source(option)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def tell(record: "Interaction", *, as_json: bool) -> None:
    """Print how a question ended, and exit with what that means."""
    from answerback.cli import question, terminal

    terminal.note(question.ended(record))
    if as_json:
        terminal.put_json(record)
    elif record["answer"] is not None and record["answer"]["values"]:
        terminal.out(question.answer_text(record))
    if files := question.files(record):
        terminal.note("\n".join([*files, f"To get them: answerback interactions files {record['id']}"]))
    click.get_current_context().exit(exit_code(record))


def exit_code(record: "Interaction") -> Exit:
    """0 only for an answer that a person gave, and for a confirmation only if every one of them is yes."""
    if record["status"] != "completed":
        return {"expired": Exit.EXPIRED, "cancelled": Exit.CANCELLED}.get(record["status"], Exit.ERROR)
    answer = record["answer"]
    if answer is None or answer["expired"]:
        return Exit.ERROR if answer is None else Exit.EXPIRED
    confirmations = [item["id"] for item in record["questions"] if item["kind"] == "confirm"]
    given = [answer["values"].get(id) for id in confirmations]
    if any(value is False for value in given):
        return Exit.NO
    return Exit.FINE if all(value is True for value in given) else Exit.ERROR


def _question(options: dict[str, Any]) -> dict[str, Any]:
    if options["confirm"] and options["choices"]:
        raise click.UsageError("Use either --confirm or --choice.")
    if options["other"] and not options["choices"]:
        raise click.UsageError("--other needs --choice.")
    if (options["default"] is None) == (options["on_expire"] == "default"):
        raise click.UsageError("--on-expire default and --default TEXT belong together.")
    question = {"text": options["text"], "kind": "confirm" if options["confirm"] else "text"}
    if options["choices"]:
        question |= {"kind": "choice", "choices": list(options["choices"]), "free_text": options["other"]}
    return question


def _more(options: dict[str, Any]) -> dict[str, Any]:
    same = (
        "route",
        "title",
        "context",
        "default",
        "sensitive",
        "human_only",
        "callback_url",
        "idempotency_key",
    )
    return {
        **{name: options[name] for name in same},
        "ask": options["to"],
        "expires_in": options["expires"],
        "on_expire": options["on_expire"] or "",
    }


async def _say_asked(client: "Client", asked: "Asked", ids: Sequence[str], *, waits: bool) -> None:
    from answerback.cli import terminal

    until = f" Open until {terminal.local_time(asked['expires_at'])}." if asked["expires_at"] else ""
    reached, missed = await _names(client, ids)
    terminal.note(f"{f'Asked {reached}.' if reached else 'Asked.'}{until}")
    if missed:
        terminal.note(f"No address yet: {missed}. See: answerback contacts link")
    terminal.note(f"Answer here: {asked['form_url']}")
    if waits:
        terminal.note(f"or with:     answerback interactions answer {asked['id']}")


async def _names(client: "Client", ids: Sequence[str]) -> tuple[str, str]:
    """Who of these has been sent the question, and who has no address; a key that may not know names ids."""
    from answerback.errors import Refused

    try:
        people = (
            {item["id"]: item for item in (await client.call("GET", "/v1/contacts"))["items"]} if ids else {}
        )
    except Refused:
        return ", ".join(ids), ""
    found = [people[id] for id in ids if id in people]
    reached = [person["name"] for person in found if person["addresses"]]
    missed = [person["name"] for person in found if not person["addresses"]]
    return ", ".join(reached), ", ".join(missed)
