"""What the HTTP API tells, as its clients see it: the JSON of each record. Times are RFC 3339 in UTC."""

from typing import TypedDict

from answerback.model import Json


class Asked(TypedDict):
    """A question that was put."""

    id: str
    status: str
    form_url: str
    expires_at: str | None


class Attachment(TypedDict):
    """A file that came with an answer, as its sender describes it: believe neither name nor type."""

    id: str
    name: str
    content_type: str
    size: int | None
    provider: str
    href: str


class Answer(TypedDict):
    """`value` is the value of the only question; of several it is null, see `values` then."""

    value: Json
    values: dict[str, Json]
    text: str
    by: str
    via: str
    stand_in: bool
    at: str | None
    expired: bool
    default_used: bool
    attachments: list[Attachment]


class Interaction(TypedDict):
    """The record of an ask; `status` is pending, completed, expired or cancelled."""

    id: str
    status: str
    code: str
    title: str
    context: str
    questions: list[dict[str, Json]]
    agent: str
    user: str
    run_id: str
    thread_id: str
    created_at: str
    expires_at: str | None
    overdue_at: str | None
    answered_at: str | None
    answered_by: str
    answered_via: str
    answer: Answer | None
    reason: str
    erased_at: str | None


class Run(TypedDict):
    """One execution of an agent; `status` is running, waiting, completed, failed or cancelled."""

    id: str
    agent: str
    thread_id: str
    status: str
    result: Json
    error: str
    interactions: list[str]
    erased_at: str | None
    user: str


class Interactions(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[Interaction]
    next: str | None


class Runs(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[Run]
    next: str | None


class Sent(TypedDict):
    """A notice that was taken; `status` is queued, or what became of it."""

    id: str
    status: str


class Told(TypedDict):
    """What became of a notice at one address; `provider` is "" for somebody who has none."""

    contact: str
    provider: str
    status: str
    error: str
    sent_at: str | None


class Notice(TypedDict):
    """`status` is that of the person whom it is furthest from having reached."""

    id: str
    status: str
    agent: str
    title: str
    text: str
    sensitive: bool
    created_at: str
    deliveries: list[Told]


class DeadLetter(TypedDict):
    """What was given up; `kind` is delivery, reply, answer, run or interaction, `id` that of the thing."""

    id: str
    kind: str
    reason: str
    remedy: str
    at: str
    agent: str
    run_id: str
    interaction_id: str
    provider: str
    contact: str


class DeadLetters(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[DeadLetter]
    next: str | None


class Event(TypedDict):
    """One thing that happened to a question. `event` is the audit's word, `reply`, or a message's status;

    `kind` is then what message it is, or what became of the reply.
    """

    at: str
    event: str
    actor: str
    provider: str
    kind: str
    error: str


class History(TypedDict):
    """Oldest first; `next_at` is when the gateway does something by itself, None if nothing is planned."""

    events: list[Event]
    next_at: str | None


class Entry(TypedDict):
    """An entry of the audit; `hash` is over the rest and `previous`, the hash of the entry before it."""

    interaction_id: str
    seq: int
    id: str
    at: int
    event: str
    actor: str
    content_hash: str
    previous: str
    hash: str


class Entries(TypedDict):
    """A page; `next` is what `after` takes for the following one, None at the end."""

    items: list[Entry]
    next: str | None


class Flaw(TypedDict):
    """What is wrong with the audit of a question; `entry` is 0 when it is no single one."""

    interaction_id: str
    entry: int
    what: str


class Checked(TypedDict):
    """How much of the audit was checked, and what is wrong; `next` as in pages."""

    chains: int
    entries: int
    flaws: list[Flaw]
    next: str | None


class Way(TypedDict):
    """An address; `reachable` is false when a message there failed for good, `works` when its provider does
    not work now.
    """

    provider: str
    id: str
    place: str
    reachable: bool
    works: bool


class Planned(TypedDict):
    """A person, where they are asked in which order, and when; `quiet`: they are left alone until then."""

    contact: str
    name: str
    language: str
    ways: list[Way]
    at: str
    quiet: bool


class Plan(TypedDict):
    """What a question would go through on a route; durations are in seconds."""

    route: str
    agents: list[str]
    at_once: bool
    first: str
    people: list[Planned]
    stand_ins: list[str]
    stand_ins_after: float | None
    reminders: list[float]
    expires_in: float | None
    on_expire: str
    human_only: bool
    fallback: str
