"""The command line against a real gateway: `answerback serve` and its commands as processes of their own."""

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from answerback.client import Client
from tests.support.programs import Program

SECONDS = 90  # far more than a program takes to start and to end on a busy machine
PROGRAM = [sys.executable, "-m", "answerback.cli"]
CONFIG = """
listen: 127.0.0.1:0
data_dir: var
agents:
  mine: {use: "cli_agent:Asks"}
contacts:
  alice: {name: Alice}
  ben: {name: Ben}
"""
AGENT = '''
"""An agent that asks one question and ends with its answer; "fail" as input makes it fail once, and

"slowly" as answer has it work for a moment.
"""
import asyncio, gc, pathlib
from answerback.agent import Agent, Failed, Finished, Paused, Pending
from answerback.model import Question

class Asks(Agent):
    def __init__(self, *given):
        super().__init__(*given)
        self.waiting, self.failed = {}, set()

    async def start(self, thread, input, run=""):
        if input == "fail" and thread not in self.failed:
            self.failed.add(thread)
            return Failed("The far side is closed.")
        self.waiting[thread] = (Pending("i1", "d1", (Question("q", f"More about {input}?"),)),)
        return Paused(self.waiting[thread])

    async def pending(self, thread):
        return self.waiting.get(thread, ())

    async def resume(self, thread, target, answer, *, again=False):
        del self.waiting[thread]
        if answer.text == "slowly":
            with pathlib.Path(__file__).with_name("journal").open("a", buffering=1) as journal:
                journal.write("begun ")
                await asyncio.sleep(1)
                journal.write("ended ")
        return Finished(f"done with {answer.text or answer.values['q']}")

    async def retry(self, thread):
        return await self.start(thread, "again")

    async def cancel(self, thread):
        return {"report": "Half of it is done."} if self.waiting.pop(thread, None) else None

def told(kind, agent_message):
    """Somebody's own way to be told, in the gateway's own process."""
    pathlib.Path(__file__).with_name("frozen").write_text(str(gc.get_freeze_count()))
'''


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


@dataclass
class Served:
    """A gateway as a process, and its configuration's folder."""

    home: Path
    process: Program
    ready: str

    @property
    def url(self) -> str:
        return re.search(r"http://\S+", self.ready)[0]

    def do(self, *words: str, typed: str | None = None, **environ: str) -> Done:
        return do(self.home, *words, typed=typed, ANSWERBACK_URL=self.url, **environ)

    def call(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        """Speak to the gateway as a program does, without a process of its own."""

        async def session() -> Any:
            async with Client(self.url, (self.home / "var" / "api-key").read_text()) as client:
                return await work(client)

        return asyncio.run(session())

    def answers(self, id: str, response: Any) -> None:
        self.call(lambda client: client.respond(id, response))

    def asks(self, question: Any, **more: Any) -> str:
        return self.call(lambda client: client.ask(question, **more))["id"]

    def record(self, id: str) -> Any:
        return self.call(lambda client: client.interaction(id))

    def begin(self, *words: str) -> Program:
        """A command that waits; its stderr can be read up to `Answer here`."""
        return begin(self.home, *words, ANSWERBACK_URL=self.url)

    def stop(self) -> Done:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=SECONDS)
        return Done(self.process.returncode, out, self.log())

    def log(self) -> str:
        return (self.home / "log").read_text(encoding="utf-8")


def environment(home: Path, more: dict[str, str]) -> dict[str, str]:
    """Nothing of ours from outside; what one process compiles the next one finds beside the source."""
    left_out = ("ANSWERBACK_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    paths = os.pathsep.join([str(home), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    return {
        **kept,
        "PYTHONPATH": paths,
        "ANSWERBACK_CONFIG": str(home / "answerback.yaml"),
        **more,
    }


def begin(home: Path, *words: str, err: int = subprocess.PIPE, **more: str) -> Program:
    return Program("answerback.cli", *words, env=environment(home, more), cwd=home, stderr=err)


@contextmanager
def limited(process: Program) -> Iterator[None]:
    """A process that says nothing for too long is ended, and with it the reading of what it says."""
    watch = threading.Timer(SECONDS, process.kill)
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def do(home: Path, *words: str, typed: str | None = None, **more: str) -> Done:
    process = begin(home, *words, **more)
    out, err = process.communicate(typed or "", timeout=SECONDS)
    return Done(process.returncode, out, err)


def serve(home: Path, *words: str, **more: str) -> Served:
    """What it logs goes to a file, to be read when it has ended."""
    with (home / "log").open("w", encoding="utf-8") as log:
        process = begin(home, "serve", *words, err=log.fileno(), **more)
    with limited(process):
        return Served(home, process, process.stdout.readline())


def home_with(folder: Path, config: str) -> Path:
    (folder / "answerback.yaml").write_text(config)
    (folder / "cli_agent.py").write_text(textwrap.dedent(AGENT))
    return folder


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = serve(home_with(tmp_path_factory.mktemp("gateway"), CONFIG))
    yield served
    served.stop()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts gateways of a test's own in `tmp_path`, and stops those that still run."""
    started = []

    def start(*words: str, config: str = CONFIG) -> Served:
        started.append(serve(home_with(tmp_path, config), *words))
        return started[-1]

    yield start
    for served in started:
        if served.process.poll() is None:
            served.stop()


def asked(process: Program) -> str:
    """The id of the question that a waiting command has asked."""
    with limited(process):
        while line := process.stderr.readline():
            if found := re.search(r"interactions answer (\S+)", line):
                return found[1]
    raise AssertionError("the command asked nothing")


def ended(process: Program) -> Done:
    out, err = process.communicate(timeout=SECONDS)
    return Done(process.returncode, out, err)


# -- notify


PEOPLE = """
listen: 127.0.0.1:0
data_dir: var
providers:
  told: {use: callback, function: "cli_agent:told"}
contacts:
  alice: {name: Alice, addresses: {told: a}}
  ben: {name: Ben}
outgoing: {signing_secret: whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz}
"""
HOOKED = """
listen: 127.0.0.1:0
data_dir: var
providers:
  there: {use: webhook, url: "https://example.org/", secret: whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz}
"""


