"""Answering in the terminal that waits: real pseudo-terminals, a real gateway, real signals."""

import asyncio
import re
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.client import Client
from tests.flow.test_cli import Served, asked, ended, environment, home_with, serve
from tests.support.terminal import Terminal

KEY, ASKING = "the-key-of-the-operators-0123456789", "a-key-that-may-only-ask-0123456789"
CONFIG = f"""
listen: 127.0.0.1:0
data_dir: var
agents:
  mine: {{use: "cli_agent:Asks"}}
  twice: {{use: "several_agent:Twice"}}
  both: {{use: "several_agent:Both"}}
contacts:
  alice: {{name: Alice}}
api_keys:
  - {{name: ops, key: "{KEY}"}}
  - {{name: builds, key: "{ASKING}", scopes: [ask]}}
"""
SEVERAL = '''
"""Agents that ask two questions: one after the other, or both at once."""
from answerback.agent import Agent, Finished, Paused, Pending
from answerback.model import Question

class Both(Agent):
    def __init__(self, *given):
        super().__init__(*given)
        self.waiting, self.given = {}, {}

    def first(self):
        return (self.asks("left"), self.asks("right"))

    def after(self, name):
        return ()

    def asks(self, name):
        return Pending(name, name, (Question("q", f"What is {name}?"),))

    async def start(self, thread, input, run=""):
        self.waiting[thread], self.given[thread] = self.first(), []
        return Paused(self.waiting[thread])

    async def pending(self, thread):
        return self.waiting.get(thread, ())

    async def resume(self, thread, target, answer, *, again=False):
        name = target.interrupt_id
        self.given[thread].append(f"{name}: {answer.text}")
        left = tuple(each for each in self.waiting[thread] if each.interrupt_id != name)
        self.waiting[thread] = left + self.after(name)
        if self.waiting[thread]:
            return Paused(self.waiting[thread])
        return Finished(", ".join(sorted(self.given[thread])))

    async def retry(self, thread):
        return await self.start(thread, None)

class Twice(Both):
    def first(self):
        return (self.asks("left"),)

    def after(self, name):
        return (self.asks("right"),) if name == "left" else ()
'''
SHELL = """
import subprocess, sys
subprocess.run([sys.executable, "-m", "answerback.cli", *sys.argv[1:]])
print("the shell was given", repr(input("shell> ")))
"""
BACKGROUND = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-m", "answerback.cli", *sys.argv[1:]], process_group=0)
os.tcsetpgrp(0, child.pid)
while not pathlib.Path("to-the-background").exists():
    time.sleep(0.05)
