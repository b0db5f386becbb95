"""settle: writes down where an agent's thread stands after it paused, ended or failed."""

import logging
import secrets
from collections import Counter
from dataclasses import dataclass, field, replace

from answerback import deadlines, failing
from answerback.agent import Failed, Finished, Paused, Pending, State
from answerback.ask import put
from answerback.closing import withdraw
from answerback.context import Context
from answerback.match import new_code
from answerback.model import GONE, SUPERSEDED, Interaction, InteractionStatus, Json, OnExpire, RunStatus
from answerback.render import excerpt
from answerback.standing import is_program
from answerback.store import Row, Tx, audit, interactions, runs, stops
from answerback.store.codec import interaction_in, loads

log = logging.getLogger("answerback.settle")
TRIES = 3  # answers of one program that an agent refuses, until it is asked no more: a model reads why


@dataclass(slots=True)
class Settled:
    """What follows from it: deliveries to send, interactions whose waiters must know."""

    rows: list[Row] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    stopped: str = ""  # its run was cancelled, and its agent has still to be told: by whom


def settle(
    tx: Tx, context: Context, agent: str, thread: str, state: State, live: list[Row], *, goes_on: bool = False
) -> Settled:
    """Bring interactions and run in line with `state`, inside the caller's transaction.

    `live`: what stood for the thread's interrupts, which that transaction holds (`interactions.hold_live`).
    `goes_on`: an answer is given to the thread next.
    A pending interaction whose question is not pending with the same digest any more is withdrawn as
    superseded; what is pending without an interaction is asked (law 4).
    """
    done = Settled()
    run = tx.one(runs.HELD_OF_THREAD, agent=agent, thread_id=thread)
    waiting = state.pending if isinstance(state, Paused) else ()
    _withdraw_stale(tx, context, live, waiting, done)
    if run is None:  # it was cancelled while its agent worked: what the agent asks now is not asked
        done.stopped = stops.again(tx, agent, thread, context.stopper, waits=bool(waiting))
        _leave_unasked(tx, context, agent, thread, waiting)
        return done
    if not isinstance(state, Finished) and failing.has_ended(tx, run):
        return done  # nor what it asks then; both are for whoever tries it again
    state = _possible(_limited(tx, context, run, state))
    for pending in waiting if isinstance(state, Paused) else ():
        _ask(tx, context, run, pending, live, done)
    done.rows += _set_run(tx, context, run, state, goes_on)
    return done


def _limited(tx: Tx, context: Context, run: Row, state: State) -> State:
    """`hitl.max_interactions`: a run that asks without end fails instead of asking once more."""
    limit = context.settings.hitl.max_interactions
    if limit is None or not isinstance(state, Paused):
        return state
    known = {(row["interrupt_id"], row["digest"]) for row in tx.all(interactions.OF_RUN, run_id=run["id"])}
    wanted = known | {(pending.interrupt_id, pending.digest) for pending in state.pending}
    if len(wanted) <= limit:
        return state
    return Failed(f"It asked more than {limit} questions (hitl.max_interactions).")


def _possible(state: State) -> State:
    """A run that asks what no answer can be fails with the reason: nobody would ever get to the end of it."""
    why = next((pending.impossible for pending in getattr(state, "pending", ()) if pending.impossible), "")
    if not why:
        return state
    return Failed(
        f"No answer could ever fit what it demands. {why} Correct the schema, and start the run anew."
    )


def _withdraw_stale(
    tx: Tx, context: Context, live: list[Row], waiting: tuple[Pending, ...], done: Settled
) -> None:
    alive = {(pending.interrupt_id, pending.digest) for pending in waiting}
    for row in live:
        if row["status"] == "pending" and (row["interrupt_id"], row["digest"]) not in alive:
            done.rows += withdraw(tx, context, interaction_in(row), SUPERSEDED)
            done.changed.append(row["id"])


def _leave_unasked(tx: Tx, context: Context, agent: str, thread: str, waiting: tuple[Pending, ...]) -> None:
    """What a cancelled run leaves waiting on somebody else's thread, which is left as it is.

    It is kept as a question that was cancelled, so that no look takes it for one that is new.
    """
    run = tx.one(runs.LATEST, agent=agent, thread_id=thread)
    if run is None or not run["intent"].startswith(runs.ADOPTED):
        return
    known = {(row["interrupt_id"], row["digest"]) for row in tx.all(interactions.OF_RUN, run_id=run["id"])}
    for pending in waiting:
        if (pending.interrupt_id, pending.digest) not in known:
            record = replace(_record(run, pending, loads(run["route"])), created_at=tx.now)
            stored = interactions.add(tx, record, closes_at=None, next_action_at=None)
            audit.add(tx, record.id, "asked", actor=agent, content=stored, first=True)
            withdraw(tx, context, record, run["error"])


