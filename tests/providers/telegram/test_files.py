"""Attachments: their bytes, from this bot's own file store only."""

from collections.abc import Callable
from typing import Any

import pytest

from answerback.provider import Attachment, TryLater, Undeliverable
from answerback_providers.telegram.provider import FILE_LIMIT
from tests.providers.telegram.far import Said, far_side, refuses


def found(path: Any) -> Callable[[dict[str, str]], Said]:
    return lambda fields: (200, {"ok": True, "result": {"file_id": "f1", "file_path": path}})


async def test_the_bytes_of_an_attachment_are_brought() -> None:
    asked = []

    def files(fields: dict[str, str]) -> Said:
        asked.append(fields["path"])
        return 200, b"\x00PDF" * 100_000

    async with far_side(files, getFile=found("documents/file_1.pdf")) as far:
        assert await far.telegram.fetch(Attachment("f1")) == b"\x00PDF" * 100_000
    assert (asked, far.calls["getFile"]) == (["documents/file_1.pdf"], [{"file_id": "f1"}])


@pytest.mark.parametrize("path", [None, 5, "http://evil.example/x", "../bot/getMe", "a/../../b"])
async def test_a_path_out_of_the_file_store_is_not_followed(path: object) -> None:
    async with far_side(getFile=found(path)) as far:
        with pytest.raises(Undeliverable, match="does not say where"):
            await far.telegram.fetch(Attachment("f1"))


async def test_a_file_larger_than_a_bot_may_have_is_refused() -> None:
    big = b"x" * (FILE_LIMIT + 1)
    async with far_side(lambda fields: (200, big), getFile=found("big")) as far:
        with pytest.raises(Undeliverable, match="at most 20 MB"):
            await far.telegram.fetch(Attachment("f1"))


async def test_a_file_that_is_known_to_be_too_large_is_not_even_asked_for() -> None:
    async with far_side() as far:
        with pytest.raises(Undeliverable, match="at most 20 MB"):
            await far.telegram.fetch(Attachment("f1", size=FILE_LIMIT + 1))
    assert not far.calls


async def test_a_file_that_telegram_finds_too_large_is_refused_in_the_same_words() -> None:
    async with far_side(getFile=refuses(400, "Bad Request: file is too big")) as far:
        with pytest.raises(Undeliverable, match="at most 20 MB"):
            await far.telegram.fetch(Attachment("f1"))


async def test_a_file_that_is_not_there_any_more_is_gone() -> None:
    async with far_side(lambda fields: (404, b""), getFile=found("x")) as far:
        with pytest.raises(Undeliverable, match="the file is gone"):
            await far.telegram.fetch(Attachment("f1"))


async def test_a_file_that_telegram_does_not_know_is_gone() -> None:
    async with far_side(getFile=refuses(400, "Bad Request: wrong file_id or the file is unavailable")) as far:
        with pytest.raises(Undeliverable, match="unavailable"):
            await far.telegram.fetch(Attachment("f1"))


async def test_a_file_store_in_trouble_is_tried_again() -> None:
    async with far_side(lambda fields: (502, b""), getFile=found("x")) as far:
        with pytest.raises(TryLater):
            await far.telegram.fetch(Attachment("f1"))
