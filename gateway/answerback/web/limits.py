"""How much may come in, and how slowly: bodies are counted while they arrive."""

import asyncio

from starlette.requests import Request

from answerback.web.problems import Problem

BODY_SECONDS = 30.0


async def read_body(request: Request, limit: int, seconds: float = BODY_SECONDS) -> bytes:
    """The body, at most `limit` bytes of it, read within `seconds`.

    What `Content-Length` says is only believed when it says too much: without it, or with one that
    lies, the bytes themselves are counted. Raises `Problem` 413 or 408.
    """
    if _declares_more_than(limit, request.headers.get("content-length", "")):
        raise too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large(limit)
    except TimeoutError:
        detail = f"The body did not arrive within {seconds:g} s."
        raise Problem(408, "too-slow", detail, {"Connection": "close"}) from None
    return bytes(body)


def too_large(limit: int) -> Problem:
    """413, saying how much would have been taken."""
    return Problem(413, "too-large", f"The body is larger than the {limit} bytes that are taken here.")


def require_type(request: Request, *wanted: str) -> None:
    """Raises `Problem` 415 unless the body says that it is of one of the wanted media types."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in wanted:
        raise Problem(415, "wrong-type", f"Send the body with the header Content-Type: {wanted[0]}.")


def _declares_more_than(limit: int, declared: str) -> bool:
    if not (declared.isascii() and declared.isdecimal()):
        return False
    return len(declared) > 15 or int(declared) > limit
