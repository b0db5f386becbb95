"""A function as a provider: what it is called with, and what its failures mean."""

import asyncio
import datetime
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerback.provider import (
    Address,
    ConfigurationError,
    Message,
    MessageKind,
    ProviderContext,
    TryLater,
    Undeliverable,
)
from answerback_providers.callback import ROOM, Callback

MODULE = """
called = []

def by_name(interaction_id, agent_message, form_url, expiry_time):
    called.append((interaction_id, agent_message, form_url, expiry_time))

def as_one(interaction_context):
    called.append(interaction_context)

async def waits(agent_message):
    called.append(agent_message)

def everything(kind, agent_message=""):
    called.append(kind)

def anything(**known):
    called.append(sorted(known))

def fails(agent_message):
    raise RuntimeError("no signal")

import threading

go_on = threading.Event()

def hangs(agent_message):
    go_on.wait(60)

value = 7
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "told.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("told", None)
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]


def told(folder: Path, function: str) -> Callback:
    settings = Callback.Settings.model_validate({"function": function})
    return Callback("mine", settings, ProviderContext(base_dir=str(folder)))


def calls() -> list[Any]:
    return list(sys.modules["told"].called)


def message(kind: MessageKind = MessageKind.QUESTION, expires_at: int | None = None) -> Message:
    return Message(
        Address("mine", "ana", "ana"), kind, "Deploy now?", form_url="https://ask.example/f/x",
        interaction_id="i1", delivery_id="d1", expires_at=expires_at,
    )  # fmt: skip


async def test_a_function_is_told_by_name(folder: Path) -> None:
    provider = told(folder, "told:by_name")
    await provider.open()
    sent = await provider.send(message(expires_at=1_800_000_000_000_000))
    at = datetime.datetime.fromtimestamp(1_800_000_000, datetime.UTC)
    assert calls() == [("i1", "Deploy now?", "https://ask.example/f/x", at)]
    assert sent.message_ids == ("d1",)


async def test_a_question_without_a_deadline_expires_never(folder: Path) -> None:
    await told(folder, "told:by_name").send(message())
    assert calls()[0][3] is None


async def test_a_function_with_one_parameter_of_another_name_gets_all_as_one(folder: Path) -> None:
    await told(folder, "told:as_one").send(message())
    assert calls()[0]["interaction_id"] == "i1"
    assert calls()[0]["agent_message"] == "Deploy now?"


async def test_a_coroutine_is_awaited(folder: Path) -> None:
    await told(folder, "told:waits").send(message())
    assert calls() == ["Deploy now?"]


async def test_a_function_that_takes_anything_gets_everything(folder: Path) -> None:
    await told(folder, "told:anything").send(message())
    assert calls() == [["agent_message", "expiry_time", "form_url", "interaction_id", "kind", "to"]]


async def test_only_questions_are_told_unless_the_function_asks_for_the_kind(folder: Path) -> None:
    await told(folder, "told:as_one").send(message(MessageKind.OUTCOME))
    assert calls() == []
    await told(folder, "told:everything").send(message(MessageKind.OUTCOME))
    assert calls() == ["outcome"]


async def test_a_notice_that_it_would_not_be_told_is_not_taken_for_sent(folder: Path) -> None:
    with pytest.raises(Undeliverable, match="no parameter `kind`"):
        await told(folder, "told:as_one").send(message(MessageKind.NOTICE))
    assert calls() == []


async def test_what_a_function_raises_reaches_the_core_as_it_is(folder: Path) -> None:
    with pytest.raises(RuntimeError, match="no signal"):
        await told(folder, "told:fails").send(message())


async def test_law_10_a_function_that_hangs_takes_no_more_than_its_own_room(folder: Path) -> None:
    provider, other = told(folder, "told:hangs"), told(folder, "told:by_name")
    await provider.open()
    sending = [asyncio.create_task(provider.send(message())) for _ in range(ROOM)]
    await asyncio.sleep(0)
    for task in sending:  # as the core does when its patience ends
        task.cancel()
    await asyncio.gather(*sending, return_exceptions=True)
    with pytest.raises(TryLater, match=f"{ROOM} calls of the function have not ended"):
        await provider.send(message())
    await other.send(message())
    assert len(calls()) == 1
    sys.modules["told"].go_on.set()
    async with asyncio.timeout(30):
        while provider._calls:  # noqa: ASYNC110 - threads end
            await asyncio.sleep(0.001)
    await provider.send(message())


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("nowhere:notify", "cannot be imported: there is no module nowhere in "),
        ("told:nothing", "cannot be imported: AttributeError"),
        ("told:value", "is no function"),
    ],
)
async def test_what_cannot_be_called_is_said_when_it_starts(
    folder: Path, function: str, sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        await told(folder, function).open()


async def test_what_cannot_be_called_yet_is_tried_later(folder: Path) -> None:
    """A function that is not there is no message that failed: it is kept for when there is one."""
    provider = told(folder, "told_later:notify")
    with pytest.raises(TryLater):
        await provider.send(message())
    (folder / "told_later.py").write_text("def notify(agent_message): ...")
    assert (await provider.send(message())).message_ids
    sys.modules.pop("told_later")


@pytest.mark.parametrize("function", ["notify", "a b:c", ":x", "x:", "a.:b", "os;x:y"])
def test_a_name_that_cannot_be_one_is_refused(function: str) -> None:
    with pytest.raises(ValueError, match="my_package"):
        Callback.Settings.model_validate({"function": function})


async def test_the_probe_says_that_it_is_there(folder: Path) -> None:
    assert await told(folder, "told:by_name").probe() == "told.by_name is there"