os.tcsetpgrp(0, os.getpgrp())
print("the shell was given", repr(input("shell> ")))
print("it ended with", child.wait())
"""
PROMPT = "› "


class Here(Served):
    """A gateway, and commands on terminals of their own."""

    def on(self, *words: str, module: str = "answerback.cli", **more: Any) -> Terminal:
        streams = {name: more.pop(name) for name in ("stdin", "stdout", "stderr") if name in more}
        environ = environment(self.home, {"ANSWERBACK_URL": self.url, "NO_COLOR": "1", **more})
        return Terminal(module, *words, env=environ, cwd=self.home, **streams)

    def call(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        async def session() -> Any:
            async with Client(self.url, KEY) as client:
                return await work(client)

        return asyncio.run(session())

    def only_pending(self, text: str) -> str:
        """The id of the open question with this text."""
        page = self.call(lambda client: client.interactions("pending", 200))
        [found] = [each["id"] for each in page["items"] if each["questions"][0]["text"] == text]
        return found


def started(folder: Path) -> Here:
    home = home_with(folder, CONFIG)
    (home / "several_agent.py").write_text(SEVERAL)
    (home / "like_a_shell.py").write_text(SHELL)
    (home / "with_jobs.py").write_text(BACKGROUND)
    served = serve(home)
    return Here(served.home, served.process, served.ready)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    here = started(tmp_path_factory.mktemp("gateway"))
    yield here
    here.stop()


# -- ask


def test_a_question_is_answered_where_it_was_asked(gateway: Here) -> None:
    with gateway.on("ask", "Which term?", "--to", "alice", "--wait") as terminal:
        terminal.until(PROMPT)
        assert "Which term?" in terminal.shown
        assert "interactions answer" not in terminal.shown
        terminal.types("PSR “best” costing\n")
        assert terminal.ends() == 0
    assert re.search(r"ops answered through api at .*\r\nPSR “best” costing\r\n$", terminal.shown)


@pytest.mark.parametrize(("typed", "code"), [("yes", 0), ("no", 5)])
def test_the_exit_code_says_what_was_confirmed(gateway: Here, typed: str, code: int) -> None:
    with gateway.on("ask", f"Deploy {typed}?", "--confirm") as terminal:
        terminal.until(PROMPT)
        terminal.types(f"{typed}\n")
        assert terminal.ends() == code


def test_a_wrong_value_is_asked_again_with_its_sentence(gateway: Here) -> None:
    with gateway.on("ask", "Deploy?", "--confirm") as terminal:
        terminal.until(PROMPT)
        terminal.types("perhaps\n")
        terminal.until(f"I need a clear yes or no.(.|\r\n)*{PROMPT}$")
        terminal.types("\n")
        terminal.until(f"(I need a clear yes or no.(.|\r\n)*){{2}}{PROMPT}$")
        terminal.types("yes\n")
        assert terminal.ends() == 0


def test_a_number_picks_a_choice(gateway: Here) -> None:
    words = ["--choice", "costing", "--choice", "coding", "--wait"]
    with gateway.on("ask", "Which?", *words) as terminal:
        terminal.until(f"  1  costing\r\n  2  coding\r\n(.|\r\n)*{PROMPT}")
        terminal.types("2\n")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("\r\ncoding\r\n")


def test_an_answer_from_elsewhere_ends_the_prompt_and_says_whose_it_is(gateway: Here) -> None:
    with gateway.on("ask", "Elsewhere?", "--wait") as terminal:
        terminal.until(PROMPT)
        terminal.types("half a tho")
        terminal.until("half a tho")
        gateway.answers(gateway.only_pending("Elsewhere?"), "from elsewhere")
        assert terminal.ends() == 0
    assert re.search(r"half a tho\r\nops answered through api at .*\r\nfrom elsewhere\r\n$", terminal.shown)


def test_what_was_half_typed_does_not_reach_the_shell(gateway: Here) -> None:
    with gateway.on("ask", "For the shell?", "--wait", module="like_a_shell") as terminal:
        terminal.until(PROMPT)
        terminal.types("rm -rf")
        terminal.until("rm -rf")
        gateway.answers(gateway.only_pending("For the shell?"), "done")
        terminal.until("shell> ")
        terminal.types("ls\n")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("the shell was given 'ls'\r\n")


def test_a_deadline_ends_the_prompt(gateway: Here) -> None:
    with gateway.on("ask", "Soon?", "--confirm", "--expires", "4s", "--on-expire", "cancel") as terminal:
        terminal.until(PROMPT)
        assert terminal.ends() == 3
    assert "without an answer" in terminal.shown


def test_a_withdrawal_ends_the_prompt(gateway: Here) -> None:
    with gateway.on("ask", "Withdrawn?", "--wait") as terminal:
        terminal.until(PROMPT)
        id = gateway.only_pending("Withdrawn?")
        gateway.call(lambda client: client.cancel(id, "not today"))
        assert terminal.ends() == 4
    assert "This was cancelled: not today." in terminal.shown


@pytest.mark.parametrize("word", ["cancel", "Quit", "exit"])
def test_whoever_asked_takes_it_back_with_a_word(gateway: Here, word: str) -> None:
    with gateway.on("ask", f"Taken back by {word}?", "--wait") as terminal:
        terminal.until(f"cancel takes it back(.|\r\n)*{PROMPT}")
        terminal.types(f"{word}\n")
        assert terminal.ends() == 4
    assert "This was cancelled: taken back in the terminal.\r\n" in terminal.shown


def test_a_word_that_is_a_choice_is_an_answer(gateway: Here) -> None:
    with gateway.on("ask", "What now?", "--choice", "go on", "--choice", "Cancel", "--wait") as terminal:
        terminal.until(PROMPT)
        terminal.types("cancel\n")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("\r\nCancel\r\n")


def test_ctrl_c_leaves_the_question_open_and_says_how_to_go_on(gateway: Here) -> None:
    with gateway.on("ask", "Interrupted?", "--confirm") as terminal:
        terminal.until(PROMPT)
        id = gateway.only_pending("Interrupted?")
        terminal.types("\x03")
        assert terminal.ends() == 130
    assert f"The question is still open. To answer it: answerback interactions answer {id}" in terminal.shown
    assert f"answerback interactions cancel {id}" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert gateway.record(id)["status"] == "pending"


def test_ctrl_d_leaves_it_to_others_and_goes_on_waiting(gateway: Here) -> None:
    with gateway.on("ask", "For others?", "--wait") as terminal:
        terminal.until(PROMPT)
        terminal.types("\x04")
        id = terminal.until(r"Waiting: answerback interactions answer (\S+)\r\n")[1]
        gateway.answers(id, "theirs")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("\r\ntheirs\r\n")


def test_a_terminal_that_goes_away_answers_nothing(gateway: Here) -> None:
    with gateway.on("ask", "Hung up?", "--wait") as terminal:
        terminal.until(PROMPT)
        id = gateway.only_pending("Hung up?")
        terminal.hang_up()
        assert terminal.process.wait(20) != 0
    assert gateway.record(id)["status"] == "pending"


# -- where nobody is asked in the terminal


def test_a_key_that_may_not_answer_only_waits(gateway: Here) -> None:
    key = {"ANSWERBACK_KEY": ASKING}
    with gateway.on("ask", "May I?", "--wait", **key) as terminal:
        id = terminal.until(r"or with: +answerback interactions answer (\S+)\r\n")[1]
        gateway.answers(id, "you may not")
        assert terminal.ends() == 0
    assert PROMPT not in terminal.shown


@pytest.mark.parametrize("option", ["--no-answer", "--json"])
def test_an_option_keeps_the_question_for_others(gateway: Here, option: str) -> None:
    with gateway.on("ask", f"With {option}?", "--wait", option) as terminal:
        id = terminal.until(r"or with: +answerback interactions answer (\S+)\r\n")[1]
        gateway.answers(id, "theirs")
        assert terminal.ends() == 0
    assert PROMPT not in terminal.shown


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_without_a_whole_terminal_it_only_waits(gateway: Here, stream: str) -> None:
    text = f"Without {stream}?"
    ends = subprocess.DEVNULL if stream == "stdin" else subprocess.PIPE
    with gateway.on("ask", text, "--wait", **{stream: ends}) as terminal:
        found = None
        while found is None:
            page = gateway.call(lambda client: client.interactions("pending", 200))
            found = next((one["id"] for one in page["items"] if one["questions"][0]["text"] == text), None)
        gateway.answers(found, "theirs")
        assert terminal.ends() == 0
        piped = getattr(terminal.process, stream)
        assert PROMPT not in terminal.shown + (piped.read() if piped else "")
        if piped:
            piped.close()


# -- run


def test_all_that_a_run_asks_is_answered_until_its_result_is_printed(gateway: Here) -> None:
    with gateway.on("run", "twice", "--wait") as terminal:
        terminal.until(f"What is left\\?(.|\r\n)*{PROMPT}")
        terminal.types("a\n")
        terminal.until(f"ops answered through api(.|\r\n)*What is right\\?(.|\r\n)*{PROMPT}")
        terminal.types("b\n")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("twice is completed.\r\nleft: a, right: b\r\n")


def test_several_open_at_once_are_asked_in_turn(gateway: Here) -> None:
    with gateway.on("run", "both", "--wait") as terminal:
        terminal.until(f"What is left\\?(.|\r\n)*{PROMPT}")
        gateway.answers(gateway.only_pending("What is right?"), "theirs")
        terminal.types("mine\n")
        assert terminal.ends() == 0
    assert terminal.shown.count(PROMPT) == 1
    assert terminal.shown.endswith("left: mine, right: theirs\r\n")


def test_one_that_is_left_to_others_does_not_hold_up_the_next(gateway: Here) -> None:
    with gateway.on("run", "both", "--wait") as terminal:
        terminal.until(f"What is left\\?(.|\r\n)*{PROMPT}")
        left = gateway.only_pending("What is left?")
        terminal.types("\x04")
        terminal.until(f"What is right\\?(.|\r\n)*{PROMPT}")
        terminal.types("mine\n")
        terminal.until(r"#\w+: ops answered through api")
        gateway.answers(left, "theirs")
        assert terminal.ends() == 0
    assert terminal.shown.endswith("left: theirs, right: mine\r\n")


def test_ctrl_c_leaves_the_run_going_on_and_says_what_to_do(gateway: Here) -> None:
    with gateway.on("run", "mine", "--input", '"tea"', "--wait", "--thread", "t-interrupted") as terminal:
        run = terminal.until(r"Started mine: run (\S+)\r\n")[1]
        terminal.until(PROMPT)
        terminal.types("\x03")
        assert terminal.ends() == 130
    assert f"The run goes on: answerback runs show {run}" in terminal.shown
    assert f"answerback interactions answer {gateway.only_pending('More about tea?')}" in terminal.shown
    assert f"answerback runs cancel {run}" in terminal.shown
    assert gateway.do("runs", "cancel", run).code == 0


def test_a_word_stops_the_run(gateway: Here) -> None:
    with gateway.on("run", "mine", "--input", '"no tea"', "--wait") as terminal:
        terminal.until(PROMPT)
        terminal.types("quit\n")
        assert terminal.ends() == 4
    assert "This was cancelled: stopped in the terminal.\r\n" in terminal.shown
    assert "answerback: the run is cancelled: stopped in the terminal.\r\n" in terminal.shown
    assert "asker" not in terminal.shown


def test_without_a_terminal_all_that_is_open_is_said_at_once(gateway: Here) -> None:
    waiting = gateway.begin("run", "both", "--wait")
    first, second = (asked(waiting) for _ in range(2))
    gateway.answers(second, "b")
    gateway.answers(first, "a")
    done = ended(waiting)
    assert (done.code, done.out) == (0, "left: a, right: b\n")
    assert done.err.count("answered through api") == 2
    assert "both is completed." in done.err


# -- a gateway that is away, and a process in the background


def test_a_prompt_outlives_a_restart_of_the_gateway(tmp_path: Path) -> None:
    here = started(tmp_path)
    with here.on("ask", "Still there?", "--wait") as terminal:
        terminal.until(PROMPT)
        here.process.kill()
        here.stop()
        terminal.until(f"Waiting for it.\r\n{PROMPT}")
        again = serve(here.home, "--listen", here.url.removeprefix("http://"))
        try:
            terminal.types("still\n")
            assert terminal.ends() == 0
        finally:
            again.stop()
    assert terminal.shown.endswith("\r\nstill\r\n")


def test_in_the_background_it_takes_no_keys_and_is_not_stopped(gateway: Here) -> None:
    with gateway.on("ask", "In the background?", "--wait", module="with_jobs") as terminal:
        terminal.until(PROMPT)
        (gateway.home / "to-the-background").touch()
        terminal.until("shell> ")
        terminal.types("ls\n")
        terminal.until("the shell was given 'ls'")
        gateway.answers(gateway.only_pending("In the background?"), "from elsewhere")
        terminal.until("it ended with 0")
        assert terminal.ends() == 0


# -- interactions answer


def test_the_prompt_of_interactions_answer_ends_too(gateway: Here) -> None:
    id = gateway.asks("Late?")
    with gateway.on("interactions", "answer", id) as terminal:
        terminal.until(PROMPT)
        gateway.answers(id, "first")
        assert terminal.ends() == 1
    assert "ops answered through api" in terminal.shown
    assert "Response received" not in terminal.shown


def test_there_a_word_is_an_answer_and_an_optional_question_may_be_left_out(gateway: Here) -> None:
    id = gateway.asks([{"text": "Title?"}, {"text": "Subtitle?", "required": False}])
    with gateway.on("interactions", "answer", id) as terminal:
        terminal.until(f"1 of 2 · Title\\? · your answer:\r\n{PROMPT}$")
        terminal.types("cancel\n")
        terminal.until(f"2 of 2 · Subtitle\\? · your answer:\r\n{PROMPT}$")
        terminal.types("\n")
        assert terminal.ends() == 0
    assert list(gateway.record(id)["answer"]["values"].values()) == ["cancel", None]