def _ask(tx: Tx, context: Context, run: Row, pending: Pending, live: list[Row], done: Settled) -> None:
    key = pending.interrupt_id, pending.digest
    for row in live:
        if (row["interrupt_id"], row["digest"]) == key:
            if row["resume_error"] != GONE:
                return  # it stands for this interrupt until it is withdrawn or its answer was consumed
            interactions.resumed(tx, row["id"], at=tx.now, error=GONE)
    route: Json = loads(run["route"])
    before = _refused(tx, context, run, pending, route)
    if tired := _tired(context, before):
        route = route | {"refused": tired}
        tx.log(log.warning, "%s took nothing of %s", run["agent"], ", ".join(tired), run=run["id"])
    deadline = _deadline(context, pending, route, before)
    record = replace(_record(run, pending, route), on_expire=deadline.on_expire, default=deadline.default)
    _, rows = put(tx, context, record, expires_in=deadline.expires_in)
    for what in deadline.unusable:
        tx.log(
            log.warning, "%s set %s to what cannot be used: asked without", run["agent"], what, run=run["id"]
        )
        audit.add(tx, record.id, f"{what} not usable")
    for what in pending.unusable:
        tx.log(log.warning, "%s demands what is not checked: %s", run["agent"], what, run=run["id"])
    if pending.unusable:
        audit.add(tx, record.id, "schema not usable")
    done.rows += rows


def _record(run: Row, pending: Pending, route: Json) -> Interaction:
    """What a run asks, without its deadline."""
    agent = run["agent"]
    name = agent.replace("_", " ").capitalize()
    return Interaction(
        id=interactions.new_id(),
        code=new_code(secrets.randbits(64)),
        status=InteractionStatus.PENDING,
        questions=pending.questions,
        context=pending.context,
        title=f"{name} · {pending.title}" if pending.title else name,
        agent=agent,
        run_id=run["id"],
        thread_id=run["thread_id"],
        interrupt_id=pending.interrupt_id,
        digest=pending.digest,
        checkpoint=pending.checkpoint,
        route=route | {"human_only": True} if pending.human_only else route,
        expirable=pending.expirable,
        user=run["asked_by"],
    )


def _deadline(context: Context, pending: Pending, route: Json, before: list[Row]) -> deadlines.Deadline:
    refused = any(row["status"] == "expired" for row in before)
    return deadlines.of(pending, route, may_approve=context.settings.hitl.may_approve, refused=refused)


def _refused(tx: Tx, context: Context, run: Row, pending: Pending, route: Json) -> list[Row]:
    """What asked the same before and got an answer that the agent refused.

    Looked for only where another than a person may answer: neither a deadline nor a program would tire of it.
    """
    ends = pending.on_expire, route.get("on_expire")
    is_given = OnExpire.DEFAULT in ends or OnExpire.NO_RESPONSE in ends
    if not is_given and not context.outbox.stand_ins.mode and not route.get("stand_ins"):
        return []
    key = pending.interrupt_id, pending.digest
    earlier = tx.all(interactions.OF_RUN, run_id=run["id"])
    return [row for row in earlier if (row["interrupt_id"], row["digest"]) == key and row["resume_error"]]


def _tired(context: Context, before: list[Row]) -> list[str]:
    """The stand-ins that are not asked again: the agent refused enough of what they said."""
    said = Counter(row["answered_by"] for row in before if row["status"] == "completed")
    known = context.outbox.stand_ins.known.values()
    return [each.name for each in known if is_program(each.by) and said[each.by] >= TRIES]


def _set_run(tx: Tx, context: Context, run: Row, state: State, goes_on: bool) -> list[Row]:
    if isinstance(state, Paused):
        runs.stands(tx, run["id"], RunStatus.RUNNING if goes_on else RunStatus.WAITING)
        return []
    if isinstance(state, Finished):
        changed = runs.finish(tx, run["id"], RunStatus.COMPLETED, result=state.result)
        content: Json = {"kind": "completed", "agent": run["agent"], "result": excerpt(state.result)}
    else:
        assert isinstance(state, Failed)
        changed = runs.fail(tx, run["id"], state.error)
        content = {"kind": "failed", "agent": run["agent"], "error": state.error}
    return context.outbox.notices(tx, run["id"], content, run["told"]) if changed else []
