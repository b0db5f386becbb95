"""The tables: what is kept, declared once for SQLite and PostgreSQL.

Times are microseconds since the Unix epoch, UTC. JSON is canonical text. What a stranger sent is bytes.
Partial indexes carry their predicate as a literal, because neither database uses them for a bound value.
Small rows that are always found by their key stand in the tree of that key, without a row id of SQLite's
(https://sqlite.org/withoutrowid.html): one page to write for each, where it would be two or three.
"""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Text, text
from sqlmodel import Field, SQLModel

# The advisory lock of PostgreSQL that all gateways share while they may write: no table is changed meanwhile.
IN_USE = 7_203_918_456
PENDING = "status = 'pending'"
INTERRUPTED = "interrupt_id <> ''"  # what an agent asks
STANDS = f"{INTERRUPTED} AND status <> 'cancelled' AND resumed_at IS NULL"  # until its answer was consumed
IN_ITS_KEY: dict[str, object] = {"sqlite_with_rowid": False}
# The dead letters of each table: what was given up. Each is the predicate of a partial index.
UNSENT = "status IN ('failed', 'unknown') AND error <> 'no longer needed'"
UNREAD = "error <> ''"
UNGIVEN = "resumed_at IS NULL AND resume_next_at IS NULL AND resume_error <> ''"
DAMAGED = "reason = 'its record cannot be read'"
FAILED = "status = 'failed'"
ONGOING = "status IN ('running', 'waiting', 'failed')"
LIVE = f"{ONGOING} OR stop_at IS NOT NULL"  # a run that goes on, or whose agent has still to be told that not
NEVER = 253_402_300_800_000_000  # the end of the year 9999: when an agent is told of a stop that was given up
UNTOLD = f"stop_at = {NEVER}"  # found by `run_stop`, which every stop that is not over stands in


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """The index of a part of a table, on both databases."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


def _given_up(name: str, predicate: str) -> Index:
    """The index of a table's dead letters, in the order in which they are listed."""
    return _partial(name, "id", where=predicate)


def _big(**options: object) -> Column[int]:
    return Column(BigInteger, **options)  # type: ignore[arg-type]


def _at() -> "int | None":
    return Field(default=None, sa_column=_big(nullable=True))  # type: ignore[no-any-return]


def _now() -> int:
    return Field(sa_column=_big(nullable=False))  # type: ignore[no-any-return]


def _position() -> int:
    """In the order of commits; 0 for what is older than this order (see `store.positions`)."""
    return Field(default=0, sa_column=_big(nullable=False, server_default="0"))  # type: ignore[no-any-return]


def _text(default: str = "") -> str:
    return Field(default=default, sa_column=Column(Text, nullable=False, server_default=default))  # type: ignore[no-any-return]


class ContactRow(SQLModel, table=True):
    """A person. Those of the configuration are upserted at start; `source` says where one comes from."""

    __tablename__ = "contact"
    id: str = Field(primary_key=True)
    name: str
    language: str = "en"
    timezone: str = "UTC"
    quiet_hours: str = ""
    quiet_until: int | None = _at()  # they wrote "mute"
    source: str = "config"


class AddressRow(SQLModel, table=True):
    """(provider, opaque external id of who may answer, place that messages go to)."""

    __tablename__ = "address"
    __table_args__ = (
        Index("address_external", "provider", "external_id", unique=True),
        Index("address_contact", "contact_id"),
    )
    id: str = Field(primary_key=True)
    contact_id: str
    provider: str
    external_id: str
    place: str
    source: str = "config"
    verified_at: int | None = _at()
    last_inbound_at: int | None = _at()
    unreachable: str = _text()
    muted_until: int | None = _at()


class RunRow(SQLModel, table=True):
    """One execution of an agent on one thread."""

    __tablename__ = "run"
    __table_args__ = (
        Index("run_thread", "agent", "thread_id", "id"),
        # What goes on with a thread, so that its past, however long, is not read for it.
        _partial("run_live", "agent", "thread_id", "id", where=LIVE),
        _partial("run_due", "next_attempt_at", where="status = 'running' AND next_attempt_at IS NOT NULL"),
        _partial("run_stop", "stop_at", where="stop_at IS NOT NULL"),
        Index("run_position", "position"),
        _given_up("run_failed", FAILED),
    )
    id: str = Field(primary_key=True)
    agent: str
    thread_id: str
    status: str
    input: str = _text("null")
    result: str = _text("null")
    error: str = _text()
    route: str = _text("{}")
    intent: str = "start"  # what is to be done when it is taken up again: start, replace, retry, reask
    attempts: int = 0
    next_attempt_at: int | None = _at()
    created_at: int = _now()
    updated_at: int = _now()
    erased_at: int | None = _at()  # since when it is not known any more what went in and came out
    position: int = _position()
    told: str = _text()  # the message that told whoever started it by one; "" if nobody did
    asked_by: str = _text()  # for whom it was started: what it asks is asked for them, too
    stop_at: int | None = _at()  # its agent has still to be told that it is cancelled (see `store.stops`)
    stop_by: str = _text()
    stop_attempts: int = Field(default=0, sa_column_kwargs={"server_default": "0"})


