"""Whatever happens in whatever order, the gateway does what a plain model of it says.

The model knows questions, people, a clock, and what each reply must come to; it has no database, no
transactions and no tasks. What it says is compared with the records, the agent's journal and the phone.
"""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from answerback import migrations
from answerback.ask import AskRequest
from answerback.errors import AlreadyAnswered, Closed
from answerback.model import InteractionStatus, Json, RunStatus
from answerback.provider import Inbound
from answerback.settings import Route
from answerback.store import choose
from answerback.testing import ManualClock, ScriptedAgent, asks
from tests.faults.phone import Phone, outcomes
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

Result = TypeVar("Result")
PENDING, COMPLETED = InteractionStatus.PENDING, InteractionStatus.COMPLETED
EXPIRED, CANCELLED = InteractionStatus.EXPIRED, InteractionStatus.CANCELLED
DEADLINE = 600
ROUTES = {"default": Route("default", ("alice", "ben"), ("memory",), expires_in=float(DEADLINE))}
PEOPLE = {"1001": "alice", "2002": "ben"}
MOST = 6  # questions open at once: all of them can be offered at "which one?"
STEPS = (asks("Now or later?", "Now", "Later"), asks("Which city?"))
LATE = {COMPLETED: "already answered", CANCELLED: "cancelled", EXPIRED: "expired", PENDING: "expired"}
people = st.sampled_from(sorted(PEOPLE))
some = st.integers(0, 10**6)  # which of several: taken modulo their number


@dataclass(slots=True)
class Asked:
    """One question of the model."""

    id: str
    thread: str  # "" when a caller without an agent asks
    step: int
    expires_at: int
    status: InteractionStatus = PENDING
    by: str = ""
    via: str = ""
    value: Json = None

    def takes(self, now: int) -> bool:
        return self.status is PENDING and now < self.expires_at


@dataclass(slots=True)
class World:
    """All that the model knows."""

    asked: list[Asked] = field(default_factory=list)
    journal: list[tuple[str, str, Json]] = field(default_factory=list)  # thread, question, value or "expired"
    ended: dict[str, RunStatus] = field(default_factory=dict)  # by thread
    events: list[tuple[Inbound, str]] = field(default_factory=list)  # what came in, and what it came to

    def close(self, asked: Asked, status: InteractionStatus) -> None:
        asked.status = status
        if status is CANCELLED:
            if asked.thread:
                self.ended[asked.thread] = RunStatus.CANCELLED
        elif asked.thread:
            told = "expired" if status is EXPIRED else asked.value
            self.journal.append((asked.thread, STEPS[asked.step].text, told))
            if asked.step + 1 == len(STEPS):
                self.ended[asked.thread] = RunStatus.COMPLETED

    def answer(self, asked: Asked, value: Json, by: str, via: str) -> None:
        asked.value, asked.by, asked.via = value, by, via
        self.close(asked, COMPLETED)


