"""Every example, started with the command in its first lines and answered by people: it ends as it says."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.flow.test_cli import environment

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(file.parent.name for file in (ROOT / "examples").glob("*/answerback.yaml"))
COMMAND = re.compile(r"^#   (sh examples/(\w+)/run\.sh)( |$)", re.MULTILINE)
SECONDS = 90


@dataclass
class Running:
    """An example under way, in a checkout of the test's own."""

    home: Path
    process: subprocess.Popen[str]

    @property
    def made(self) -> Path:
        """Where it keeps its data and its logs."""
        return self.home / "var" / "examples" / self.name

    @property
    def name(self) -> str:
        return Path(self.process.args[1]).parent.name

    def printed(self, name: str) -> str:
        """What the gateway, or the sandbox, has printed: nothing until it is ready."""
        file = self.made / f"{name}.out"
        return file.read_text() if file.exists() else ""

    def find(self, look: Callable[[], Any], what: str) -> Any:
        """What `look` finds, as soon as it finds something."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if found := look():
                return found
            assert self.process.poll() is None, f"ended without {what}: {self.process.communicate()}"
            time.sleep(0.2)
        raise AssertionError(f"never came: {what}\n{self.log()}")

    def log(self) -> str:
        lines = [line for file in self.made.glob("*.log") for line in file.read_text().splitlines()]
        return "\n".join(line for line in lines if "uvicorn.access" not in line)

    def call(self, path: str, body: Any = None) -> Any:
        """As any program speaks to the gateway."""
        key = (self.made / "api-key").read_text().strip()
        url = re.search(r"http://\S+", self.printed("gateway"))[0]
        return spoken(url + path, body, {"authorization": f"Bearer {key}"})

    def question(self, words: str) -> Any:
        """The open question with these words, once it is asked."""

        def look() -> Any:
            if not self.printed("gateway"):
                return None
            items = self.call("/v1/interactions?status=pending")["items"]
            return next((each for each in items if words in json.dumps(each["questions"])), None)

        return self.find(look, words)

    def answer(self, words: str, response: Any) -> None:
        self.call(f"/v1/interactions/{self.question(words)['id']}/respond", {"response": response})

    def ends(self) -> tuple[int, str]:
        """The exit code, and what it printed."""
        out, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out

    def result(self) -> Any:
        """Of the run that it ended with."""
        code, said = self.ends()
        assert code == 0, said
        return json.loads(next(line for line in said.splitlines() if line.startswith("{")))


def spoken(url: str, body: Any = None, headers: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return json.load(answer)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts the example as its first lines say. Whatever of it still runs in the end is stopped."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    started: list[Running] = []
    environ = environment(tmp_path, {"PYTHONUNBUFFERED": "1"})
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"

    def begin(name: str, *arguments: str) -> Running:
        words = COMMAND.search((ROOT / "examples" / name / "run.sh").read_text())[1].split()
        process = subprocess.Popen(
            [*words, *arguments], cwd=tmp_path, env=environ, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        started.append(Running(tmp_path, process))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGTERM)
            each.process.communicate(timeout=SECONDS)


Start = Callable[..., Running]


@pytest.mark.needs_extra("langgraph")
def test_book_a_hotel(start: Start) -> None:
    hotel = start("book_a_hotel")
    hotel.answer("Which Vienna?", "Austria")
    with pytest.raises(urllib.error.HTTPError, match="422"):
        hotel.answer("How many nights?", "many")
    hotel.answer("How many nights?", "3")
    hotel.answer("Hotel Mozart in Vienna, Austria?", "Keep searching")
    hotel.answer("Pension Nossek in Vienna, Austria?", "Pension Nossek")
    hotel.answer("Book Pension Nossek", "yes")
    assert hotel.result()["outcome"] == "Booked: Pension Nossek."


@pytest.mark.needs_extra("langgraph", "agents")
def test_review_tool_calls(start: Start) -> None:
    support = start("review_tool_calls")
    asked = support.question("refund")["questions"][0]["action"]["args"]
    assert asked == {"customer": "c_8812", "amount": 100.0}
    support.answer("refund", {"decision": "edit", "args": {**asked, "amount": 50.0}})
    assert support.result()["messages"][-1]["content"].endswith("c_8812 got 50.00 back.")


@pytest.mark.needs_extra("langgraph")
def test_parallel_questions(start: Start) -> None:
    bookkeeper = start("parallel_questions")
    bookkeeper.question("Train to Graz")
    bookkeeper.answer("Dinner for six", "Hospitality")
    bookkeeper.answer("Printer", "Equipment")
    bookkeeper.answer("Train to Graz", "Travel")
    booked = {"Train to Graz": "Travel", "Printer": "Equipment", "Dinner for six": "Hospitality"}
    assert bookkeeper.result()["booked"] == booked


@pytest.mark.parametrize(
    ("response", "code", "said"),
    [("yes", 0, "Deploying version 2.4."), ("no", 5, "Somebody said no: version 2.3 stays.")],
)
def test_shell_script(start: Start, response: str, code: int, said: str) -> None:
    script = start("shell_script")
    script.answer("Deploy version 2.4?", response)
    ended = script.ends()
    assert (ended[0], said in ended[1]) == (code, True)


def test_shell_script_tells_silence_from_no(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "examples" / "shell_script" / "run.sh"
    file.write_text(file.read_text().replace("--expires 10m", "--expires 1s"))
    code, said = start("shell_script").ends()
    assert (code, "Nobody answered: version 2.3 stays" in said) == (3, True)


@pytest.mark.needs_extra("telegram")
def test_on_call(start: Start) -> None:
    alarm = start("on_call", "3s")
    question = alarm.find(lambda: on_the_phone(alarm, 1002, "Delete the logs"), "a question on Ben's phone")
    yes = next(button["text"] for row in question["rows"] for button in row if "Yes" in button["text"])
    spoken(f"{far(alarm)}/phone/api/people/1002/tap", {"message_id": question["id"], "button": yes})
    code, said = alarm.ends()
    assert (code, "ana did not answer.\n" in said, "ben says yes: deleting." in said) == (0, True, True)


@pytest.mark.needs_extra("telegram")
def test_on_call_ends_with_the_first_no_and_would_have_reminded(start: Start) -> None:
    alarm = start("on_call")
    asked = alarm.find(lambda: on_the_phone(alarm, 1001, "Delete the logs"), "a question on Ana's phone")
    assert alarm.call("/v1/routes/alarm")["reminders"] == [10.0]
    # So soon, a text that quotes nothing would be asked about: nobody reads and writes within a second.
    spoken(f"{far(alarm)}/phone/api/people/1001/type", {"text": "no", "reply_to": asked["id"]})
    code, said = alarm.ends()
    assert (code, "ana says no, so nobody else is asked." in said) == (1, True)


def far(running: Running) -> str:
    """Where the sandbox of this example is."""
    found = re.search(r"^phone +(http://\S+)/$", running.printed("sandbox"), re.MULTILINE)
    return found[1] if found else ""


def on_the_phone(running: Running, person: int, words: str) -> Any:
    """The message with these words that somebody has on Telegram, or None."""
    if not far(running):
        return None
    phone = spoken(f"{far(running)}/phone/api/people/{person}")
    messages = [message for chat in phone["chats"] for message in chat["messages"]]
    return next((message for message in messages if words in message["text"]), None)


def test_no_checkpointer(start: Start) -> None:
    app = start("no_checkpointer")
    app.answer("Who is the mail about the summer sale for?", "everybody in Graz")
    send = app.question("Send it to everybody in Graz?")
    assert app.call(f"/v1/interactions/{send['id']}/state")["state"] == {
        "topic": "the summer sale",
        "audience": "everybody in Graz",
    }
    app.answer("Send it", "yes")
    code, said = app.ends()
    assert code == 0
    assert re.search(r"Who is the mail[^→]+→ http://\S+/f/\S+ until", said)
    assert said.endswith("Sent.\n")


@pytest.mark.needs_extra("langgraph")
def test_in_ci(start: Start) -> None:
    ended = start("in_ci").result()
    assert (ended["nights"], ended["hotel"]) == (2, "Hotel Mozart")
    assert ended["outcome"] == "Not booked: nobody answered."


@pytest.mark.needs_extra("langgraph")
def test_in_ci_the_one_word_would_change_it(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "examples" / "in_ci" / "answerback.yaml"
    file.write_text(file.read_text().replace("# may_approve: yes", "may_approve: yes"))
    assert start("in_ci").result()["outcome"] == "Booked: Hotel Mozart."


def test_folder(start: Start) -> None:
    folder = start("folder")
    [question] = folder.find(lambda: list(folder.made.glob("ana/*.txt")), "a question in Ana's folder")
    assert "1  Here\n  2  Over there\n" in question.read_text()
    question.with_suffix(".answer").write_text("2\n")
    code, said = folder.ends()
    assert (code, said.splitlines()[-1]) == (0, "Over there")
    assert "✅ You chose “Over there”" in question.read_text()


def test_every_example_is_run_here_and_told_of() -> None:
    run = {name for name in EXAMPLES for test in globals() if re.match(f"test_{name}(_|$)", test)}
    told = [found[1] for found in re.finditer(r"^\| `sh examples/(\w+)/run\.sh` \|", readme(), re.MULTILINE)]
    begun = [
        COMMAND.search((ROOT / "examples" / name / "run.sh").read_text().partition("\n.")[0])[2]
        for name in EXAMPLES
    ]
    assert sorted(run) == sorted(told) == begun == EXAMPLES


def readme() -> str:
    return (ROOT / "examples" / "README.md").read_text()
