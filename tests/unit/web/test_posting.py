"""Posts of pages: how many files may be on their way at once, in all and from one page."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request

from answerback.web.posting import UPLOADS, UPLOADS_EACH, Posts
from answerback.web.problems import Problem

FORM = b'--a\r\nContent-Disposition: form-data; name="q0"\r\n\r\nhi\r\n--a--\r\n'
HEADERS = [(b"content-type", b"multipart/form-data; boundary=a")]


def post(comes: asyncio.Event | None = None) -> Request:
    """A form whose body `comes` at some time, or is here."""

    async def receive() -> dict[str, object]:
        if comes is not None:
            await comes.wait()
        return {"type": "http.request", "body": FORM, "more_body": False}

    return Request({"type": "http", "method": "POST", "headers": HEADERS}, receive)


@contextlib.asynccontextmanager
async def under_way(posts: Posts, *pages: str) -> AsyncIterator[asyncio.Event]:
    """Posts of these pages that go on until they `come`."""
    comes = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for page in pages:
            group.create_task(posts.read(post(comes), page, takes_files=True))
        await asyncio.sleep(0)
        yield comes
        comes.set()


async def taken(posts: Posts, page: str) -> bool:
    try:
        return (await posts.read(post(), page, takes_files=True)).one("q0") == "hi"
    except Problem as problem:
        if (problem.status, problem.code) != (503, "busy"):
            raise
        return False


async def test_law_10_whoever_has_one_link_takes_no_room_from_the_others():
    posts = Posts(1000)
    async with under_way(posts, *["ana's link"] * UPLOADS_EACH):
        assert not await taken(posts, "ana's link")
        assert await taken(posts, "ben's link")
    assert await taken(posts, "ana's link")


async def test_of_all_pages_together_only_so_many_are_read_at_once():
    posts = Posts(1000)
    async with under_way(posts, *[f"link {number}" for number in range(UPLOADS)]):
        assert not await taken(posts, "one more")
    assert await taken(posts, "one more")


@pytest.mark.parametrize("length", [b"900", b"1000"])
async def test_what_is_no_larger_than_a_post_without_files_needs_no_room(length: bytes):
    posts, small = Posts(1000), post()
    small.scope["headers"] = [*HEADERS, (b"content-length", length)]
    async with under_way(posts, *["ana's link"] * UPLOADS_EACH):
        assert (await posts.read(small, "ana's link", takes_files=True)).one("q0") == "hi"