def test_a_notice_is_told_and_its_id_printed(gateway: Served) -> None:
    done = gateway.do("notify", "It is live.", "--title", "Deploy", "--wait")
    assert done.code == 0
    assert re.fullmatch(r"[0-9a-f-]{36}\n", done.out)
    assert "Here on link: sent" in done.err
    assert "It is live." in gateway.log()  # where no provider is configured, that is where links are printed


def test_a_sensitive_notice_is_told_by_its_link_only(gateway: Served) -> None:
    assert gateway.do("notify", "The key is under the mat.", "--sensitive", "--wait").code == 0
    assert "under the mat" not in gateway.log()
    assert re.search(r"Read it here: http://\S+/f/[a-z2-7]{26}", gateway.log())


def test_a_notice_that_somebody_does_not_get_exits_with_1(serving: Callable[..., Served]) -> None:
    there = serving(config=PEOPLE)
    alone = there.do("notify", "It is live.", "--to", "alice", "--wait", "--json")
    assert (alone.code, json.loads(alone.out)["status"]) == (0, "sent")
    done = there.do("notify", "It is live.", "--to", "alice", "--to", "ben", "--wait")
    assert done.code == 1
    assert "alice on told: sent" in done.err
    assert "ben: failed (no address" in done.err
    nobody = there.do("notify", "It is live.", "--to", "ben")
    assert (nobody.code, nobody.out) == (1, "")
    assert "contacts link" in nobody.err
    assert there.do("notify").code == 2


def test_what_is_imported_does_not_stop_the_gateway_again_and_again(serving: Callable[..., Served]) -> None:
    there = serving(config=PEOPLE)
    assert there.do("notify", "It is live.", "--to", "alice", "--wait").code == 0
    assert int((there.home / "frozen").read_text()) > 10_000  # objects that no collection looks through


def test_the_secret_that_signs_is_printed(serving: Callable[..., Served], tmp_path: Path) -> None:
    there = serving(config=PEOPLE)
    assert there.do("signing-secret").out == "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n"
    (tmp_path / "answerback.yaml").write_text(CONFIG)
    derived = [there.do("signing-secret").out for _ in range(2)]
    assert derived[0] == derived[1]
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=\n", derived[0])


# -- ask, and how it ends


def test_what_only_people_may_answer_is_asked_as_such(gateway: Served) -> None:
    ids = [gateway.do("ask", "Which term?", *more).out.strip() for more in ((), ("--human-only",))]
    assert [gateway.record(id)["human_only"] for id in ids] == [False, True]


def test_an_answer_goes_to_stdout_and_nothing_else_does(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Which term?", "--to", "alice", "--wait")
    id = asked(waiting)
    gateway.answers(id, "PSR “best” costing")
    done = ended(waiting)
    assert (done.code, done.out) == (0, "PSR “best” costing\n")
    assert "answered through api" in done.err


def test_it_says_who_cannot_be_reached_and_where_the_form_is(gateway: Served) -> None:
    done = gateway.do("ask", "Which term?", "--to", "alice", "--to", "ben")
    assert "No address yet: Alice, Ben." in done.err
    assert re.search(rf"Answer here: {gateway.url.rstrip('/')}/f/\S+", done.err)
    assert re.fullmatch(r"[0-9a-f-]{36}\n", done.out)


def test_a_confirmed_question_exits_with_0(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm", "--to", "alice", "--wait")
    gateway.answers(asked(waiting), "yes")
    done = ended(waiting)
    assert (done.code, done.out) == (0, "yes\n")


def test_a_denied_question_exits_with_5(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm", "--to", "alice", "--wait")
    gateway.answers(asked(waiting), "no")
    done = ended(waiting)
    assert (done.code, done.out) == (5, "no\n")


def test_a_confirmation_waits_without_being_told_to(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm")
    gateway.answers(asked(waiting), "no")
    assert ended(waiting).code == 5


@pytest.mark.parametrize("on_expire", ["no-response", "cancel"])
def test_a_question_that_closed_by_itself_is_never_a_yes(gateway: Served, on_expire: str) -> None:
    done = gateway.do("ask", "Deploy?", "--confirm", "--expires", "200ms", "--on-expire", on_expire)
    assert (done.code, done.out) == (3, "")
    assert "without an answer" in done.err


def test_a_default_is_printed_but_is_no_answer(gateway: Served) -> None:
    words = ["--expires", "200ms", "--on-expire", "default", "--default", "no", "--wait"]
    done = gateway.do("ask", "Deploy?", "--confirm", *words)
    assert (done.code, done.out) == (3, "no\n")


def test_a_default_must_not_approve(gateway: Served) -> None:
    done = gateway.do("ask", "Deploy?", "--confirm", "--on-expire", "default", "--default", "yes")
    assert (done.code, done.out) == (1, "")
    assert "silence is not an answer" in done.err


def test_a_cancelled_question_exits_with_4(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm")
    assert gateway.do("interactions", "cancel", asked(waiting), "--reason", "not today").code == 0
    done = ended(waiting)
    assert (done.code, done.out) == (4, "")
    assert "not today" in done.err


def test_ctrl_c_exits_with_130_and_leaves_the_question_open(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm")
    id = asked(waiting)
    waiting.send_signal(signal.SIGINT)
    done = ended(waiting)
    assert (done.code, done.out) == (130, "")
    assert f"interactions cancel {id}" in done.err
    assert "Traceback" not in done.err
    assert gateway.record(id)["status"] == "pending"


def test_a_shell_deploys_on_yes_only(gateway: Served, tmp_path: Path) -> None:
    script = (
        f'{sys.executable} -m answerback.cli ask "Deploy now?" --confirm --to alice --wait && touch deployed'
    )
    for answer, deployed in (("no", False), ("yes", True)):
        shell = subprocess.Popen(
            ["sh", "-c", script], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(gateway.home, {"ANSWERBACK_URL": gateway.url}),
        )  # fmt: skip
        gateway.answers(asked(shell), answer)
        ended(shell)
        assert (tmp_path / "deployed").exists() is deployed


def test_a_choice_is_answered_by_its_number_and_printed_by_its_name(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Which?", "--choice", "costing", "--choice", "coding", "--other", "--wait")
    assert gateway.do("interactions", "answer", asked(waiting), "2").code == 0
    assert ended(waiting).out == "coding\n"


def test_nobody_of_that_name_is_a_sentence(gateway: Served) -> None:
    done = gateway.do("ask", "Well?", "--to", "carol")
    assert (done.code, done.out) == (1, "")
    assert "There is no contact 'carol'" in done.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("ask", " "), "A question needs a text: there is nothing to answer."),
        (
            ("ask", "Which?", "--choice", "a", "--choice", ""),
            "A choice needs a text that can be read: number 2",
        ),
        (("notify", ""), "A notice needs a text: there is nothing to tell."),
        (("run", ""), "agent: This must not be empty."),
    ],
)
def test_what_says_nothing_is_refused_in_our_words(gateway: Served, words: tuple[str, ...], why: str) -> None:
    done = gateway.do(*words)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"answerback: {why}")


def test_a_key_that_is_more_than_a_key_is_a_sentence(gateway: Served) -> None:
    done = gateway.do("ask", "Well?", ANSWERBACK_KEY="one\ntwo")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("answerback: The API key cannot be sent")


def test_the_same_idempotency_key_asks_once(gateway: Served) -> None:
    first, second = (gateway.do("ask", "Once?", "--idempotency-key", "k1") for _ in range(2))
    assert first.out == second.out


# -- interactions

CLOSED = [
    ("<&-", ("interactions", "answer", "{id}"), 1, "The input ended, so nothing was answered."),
    (">&-", ("interactions", "show", "{id}"), 0, "This is still open."),
    (">&-", ("contacts", "list"), 0, ""),
    ("<&- >&-", ("ask", "Closed as well?"), 0, ""),
    ("2>&-", ("ask", "Nobody hears?"), 0, ""),
    ("<&- >&- 2>&-", ("ask", "Not here?", "--choice", "a", "--wait", "--expires", "100ms"), 3, ""),
]


@pytest.mark.parametrize(("streams", "words", "code", "said"), CLOSED)
def test_streams_that_are_closed_are_none_that_can_be_asked_at(
    gateway: Served, streams: str, words: tuple[str, ...], code: int, said: str
) -> None:
    id = gateway.asks("Still there?") if "{id}" in words else ""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *PROGRAM, *(word.format(id=id) for word in words)],
        env=environment(gateway.home, {"ANSWERBACK_URL": gateway.url}),
        cwd=gateway.home, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, "unexpected" in done.stderr) == (code, False)
    assert said in done.stderr


def test_what_a_program_prints_into_a_closed_stream_goes_into_no_file(tmp_path: Path) -> None:
    """The database must not take the number of stdout: whatever a graph prints would be written into it."""
    home = home_with(tmp_path, CONFIG)
    code = "import os; from answerback.cli.root import open_streams; open_streams(); print(os.open('x', 65))"
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-c", code + "; os.write(1, b'printed')"],
        env=environment(home, {}), cwd=home, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, (home / "x").read_bytes()) == (0, b"")


