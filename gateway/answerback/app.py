"""The composition root: the only place that builds things and connects their ends."""

import asyncio
import contextlib
import logging
import pathlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from answerback import migrations, owners, registry, standing
from answerback.adopt import Adopter
from answerback.agent import Agent, AgentContext
from answerback.ask import Asker
from answerback.attachments import Attachments, stored_in
from answerback.auditing import Auditor
from answerback.callbacks import Callbacks
from answerback.clock import Clock
from answerback.context import Context
from answerback.deliver import Deliverer
from answerback.elapse import Elapser
from answerback.endings import Endings
from answerback.erase import Eraser
from answerback.erasure import Erasure
from answerback.errors import AnswerbackError, ConfigurationError, StoreUnavailable
from answerback.faults import Faults
from answerback.feed import Feed
from answerback.forms import Forms
from answerback.gates import Gates, MakeGates
from answerback.history import Historian
from answerback.identify import Identifier, function_of
from answerback.inbox import Inbox
from answerback.installation import secret_of, signing_key
from answerback.intake import Intake
from answerback.leaving import left
from answerback.letters import Letters
from answerback.linking import Linker
from answerback.metrics import Metrics
from answerback.notices import Notices
from answerback.outbox import CALLER, FORM, Follows, Outbox
from answerback.outgoing import Outgoing
from answerback.plans import Planner
from answerback.provider import Pace, Provider, ProviderContext
from answerback.reader import Reader
from answerback.receive import Receiver
from answerback.registry import Problem
from answerback.removing import Remover
from answerback.replay import Replay
from answerback.resume import Resumer
from answerback.run import Runner
from answerback.sentences import moment
from answerback.settings import Plugin, Settings, reaching
from answerback.settings.values import FALLBACK
from answerback.store import Store, Tx, choose, contacts, deliveries, due, feed, leases, meta, restored
from answerback.store.backend import Clock as Time
from answerback.tokens import Tokens
from answerback.turns import Turns
from answerback.uploads import Uploaded
from answerback.wakeups import Wakeups

log = logging.getLogger("answerback.app")
DRAIN = 60.0  # seconds that intake gets before what fell due meanwhile is elapsed


