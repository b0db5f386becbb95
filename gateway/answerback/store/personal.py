"""What is kept of one person: where they still play a part, and their rows, table by table in stretches."""
# ruff: noqa: S608 - the statements are built from the constants of this module and of `tables`

from enum import StrEnum

from sqlalchemy import text

from answerback.store.erasing import GIVEN_UP, OVER
from answerback.store.query import Query
from answerback.store.tx import Row, Tx
from answerback.store.walking import flag, stretch
from answerback.tables import UNGIVEN

SMALL = 65_536  # bytes of an event that are read together with others


class Step(StrEnum):
    """What is gone through, in this order: what tells whose something is goes after what it tells of."""

    ACCOUNTS = "accounts"
    QUESTIONS = "questions"
    NOTICES = "notices"
    IDS = "ids"
    MESSAGES = "messages"
    EVENTS = "events"
    RUNS = "runs"


_ASKED = """EXISTS (SELECT 1 FROM delivery
  WHERE delivery.interaction_id = it.id AND delivery.contact_id = :contact)"""
_SAID = """EXISTS (SELECT 1 FROM answer
  WHERE answer.interaction_id = it.id AND answer.contact_id = :contact)"""
_STARTED = """EXISTS (SELECT 1 FROM delivery
  WHERE delivery.id = run.told AND delivery.contact_id = :contact)"""
_OF_QUESTION = "it.id, it.code, it.agent, it.run_id"


def _open(why: str, source: str, condition: str) -> Query:
    return Query(text(f"SELECT {_OF_QUESTION}, '{why}' AS why FROM {source} WHERE {condition}"))


OPEN = (  # each is led by an index of what is under way, but for the runs, which are read from end to end
    _open("still open", "interaction it", f"it.status = 'pending' AND ({_ASKED} OR {_SAID})"),
    _open(
        "its answer is on its way to its agent",
        "interaction it",
        "it.resume_next_at IS NOT NULL AND it.answered_by = :contact",
    ),
    _open(
        "its answer could not be given to its agent",
        f"(SELECT * FROM interaction WHERE {UNGIVEN}) it",
        f"it.answered_by = :contact AND {GIVEN_UP}",
    ),
    _open(
        "how it ended is still to be posted",
        "delivery sent JOIN interaction it ON it.id = sent.interaction_id",
        f"sent.status = 'queued' AND sent.provider = '@callback_url' AND {_ASKED}",
    ),
    _open(
        "its run goes on or failed",
        "run JOIN interaction it ON it.run_id = run.id",
        f"NOT {OVER} AND it.run_id <> '' AND it.answered_by = :contact AND it.status <> 'pending' "
        "AND it.resume_next_at IS NULL",
    ),
    Query(
        text(
            "SELECT run.id, '' AS code, run.agent, run.id AS run_id, 'a run that they started' AS why "
            f"FROM run WHERE NOT {OVER} AND run.told <> '' AND {_STARTED}"
        )
    ),
)


NEWER = Query(  # read from end to end, once for each who is erased
    text(
        "SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM delivery "
        "WHERE delivery.contact_id = :contact AND delivery.created_at > :began) "
        "OR EXISTS (SELECT 1 FROM answer WHERE answer.contact_id = :contact AND answer.at > :began)"
    )
)
_ALONE = """NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.interaction_id = it.id
    AND delivery.contact_id NOT IN ('', :contact))
  AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.interaction_id = it.id AND answer.contact_id <> :contact)
  AND it.answered_by IN ('', :contact)"""
_RUN_IS_OVER = f"(it.run_id = '' OR EXISTS (SELECT 1 FROM run WHERE run.id = it.run_id AND {OVER}))"
_NOTHING_OF_THEM = "(it.erased_at IS NOT NULL AND it.questions = '[]')"
_DUE = f"""it.created_at <= :began AND it.status <> 'pending' AND it.resume_next_at IS NULL
  AND NOT {_NOTHING_OF_THEM}"""