def test_a_question_is_shown_with_its_choices_numbered_and_answered_by_typing(gateway: Served) -> None:
    id = gateway.do("ask", "Which?", "--choice", "a", "--choice", "b", "--context", "Two left.").out.strip()
    done = gateway.do("interactions", "answer", id, typed="2\n")
    assert done.code == 0
    shown = done.err.splitlines()
    assert shown[:5] == ["🟦 An agent", "Which?", "Two left.", "  1  a", "  2  b"]
    assert gateway.do("interactions", "show", id).out == "b\n"


def test_a_typed_answer_that_does_not_fit_is_refused_and_the_question_stays_open(gateway: Served) -> None:
    waiting = gateway.begin("ask", "Deploy now?", "--confirm")
    id = asked(waiting)
    done = gateway.do("interactions", "answer", id, typed="perhaps\n")
    assert done.code == 1
    assert "a yes or a no (true or false)" in done.err
    assert gateway.do("interactions", "answer", id, "--response", "false").code == 0
    assert ended(waiting).code == 5


def test_no_input_answers_nothing(gateway: Served) -> None:
    id = gateway.asks("Well?")
    done = gateway.do("interactions", "answer", id, typed="")
    assert (done.code, done.out) == (1, "")
    assert "nothing was answered" in done.err


def test_the_second_answer_is_told_that_it_came_too_late(gateway: Served) -> None:
    id = gateway.asks("Well?")
    gateway.answers(id, "first")
    done = gateway.do("interactions", "answer", id, "second")
    assert done.code == 1
    assert "was answered" in done.err
    assert gateway.record(id)["answer"]["text"] == "first"


def test_answering_what_was_cancelled_exits_with_4(gateway: Served) -> None:
    id = gateway.asks("Well?")
    gateway.call(lambda client: client.cancel(id))
    assert gateway.do("interactions", "answer", id, "late").code == 4
    done = gateway.do("--json", "interactions", "answer", id, "late")
    assert (done.code, done.out, json.loads(done.err)["code"]) == (4, "", "closed")


def test_with_json_what_the_gateway_refuses_is_its_own_problem_document(gateway: Served) -> None:
    done = gateway.do("--json", "ask", "Well?", "--to", "carol")
    request = urllib.request.Request(  # noqa: S310
        f"{gateway.url}/v1/interactions",
        json.dumps({"question": "Well?", "ask": ["carol"]}).encode(),
        {
            "Authorization": f"Bearer {(gateway.home / 'var' / 'api-key').read_text().strip()}",
            "Content-Type": "application/json",
        },
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)  # noqa: S310
    assert (done.code, done.out, json.loads(done.err)) == (1, "", json.loads(refused.value.read()))
    wrong = gateway.do("ask", "Well?", "--json", ANSWERBACK_KEY="wrong")
    assert (json.loads(wrong.err)["status"], json.loads(wrong.err)["code"]) == (401, "unauthorized")