@dataclass(slots=True)
class App:
    """A whole gateway. `start`, then serve; `stop` in the end."""

    settings: Settings
    context: Context
    asker: Asker
    receiver: Receiver
    forms: Forms
    endings: Endings
    runner: Runner
    resumer: Resumer
    deliverer: Deliverer
    elapser: Elapser
    reader: Reader
    letters: Letters
    attachments: Attachments
    linker: Linker
    intake: Intake
    clock: Clock
    adopter: Adopter
    providers: dict[str, Provider]
    agents: dict[str, Agent]
    problems: list[Problem]
    http: Outgoing  # what the providers call others with
    notices: Notices
    eraser: Eraser
    erasure: Erasure
    remover: Remover
    auditor: Auditor
    historian: Historian
    feed: Feed
    inbox: Inbox
    planner: Planner
    wakeups: Wakeups | None = None
    identifier: Identifier | None = None  # of callers without a key, where somebody else knows them
    state: dict[str, str] = field(default_factory=dict)  # agents that cannot be used, and why
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _over: asyncio.Event = field(default_factory=asyncio.Event)  # the stop has waited for long enough

    async def start(self, *, clock: bool = True) -> None:
        """Open the store, agents and intake; returns when requests can be taken.

        `clock=False` leaves sweeps and looks to the caller. Raises `ConfigurationError`, `StoreUnavailable`.
        What merely is away is tried again, and said in the readiness detail.
        """
        self.context.store.open(migrations.upgrade)
        try:
            follows = await self.context.store.write(self._prepare)
            await self._open_agents()
        except BaseException:
            self.context.store.close()
            raise
        self.context.follow(follows)
        self.intake.start()
        if self.wakeups is not None:
            self.wakeups.start()
        if clock:
            self.adopter.start()
            self.eraser.start()
            self.erasure.start()
            self._tasks.append(asyncio.create_task(self._wake_when_drained()))

    def _prepare(self, tx: Tx) -> Follows:
        meta.check_secret(tx, self.context.tokens.fingerprint)
        if tx.dialect == "sqlite":  # we are its only process: what a dead one held is free at once
            leases.free_all(tx)
            due.at_once(tx)
        feed.begin_anew(tx)
        if (back := restored.begin(tx)) is not None:
            as_of = moment(back.of, "en", "UTC", back.since)
            told = "this database is a backup of %s UTC: what came since is lost; what is open is asked again"
            log.warning(told, as_of, extra={"questions": back.open})
        contacts.configure(tx, self.settings.contacts.values())
        for each in self.context.outbox.stand_ins.known.values():
            if each.listens:
                tx.run(deliveries.SHOW_AGAIN, terminal=each.name, at=tx.now)
        return left(tx, self.context.outbox)

    async def _open_agents(self) -> None:
        """All at the same time: one that takes long to start holds up none of the others."""
        agents = list(self.agents.items())
        opened = await asyncio.gather(*(agent.open() for _, agent in agents), return_exceptions=True)
        for (name, _), error in zip(agents, opened, strict=True):
            if isinstance(error, Exception):  # an adapter may raise anything
                self._without(name, error)

    def _without(self, name: str, error: Exception) -> None:
        known = isinstance(error, AnswerbackError)
        if isinstance(error, ConfigurationError):
            self.problems.append(Problem("agent", name, error))
        self.state[name] = str(error) if known else f"{type(error).__name__} while opening it"
        del self.agents[name]
        log.error(
            "the agent %s cannot be used: %s", name, self.state[name], exc_info=None if known else error
        )

    async def _wake_when_drained(self) -> None:
        """A reply that waited at a service while we were down comes before its deadline's outcome."""
        await self.intake.drained(DRAIN)
        self.clock.start()

    async def stop(self, within: float = 0.0) -> None:
        """Finish what is committed, leave the rest to the next start.

        What is on its way to a person or at work in an agent gets `within` seconds to end, and not more than
        until somebody `hurry`s: it would be done once more otherwise.
        """
        asyncio.get_running_loop().call_later(within, self.hurry)
        for task in self._tasks:
            task.cancel()
        await self.clock.stop()
        await asyncio.gather(
            self.intake.halt(), self.adopter.close(), self.erasure.close(), self.eraser.close()
        )
        workers = (self.runner, self.resumer, self.deliverer)
        await asyncio.gather(self.receiver.close(), *(worker.close(self._over) for worker in workers))
        await self.intake.close()
        if self.wakeups is not None:
            await self.wakeups.close()
        closed = await asyncio.gather(
            *(agent.close() for agent in self.agents.values()), return_exceptions=True
        )
        for name, error in zip(self.agents, closed, strict=True):
            if isinstance(error, Exception):
                log.warning("the agent %s could not be closed", name)
        await self.http.close()
        self.context.store.close()

    def hurry(self) -> None:
        """Break off what still is under way at the stop."""
        self._over.set()

    async def idle(self) -> None:
        """Until nothing is under way in this process: what tests wait for instead of sleeping."""
        workers = (self.runner, self.resumer, self.deliverer)
        while any(worker.busy for worker in workers) or self.context.store.waits:
            await asyncio.gather(*(worker.idle() for worker in workers))
            with contextlib.suppress(StoreUnavailable):  # what it cannot take is due again by itself
                await self.context.store.settled()