_ALL_ERASED = """(EXISTS (
  SELECT 1 FROM interaction
  WHERE interaction.run_id = it.id AND (interaction.answered_by = :contact OR EXISTS (
    SELECT 1 FROM delivery
    WHERE delivery.interaction_id = interaction.id AND delivery.contact_id = :contact)))
  AND NOT EXISTS (SELECT 1 FROM interaction
    WHERE interaction.run_id = it.id AND NOT (interaction.erased_at IS NOT NULL AND questions = '[]')))"""
KEYS: dict[Step, tuple[str, ...]] = dict.fromkeys(Step, ("id",)) | {
    Step.IDS: ("provider", "message_id"),
    Step.EVENTS: ("provider", "event_id"),
}
LOOK = {
    Step.ACCOUNTS: stretch(
        "delivery", ("id",), "it.contact_id, it.provider, it.external_id, it.place, it.created_at"
    ),
    Step.QUESTIONS: stretch(
        "interaction",
        ("id",),
        f"{flag(f'{_DUE} AND it.answered_by = :contact')} AS answered, "
        f"{flag(f'{_DUE} AND ({_ASKED} OR {_SAID})')} AS asked, "
        f"{flag(f'{_ALONE} AND {_RUN_IS_OVER} AND NOT {GIVEN_UP}')} AS alone",
    ),
    Step.NOTICES: stretch(
        "notice",
        ("id",),
        f"it.route, {flag('it.erased_at IS NULL AND it.created_at <= :began')} AS due",
    ),
    Step.IDS: stretch(
        "message",
        KEYS[Step.IDS],
        "it.parked, sent.contact_id, sent.external_id, sent.created_at",
        "LEFT JOIN delivery sent ON sent.id = it.delivery_id",
    ),
    Step.MESSAGES: stretch(
        "delivery",
        ("id",),
        "it.contact_id, it.provider, it.external_id, it.created_at, "
        f"{flag('''replace(it.content, :named, '') <> it.content''')} AS named",
    ),
    Step.EVENTS: stretch(
        "reply",
        KEYS[Step.EVENTS],
        "it.received_at, it.error, it.id AS letter, length(it.raw) AS size, "
        f"CASE WHEN length(it.raw) <= {SMALL} THEN it.raw END AS raw, "
        + flag(
            "it.outcome = 'accepted' AND EXISTS (SELECT 1 FROM interaction answered "
            "WHERE answered.id = it.interaction_id AND answered.answered_by = :contact "
            "AND answered.answered_via = it.provider)"
        )
        + " AS won",
    ),
    Step.RUNS: stretch(
        "run",
        ("id",),
        "it.agent, "
        + flag(
            "it.erased_at IS NULL AND it.created_at <= :began AND it.status IN ('completed', 'cancelled') "
            "AND it.stop_at IS NULL AND (EXISTS (SELECT 1 FROM delivery "
            f"WHERE delivery.id = it.told AND delivery.contact_id = :contact) OR {_ALL_ERASED})"
        )
        + " AS due",
    ),
}
_WANTS: dict[Step, tuple[str, ...]] = {
    Step.QUESTIONS: ("contact", "began"),
    Step.NOTICES: ("began",),
    Step.MESSAGES: ("named",),
    Step.EVENTS: ("contact",),
    Step.RUNS: ("contact", "began"),
}


def still_open(tx: Tx, contact: str) -> list[Row]:
    """`id`, `code`, `agent`, `run_id` and `why` of what is still to be answered or told in their name."""
    found = {row["id"]: row for query in reversed(OPEN) for row in tx.all(query, contact=contact)}
    return sorted(found.values(), key=lambda row: str(row["id"]))


def start(step: Step) -> Row:
    """The key before the first."""
    return dict.fromkeys(KEYS[step], "")


def look(tx: Tx, step: Step, behind: Row, most: int, **known: object) -> tuple[list[Row], Row | None]:
    """At most `most` rows behind a key, and the key to go on behind; None: there is nothing behind it."""
    wanted = {name: known[name] for name in _WANTS.get(step, ())}
    found = tx.all(LOOK[step], most=most, **behind, **wanted)
    return found, key_of(step, found[-1]) if len(found) == most else None


def key_of(step: Step, row: Row) -> Row:
    return {name: row[name] for name in KEYS[step]}