def test_questions_are_listed_a_page_at_a_time(gateway: Served) -> None:
    ids = [gateway.asks(f"Listed {number}?") for number in range(2)]
    page = json.loads(gateway.do("interactions", "list", "--json", "--limit", "1").out)
    rest = json.loads(gateway.do("interactions", "list", "--json", "--after", page["next"]).out)
    found = [record["id"] for record in page["items"] + rest["items"]]
    assert found == sorted(found)
    assert set(ids) <= set(found)
    assert "Listed 1?" in gateway.do("interactions", "list", "--status", "pending").out


def test_it_is_shown_and_listed_for_whom_a_question_was_asked(gateway: Served) -> None:
    id = gateway.asks("For her?", user="u-17", state={})
    gateway.asks("For him?", user="u-18")
    assert "Asked for u-17.\n" in gateway.do("interactions", "show", id).err
    listed = json.loads(gateway.do("interactions", "list", "--user", "u-17", "--json").out)
    assert [(item["id"], item["user"]) for item in listed["items"]] == [(id, "u-17")]
    assert gateway.call(lambda client: client.state(id)) == {}


@pytest.mark.parametrize("id", ["nothing", "../runs", "..", "a/b"])
def test_an_unknown_id_is_not_found(gateway: Served, id: str) -> None:
    done = gateway.do("interactions", "show", id)
    assert done.code == 1
    assert "There is no interaction" in done.err


# -- runs


def test_a_run_shows_what_it_asks_and_prints_its_result(gateway: Served) -> None:
    waiting = gateway.begin("run", "mine", "--input", '"tea"', "--wait")
    gateway.answers(asked(waiting), "milk")
    done = ended(waiting)
    assert (done.code, done.out) == (0, "done with milk\n")


def test_what_a_run_is_given_and_what_it_is_answered_may_stand_in_a_file(gateway: Served) -> None:
    (gateway.home / "input.json").write_text('"tea"', encoding="utf-8")
    waiting = gateway.begin("run", "mine", "--input", "@input.json", "--wait")
    id = asked(waiting)
    assert "More about tea?" in gateway.do("interactions", "show", id).err
    assert gateway.do("interactions", "answer", id, "--response", "-", typed='"milk"').code == 0
    assert ended(waiting).out == "done with milk\n"


def test_a_run_sets_the_deadline_of_what_it_asks(gateway: Served) -> None:
    waiting = gateway.begin("run", "mine", "--input", '"tea"', "--expires", "1h", "--wait")
    id = asked(waiting)
    record = gateway.record(id)
    until, since = (datetime.fromisoformat(record[key]) for key in ("expires_at", "created_at"))
    assert (until - since).total_seconds() == 3600
    gateway.answers(id, "milk")
    assert ended(waiting).code == 0
    assert gateway.do("run", "mine", "--expires", "soon").code == 2


def test_a_question_is_erased_with_its_run_and_only_after_a_yes(gateway: Served) -> None:
    waiting = gateway.begin("run", "mine", "--input", '"tea"', "--wait")
    id = asked(waiting)
    assert "is waiting" in gateway.do("interactions", "erase", id, "--yes").err
    gateway.answers(id, "milk")
    ended(waiting)
    unsure = gateway.do("interactions", "erase", id)
    assert (unsure.code, "gone for good" in unsure.out + unsure.err) == (130, True)
    assert gateway.do("interactions", "show", id).out == "milk\n"
    done = gateway.do("interactions", "erase", id, "--yes")
    assert done.code == 0 and "was erased at" in done.err
    shown = gateway.do("interactions", "show", id)
    assert (shown.code, shown.out, "milk" in shown.err) == (0, "", False)
    assert "(erased)" in gateway.do("interactions", "list").out
    run = gateway.call(lambda client: client.interaction(id))["run_id"]
    shown = gateway.do("runs", "show", run)
    assert (shown.out, "was erased at" in shown.err) == ("", True)


# -- routes


ROUTES = """
routes:
  calm: {ask: [alice], providers: [told], expires_in: 90m, reminders: [10m, 1h], on_expire: leave}
  urgent: {ask: [alice, ben], providers: [told], at_once: true}
"""


def test_a_route_is_tried_without_asking_anybody(serving: Callable[..., Served]) -> None:
    served = serving(config=PEOPLE + ROUTES)
    calm = served.do("routes", "test", "calm")
    assert (calm.code, calm.err) == (0, "")
    assert calm.out.splitlines() == [
        "calm",
        "  Alice  told a",
        "  Asked again after 10m, 1h.",
        "  After 1h30m without an answer, it can still be answered.",
    ]
    every = served.do("routes", "test")
    assert every.code == 1  # Ben cannot be reached
    assert [line for line in every.out.splitlines() if not line.startswith(" ")] == [
        "calm", "urgent", "default"
    ]  # fmt: skip
    assert "  Ben    cannot be reached: no address on this route's providers" in every.out.splitlines()
    assert json.loads(served.do("routes", "test", "calm", "--json").out)["people"][0]["contact"] == "alice"
    plans = json.loads(served.do("routes", "test", "--json").out)["items"]
    assert [plan["route"] for plan in plans] == ["calm", "urgent", "default"]
    lost = served.do("routes", "test", "calm", "--to", "ben")
    assert lost.code == 1
    assert "  No person is asked; told is told of it." in lost.out.splitlines()
    assert served.do("routes", "test", "nightly").err == (
        "answerback: There is no route 'nightly'. Known: calm, default, urgent.\n"
    )


def test_where_nobody_can_be_reached_a_route_says_where_the_link_is(gateway: Served) -> None:
    done = gateway.do("routes", "test")
    assert done.err == (
        "answerback: Nobody can be asked on the route default: no provider is configured, so the gateway "
        "prints the link to the form.\n"
    )
    assert (done.code, done.out.splitlines()) == (
        1,
        [
            "default",
            "  Alice  cannot be reached: no address on this route's providers",
            "  Ben    cannot be reached: no address on this route's providers",
            "  For mine, where no other route is named.",
            "  No person is asked; the gateway prints the link to the form.",
            "  It waits until it is answered.",
        ],
    )