def build(
    settings: Settings,
    *,
    time: Time | None = None,
    faults: Faults | None = None,
    providers: dict[str, Provider] | None = None,
    agents: dict[str, Agent] | None = None,
    extra: dict[str, Any] | None = None,
    turns: Callable[[], Turns] = Turns,
    gates: MakeGates = Gates,
) -> App:
    """Everything, not started. `providers` and `agents` replace those of the configuration (in tests).

    Raises `ConfigurationError` for what all of it depends on.
    """
    who = function_of(settings)
    pathlib.Path(settings.data_dir).mkdir(parents=True, exist_ok=True, mode=0o700)
    metrics = Metrics([*settings.agents, *(agents or ())])
    store = Store(choose(settings.database, settings.data_dir, time), metrics)
    offered = registry.offered(settings, settings.data_dir, extra or {}, stored_in(store))
    found = registry.build(
        settings,
        provider_context=offered if providers is None else None,
        agent_context=AgentContext(settings.data_dir, settings.database, settings.base_dir)
        if agents is None
        else None,
    )
    all_providers = (
        providers if providers is not None else _with_fallback(settings, dict(found.providers), offered)
    )
    all_agents = agents if agents is not None else dict(found.agents)
    settings = owners.settled(settings, all_providers)
    tokens = Tokens(secret_of(settings), settings.public_url)
    owner = secrets.token_urlsafe(9)  # short: what a row grows by at its claim can split a page of SQLite's
    paces = {name: provider.pace for name, provider in all_providers.items()}
    paces[CALLER] = Pace()
    edits = frozenset(name for name, provider in all_providers.items() if type(provider).can("update"))
    standing.check(settings, all_providers)
    instead = standing.stand_ins(settings, all_providers, FALLBACK if FALLBACK in all_providers else "")
    alone = {name: provider.alone for name, provider in all_providers.items()}
    chats = frozenset(name for name, provider in all_providers.items() if type(provider).one_by_one)
    outbox = Outbox(owner, paces, tokens, edits, instead, alone, chats)
    context = Context(
        settings,
        store,
        tokens,
        outbox,
        owner,
        faults=faults or Faults(),
        metrics=metrics,
    )
    problems = list(found.problems)
    built = _connect(settings, context, all_providers, all_agents, problems, offered.http, turns, gates)
    built.identifier = Identifier(who, context) if who is not None else None
    return built


def _connect(
    settings: Settings,
    context: Context,
    providers: dict[str, Provider],
    agents: dict[str, Agent],
    problems: list[Problem],
    http: Outgoing,
    turns: Callable[[], Turns],
    gates: MakeGates,
) -> App:
    deliverer, resumer, runner = (
        Deliverer(context, providers, Callbacks(http, signing_key(settings)), gates),
        Resumer(context, agents, turns()),  # 64 runs that begin keep no answer waiting
        Runner(context, agents, turns()),
    )
    receiver, elapser = Receiver(context, providers), Elapser(context)
    eraser = Eraser(context, agents)
    intake = Intake(context, receiver, providers)
    pumps = [elapser.pump, deliverer.pump, resumer.pump, runner.pump]
    clock = Clock(context.store, pumps, lambda: intake.drained_anew(DRAIN))
    signals = context.signals
    signals.deliver, signals.resume, signals.rearm = deliverer.take, resumer.take, clock.rearm
    signals.stop = runner.stopper.soon
    wakeups = None
    if settings.database != "sqlite":
        wakeups = Wakeups(settings.database, context.owner, signals, context.store.settled)
    return App(
        settings,
        context,
        Asker(context),
        receiver,
        Forms(context),
        Endings(context),
        runner,
        resumer,
        deliverer,
        elapser,
        Reader(context),
        Letters(context, Replay(context, providers, agents, runner)),
        Attachments(context, {**providers, FORM: Uploaded(stored_in(context.store))}),
        Linker(context),
        intake,
        clock,
        Adopter(context, agents),
        providers,
        agents,
        problems,
        http,
        Notices(context),
        eraser,
        Erasure(context, providers, eraser),
        Remover(context),
        Auditor(context),
        Historian(context),
        Feed(context),
        Inbox(context),
        Planner(context),
        wakeups,
    )


def _with_fallback(
    settings: Settings, providers: dict[str, Provider], offered: ProviderContext
) -> dict[str, Provider]:
    """With no provider configured that reaches people, the form's link is shown once."""
    if not reaching(settings.providers):
        plugin = Plugin(FALLBACK, "webform")
        providers[FALLBACK] = registry.build_provider(plugin, offered)
    return providers


__all__ = ["FALLBACK", "App", "build"]
