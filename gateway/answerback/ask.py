"""ask: turns a question into an interaction and its deliveries, in one transaction."""

import logging
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

from answerback import states
from answerback.callbacks import require_callable
from answerback.closing import cancel_run, refuse_closed, withdraw
from answerback.context import Context
from answerback.deadlines import check_default
from answerback.errors import DoesNotFit, NotFound
from answerback.match import new_code
from answerback.model import Interaction, InteractionStatus, Json, OnExpire, Question
from answerback.outbox import FORM
from answerback.repeated import asked_with, named, require_same
from answerback.routing import require_people, route_of
from answerback.settings import Settings
from answerback.store import Row, Tx, audit, deliveries, interactions
from answerback.store.codec import dumps, interaction_in
from answerback.succession import begin
from answerback.times import SECOND, next_action, stays_open
from answerback.values import check

log = logging.getLogger(__name__)
NOBODY = "nobody is asked: none of the route's people has an address on its providers, only the form is there"


@dataclass(frozen=True, slots=True)
class AskRequest:
    """What a caller wants asked. `expires_in` is in seconds; `ask` are contact ids."""

    questions: tuple[Question, ...]
    context: str = ""
    title: str = ""
    ask: tuple[str, ...] = ()
    route: str = ""
    expires_in: float | None = None
    on_expire: OnExpire | None = None
    default: Json = None
    sensitive: bool = False
    human_only: bool = False
    state: Json = None
    callback_url: str = field(default="", repr=False)
    agent: str = ""
    user: str = ""
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The interaction, the link of its form, and whether this call created it."""

    interaction: Interaction
    form_url: str
    created: bool


class Asker:
    """Asks, and takes questions back."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def ask(self, request: AskRequest) -> Asked:
        """Store the question and what must be sent. Raises `NotFound`, `DoesNotFit` or `Conflict`."""
        route = route_of(self._context.settings, request.route, request.ask, agent=request.agent)
        route = named(
            route,
            request.ask,
            request.route,
            request.idempotency_key,
            expires_in=request.expires_in,
            on_expire=request.on_expire,
            human_only=request.human_only,
        )
        record = _record(request, route, self._context.settings)
        self._context.faults.reach("ask.before-commit")
        asked, rows = await self._context.store.write(lambda tx: self._ask(tx, record, request))
        self._context.faults.reach("ask.after-commit")
        if asked.created:
            self._context.dispatch(rows)
            self._context.signals.rearm()
        return asked

    def _ask(self, tx: Tx, record: Interaction, request: AskRequest) -> tuple[Asked, list[Row]]:
        if request.idempotency_key:
            earlier = tx.one(interactions.BY_KEY, key=request.idempotency_key)
            if earlier is not None:
                same, link = _same_again(tx, earlier, record, request.state)
                return Asked(same, self._context.tokens.form_url(link), created=False), []
        require_people(tx, self._context.settings, request.ask)
        record, rows = put(
            tx,
            self._context,
            record,
            expires_in=_seconds(request, record),
            idempotency_key=request.idempotency_key,
        )
        link = self._context.outbox.link(tx, record)
        if request.state is not None:
            tx.run(interactions.ADD_STATE, interaction_id=record.id, state=dumps(request.state))
        return Asked(record, self._context.tokens.form_url(link), created=True), rows

    async def cancel(self, interaction_id: str, reason: str = "cancelled by the asker") -> Interaction:
        """Take a question back. Raises `NotFound`, `AlreadyAnswered` or `Closed`."""

        def tx_(tx: Tx) -> tuple[Interaction, list[Row]]:
            record = interactions.held_with_others(tx, interaction_id)  # or an answer wins, and its run ends
            if record is None:
                raise NotFound("There is no interaction with this id.")
            refuse_closed(record)
            rows = withdraw(tx, self._context, record, reason)
            if record.run_id:
                rows += cancel_run(tx, self._context, record.run_id, reason)
            return interactions.get(tx, interaction_id) or record, rows

        record, rows = await self._context.store.write(tx_)
        self._context.signals.changed(record.id)
        self._context.dispatch(rows)
        if record.run_id:
            self._context.signals.stop((record.agent, record.thread_id))
        return record

    async def drop_state(self, interaction_id: str) -> None:
        """Delete what was kept for its asker. Raises `NotFound`, or `Conflict` while it is still needed."""
        await self._context.store.write(lambda tx: states.release(tx, interaction_id))


def put(
    tx: Tx, context: Context, record: Interaction, *, expires_in: float | None, **more: Any
) -> tuple[Interaction, list[Row]]:
    """Insert an interaction with its deliveries: the record with its times, and what must be sent."""
    agent = context.settings.agents.get(record.agent)
    human_only = record.human_only or (agent is not None and agent.human_only)
    stand_ins = context.outbox.stand_ins
    route = stand_ins.planned(record.route, sensitive=record.sensitive, human_only=human_only)
    if stand_ins.is_nobody(route, record.agent):
        expires_in = 0
    expires_at = tx.now + round(expires_in * SECOND) if expires_in is not None else None
    record = replace(record, created_at=tx.now, expires_at=expires_at, route=route)
    rows = begin(context.outbox, tx, record)  # it looks people up; what comes after it is only written
    stored = interactions.add(
        tx,
        record,
        closes_at=None if stays_open(record) else expires_at,
        next_action_at=next_action(record, tx.now),
        **more,
    )
    audit.add(tx, record.id, "asked", actor=record.agent, content=stored, first=True)
    if not rows and not stand_ins.is_nobody(route, record.agent):
        audit.add(tx, record.id, "asked nobody")
        tx.log(log.warning, NOBODY, interaction=record.id, people=list(route["ask"]))
    return record, rows


def _record(request: AskRequest, route: Json, settings: Settings) -> Interaction:
    if not request.questions:
        raise DoesNotFit("Nothing is asked: give `question` or `questions`.")
    if request.callback_url:
        require_callable(request.callback_url, settings.outgoing)
    check(request.default)
    check(request.state)
    on_expire = request.on_expire or OnExpire(route["on_expire"])
    if on_expire is not request.on_expire and on_expire is OnExpire.DEFAULT and request.default is None:
        on_expire = OnExpire.AUTO  # the route cannot know a value that would fit
    if on_expire is OnExpire.DEFAULT:
        check_default(request.questions, request.default, may_approve=settings.hitl.may_approve)
    return Interaction(
        id=interactions.new_id(),
        code=new_code(secrets.randbits(64)),
        status=InteractionStatus.PENDING,
        questions=request.questions,
        context=request.context,
        title=request.title or request.agent.replace("_", " ").capitalize(),
        agent=request.agent,
        route=route | {"human_only": True} if request.human_only else route,
        on_expire=on_expire,
        default=request.default,
        sensitive=request.sensitive,
        callback_url=request.callback_url,
        user=request.user,
    )


def _seconds(request: AskRequest, record: Interaction) -> float | None:
    seconds = request.expires_in if request.expires_in is not None else record.route["expires_in"]
    if seconds is not None and seconds <= 0:
        raise DoesNotFit("`expires_in` must be a positive number of seconds.")
    return seconds


def _same_again(tx: Tx, row: Row, wanted: Interaction, state: Json) -> tuple[Interaction, str]:
    """What was asked under this key, and the delivery that is its form link."""
    record = interaction_in(row)
    kept = interactions.state(tx, record.id)
    require_same("question", asked_with(record, kept), asked_with(wanted, state))
    link = next(d["id"] for d in tx.all(deliveries.OF, interaction_id=record.id) if d["provider"] == FORM)
    return record, link