def test_a_route_that_asks_nobody_ends_with_1_and_says_what_to_do(serving: Callable[..., Served]) -> None:
    _, _, rest = PEOPLE.partition("contacts:")
    served = serving(config=HOOKED + rest[rest.index("outgoing:") :])
    for words in ((), ("--json",), ("default",)):
        assert served.do("routes", "test", *words).code == 1
    assert served.do("routes", "test").err == (
        "answerback: Nobody can be asked on the route default: it asks no contact. Name people under "
        "contacts, each with their addresses.\n"
    )


def test_a_route_whose_people_have_no_address_says_whom_to_link(serving: Callable[..., Served]) -> None:
    served = serving(config=HOOKED + "contacts: {ben: {name: Ben}}\n" + PEOPLE[PEOPLE.index("outgoing:") :])
    lost = served.do("routes", "test")
    assert lost.code == 1
    assert "none of its people has an address on its providers." in lost.err
    assert "answerback contacts link ben PROVIDER" in lost.err


def test_a_function_alone_is_told_of_what_nobody_is_asked(serving: Callable[..., Served]) -> None:
    providers, _, rest = PEOPLE.partition("contacts:")
    done = serving(config=providers + rest[rest.index("outgoing:") :]).do("routes", "test")
    assert (done.code, done.err) == (0, "")
    assert "  No person is asked; told is told of it." in done.out.splitlines()


def title_of(served: Served, person: str) -> str:
    """Of the notice that somebody gets when a route is tried with them."""
    sent = json.loads(served.do("routes", "test", "calm", "--to", person, "--send", "--json").out)
    return sent["notices"][0]["title"]


def test_a_test_notice_is_sent_on_a_route_when_that_is_wanted(serving: Callable[..., Served]) -> None:
    carla = "  carla: {name: Carla, language: de, addresses: {told: c}}\noutgoing:"
    served = serving(config=PEOPLE.replace("outgoing:", carla) + ROUTES)
    sent = served.do("routes", "test", "calm", "--send")
    assert (sent.code, sent.err) == (0, "alice on told: sent\n")
    notice = json.loads(served.do("routes", "test", "calm", "--send", "--json").out)["notices"][0]
    assert [told["contact"] for told in notice["deliveries"]] == ["alice"]
    titles = {person: title_of(served, person) for person in ("alice", "carla")}
    assert titles == {"alice": "This is a test.", "carla": "Das ist ein Test."}
    lost = served.do("routes", "test", "urgent", "--to", "ben", "--send")
    assert lost.code == 1
    assert served.do("routes", "test", "--send").code == 2


# -- the audit, and what happened to a question


def test_a_question_is_explained(gateway: Served) -> None:
    id = gateway.asks({"text": "Wipe production?", "kind": "confirm"})
    gateway.answers(id, False)
    done = gateway.do("interactions", "explain", id)
    said = [line.split("  ", 1)[1] for line in done.out.splitlines()]
    assert (done.code, said[0]) == (0, "It was asked.")
    assert {"The question was sent on link.", "It can be answered on its form.", "local answered."} <= {*said}
    assert re.fullmatch(r"\d\d:\d\d:\d\d", done.out.split("  ")[0])
    events = json.loads(gateway.do("interactions", "explain", id, "--json").out)["events"]
    assert events[0]["event"] == "asked"
    assert "There is no interaction" in gateway.do("interactions", "explain", "nothing").err


def test_the_audit_is_verified_and_compared_with_what_was_exported(gateway: Served) -> None:
    gateway.answers(gateway.asks("Which?"), "this")
    whole = gateway.do("audit", "verify")
    assert (whole.code, whole.out) == (0, "")
    assert re.fullmatch(r"All is as it was written: \d+ entries of \d+ questions\.\n", whole.err)
    exported = gateway.do("audit", "export")
    lines = exported.out.splitlines()
    assert f"{len(lines)} entries." in exported.err
    kept = gateway.home / "audit.jsonl"
    kept.write_text(exported.out)
    gateway.asks("Another?")  # what is new since then is no difference
    same = gateway.do("audit", "verify", str(kept))
    assert (same.code, f"All {len(lines)} entries of audit.jsonl are among them." in same.err) == (0, True)

    gone = json.loads(lines[0]) | {"interaction_id": "gone"}
    other = json.loads(lines[1]) | {"hash": "0"}
    kept.write_text("\n".join([*lines[2:], json.dumps(gone), json.dumps(other)]))
    done = gateway.do("audit", "verify", str(kept))
    assert done.code == 1
    assert done.out.splitlines() == [
        f"{other['interaction_id']}  Entry {other['seq']} is not the one that was exported.",
        f"gone{' ' * (len(other['interaction_id']) - 4)}  Entry {gone['seq']} was exported and is gone.",
    ]
    assert "The database was changed by something else than the gateway" in done.err


def test_what_is_no_export_is_refused_with_its_line(gateway: Served) -> None:
    file = gateway.home / "notes.txt"
    file.write_text("hello\n")
    done = gateway.do("audit", "verify", str(file))
    assert (done.code, "line 1: this is no entry" in done.err) == (2, True)
    missing = gateway.do("audit", "verify", "nothing.jsonl")
    assert (missing.code, "nothing.jsonl cannot be read: No such file" in missing.err) == (2, True)


def test_a_cancelled_run_exits_with_4(gateway: Served) -> None:
    waiting = gateway.begin("run", "mine", "--input", '"tea"', "--wait", "--thread", "t-cancel")
    question = asked(waiting)
    found = gateway.call(lambda client: client.runs("waiting"))["items"]
    id = next(run["id"] for run in found if run["thread_id"] == "t-cancel")
    assert gateway.do("runs", "cancel", id).err.strip() == "mine is cancelled."
    assert "This was cancelled.\n" in gateway.do("interactions", "show", question).err
    assert ended(waiting).code == 4
    shown = gateway.do("runs", "show", id)
    assert "What it had finished until then:" in shown.err
    assert "Half of it is done." in shown.out


