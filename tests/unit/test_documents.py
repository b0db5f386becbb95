"""The documents are true: blocks run or are checked, links lead somewhere, every setting is told."""

import ast
import json
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from pydantic import BaseModel

from answerback import settings
from answerback.cli import history
from answerback.cli import root as command_line
from answerback.model import Question, QuestionKind
from answerback.read import Value, is_command, read
from answerback.settings import schema

if TYPE_CHECKING:
    from answerback_sandbox import Sandbox

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [file.relative_to(ROOT).as_posix() for file in DOCUMENTS]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
WORDS = """
    Agent Run Interaction Question Choice Reply Answer Provider Contact Address Delivery Outbox Token Route
    Notice
""".split()
ENVIRON = {"ALICES_KEY": "d", "TELEGRAM_TOKEN": "1:a", "TOKEN": "b", "SIGNING_SECRET": "c"}
NOW = 1_764_590_400_000_000  # 2025-12-01 12:00 UTC
VERBS = "ask deliver receive match read elapse resume".split()


@dataclass(frozen=True)
class Block:
    """One fenced block of a document."""

    document: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    return [block for block in _all_blocks() if block.language in languages]


def _all_blocks() -> Iterator[Block]:
    for file, name in zip(DOCUMENTS, NAMES, strict=True):
        text = file.read_text()
        for found in BLOCK.finditer(text):
            yield Block(name, text.count("\n", 0, found.start()) + 1, found[1], found[2])


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {block.language for block in _all_blocks()} <= {"sh", "python", "yaml", "json", "toml", "text"}


# One block is a test of a package that another block is: test_new_provider.py runs the two together.
ALONE = [block for block in blocks("python") if "from answerback_chat import" not in block.text]


@pytest.mark.needs_extra("langgraph")
@pytest.mark.parametrize("block", ALONE, ids=str)
def test_a_python_block_runs(block: Block) -> None:
    exec(compile(block.text, str(block), "exec"), {"__name__": "a_document"})  # noqa: S102 - our own text


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_a_yaml_block_is_a_configuration(block: Block, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret of 16 characters or more")
    file = str(tmp_path / "answerback.yaml")
    assert settings.parse(block.text, file=file, environ=ENVIRON).file == file


@pytest.mark.parametrize("block", blocks("json", "toml"), ids=str)
def test_a_json_or_toml_block_can_be_read(block: Block) -> None:
    assert (json.loads if block.language == "json" else tomllib.loads)(block.text)


@pytest.mark.parametrize("block", blocks("sh"), ids=str)
def test_a_command_in_a_shell_block_exists_with_these_arguments(block: Block) -> None:
    for line in block.text.splitlines():
        for words in commands(line):
            check_command(words)


def test_the_reference_says_what_the_program_says() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "reference.py"))["reference"]()
    assert (ROOT / "docs" / "reference.md").read_text() == written, "run make reference"


def test_every_event_of_the_audit_is_told_and_has_its_sentence() -> None:
    told = (ROOT / "docs" / "asking.md").read_text()
    for event in sorted(_events()):
        assert f".{event.replace(' ', '-')}`" in told, event
        assert event in history.STEPS or event == "delivered", event


def _events() -> Iterator[str]:
    """What the gateway writes into the audit: the third argument of each `audit.add`."""
    for file in (ROOT / "gateway" / "answerback").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(ast.Name("audit"), "add"), args=[_, _, ast.JoinedStr(), *_]):
                    yield from (f"{key} not usable" for key in ("expires_in", "on_expire", "default"))
                case ast.Call(func=ast.Attribute(ast.Name("audit"), "add"), args=[_, _, event, *_]):
                    names = (each.value for each in ast.walk(event) if isinstance(each, ast.Constant))
                    yield from (name for name in names if isinstance(name, str))
    yield from ("replayed", "discarded")  # of dead letters, by another way


def commands(line: str) -> Iterator[list[str]]:
    """The commands of a line: those joined by && or &, and those in $( ); without where their output goes."""
    inner = re.search(r"\$\((.*)\)", line)
    for part in re.split(r"&&|&$", inner[1] if inner else line):
        words = shlex.split(re.sub(r" > \S+$", "", part), comments=True)
        if words:
            yield words


def check_command(words: list[str]) -> None:
    match words:
        case ["make", target]:
            assert target in TARGETS
        case ["pip", "install", what]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(re.findall(r"\w+", what)) <= extras.keys()
        case ["pip", "install", "--editable", ".[dev]"] | ["cd", _] | ["pytest", "-rs"]:
            pass  # in the package that `answerback providers new` writes; test_new_provider.py does it
        case ["export", assignment]:
            assert "=" in assignment
        case ["answerback", *arguments]:
            check_arguments(command_line, arguments)
        case _:
            assert words == ["./deploy"], f"nobody checks this command: {words}"


