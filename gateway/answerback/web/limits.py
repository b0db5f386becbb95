"""How much may come in, and how slowly: bodies are counted while they arrive."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Iterator

from starlette.requests import Request

from answerback.web.problems import Problem

BODY_SECONDS = 30.0


async def read_body(request: Request, limit: int, seconds: float = BODY_SECONDS) -> bytes:
    """The body, at most `limit` bytes of it, read within `seconds`.

    What `Content-Length` says is only believed when it says too much: without it, or with one that
    lies, the bytes themselves are counted. Raises `Problem` 413 or 408.
    """
    if declares_more_than(limit, request):
        raise too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large(limit)
    except TimeoutError:
        raise too_slow(seconds) from None
    return bytes(body)


async def timed(request: Request, seconds: float) -> AsyncGenerator[bytes]:
    """The body in pieces as they come in, all of them within `seconds`. Raises `Problem` 408."""
    stream, until = request.stream(), asyncio.get_running_loop().time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(until):
                chunk = await anext(stream, b"")
        except TimeoutError:
            raise too_slow(seconds) from None
        if not chunk:
            return
        yield chunk


def too_slow(seconds: float) -> Problem:
    """408, saying how long was waited."""
    detail = f"The body did not arrive within {seconds:g} s."
    return Problem(408, "too-slow", detail, {"Connection": "close"})


def too_large(limit: int) -> Problem:
    """413, saying how much would have been taken."""
    return Problem(413, "too-large", f"The body is larger than the {limit} bytes that are taken here.")


@contextlib.contextmanager
def counted(under_way: Counter[str], whose: str) -> Iterator[None]:
    """One more of somebody's is under way while the block runs."""
    under_way[whose] += 1
    try:
        yield
    finally:
        under_way[whose] -= 1
        if not under_way[whose]:
            del under_way[whose]


def require_type(request: Request, *wanted: str) -> None:
    """Raises `Problem` 415 unless the body says that it is of one of the wanted media types."""
    if not is_of_type(request, *wanted):
        raise Problem(415, "wrong-type", f"Send the body with the header Content-Type: {wanted[0]}.")


def is_of_type(request: Request, *wanted: str) -> bool:
    """Whether the body says that it is of one of these media types."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in wanted


def declares_more_than(limit: int, request: Request) -> bool:
    """Whether a request says itself that its body is longer."""
    declared = request.headers.get("content-length", "")
    if not (declared.isascii() and declared.isdecimal()):
        return False
    return len(declared) > 15 or int(declared) > limit
