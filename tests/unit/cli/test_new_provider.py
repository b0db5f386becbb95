"""`providers new` and docs/adding-a-provider.md: the package that is written works, as it is and in use."""

import contextlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from answerback import app as composition
from answerback import settings
from answerback.ask import AskRequest
from answerback.cli import root, scaffold
from answerback.errors import ConfigurationError
from answerback.model import InteractionStatus, Question, QuestionKind
from answerback.provider import Unverified
from tests.support.extras import EXTRAS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-provider.md").read_text()
ALLOWED = "outgoing: {allow: [127.0.0.1]}\n"
ENVIRON = {"TOKEN": "a token of the bot", "SIGNING_SECRET": "a secret that signs"}

with_tools = pytest.mark.needs_extra(*EXTRAS)  # the environment without extras has no linter and no builder


def written(folder: Path, name: str = "chat") -> Path:
    done = CliRunner().invoke(root, ["providers", "new", name, str(folder / "made")])
    assert done.exit_code == 0, done.output
    return folder / "made"


def ran(*words: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHON"))}
    more = {"PYTHONPATH": str(path)} if path else {}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=cwd, env=environ | more, capture_output=True, text=True, check=False,
    )  # fmt: skip


@with_tools
def test_what_is_written_passes_the_suite_and_the_linter(tmp_path: Path) -> None:
    made = written(tmp_path, "the-longest-name-that-is-taken")
    tested = ran("pytest", "-q", "-rs", "-W", "error", "-p", "no:cacheprovider", "-p", "no:asyncio", cwd=made)
    assert tested.returncode == 0, tested.stdout
    assert re.search(r"\d+ passed", tested.stdout)
    for words in (("check", "."), ("format", "--check", ".")):
        linted = ran("ruff", *words, "--no-cache", cwd=made)
        assert linted.returncode == 0, linted.stdout


@with_tools
def test_what_is_written_has_its_types_right(tmp_path: Path) -> None:
    checked = ran("mypy", "--cache-dir", os.devnull, cwd=written(tmp_path), path=ROOT / "gateway")
    assert checked.returncode == 0, checked.stdout


def test_the_page_shows_what_is_written(tmp_path: Path) -> None:
    made = written(tmp_path)
    for file in ("src/answerback_chat/__init__.py", "tests/test_contract.py"):
        assert f"`{file}`" in PAGE
        assert f"```python\n{(made / file).read_text()}```\n" in PAGE
    [announced] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert announced in (made / "pyproject.toml").read_text()


@with_tools
def test_what_is_installed_is_listed_with_its_package(tmp_path: Path) -> None:
    made = written(tmp_path)
    built = ran("hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=made)
    assert built.returncode == 0, built.stderr
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    listed = ran("answerback.cli", "providers", cwd=tmp_path, path=tmp_path / "site")
    assert re.search(r"^chat +answerback-chat 0\.1\.0 +sends, takes webhooks, edits$", listed.stdout, re.M)
    taken = ran("answerback.cli", "providers", "new", "chat", "x", cwd=tmp_path, path=tmp_path / "site")
    assert (taken.returncode, "means something else already" in taken.stderr) == (1, True)


@pytest.fixture
def package(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The package, importable, and the names of its test."""
    made = written(tmp_path)
    sys.path.insert(0, str(made / "src"))
    names: dict[str, Any] = {"__name__": "the_page_s_test"}
    exec(compile((made / "tests" / "test_contract.py").read_text(), "test_contract.py", "exec"), names)  # noqa: S102
    yield names
    sys.path.remove(str(made / "src"))
    sys.modules.pop("answerback_chat")


@contextlib.asynccontextmanager
async def at_work(far: Any, folder: Path) -> AsyncIterator[composition.App]:
    """A gateway with the page's configuration, and the far side of the page's test."""
    there = web.Application()
    there.add_routes([web.post("/messages", far.post), web.put("/messages/{id}", far.put)])
    runner = web.AppRunner(there, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    [text] = [each for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "use: chat" in each]
    file = folder / "answerback.yaml"
    # The one thing that differs: nothing is installed, so that the class is named by its path.
    file.write_text(text.replace("use: chat", 'use: "answerback_chat:Chat"') + ALLOWED)
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    overrides = {"providers.chat.url": url, "data_dir": str(folder)}
    gateway = composition.build(settings.load(str(file), environ=ENVIRON, overrides=overrides))
    assert gateway.problems == []
    await gateway.start(clock=False)
    try:
        yield gateway
    finally:
        await gateway.stop()
        await runner.cleanup()


async def test_the_page_s_provider_carries_a_question_and_its_answer(
    package: dict[str, Any], tmp_path: Path
) -> None:
    far = package["FarSide"]()
    async with at_work(far, tmp_path) as gateway:
        asked = await gateway.asker.ask(AskRequest((Question("q1", "Deploy now?", QuestionKind.CONFIRM),)))
        await gateway.idle()
        assert "Deploy now?" in far.messages["m1"]
        for _ in range(2):  # the service delivers it twice
            await gateway.receiver.webhook("chat", far.reply("m1", text="yes"))
            far.events -= 1
        await gateway.idle()
        record = await gateway.reader.interaction(asked.interaction.id)
    assert record.status is InteractionStatus.COMPLETED
    assert (record.answer.values, record.answer.via) == ({"q1": True}, "chat")
    assert list(far.messages) == ["m1"]
    assert far.messages["m1"].startswith("✅")


async def test_what_is_not_signed_is_refused_in_the_gateway_too(
    package: dict[str, Any], tmp_path: Path
) -> None:
    far = package["FarSide"]()
    async with at_work(far, tmp_path) as gateway:
        good = far.reply("m1", text="yes")
        with pytest.raises(Unverified):
            await gateway.receiver.webhook("chat", replace(good, body=good.body.replace(b"yes", b"no")))


# What is refused


@pytest.mark.parametrize(
    "name",
    ["", "Chat", "my_chat", "1chat", "-chat", "chat-", "my--chat", "chät", "a/b", "..", "x" * 31, "a b"],
)
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="small letters"):
        scaffold.write(name, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["telegram", "form", "llm", "none", "message", "providers", "sandbox", "far-side", "mapping", "testing"],
)
def test_a_name_that_means_something_else_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"Take another name"):
        scaffold.write(name, tmp_path / "made")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "full" / "notes"
    kept.parent.mkdir()
    kept.write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("full", "file", "link"):
        with pytest.raises(ConfigurationError, match="nothing was written"):
            scaffold.write("chat", tmp_path / name)
    assert kept.read_text() == (tmp_path / "file").read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "full", "link"]


def test_an_empty_folder_is_filled_and_what_is_missing_above_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "a" / "b"):
        files = scaffold.write("chat", folder)
        assert all(file.is_file() for file in files)
        assert [each for each in folder.parent.iterdir() if each.name.startswith(".")] == []


def test_where_nothing_can_be_written_it_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(root, ["providers", "new", "chat", str(tmp_path / "file" / "below")])
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