class Machine(RuleBasedStateMachine):
    """Rules do the same to the gateway and to the model; invariants compare them."""

    open_database: Any  # a context manager that gives an empty, migrated database

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.runner = self.stack.enter_context(asyncio.Runner())
        self.database = self.stack.enter_context(self.open_database())
        self.world, self.clock, self.phone = World(), ManualClock(), Phone()
        self.agent = ScriptedAgent(*STEPS)
        self._start()

    def _start(self) -> None:
        self.context = gateway(
            self.database, self.agent, providers={"memory": self.phone}, clock=self.clock, routes=ROUTES
        )
        self.g: Gateway = self.do(self.context.__aenter__())

    def _stop(self) -> None:
        self.do(self.context.__aexit__(None, None, None))

    def teardown(self) -> None:
        self._stop()
        self.stack.close()

    def do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(work)

    # -- asking

    def _notice(self, thread: str, step: int) -> None:
        """A question that must have been asked just now, on both phones."""
        known = {asked.id for asked in self.world.asked}
        new = dict.fromkeys(shown.message.interaction_id for shown in self.phone.sent)
        (id,) = (id for id in new if id not in known and self._thread(id) == thread)
        assert [message.message.title for message in self.phone.asked(id)] == [STEPS[step].text] * 2
        self.world.asked.append(Asked(id, thread, step, self.clock.now + DEADLINE * 1_000_000))

    def _thread(self, id: str) -> str:
        return self.do(self.g.app.reader.interaction(id)).thread_id if id else "no question"

    def _goes_on(self, asked: Asked) -> None:
        """The agent was resumed: its next question is out, if it has one."""
        if asked.thread and asked.status in (COMPLETED, EXPIRED) and asked.step + 1 < len(STEPS):
            self._notice(asked.thread, asked.step + 1)

    @initialize(agents=st.integers(1, 3), callers=st.integers(0, 2))
    def several_are_open(self, agents: int, callers: int) -> None:
        for _ in range(agents):
            self.an_agent_asks()
        for _ in range(callers):
            self.a_caller_asks(0)

    def _is_full(self) -> bool:
        return sum(asked.status is PENDING for asked in self.world.asked) >= MOST

    @precondition(lambda self: not self._is_full())
    @rule()
    def an_agent_asks(self) -> None:
        run = self.do(self.g.run())
        self._notice(run.thread_id, 0)

    @precondition(lambda self: not self._is_full())
    @rule(step=st.sampled_from((0, 1)))
    def a_caller_asks(self, step: int) -> None:
        self.do(self.g.app.asker.ask(AskRequest((STEPS[step],))))
        self.do(self.g.app.idle())
        self._notice("", step)

    # -- answering

    def _one(self, which: int) -> Asked:
        """Mostly one that is open, sometimes an old one."""
        waiting = [asked for asked in self.world.asked if asked.status is PENDING]
        found = waiting if waiting and which % 4 else self.world.asked
        return found[which // 4 % len(found)]

    def _by_phone(self, event: Inbound, expected: str) -> None:
        self.do(self.g.receive(event))
        self.world.events.append((event, expected))

    def _answers(self, asked: Asked, event: Inbound, value: Json, who: str) -> None:
        """An event that names its question: it wins, or hears why not."""
        if not asked.takes(self.clock.now):
            return self._by_phone(event, LATE[asked.status])
        self._by_phone(event, "accepted")
        self.world.answer(asked, value, PEOPLE[who], "memory")
        self._goes_on(asked)

    @precondition(lambda self: any(asked.step == 0 for asked in self.world.asked))
    @rule(who=people, which=some, label=st.sampled_from(("Now", "Later")))
    def somebody_taps(self, who: str, which: int, label: str) -> None:
        asked = self._one(which)
        if asked.step != 0:
            return
        (message,) = self.phone.asked(asked.id, who)
        self._answers(asked, self.phone.tap(who, message, label), label.lower(), who)

    @precondition(lambda self: self.world.asked)
    @rule(who=people, which=some, text=st.sampled_from(("Later", "now", "Vienna, perhaps")))
    def somebody_replies_to_a_message(self, who: str, which: int, text: str) -> None:
        asked = self._one(which)
        (message,) = self.phone.asked(asked.id, who)
        self._text(asked, self.phone.reply(who, message, text), text, who)

    @precondition(lambda self: self.world.asked)
    @rule(who=people, which=some)
    def somebody_writes_the_code(self, who: str, which: int) -> None:
        asked = self._one(which)
        code = self.phone.asked(asked.id, who)[0].message.code
        self._text(asked, self.phone.typed(who, f"Later #{code}"), "Later", who)

    @rule(who=people, text=st.sampled_from(("Later", "Vienna, perhaps")))
    def somebody_just_writes(self, who: str, text: str) -> None:
        """Without evidence it is for the only one that is open, and otherwise for none."""
        waiting = [asked for asked in self.world.asked if asked.status is PENDING]
        event = self.phone.typed(who, text)
        if len(waiting) == 1:
            return self._text(waiting[0], event, text, who)
        self._by_phone(event, "which one" if waiting else "unknown")

    def _text(self, asked: Asked, event: Inbound, text: str, who: str) -> None:
        if asked.status is PENDING and asked.step == 0 and text.lower() not in ("now", "later"):
            return self._by_phone(event, "asked again")
        self._answers(asked, event, text.lower() if asked.step == 0 else text, who)

    @rule(which=some, who=st.sampled_from(("9999", "2002")))
    def a_stranger_or_the_wrong_person_taps(self, which: int, who: str) -> None:
        """A button of Alice's copy, in somebody else's hand."""
        taps = [asked for asked in self.world.asked if asked.step == 0]
        if taps:
            (message,) = self.phone.asked(taps[which % len(taps)].id, "1001")
            self._by_phone(self.phone.tap(who, message, "Now"), "not allowed")

    def _refused(self, asked: Asked) -> contextlib.AbstractContextManager[object]:
        if asked.takes(self.clock.now):
            return contextlib.nullcontext()
        return pytest.raises(AlreadyAnswered if asked.status is COMPLETED else Closed)

    @precondition(lambda self: self.world.asked)
    @rule(which=some, value=st.sampled_from(("now", "later")), via=st.sampled_from(("api", "form")))
    def somebody_answers_by_api_or_form(self, which: int, value: str, via: str) -> None:
        asked = self._one(which)
        won = asked.takes(self.clock.now)
        with self._refused(asked):
            if via == "api":
                self.do(self.g.app.receiver.respond(asked.id, value, by="alice", via="api"))
            else:
                token = self.phone.asked(asked.id, "1001")[0].message.form_url.rpartition("/")[2]
                self.do(self.g.app.forms.submit(token, {"q1": value}))
        self.do(self.g.app.idle())
        if won:
            self.world.answer(asked, value, "alice", via)
            self._goes_on(asked)

    # -- what else happens

    @precondition(lambda self: self.world.asked)
    @rule(which=some)
    def the_asker_cancels(self, which: int) -> None:
        asked = self._one(which)
        can = asked.status is PENDING
        refused = pytest.raises(AlreadyAnswered if asked.status is COMPLETED else Closed)
        with contextlib.nullcontext() if can else refused:
            self.do(self.g.app.asker.cancel(asked.id))
        self.do(self.g.app.idle())
        if can:
            self.world.close(asked, CANCELLED)

    @precondition(lambda self: self.world.events)
    @rule(which=some, times=st.integers(1, 3))
    def the_service_delivers_again(self, which: int, times: int) -> None:
        """Once in: it changes nothing, and is told the first result."""
        event, first = self.world.events[which % len(self.world.events)]
        for _ in range(times):
            self.do(self.g.receive(event))
            assert self.phone.toasts[-1][0] == first

    @rule(seconds=st.sampled_from((1, 299, 301, 601)))
    def time_jumps_unseen(self, seconds: int) -> None:
        """The clock moves, and nobody has looked yet."""
        self.clock.advance(seconds)

    @rule(seconds=st.sampled_from((0, 299, 301, 601)))
    def time_passes(self, seconds: int) -> None:
        self.do(self.g.later(seconds))
        due = [asked for asked in self.world.asked if asked.status is PENDING]
        for asked in sorted(due, key=lambda asked: asked.expires_at):
            if asked.expires_at <= self.clock.now:
                self.world.close(asked, EXPIRED)
                self._goes_on(asked)

    @rule(seconds=st.sampled_from((0, 120, -120)))
    def the_gateway_is_restarted(self, seconds: int) -> None:
        """Its clock may have been put back meanwhile."""
        self._stop()
        self.clock.advance(seconds)
        self._start()

    # -- what must be true at any moment

    @invariant()
    def the_records_are_as_the_model_says(self) -> None:
        page = self.do(self.g.app.reader.interactions(limit=1000))
        real = {r.id: (r.status, r.answered_by, r.answered_via) for r in page.items}
        assert real == {asked.id: (asked.status, asked.by, asked.via) for asked in self.world.asked}

    @invariant()
    def the_agent_was_told_that_and_nothing_else(self) -> None:
        told = [
            (thread, text, "expired" if answer.expired else answer.values["q1"])
            for thread, text, answer in self.agent.journal
        ]
        assert sorted(told, key=repr) == sorted(self.world.journal, key=repr)

    @invariant()
    def the_runs_stand_where_they_must(self) -> None:
        runs = self.do(self.g.app.runner.list(limit=1000)).items
        real = {run.thread_id: run.status for run in runs}
        threads = {asked.thread for asked in self.world.asked if asked.thread}
        assert real == {thread: self.world.ended.get(thread, RunStatus.WAITING) for thread in threads}

    @invariant()
    def a_copy_is_edited_if_and_only_if_its_question_is_closed(self) -> None:
        for asked in self.world.asked:
            edited = [self.phone.is_edited(message) for message in self.phone.asked(asked.id)]
            assert edited == [asked.status is not PENDING] * 2

    @invariant()
    def each_reply_came_to_what_it_should(self) -> None:
        found = self.do(outcomes(self.g))
        assert list(found.values()) == [expected for _, expected in self.world.events]


@contextlib.contextmanager
def on_sqlite(template: Path) -> Iterator[Database]:
    with tempfile.TemporaryDirectory() as name:
        shutil.copy(template, Path(name, "answerback.db"))
        yield Database("sqlite", Path(name))


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A migrated SQLite file: copying it is quicker than migrating one for each example."""
    migrations.upgrade(choose("sqlite", str(tmp_path)).url)
    return tmp_path / "answerback.db"


def check(examples: int, steps: int, open_database: Any) -> None:
    run_state_machine_as_test(
        type("Machine", (Machine,), {"open_database": staticmethod(open_database)}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,  # how fast this machine is says nothing about the gateway
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_on_sqlite_it_does_what_the_model_says(template: Path) -> None:
    check(30, 25, lambda: on_sqlite(template))


@pytest.mark.slow
def test_on_sqlite_it_does_what_the_model_says_for_long(template: Path) -> None:
    check(150, 50, lambda: on_sqlite(template))


@pytest.mark.slow
def test_on_postgresql_it_does_what_the_model_says(postgres: Any, tmp_path: Path) -> None:
    name = postgres.template("model", lambda url: migrations.upgrade(choose(url, str(tmp_path)).url))

    @contextlib.contextmanager
    def open_database() -> Iterator[Database]:
        with tempfile.TemporaryDirectory() as folder, postgres.database(name) as url:
            yield Database(url, Path(folder))

    check(40, 30, open_database)