def test_a_run_whose_question_is_withdrawn_says_by_whom_or_why(gateway: Served) -> None:
    for more, why in (((), "is cancelled by the asker."), (("--reason", "No."), "is cancelled: No.")):
        waiting = gateway.begin("run", "mine", "--input", '"tea"', "--wait")
        assert gateway.do("interactions", "cancel", asked(waiting), *more).code == 0
        done = ended(waiting)
        assert (done.code, f"answerback: the run {why}\n" in done.err) == (4, True)


def test_a_failed_run_exits_with_1_and_can_be_tried_again(gateway: Served) -> None:
    done = gateway.do("run", "mine", "--input", '"fail"', "--wait", "--json")
    assert done.code == 1
    assert "Again, with the same input: answerback runs retry" in done.err
    run = json.loads(done.out)
    assert (run["status"], run["error"]) == ("failed", "The far side is closed.")
    assert gateway.do("runs", "retry", run["id"]).code == 0
    assert "mine is" in gateway.do("runs", "show", run["id"]).err


def test_a_waiting_thread_is_not_taken_unless_it_is_replaced(gateway: Served) -> None:
    first = gateway.begin("run", "mine", "--input", "1", "--thread", "t-busy", "--wait")
    asked(first)
    done = gateway.do("run", "mine", "--input", "2", "--thread", "t-busy")
    assert done.code == 1
    assert "replace" in done.err
    assert gateway.do("run", "mine", "--input", "2", "--thread", "t-busy", "--replace").code == 0
    assert ended(first).code == 4


def test_an_unknown_agent_is_a_sentence(gateway: Served) -> None:
    done = gateway.do("run", "nobody")
    assert done.code == 1
    assert "There is no agent 'nobody'. Known: mine." in done.err


# -- people and plugins


def test_contacts_are_listed_and_added(gateway: Served) -> None:
    assert gateway.do("contacts", "add", "carol", "--name", "Carol", "--timezone", "Europe/Vienna").code == 0
    changed = gateway.do("contacts", "add", "carol", "--language", "de", "--quiet-hours", "")
    assert (changed.out.split(), changed.err) == (
        ["carol", "Carol", "de", "Europe/Vienna", "no", "address"],
        "Now: answerback contacts link carol PROVIDER\n",
    )
    found = json.loads(gateway.do("contacts", "list", "--json").out)["items"]
    assert "  no address\n" in gateway.do("contacts", "list").out
    zones = {contact["id"]: contact["timezone"] for contact in found}
    assert (zones["alice"], zones["carol"]) == ("UTC", "Europe/Vienna")


def test_a_contact_of_the_configuration_is_changed_there(gateway: Served) -> None:
    done = gateway.do("contacts", "add", "alice", "--name", "Eve")
    assert done.code == 1
    assert "change it there" in done.err


def test_a_contact_is_removed_once_somebody_has_agreed(gateway: Served) -> None:
    gateway.do("contacts", "add", "dora", "--name", "Dora")
    first = gateway.do("contacts", "remove", "dora")  # nobody is there to say yes
    assert first.code == 130
    assert "Remove dora?" in first.err
    done = gateway.do("contacts", "remove", "dora", "--yes")
    assert (done.code, done.out) == (0, "")
    assert "Dora is removed." in done.err and "Left: what Dora was asked and answered" in done.err
    again = gateway.do("contacts", "remove", "dora", "--yes")
    assert (again.code, "There is no contact 'dora'." in again.err) == (1, True)
    gateway.do("contacts", "add", "dora")
    done = gateway.do("contacts", "remove", "dora", "--yes", "--json")
    assert json.loads(done.out)["addresses"] == []
    there = gateway.do("contacts", "remove", "alice", "--yes")
    assert (there.code, "out of the file" in there.err) == (1, True)
    nowhere = gateway.do("contacts", "remove", "alice", "--provider", "telegram", "--yes")
    assert (nowhere.code, "alice has no address on telegram." in nowhere.err) == (1, True)


def test_what_is_kept_of_a_contact_is_erased_once_they_are_removed(gateway: Served) -> None:
    gateway.do("contacts", "add", "erin", "--name", "Erin")
    first = gateway.do("contacts", "erase", "erin", "--yes")
    assert (first.code, "answerback contacts remove erin" in first.err) == (1, True)
    removed = gateway.do("contacts", "remove", "erin", "--yes")
    assert "answerback contacts erase erin" in removed.err
    unsure = gateway.do("contacts", "erase", "erin")
    assert (unsure.code, "gone for good" in unsure.out + unsure.err) == (130, True)
    done = gateway.do("contacts", "erase", "erin", "--yes")
    assert (done.code, done.out) == (0, "") and "What was kept of erin was erased at" in done.err
    again = gateway.do("contacts", "erase", "erin", "--yes", "--json")
    assert json.loads(again.out)["done"] is True
    nobody = gateway.do("contacts", "erase", "nobody", "--yes")
    assert (nobody.code, "There is no contact 'nobody'" in nobody.err) == (1, True)


def test_linking_needs_a_provider_that_is_configured(gateway: Served) -> None:
    done = gateway.do("contacts", "link", "alice", "telegram")
    assert done.code == 1
    assert "There is no provider 'telegram'. None is configured." in done.err
    assert gateway.do("contacts", "link", "alice", "link").code == 1  # what prints links has no accounts


def test_what_is_no_id_of_a_contact_is_refused_in_a_sentence(gateway: Served) -> None:
    done = gateway.do("contacts", "add", "a b")
    assert (done.code, "Value error" in done.err, "id: " in done.err) == (1, False, True)


def test_agents_and_providers_say_whether_they_work(gateway: Served) -> None:
    assert gateway.do("agents").out.split() == ["mine", "cli_agent:Asks", "works"]
    providers = gateway.do("providers")
    assert providers.out.splitlines()[0].split() == ["link", "built", "in", "works"]
    assert re.search(r"^webform +answerback \S+ +sends$", providers.out, re.MULTILINE)
    assert "Configured, as http://" in providers.err


# -- serve


