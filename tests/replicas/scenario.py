"""Twelve runs that end in six ways, with any number of gateways: what is done, and what must come of it."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from answerback_sandbox import Message
from tests.replicas.fleet import Fleet
from tests.replicas.replica import HASTY, PEOPLE

# How the first question of each run ends. The second is always tapped, unless the run is over by then.
WAYS = ("tap", "text", "form", "api", "expire", "cancel") * 2
RUNS = {f"run{number}": way for number, way in enumerate(WAYS)}
Delivery = tuple[str, str, str, str, str]  # kind, person, question (or run), how that ended, its own status


def expected() -> Counter[Delivery]:
    """What people are sent, each once: the questions, how each ended, and that the run is done."""
    return Counter(delivery for number, run in enumerate(RUNS) for delivery in _of(run, f"p{number}"))


def _of(run: str, person: str) -> list[Delivery]:
    ways = {"expire": ("expired", "expired"), "cancel": ("cancelled",)}
    ends = ways.get(RUNS[run], ("completed", "completed"))
    found = []
    for question, end in zip((f"First of {run}?", f"Second of {run}?"), ends, strict=False):
        found += [(kind, person, question, end, "sent") for kind in ("question", "outcome")]
    return found if ends == ("cancelled",) else [*found, ("notice", person, run, "completed", "sent")]


def journals() -> dict[str, list[str]]:
    """What the steps of each run are told, each once."""
    told = {"expire": ["first None", "second None"], "cancel": []}
    return {run: told.get(way, ["first Yes", "second No"]) for run, way in RUNS.items()}


async def deliveries(fleet: Fleet) -> Counter[Delivery]:
    """What the shared database says that people were sent."""
    rows = await fleet.all(
        """SELECT d.kind, d.contact_id, coalesce(i.questions::json -> 0 ->> 'text', r.thread_id),
                  coalesce(i.status, r.status), d.status
           FROM delivery d
           LEFT JOIN interaction i ON i.id = d.interaction_id
           LEFT JOIN run r ON r.id = d.run_id
           WHERE d.provider = 'telegram'"""
    )
    return Counter(rows)


async def play(fleet: Fleet, disturb: Callable[[], Awaitable[object]] | None = None) -> None:
    """All of it, spread over the replicas; `disturb` happens as soon as the first answers are given."""
    ids = await _begin(fleet)
    for number, run in enumerate(RUNS):
        await _end_first(fleet, number, ids[run])
    if disturb is not None:
        await disturb()
    await fleet.age(HASTY + 1)
    for number, way in enumerate(WAYS):
        if way != "cancel":
            await fleet.settle(partial(_shown, fleet, number, "Second"))
    for number, way in enumerate(WAYS):
        if way not in ("cancel", "expire"):
            fleet.box.tap(_phone(number), _shown(fleet, number, "Second").id, "No")
    await fleet.age(HASTY + 1)
    await fleet.settle(lambda: _over(fleet))


async def _begin(fleet: Fleet) -> dict[str, str]:
    """Each run is started at another replica, and asks a person of its own."""
    ids = {}
    for number, (run, way) in enumerate(RUNS.items()):
        given = {"folder": str(fleet.folder), "run": run}
        route = "hasty" if way == "expire" else "default"
        started = await fleet.post(
            fleet[number], "/v1/runs", agent="graph", input=given, thread_id=run, route=route,
            ask=[f"p{number}"],
        )  # fmt: skip
        ids[run] = started["id"]
    for number in range(len(RUNS)):
        await fleet.settle(partial(_shown, fleet, number, "First"))
    return ids


async def _end_first(fleet: Fleet, number: int, run: str) -> None:
    """At another replica than the one where the run was started."""
    asked, replica, way = _shown(fleet, number, "First"), fleet[number + 1], WAYS[number]
    if way == "tap":
        fleet.box.tap(_phone(number), asked.id, "Yes")
    elif way == "text":
        fleet.box.type(_phone(number), "yes", reply_to=asked.id)
    elif way == "form":
        await send_form(fleet, number, asked)
    elif way == "api":
        interaction = (await fleet.get(replica, f"/v1/runs/{run}"))["interactions"][0]
        await fleet.post(replica, f"/v1/interactions/{interaction}/respond", response="Yes")
    elif way == "cancel":
        await fleet.post(replica, f"/v1/runs/{run}/cancel")


async def send_form(fleet: Fleet, number: int, asked: Message) -> None:
    """Opens the link in the message at one replica and sends the form to another."""
    link = next(urlsplit(button.url).path for button in asked.buttons if button.url)
    async with fleet.http.get(fleet[number].url + link) as page:
        proof = re.search(r'name="proof" value="(\w+)"', await page.text())
        cookies = {name: cookie.value for name, cookie in page.cookies.items()}
    assert proof is not None
    sent = await fleet.http.post(
        fleet[number + 1].url + link, data={"proof": proof[1], "q0": "0"}, cookies=cookies,
        allow_redirects=False,
    )  # fmt: skip
    assert sent.status == 303, await sent.text()


async def _over(fleet: Fleet) -> bool:
    """Every run has ended, and there is nothing left to say."""
    working = "SELECT 1 FROM run WHERE status NOT IN ('completed', 'cancelled')"
    unsaid = "SELECT 1 FROM delivery WHERE status = 'queued'"
    return not (await fleet.all(working) or await fleet.all(unsaid))


def _phone(number: int) -> int:
    return int(PEOPLE[f"p{number}"])


def _shown(fleet: Fleet, number: int, which: str) -> Any:
    """The message on this person's phone that asks, or asked, the first or second question."""
    shown = fleet.box.received(_phone(number))
    return next((message for message in shown if f"{which} of run{number}?" in message.text), None)
