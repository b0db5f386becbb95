"""What must be true after a storm at the services: people, agent, phones and database tell one story."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from answerback.model import RunStatus
from answerback.outbox import SHOWN
from answerback.store.codec import loads
from answerback.store.deliveries import NEEDLESS
from tests.faults.kill_audit import Findings
from tests.faults.storm_audit import own_word, rows
from tests.faults.storm_services import Services
from tests.faults.storm_thumbs import STEPS

Rows = list[dict[str, Any]]
UNANSWERED = ("failed", "")  # outcomes of an event that nobody could read
BOUNCED = "bounce:"  # how a mail that comes back is known: it is no message of its own
UNSENT = ("queued", "failed", "unknown")


async def audit(here: Services) -> Findings:
    """Everything that is lost, wrong or stuck."""
    found = Findings()
    _answers(here, found)
    sent = await rows(here.app, "delivery")
    _sent(sent, found)
    _shown(here, sent, found)
    _ends(sent, found)
    for row in await rows(here.app, "reply"):
        if row["outcome"] in UNANSWERED:
            found.wrong.append(f"{row['event_id']} of {row['provider']} could not be read: {row['error']}")
    await own_word(here.app, found)
    found.wrong += here.thumbs.complaints
    return found


def _answers(here: Services, found: Findings) -> None:
    """Each step was told once, and what somebody said to a message that asked this very step."""
    told = Counter((thread, question) for thread, question, _ in here.agent.journal)
    for thread, question, answer in here.agent.journal:
        said = here.thumbs.said[thread, question]
        if answer.values["q1"] not in said:
            found.wrong.append(f"{thread} {question}: told {answer.values}, and people said {said}")
    for thread, run in here.runs.items():
        if run.status is not RunStatus.COMPLETED:
            found.stuck.append(f"{thread} is {run.status}: {run.error}")
        for step in STEPS:
            if told[thread, step] != 1:
                found.wrong.append(f"{thread} {step} was told {told[thread, step]} times")


def _sent(sent: Rows, found: Findings) -> None:
    found.stuck += [
        f"a {row['kind']} on {row['provider']} is {row['status']}: {row['error']}"
        for row in sent
        if row["status"] in UNSENT and row["error"] != NEEDLESS
    ]


def _shown(here: Services, sent: Rows, found: Findings) -> None:
    """What counts as sent is there, and no question that we know of still stands open on a phone."""
    known = {id for row in sent for id in loads(row["message_ids"]) if not id.startswith(BOUNCED)}
    there = set(_there(here))
    found.lost += [f"a message that counts as sent is nowhere: {id}" for id in known - there]
    for person in here.box.everyone:
        for message in here.box.received(person.id):
            if message.buttons and _telegram(here, person.id, message.id) in known:
                found.wrong.append(f"{person.name} can still tap {message.text[:40]!r}")


def _there(here: Services) -> Iterator[str]:
    for person in here.box.everyone:
        for message in here.box.received(person.id):
            yield _telegram(here, person.id, message.id)
        yield from (note.sid for note in here.box.twilio.received(person.whatsapp))
        yield from (mail.message_id for mail in here.thumbs.letters(person))


def _telegram(here: Services, chat: int, id: int) -> str:
    return f"{here.box.world.bot_id}:{chat}:{id}"


def _ends(sent: Rows, found: Findings) -> None:
    """Whoever was asked, at whichever place, was told there once how that ended."""
    ends = Counter((row["interaction_id"], row["place"]) for row in sent if row["kind"] == "outcome")
    asked = Counter(
        (row["interaction_id"], row["place"])
        for row in sent
        if row["kind"] == "question" and row["status"] in SHOWN
    )
    for (id, place), count in asked.items():
        if ends[id, place] != count:
            found.wrong.append(f"{place} was asked {id} {count} times, and told {ends[id, place]} times")