class InteractionRow(SQLModel, table=True):
    """The durable record of one ask."""

    __tablename__ = "interaction"
    __table_args__ = (
        _partial(
            "interaction_interrupt", "agent", "thread_id", "interrupt_id", "digest", where=STANDS, unique=True
        ),
        _partial("interaction_idempotency", "idempotency_key", where="idempotency_key <> ''", unique=True),
        _partial(
            "interaction_next_action", "next_action_at", where=PENDING + " AND next_action_at IS NOT NULL"
        ),
        _partial("interaction_pending", "id", where=PENDING),
        _partial("interaction_unresumed", "resume_next_at", where="resume_next_at IS NOT NULL"),
        Index("interaction_code", "code"),
        _partial("interaction_user", "asked_by", "id", where="asked_by <> ''"),
        Index("interaction_run", "run_id"),
        # Threads first: most are ids in the order of time, so that new ones stand side by side.
        _partial("interaction_interrupted", "thread_id", "interrupt_id", "agent", where=INTERRUPTED),
        _given_up("interaction_ungiven", UNGIVEN),
        _given_up("interaction_damaged", DAMAGED),
    )
    id: str = Field(primary_key=True)
    code: str
    status: str
    agent: str = ""
    run_id: str = ""
    thread_id: str = ""
    interrupt_id: str = ""
    digest: str = ""
    checkpoint: str = _text()
    title: str = _text()
    questions: str = _text("[]")
    context: str = _text()
    route: str = _text("{}")
    on_expire: str = "auto"
    default_value: str = _text("null")
    expirable: int = 1
    sensitive: int = 0
    callback_url: str = _text()
    asked_by: str = ""
    idempotency_key: str = ""
    created_at: int = _now()
    expires_at: int | None = _at()
    closes_at: int | None = _at()  # when answers are refused; null where silence leaves it open
    next_action_at: int | None = _at()
    held_until: int | None = _at()
    overdue_at: int | None = _at()
    answered_by: str = ""
    answered_via: str = ""
    answered_at: int | None = _at()
    answer: str = _text()  # canonical JSON of the Answer that won; "" while there is none
    reason: str = _text()
    resumed_at: int | None = _at()
    resume_next_at: int | None = _at()  # due in the second outbox; null: nothing to resume
    resume_attempts: int = 0
    resume_error: str = _text()
    erased_at: int | None = _at()  # since when it is not known any more what was asked and answered


class AnswerRow(SQLModel, table=True):
    """What somebody answered: a draft, held, cast, or the one that won."""

    __tablename__ = "answer"
    __table_args__ = IN_ITS_KEY
    interaction_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    contact_id: str = ""
    state: str
    content: str = _text("{}")
    via: str = ""
    at: int = _now()


class InteractionStateRow(SQLModel, table=True):
    """Opaque state kept for callers that have no checkpointer."""

    __tablename__ = "interaction_state"
    interaction_id: str = Field(primary_key=True)
    state: str = _text("null")


class DeliveryRow(SQLModel, table=True):
    """One message to one address. `content` holds what to say when it is not a question."""

    __tablename__ = "delivery"
    __table_args__ = (
        _partial("delivery_token", "token_hash", where="token_hash <> ''", unique=True),
        _partial("delivery_due", "next_attempt_at", where="status = 'queued'"),
        Index("delivery_interaction", "interaction_id"),
        _partial("delivery_open", "provider", "external_id", where="open = 1"),
        _partial("delivery_notice", "notice_id", where="notice_id <> ''"),
        _given_up("delivery_unsent", UNSENT),
    )
    id: str = Field(primary_key=True)
    interaction_id: str = ""
    notice_id: str = _text()
    run_id: str = ""
    contact_id: str = ""
    address_id: str = ""
    provider: str
    external_id: str = ""
    place: str = ""
    kind: str
    status: str
    open: int = 0  # 1 while it carries a question that this address may still answer
    of_delivery: str = ""  # the delivery that this one edits or answers
    content: str = _text("{}")
    token_hash: str = ""
    message_ids: str = _text("[]")
    attempts: int = 0
    next_attempt_at: int | None = _at()  # null: not due (done, or given up)
    lease_owner: str = ""
    error: str = _text()
    code_hash: str = ""  # the one-time code of law 7, hashed with the delivery's id
    code_until: int | None = _at()
    code_tries: int = 0
    created_at: int = _now()
    sent_at: int | None = _at()
    service_at: int | None = _at()  # the same by the service's clock, if it says so