def test_one_line_says_that_it_is_ready_and_where_the_key_is(gateway: Served) -> None:
    key = gateway.home / "var" / "api-key"
    assert gateway.ready.startswith("Ready at http://127.0.0.1:")
    for part in ("no provider: questions are shown as links here", "agents mine", f"key in {key}"):
        assert part in gateway.ready
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_wrong_key_is_refused(gateway: Served) -> None:
    done = gateway.do("ask", "Well?", ANSWERBACK_KEY="wrong")
    assert (done.code, done.out) == (1, "")
    assert "This API key is not known here." in done.err


def test_law_10_a_log_that_nobody_reads_holds_up_nothing(tmp_path: Path) -> None:
    """As of a terminal after Ctrl-S, or of a log service that hangs."""
    process = begin(home_with(tmp_path, CONFIG), "serve")
    with limited(process):
        served = Served(tmp_path, process, process.stdout.readline())
        guesses = [f"/f/guess-{number}-{'x' * 200}" for number in range(600)]
        site = http.client.HTTPConnection(served.url.removeprefix("http://"))
        for path in guesses:
            site.request("GET", path)
            assert site.getresponse().read()
        site.close()
        id = served.asks("Well?")
        served.answers(id, "yes")
        assert served.record(id)["status"] == "completed"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert len(log) > 1 << 16, "it logs too little to fill a pipe"


def test_a_port_in_use_is_said_with_what_to_do(gateway: Served, tmp_path: Path) -> None:
    port = gateway.url.rpartition(":")[2]
    done = do(home_with(tmp_path, CONFIG), "serve", "--listen", f"127.0.0.1:{port}")
    assert (done.code, done.out) == (1, "")
    assert f"127.0.0.1:{port} is in use" in done.err
    assert "--listen 127.0.0.1:" in done.err
    assert "Traceback" not in done.err


