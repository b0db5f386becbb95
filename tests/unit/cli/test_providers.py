"""`providers`: what is installed and configured is told, however broken; `try` says what became of it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from answerback.cli import root, trying
from answerback.cli.checking import check
from answerback.errors import NotFound
from answerback.provider import (
    ConfigurationError,
    Message,
    MessageKind,
    Moved,
    Provider,
    Sent,
    TryLater,
    Undeliverable,
)
from answerback.sentences import LANGUAGES, say
from answerback.settings import Settings, parse

SECRET = "+436601234567"  # what an error of somebody else's may quote
BROKEN = {
    "raises": "raise RuntimeError('no\\nhome')",
    "exits": "import sys; sys.exit('usage: exits FILE')",
    "escapes": "class Escape(BaseException): ...\nraise Escape('beyond')",
    "mute": "class Mute(Exception):\n    def __str__(self): raise Mute\nraise Mute",
    "garbled": "this is no Python",
    "empty": "",
    "needy": "import no_such_module_anywhere",
    "alien": "class Plugin: ...",
    "lazy": "from answerback.provider import Provider\nclass Plugin(Provider): ...",
    "newer": "from answerback.provider import Provider\nclass Plugin(Provider):\n    contract_version = 99\n"
    "    async def send(self, message): ...",
    "chatty": "print('hello from chatty')\nfrom answerback.provider import Provider, Sent\n"
    "class Plugin(Provider):\n    async def send(self, message): return Sent()\n"
    "    async def update(self, to, message_id, message): ...",
}
WHY = {
    "raises": "cannot be imported: RuntimeError: no.",
    "exits": "cannot be imported: SystemExit: usage: exits FILE.",
    "escapes": "cannot be imported: Escape: beyond.",
    "mute": "cannot be imported: Mute.",
    "garbled": "cannot be imported: SyntaxError",
    "empty": "cannot be used: broken_empty has no Plugin.",
    "needy": "needs the module no_such_module_anywhere",
    "alien": "is no provider: it must be a subclass of answerback.provider.Provider.",
    "lazy": "is not complete: it does not implement send.",
    "newer": "was written for version 99 of the contract",
    "chatty": "",
    "nonsense": "its package announces it as 'no path'",
    "gone": "does not exist: there is no module broken_gone.",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with these packages installed, as pip leaves them."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, code in BROKEN.items():
        (folder / f"broken_{name}.py").write_text(code)
    for name in WHY:
        about = folder / f"broken_{name}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: broken-{name}\nVersion: 1.2\n")
        value = "no path" if name == "nonsense" else f"broken_{name}:Plugin"
        (about / "entry_points.txt").write_text(f"[answerback.providers]\n{name} = {value}\n")
    nameless = folder / "broken_nameless-1.dist-info"
    nameless.mkdir()
    (nameless / "entry_points.txt").write_text(
        "[answerback.providers]\nnameless = broken_chatty:Plugin\nhollow = broken_needy:Plugin\n"
    )
    return folder


def answerback(*words: str, site: Path, config: str) -> subprocess.CompletedProcess[str]:
    file = site.parent / "answerback.yaml"
    file.write_text(config)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ANSWERBACK")}
    return subprocess.run(
        [sys.executable, "-m", "answerback.cli", *words, "--config", str(file)],
        env=environ | {"PYTHONPATH": str(site)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_plugin_that_fails_names_itself_and_hides_no_other(site: Path) -> None:
    config = "providers:\n  exits:\n  good: {use: chatty}\n"
    done = answerback("providers", "--json", site=site, config=config)
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)  # what a plugin prints is no part of it
    found = {each["name"]: each for each in listed["installed"]}
    for name, why in WHY.items():
        assert (found[name]["package"], found[name]["version"]) == (f"broken-{name}", "1.2")
        assert (why in found[name]["problem"]) if why else found[name]["problem"] == "", found[name]
        assert "\n" not in found[name]["problem"]
    assert found["chatty"]["capabilities"] == ["update"]
    assert found["chatty"]["configured"] == ["good"]
    assert found["nameless"]["problem"] == ""
    assert "needs the module no_such_module_anywhere" in found["hollow"]["problem"]
    assert found["webform"]["package"] == "answerback"
    bad, good = listed["items"]
    assert (good["name"], good["use"], good["state"]) == ("good", "chatty", "settings are fine")
    assert f"{site.parent / 'answerback.yaml'}:2: The provider exits cannot be imported" in bad["state"]
    assert "hello from chatty" in done.stderr


def test_a_person_reads_a_line_for_each(site: Path) -> None:
    done = answerback("providers", site=site, config="providers: {chatty: }\n")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "chatty chatty settings are fine"
    assert "chatty broken-chatty 1.2 sends, edits; configured as chatty" in lines
    exits = "The provider exits cannot be imported: SystemExit: usage: exits FILE."
    assert f"exits broken-exits 1.2 {exits}" in lines


def test_what_is_configured_is_told_even_if_a_secret_is_missing(site: Path) -> None:
    done = answerback("providers", site=site, config="providers:\n  w: {use: chatty, token: '${NOWHERE}'}\n")
    assert done.returncode == 1
    assert "not checked" in done.stdout
    assert "needs the environment variable NOWHERE" in done.stderr


def test_a_gateway_that_was_named_must_answer(site: Path) -> None:
    (site.parent / "var").mkdir()
    (site.parent / "var" / "api-key").write_text("a-key-of-the-gateway")
    done = answerback("providers", "--url", "http://127.0.0.1:9", site=site, config="")
    assert (done.returncode, "Nothing answers at http://127.0.0.1:9" in done.stderr) == (1, True)


def test_a_broken_plugin_stops_no_other_in_the_gateway(site: Path) -> None:
    config = "providers: {exits: , escapes: , chatty: }\n"
    done = answerback("check", site=site, config=config)
    assert done.returncode == 1
    assert "provider chatty" in done.stdout
    for name in ("exits", "escapes"):
        assert f"The provider {name} cannot be imported" in done.stderr


# `try`


class Tried(Provider):
    """Raises what it is told to; remembers what it sent."""

    failure: BaseException | None = None
    opening: BaseException | None = None
    sent: list[Message] = []  # noqa: RUF012 - emptied by the fixture
    closed = 0

    async def open(self) -> None:
        if self.opening:
            raise self.opening

    async def close(self) -> None:
        type(self).closed += 1
        raise RuntimeError("when closed")

    async def send(self, message: Message) -> Sent:
        if self.failure:
            raise self.failure
        self.sent.append(message)
        return Sent(("m7",))


class WithoutIds(Tried):
    async def send(self, message: Message) -> Sent:
        return Sent()


CONFIG = f"""
providers:
  p: {{use: "{__name__}:Tried"}}
  q: {{use: "{__name__}:WithoutIds"}}