class NoticeRow(SQLModel, table=True):
    """A message that asks nothing; its deliveries carry its id."""

    __tablename__ = "notice"
    __table_args__ = (
        _partial("notice_idempotency", "idempotency_key", where="idempotency_key <> ''", unique=True),
    )
    id: str = Field(primary_key=True)
    agent: str = ""
    title: str = _text()
    content: str = _text()
    route: str = _text("{}")
    sensitive: int = 0
    sent_by: str = ""
    idempotency_key: str = ""
    created_at: int = _now()
    erased_at: int | None = _at()


class MessageRow(SQLModel, table=True):
    """A provider's message id, so that a reply to it finds its delivery."""

    __tablename__ = "message"
    __table_args__ = IN_ITS_KEY
    provider: str = Field(primary_key=True)
    message_id: str = Field(primary_key=True)
    delivery_id: str
    parked: str = ""  # what the service said of it before we knew its id: a receipt a line, as JSON


class ReplyRow(SQLModel, table=True):
    """Every inbound event, once, with its raw bytes. Its key is kept for good: duplicates are known by it."""

    __tablename__ = "reply"
    __table_args__ = (_given_up("reply_unread", UNREAD),)
    provider: str = Field(primary_key=True)
    event_id: str = Field(primary_key=True)
    id: str  # as a dead letter
    raw: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    outcome: str = ""
    interaction_id: str = ""
    error: str = _text()
    received_at: int = _now()


class CursorRow(SQLModel, table=True):
    """How far a polled provider has been read; moved in the transaction that stores what was read."""

    __tablename__ = "cursor"
    provider: str = Field(primary_key=True)
    position: str = _text()


class LinkRow(SQLModel, table=True):
    """A one-time code that links an account to a contact (`/start CODE`), hashed."""

    __tablename__ = "link"
    code_hash: str = Field(primary_key=True)
    contact_id: str
    provider: str
    expires_at: int = _now()
    used_at: int | None = _at()
    external_id: str = ""  # who used it, while the contact's present account has not confirmed
    place: str = ""


class ThreadLeaseRow(SQLModel, table=True):
    """Who may run a thread now. `fence` grows with every owner, so that a late write is refused."""

    __tablename__ = "thread_lease"
    __table_args__ = IN_ITS_KEY
    agent: str = Field(primary_key=True)
    thread_id: str = Field(primary_key=True)
    owner: str = ""
    fence: int = Field(default=0, sa_column=_big(nullable=False))
    until: int = Field(default=0, sa_column=_big(nullable=False))


class PaceRow(SQLModel, table=True):
    """When a provider account, or one place on it, may be sent to next."""

    __tablename__ = "pace"
    __table_args__ = IN_ITS_KEY
    account: str = Field(primary_key=True)
    place: str = Field(primary_key=True)  # "" for the account as a whole
    next_send_at: int = _now()


class AuditRow(SQLModel, table=True):
    """What happened, append-only; each row's hash covers the one before it of the same interaction."""

    __tablename__ = "audit"
    __table_args__ = (Index("audit_position", "position"), IN_ITS_KEY)
    interaction_id: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    id: str
    at: int = _now()
    event: str
    actor: str = ""
    content_hash: str = ""
    salt: str = _text()  # of that hash; "" once the content is erased: then nobody can find it by trying
    previous: str = ""
    hash: str = ""
    position: int = _position()


class LetterRow(SQLModel, table=True):
    """A dead letter that is done with; the row that it was read from, of whatever table, has the same id."""

    __tablename__ = "letter"
    id: str = Field(primary_key=True)
    done: str  # discarded, or asked anew
    by: str = ""
    at: int = _now()


class MetaRow(SQLModel, table=True):
    """Facts about the installation (the fingerprint of its secret)."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True)
    value: str = _text()


metadata = SQLModel.metadata
