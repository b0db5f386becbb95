"""`answerback demo` as its user meets it: on a terminal, without one, interrupted, and after a crash."""

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import SECONDS, Terminal, really_started

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email", "langgraph")

DEMO = [sys.executable, "-m", "answerback_demo"]
ASKED = r"on the form: (\S+)\r?\n"
PHONE = r"in a browser: (\S+)/\r?\n"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal("answerback_demo", "--data-dir", str(tmp_path), start=really_started) as started:
        yield started


def without_terminal(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DEMO, "--data-dir", str(directory), *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def post(url: str, **body: object) -> None:
    request = urllib.request.Request(  # noqa: S310 - loopback
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        assert answer.status == 200


def get(url: str) -> str:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - loopback
        return answer.read().decode()


def on_the_phone(phone: str, mark: str) -> dict[str, Any]:
    """The question on Alice's phone, as soon as this mark is there: the bot sends one message a second."""
    with urllib.request.urlopen(f"{phone}/phone/api/events", timeout=SECONDS) as events:  # noqa: S310
        for line in events:
            if not line.startswith(b"data:"):
                continue
            messages = json.loads(get(f"{phone}/phone/api/people/1001"))["chats"][0]["messages"]
            if messages and mark in json.dumps(messages[0], ensure_ascii=False):
                message: dict[str, Any] = messages[0]
                return message
    raise AssertionError("the phone is gone")


@pytest.mark.parametrize("app", ["telegram", "whatsapp", "mail"])
def test_without_a_terminal_somebody_answers_in_an_app_and_all_of_them_say_so(
    tmp_path: Path, app: str
) -> None:
    done = without_terminal(tmp_path, "--seed", "4", "--app", app)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"Alice writes.*: “(\w+)”", done.stdout)
    assert said
    for place in ("The terminal", *(f"Alice's phone, {name}" for name in ("Telegram", "WhatsApp", "mail"))):
        assert re.search(rf"^{place}: ✅ You wrote “{said[1]}” .*Going on\.$", done.stdout, re.MULTILINE)
    assert re.search(rf"> .*\b{said[1]}\b", done.stdout, re.IGNORECASE)
    assert "✓ Checked" in done.stdout
    assert done.stderr == ""


def test_a_word_that_the_documents_lack_makes_it_fail_honestly(tmp_path: Path) -> None:
    done = without_terminal(tmp_path, "--say", "zebra", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    played = json.loads(done.stdout)
    assert (played["status"], played["answered"]) == ("completed", "zebra")
    assert "None of the documents has “zebra”." in played["result"]["report"]
    assert played["flaws"] == ["The report cites nothing."]


def test_a_number_typed_in_the_terminal_answers_and_the_phone_and_the_form_say_so(terminal: Terminal) -> None:
    phone = terminal.until(PHONE)[1]
    form = terminal.until(ASKED)[1]
    assert "1  Yes" in terminal.shown
    assert "2  Use “message”" in terminal.shown
    terminal.types("2\n")
    terminal.until("✅ You chose .*message.*Going on.")
    terminal.until("Report ready: .*“which question a message is for”")
    terminal.until("q: quit")
    assert "✅ You chose" in on_the_phone(phone, "✅")["text"]
    assert "You chose" in get(form)
    assert terminal.shown.count("\n") <= 24
    terminal.types("q\n")
    assert terminal.ends() == 0


def test_an_answer_on_the_phone_wins_and_the_terminal_says_so_and_asks_again(terminal: Terminal) -> None:
    phone = terminal.until(PHONE)[1]
    asked = on_the_phone(phone, "Use “message”")
    button = next(one for row in asked["rows"] for one in row if one["text"] == "Use “message”")
    post(f"{phone}/phone/api/people/1001/tap", message_id=asked["id"], button=button["text"])
    terminal.until("✅ You chose .*message.*Going on.")
    terminal.until("Report ready: .*“which question a message is for”")
    terminal.until("q: quit")
    terminal.shown = ""
    terminal.types("what a deadlime is\n")
    terminal.until("Use “deadline”")
    terminal.until(ASKED)
    terminal.types("leases\n")
    terminal.until("You wrote “leases”")
    terminal.until("q: quit")
    terminal.types("\x04")
    assert terminal.ends() == 0


def test_ctrl_c_ends_it_without_a_traceback_and_frees_its_ports(terminal: Terminal) -> None:
    phone = terminal.until(PHONE)[1]
    form = terminal.until(ASKED)[1]
    terminal.types("\x03")
    assert terminal.ends() == 128 + signal.SIGINT
    assert "Traceback" not in terminal.shown
    for url in (phone, form):
        with pytest.raises(urllib.error.URLError):
            get(url)


@pytest.mark.parametrize("moment", ["starting …", "starting the gateway"])
def test_ctrl_c_while_it_starts_is_clean_too(terminal: Terminal, moment: str) -> None:
    terminal.until(moment)
    terminal.types("\x03")
    assert terminal.ends() == 128 + signal.SIGINT
    assert "Traceback" not in terminal.shown


def test_a_question_of_a_demo_that_was_killed_confuses_nobody(tmp_path: Path) -> None:
    with Terminal("answerback_demo", "--data-dir", str(tmp_path), start=really_started) as killed:
        killed.until(ASKED)
        killed.process.kill()
        killed.process.wait()
    done = without_terminal(tmp_path, "--seed", "5")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_second_demo_beside_the_first_takes_other_ports(terminal: Terminal, tmp_path: Path) -> None:
    phone = terminal.until(PHONE)[1]
    terminal.until(ASKED)
    done = without_terminal(tmp_path, "--seed", "6")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{phone}/" not in done.stdout