contacts:
  ana: {{name: Ana, language: de, addresses: {{p: {{id: "u1", place: "room 7"}}}}}}
"""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Tried.failure = Tried.opening = None
    Tried.sent, Tried.closed = [], 0


def configured(folder: Path) -> Settings:
    return parse(CONFIG, file=str(folder / "a.yaml"), environ={})


async def test_one_message_that_asks_nothing_is_sent_to_an_id(tmp_path: Path) -> None:
    done = await trying.attempt(configured(tmp_path), "p", "+1 555")
    [message] = Tried.sent
    assert (done.status, done.fine, done.message_ids) == ("sent", True, ("m7",))
    assert done.detail == "Sent through p as m7."
    assert (message.kind, message.to.place, message.language) == (MessageKind.NOTICE, "+1 555", "en")
    assert (message.buttons, message.form_url, message.token) == ((), "", "")
    assert Tried.closed == 1


async def test_a_contact_gets_it_at_their_address_in_their_language(tmp_path: Path) -> None:
    await trying.attempt(configured(tmp_path), "p", "ana")
    [message] = Tried.sent
    assert (message.to.external_id, message.to.place, message.language) == ("u1", "room 7", "de")
    assert (message.title, message.body) == (say("test_title", "de"), say("test_body", "de"))
    assert len({say("test_body", language) for language in LANGUAGES}) == len(LANGUAGES)


async def test_without_an_id_it_is_said_what_that_means(tmp_path: Path) -> None:
    done = await trying.attempt(configured(tmp_path), "q", "x")
    assert done.fine
    assert "gives no id" in done.detail


@pytest.mark.parametrize(
    ("failure", "status", "says"),
    [
        (
            Undeliverable("Nobody is there."),
            "undeliverable",
            "refuses it for good: Nobody is there. It was not",
        ),
        (Undeliverable("Blocked.", address_dead=True), "undeliverable", "Nothing will ever arrive"),
        (TryLater(30, "Too fast."), "later", "cannot send it now: Too fast. Try again in 30 s."),
        (TryLater(5, "Silence.", maybe_sent=True), "unknown", "look there: Silence."),
        (TimeoutError(), "unknown", "no answer within 30 s."),
        (Moved("-100"), "moved", "has moved at p, to -100: change it"),
        (ValueError(SECRET), "broken", "has a bug: its send() raised ValueError."),
        (SystemExit(3), "broken", "has a bug: its send() raised SystemExit."),
    ],
)
async def test_what_became_of_it_is_said_in_words(
    failure: BaseException, status: str, says: str, tmp_path: Path
) -> None:
    Tried.failure = failure
    done = await trying.attempt(configured(tmp_path), "p", "x")
    assert (done.status, done.fine) == (status, False)
    assert says in done.detail
    assert SECRET not in done.detail
    assert Tried.closed == 1


@pytest.mark.parametrize(
    ("failure", "status", "says"),
    [
        (TryLater(5, "It is down."), "later", "cannot be reached, so nothing was sent: It is down."),
        (TimeoutError(), "later", "could not be opened within 30 s. Nothing was sent."),
        (KeyError(SECRET), "broken", "its open() raised KeyError."),
        (SystemExit(), "broken", "its open() raised SystemExit."),
    ],
)
async def test_what_cannot_be_opened_sends_nothing(
    failure: BaseException, status: str, says: str, tmp_path: Path
) -> None:
    Tried.opening = failure
    done = await trying.attempt(configured(tmp_path), "p", "x")
    assert (done.status, Tried.sent) == (status, [])
    assert says in done.detail
    assert SECRET not in done.detail


async def test_a_wrong_configuration_is_an_error_with_its_place(tmp_path: Path) -> None:
    Tried.opening = ConfigurationError("The function cannot be imported.")
    with pytest.raises(ConfigurationError, match="cannot be imported"):
        await trying.attempt(configured(tmp_path), "p", "x")


@pytest.mark.parametrize(
    ("provider", "address", "says"),
    [("r", "x", "There is no provider 'r'"), ("q", "ana", "Ana has no address on q")],
)
async def test_what_is_not_configured_is_said(provider: str, address: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=says):
        await trying.attempt(configured(tmp_path), provider, address)


@pytest.fixture
def tries(tmp_path: Path) -> Callable[..., Result]:
    file = tmp_path / "a.yaml"
    file.write_text(CONFIG)

    def run(*words: str) -> Result:
        return CliRunner().invoke(root, ["providers", "try", *words, "--config", str(file)])

    return run


def test_the_command_says_it_and_ends_with_a_code(tries: Callable[..., Result]) -> None:
    good = tries("p", "ana")
    assert (good.exit_code, good.stdout) == (0, "Sent through p as m7.\n")
    Tried.failure = Undeliverable("Nobody is there.")
    bad = tries("p", "ana")
    assert (bad.exit_code, bad.stdout) == (1, "")
    assert "Nobody is there." in bad.stderr
    assert tries("p").exit_code == 2


def test_an_id_that_looks_like_an_option_is_an_id(tries: Callable[..., Result]) -> None:
    assert tries("p", "-1001234").exit_code == 0
    assert Tried.sent[0].to.place == "-1001234"


def test_as_json_it_is_the_same(tries: Callable[..., Result]) -> None:
    good: Any = json.loads(tries("p", "ana", "--json").stdout)
    assert good == {"status": "sent", "message_ids": ["m7"], "detail": "Sent through p as m7."}
    Tried.failure = TryLater(5, "Later.")
    bad = tries("p", "ana", "--json")
    assert (bad.exit_code, json.loads(bad.stdout)["status"]) == (1, "later")


# `check --online`


class Stumbles(Tried):
    async def probe(self) -> str:
        raise ValueError(SECRET)


class Answers(Tried):
    async def probe(self) -> str:
        return "it answers"


async def test_a_probe_with_a_bug_hides_no_other_provider(tmp_path: Path) -> None:
    text = f'providers:\n  bad: {{use: "{__name__}:Stumbles"}}\n  good: {{use: "{__name__}:Answers"}}\n'
    found = await check(parse(text, file=str(tmp_path / "a.yaml"), environ={}), online=True)
    assert ("provider good", "it answers") in found.facts
    [problem] = found.problems
    assert problem.endswith("a.yaml:2: the provider bad is not working: its probe raised ValueError")
    assert SECRET not in problem