def check_arguments(command: click.Command, arguments: list[str]) -> None:
    """Parse the arguments as the program does, without running anything. Raises `click.UsageError`."""
    while isinstance(command, click.Group) and (arguments or not command.invoke_without_command):
        name, *arguments = arguments
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"there is no command {name}"
        command = found
    command.make_context(command.name, list(arguments))


@pytest.mark.parametrize("name", NAMES)
def test_every_link_within_the_project_leads_somewhere(name: str) -> None:
    for target in LINK.findall((ROOT / name).read_text()):
        if target.startswith(("http://", "https://")):
            continue
        path, _, heading = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.is_file(), f"{name} links to {target}"
        assert not heading or heading in _anchors(file), f"{name} links to {target}"


def _anchors(file: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_document_is_reached_from_the_readme() -> None:
    reached = set(LINK.findall((ROOT / "README.md").read_text()))
    assert {name for name in NAMES if name.startswith("docs/")} <= reached


def test_the_glossary_has_every_word_once() -> None:
    text = (ROOT / "docs" / "concepts.md").read_text()
    assert re.findall(r"^\| \*\*(\w+)\*\* \|", text, re.MULTILINE) == WORDS
    assert [verb for verb in VERBS if f"**{verb}**" not in text] == []


def test_the_word_channel_is_left_to_others() -> None:
    assert [
        name for name in NAMES if re.search(r"\bchannels?\b", (ROOT / name).read_text(), re.IGNORECASE)
    ] == []


# The settings


def told() -> dict[str, dict[str, str]]:
    """Heading → key → default, as docs/configuration.md has them."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in (ROOT / "docs" / "configuration.md").read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
        if row := re.match(r"\| `(\w+)` \| .* \| ([^|]*) \|$", line):
            found.setdefault(heading, {})[row[1]] = row[2].strip()
    return found


CORE = {
    "The top level": schema.FileShape,
    "`api_keys`": schema.ApiKeyShape,
    "`contacts`": schema.ContactShape,
    "An address": schema.AddressShape,
    "`routes`": schema.RouteShape,
    "`hitl`": schema.HitlShape,
    "`limits`": schema.LimitsShape,
    "`outgoing`": schema.OutgoingShape,
}


@pytest.mark.parametrize("heading", CORE)
def test_every_setting_is_told_with_its_default(heading: str) -> None:
    check_settings(told()[heading], CORE[heading])


@pytest.mark.needs_extra("langgraph", "telegram", "email", "whatsapp")
def test_every_setting_of_a_plugin_is_told_with_its_default() -> None:
    from answerback_agents.langgraph import Settings as LangGraph
    from answerback_agents.langgraph_server import Settings as LangGraphServer
    from answerback_providers.callback import CallbackSettings
    from answerback_providers.console import ConsoleSettings
    from answerback_providers.default import DefaultSettings
    from answerback_providers.email.settings import EmailSettings, Imap, Lmtp, Smtp
    from answerback_providers.llm import LLMSettings
    from answerback_providers.scripted import ScriptedSettings
    from answerback_providers.telegram.settings import TelegramSettings
    from answerback_providers.webhook import WebhookSettings
    from answerback_providers.whatsapp import WhatsAppSettings

    plugins: dict[str, type[BaseModel]] = {
        "An agent that is a LangGraph graph": LangGraph,
        "An agent on a LangGraph server": LangGraphServer,
        "A provider that is Telegram": TelegramSettings,
        "A provider that is WhatsApp": WhatsAppSettings,
        "A provider that is a webhook": WebhookSettings,
        "A provider that is a function": CallbackSettings,
        "A provider that is mail": EmailSettings,
        "A stand-in in the terminal": ConsoleSettings,
        "A stand-in that is a model": LLMSettings,
        "A stand-in with predefined answers": DefaultSettings,
        "A stand-in that is a script": ScriptedSettings,
    }
    for heading, model in plugins.items():
        check_settings(told()[heading], model)
    servers = told()["`smtp` and `imap`"]
    assert list(servers) == list(Smtp.model_fields)
    assert Imap.model_fields.keys() < servers.keys()
    check_settings(told()["`lmtp`"], Lmtp)
    assert told().keys() == CORE.keys() | plugins.keys() | {"`smtp` and `imap`", "`lmtp`"}


def check_settings(rows: dict[str, str], model: type[BaseModel]) -> None:
    assert list(rows) == list(model.model_fields)
    for name, field in model.model_fields.items():
        assert (rows[name] == "required") == field.is_required() or name == "id"
        shown = re.fullmatch(r"`([^`]+)`", rows[name])
        if shown and isinstance(field.default, bool | int | float | str):
            assert _as_written(field.default) == shown[1], name


def _as_written(default: object) -> str:
    match default:
        case bool():
            return str(default).lower()
        case int() if default >= 1 << 20:
            return f"{default >> 20} MiB"
        case int() if default >= 1 << 10:
            return f"{default >> 10} KiB"
        case int() | float():
            return f"{default:g}"
        case _:
            return str(default)


# What people are told


@pytest.mark.parametrize("text", ["3 Dec", "tomorrow", "Friday 9:00", "in 3 days"])
def test_the_dates_that_people_are_told_of_can_be_read(text: str) -> None:
    assert f"`{text}`" in (ROOT / "docs" / "answering.md").read_text()
    found = read(Question("q1", "When?", QuestionKind.DATE), text, language="en", timezone="UTC", now=NOW)
    assert isinstance(found, Value)


@pytest.mark.parametrize(
    ("text", "clear"), [("yes", True), ("ok", True), ("no", True), ("yes but not prod", False)]
)
def test_what_people_are_told_is_clear_is_clear(text: str, clear: bool) -> None:
    assert f'"{text}"' in (ROOT / "docs" / "answering.md").read_text()
    found = read(Question("q1", "Now?", QuestionKind.CONFIRM), text, language="en", timezone="UTC", now=NOW)
    assert isinstance(found, Value) is clear


@pytest.mark.parametrize("text", ["help", "pending", "stop", "cancel"])
def test_the_words_that_people_are_told_of_are_commands(text: str) -> None:
    assert f"`{text}`" in (ROOT / "docs" / "answering.md").read_text()
    assert is_command(text) is not None


# The README as a whole, and the example of a provider


@pytest.mark.needs_extra("langgraph", "telegram")
async def test_the_readme_s_graph_asks_on_telegram_with_the_readme_s_configuration(tmp_path: Path) -> None:
    from answerback import app as composition
    from answerback.model import RunStatus
    from answerback.run import RunRequest
    from answerback_sandbox import Sandbox

    graph, configuration = (
        next(block for block in blocks(language) if block.document == "README.md").text
        for language in ("python", "yaml")
    )
    (tmp_path / "graph.py").write_text(graph)
    file = tmp_path / "answerback.yaml"
    file.write_text(configuration)
    async with Sandbox.start() as box:
        loaded = settings.load(
            str(file),
            environ={"TELEGRAM_TOKEN": box.token},
            overrides={"providers.telegram.api_base": box.url, "data_dir": str(tmp_path)},
        )
        app = composition.build(loaded)
        await app.start()
        try:
            link = await app.linker.create("alice", "telegram")
            box.press_start(1001, link.code)
            await box.wait_for(lambda: "linked" in _shown(box))
            run = await app.runner.start(RunRequest("mine", input={}))
            question = await box.wait_for(
                lambda: next((each for each in box.received(1001) if "deploy" in each.text), None)
            )
            box.tap(1001, question.id, "Yes")
            await box.wait_for(lambda: "Mine is done" in _shown(box), timeout=20)
            done = await app.runner.get(run.id)
        finally:
            await app.stop()
            sys.modules.pop("graph", None)
    assert (done.status, done.result) == (RunStatus.COMPLETED, {"deployed": True})


def _shown(box: "Sandbox") -> str:
    return "\n".join(message.text for message in box.received(1001))


def python_block(begins: str) -> Block:
    """The one block about providers that has a line beginning with this."""
    [found] = [
        block
        for block in blocks("python")
        if block.document == "docs/adding-a-provider.md" and f"\n{begins}" in f"\n{block.text}"
    ]
    return found


async def test_the_example_of_a_function_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from answerback.provider import Address, Message, MessageKind, ProviderContext
    from answerback_providers.callback import Callback

    example = python_block("def notify")
    (tmp_path / "a_document_s_package.py").write_text(example.text)
    settings = Callback.Settings.model_validate({"function": "a_document_s_package:notify"})
    provider = Callback("mine", settings, ProviderContext(base_dir=str(tmp_path)))
    message = Message(
        Address("mine", "a", "a"), MessageKind.QUESTION, "Now?", form_url="https://x.example/f/1"
    )
    try:
        await provider.send(message)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("a_document_s_package", None)
    assert capsys.readouterr().out == "Now?\nhttps://x.example/f/1\n"


async def test_the_example_of_a_provider_sends(tmp_path: Path) -> None:
    from answerback.provider import Address, Message, MessageKind, ProviderContext, Undeliverable

    example = python_block("class Files")
    assert len([line for line in example.text.splitlines() if line.strip()]) < 20
    names: dict[str, Any] = {"__name__": "a_document"}
    exec(compile(example.text, str(example), "exec"), names)  # noqa: S102 - our own text
    made = names["Files"]
    message = Message(Address("files", "alice", "alice"), MessageKind.QUESTION, "Now?", delivery_id="d1")
    good = made("files", made.Settings(folder=str(tmp_path)), ProviderContext())
    assert (await good.send(message)).message_ids == ("d1.txt",)
    assert (tmp_path / "d1.txt").read_text().startswith("Now?")
    bad = made("files", made.Settings(folder=str(tmp_path / "none")), ProviderContext())
    with pytest.raises(Undeliverable):
        await bad.send(message)