def test_a_second_gateway_on_the_same_data_is_refused(gateway: Served) -> None:
    done = do(gateway.home, "serve")
    assert (done.code, done.out) == (1, "")
    assert f"Another answerback is using {gateway.home / 'var'}" in done.err


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("listen: 127.0.0.1:0\nprovider: {}\n", r'answerback\.yaml:2: Unknown key "provider".*providers'),
        ("providers:\n  t: {token: '${NO_SUCH_TOKEN}'}\n", r"answerback\.yaml:2: .*NO_SUCH_TOKEN"),
        ("listen: nowhere\n", r"answerback\.yaml:1: listen: this is not HOST:PORT"),
        ("listen: 192.0.2.1:8700\n", r"192\.0\.2\.1 is no address of this machine"),
        ("listen: 127.0.0.1:0\nmetrics: {listen: nowhere}\n", r"yaml:2: metrics\.listen: this is not"),
        ("listen: 127.0.0.1:0\nmetrics: {listen: '192.0.2.1:9464'}\n", r"metrics\.listen: 192\.0\.2\.1"),
        ("listen: 127.0.0.1:0\nagents: {a: {use: 'no_such:Agent'}}\n", r"answerback\.yaml:2: .*no_such"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_said_with_its_place(tmp_path: Path, config: str, said: str) -> None:
    done = do(home_with(tmp_path, config), "serve")
    assert (done.code, done.out) == (1, "")
    assert re.search(said, done.err), done.err
    assert "Traceback" not in done.err


def test_debug_shows_where_an_error_comes_from(tmp_path: Path) -> None:
    assert "Traceback" in do(home_with(tmp_path, "listen: nowhere\n"), "serve", "--debug").err


def test_one_bad_agent_does_not_stop_the_others(serving: Callable[..., Served]) -> None:
    served = serving(config=CONFIG.replace("agents:\n", "agents:\n  bad: {use: 'no_such_module:Agent'}\n"))
    assert "agents mine" in served.ready
    states = json.loads(served.do("agents", "--json").out)["items"]
    done = served.stop()
    assert re.search(r"answerback\.yaml:5: .*no_such_module", done.err)
    assert {item["name"]: item["state"] == "works" for item in states} == {"bad": False, "mine": True}


def test_metrics_are_read_where_the_configuration_says_and_only_there(
    serving: Callable[..., Served],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    served = serving(config=f"{CONFIG}metrics: {{listen: '127.0.0.1:{port}'}}\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert b"# TYPE answerback_events_total counter" in answer.read()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{served.url}/metrics", timeout=30)  # noqa: S310
    done = served.stop()
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert f"metrics at http://127.0.0.1:{port}/metrics" in done.err


def test_sigterm_and_sigint_end_it_cleanly(serving: Callable[..., Served]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        served = serving()
        served.process.send_signal(number)
        done = served.stop()
        assert (done.code, "Traceback" in done.err) == (0, False)


def test_law_12_what_an_agent_works_on_at_sigterm_ends_and_is_not_done_again(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    served, journal = serving(), tmp_path / "journal"
    served.do("run", "mine", "--input", '"tea"')
    with limited(served.process):
        while not (runs := served.call(lambda client: client.runs("waiting"))["items"]):
            time.sleep(0.01)
    served.answers(runs[0]["interactions"][0], "slowly")
    with limited(served.process):
        while not journal.exists():
            time.sleep(0.01)
    assert served.stop().code == 0
    assert journal.read_text() == "begun ended "
    again = serving()
    (run,) = again.call(lambda client: client.runs("completed"))["items"]
    assert (run["result"], journal.read_text()) == ("done with slowly", "begun ended ")


def test_the_log_holds_neither_tokens_nor_keys(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving("--log-json")
    form = served.call(lambda client: client.ask("Which term?"))["form_url"].rpartition("/")[2]
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as browser:
        browser.sendall(f"GET /f/{form} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        while browser.recv(65536):
            pass
    key = (tmp_path / "var" / "api-key").read_text().strip()
    log = [line for line in served.stop().err.splitlines() if line.startswith("{")]
    assert any("/f/…" in json.loads(line)["event"] for line in log)
    assert not any(form in line or key in line for line in log)


def test_waiting_survives_a_restart_of_the_gateway(serving: Callable[..., Served]) -> None:
    served = serving()
    waiting = served.begin("ask", "Deploy now?", "--confirm")
    id = asked(waiting)
    served.process.kill()
    served.stop()
    assert "Waiting for it." in waiting.stderr.readline()
    again = serving("--listen", served.url.removeprefix("http://"))
    again.answers(id, "yes")
    assert ended(waiting).code == 0


def test_a_gateway_that_is_gone_is_never_a_yes(serving: Callable[..., Served]) -> None:
    served = serving()
    waiting = served.begin("ask", "Deploy now?", "--confirm", "--patience", "300ms")
    asked(waiting)
    served.process.kill()
    served.stop()
    done = ended(waiting)
    assert (done.code, done.out) == (1, "")
    assert "is `answerback serve` running?" in done.err


def test_nothing_listening_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        done = do(tmp_path, "ask", "Well?", "--wait", ANSWERBACK_URL=url, ANSWERBACK_KEY="k")
    assert (done.code, done.out) == (1, "")
    assert f"Nothing answers at {url}: is `answerback serve` running?" in done.err


def test_a_secret_that_only_serve_needs_is_not_needed_to_ask(gateway: Served) -> None:
    config = gateway.home / "more.yaml"
    config.write_text(CONFIG + "providers:\n  telegram: {token: '${NO_SUCH_TOKEN}'}\n")
    assert gateway.do("agents", "--config", str(config)).code == 0


# -- check and db


@pytest.mark.needs_extra("email")
def test_check_knows_what_can_be_no_address_and_what_two_share(tmp_path: Path) -> None:
    mail = (
        "providers:\n  mail: {use: email, address: a@b.example, smtp: {host: localhost, security: plain}}\n"
    )
    for first, second, said in [
        ("ana", "b@b.example", "contacts.ana.addresses.mail: this is not a mail address"),
        ("Ana@b.example", "ana@b.example", 'contacts.ben.addresses.mail: "ana" has the same address'),
    ]:
        people = (
            f"contacts:\n  ana: {{addresses: {{mail: {first}}}}}\n  ben: {{addresses: {{mail: {second}}}}}\n"
        )
        done = do(home_with(tmp_path, mail + people), "check")
        assert (done.code, said in done.err) == (1, True)


def test_check_says_what_it_found(tmp_path: Path) -> None:
    done = do(home_with(tmp_path, CONFIG), "check", "--online")
    assert done.code == 0
    assert re.search(r"agent mine +cli_agent:Asks, loads", done.out)
    assert re.search(r"contacts +Alice, Ben", done.out)
    assert not (tmp_path / "var").exists()


def test_check_lists_every_problem_with_its_place(tmp_path: Path) -> None:
    bad = "  a: {use: 'no_such_module:Agent'}\n  b: {use: nothing-like-this}\n"
    done = do(home_with(tmp_path, CONFIG.replace("agents:\n", f"agents:\n{bad}")), "check", "--json")
    found = json.loads(done.out)
    assert (done.code, found["ok"], len(found["problems"])) == (1, False, 2)
    assert all(re.match(r"\S+answerback\.yaml:[56]: ", problem) for problem in found["problems"])


def test_a_database_is_made_readable_by_its_owner_only(tmp_path: Path) -> None:
    home = home_with(tmp_path, CONFIG)
    assert "brought to revision" in do(home, "db", "upgrade").err
    assert "already at revision" in do(home, "db", "upgrade").err
    file = tmp_path / "var" / "answerback.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM interaction").fetchone() == (0,)
    connection.close()


def test_a_running_gateway_is_backed_up_and_the_copy_can_be_served(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    served = serving()
    id = served.asks("Which?")
    done = served.do("db", "backup", "monday")
    assert done.code == 0
    assert "Copied into monday: answerback.db, " in done.err and "secret" in done.err
    assert "monday is not empty" in served.do("db", "backup", "monday").err
    served.answers(id, "this")
    served.stop()
    again = serving(config=CONFIG.replace("data_dir: var", "data_dir: monday"))
    assert again.call(lambda client: client.interaction(id))["status"] == "pending"


def test_a_database_that_was_restored_by_other_means_is_told_so(serving: Callable[..., Served]) -> None:
    served = serving()
    served.asks("Which?")
    assert "Another answerback is using" in served.do("db", "restored").err
    served.stop()
    done = served.do("db", "restored")
    assert (done.code, "asked again: 1." in done.err) == (0, True)
    found = json.loads(served.do("db", "restored", "--json").out)
    assert (found["questions"], found["as_of"][-1]) == (1, "Z")


def test_a_secret_that_was_seen_is_renewed_once_the_gateway_is_stopped(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    served = serving()
    id, old = served.asks("Which?"), (tmp_path / "var" / "secret").read_text()
    assert "Another answerback is using" in served.do("db", "renew-secret").err
    assert (tmp_path / "var" / "secret").read_text() == old
    served.stop()
    done = served.do("db", "renew-secret")
    assert (done.code, "Links that do not work any more: " in done.err) == (0, True)
    assert "signing-secret" in done.err and (tmp_path / "var" / "secret").read_text() != old
    assert serving().call(lambda client: client.interaction(id))["status"] == "pending"


def test_a_secret_of_the_configuration_is_renewed_there_first(tmp_path: Path) -> None:
    home = home_with(tmp_path, CONFIG + "secret: the first secret of all\n")
    assert do(home, "db", "renew-secret").code == 0
    done = do(home, "db", "renew-secret")
    assert (done.code, "Set another one first" in done.err) == (1, True)


def test_a_database_of_postgresql_is_backed_up_with_its_own_tools(tmp_path: Path) -> None:
    home = home_with(tmp_path, CONFIG + "database: postgresql:///nothing\n")
    done = do(home, "db", "backup", "monday")
    assert (done.code, "back it up with pg_dump" in done.err) == (1, True)
    assert not (tmp_path / "monday").exists()


def test_the_database_of_a_running_gateway_is_left_alone(gateway: Served) -> None:
    done = do(gateway.home, "db", "upgrade")
    assert done.code == 1
    assert "Another answerback is using" in done.err
