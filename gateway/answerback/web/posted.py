"""What a browser posted: the fields of a form, decoded strictly, in the order in which they stand; files."""

import contextlib
from collections.abc import AsyncGenerator, Iterator
from urllib.parse import parse_qsl

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from answerback.errors import StoreUnavailable
from answerback.uploads import Upload
from answerback.web.limits import timed
from answerback.web.problems import Problem

MOST_FIELDS = 2000
MOST_FILES = 20
MOST_BYTES = 8 << 20  # of files in all: a message of this size holds up nothing else for long
UTF8 = frozenset({b"utf-8", b"utf8", b"us-ascii"})  # browsers say none; some others take minutes to decode
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


class Posted:
    """The fields of one post, and its files. Line ends are what was typed: browsers send CRLF for each.

    `whole`: False if there was more than is taken; then it has the fields that came first, and no files.
    """

    def __init__(
        self,
        pairs: list[tuple[str, str]] | None = None,
        files: tuple[Upload, ...] = (),
        *,
        whole: bool = True,
    ) -> None:
        self._fields: dict[str, list[str]] = {}
        for name, value in pairs or []:
            self._fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
        self.files, self.whole = files, whole

    def one(self, name: str, default: str = "") -> str:
        """The value of a field; one that came more than once, as from no page of ours, says nothing."""
        values = self._fields.get(name, [])
        return values[0] if len(values) == 1 else default

    def all(self, name: str) -> list[str]:
        """Every value of a field, for check boxes."""
        return list(self._fields.get(name, []))

    def has(self, name: str) -> bool:
        """Whether the field was posted at all."""
        return name in self

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __bool__(self) -> bool:
        return bool(self._fields)


def parse(body: bytes) -> Posted:
    """The fields of an `application/x-www-form-urlencoded` body in UTF-8. Raises `Problem` 422."""
    try:
        text = body.decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # includes what is not UTF-8
        raise _not_a_form() from None
    return Posted(pairs)


async def receive(request: Request, limit: int, seconds: float) -> Posted:
    """The fields and files of a `multipart/form-data` body (RFC 7578), read as it comes in.

    Of more than `limit` bytes, or too many files, only what was typed is kept. Raises `Problem` 408, after
    `seconds`, or 422, and `StoreUnavailable`.
    """
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in UTF8:
        raise _not_a_form()
    parser = MultiPartParser(
        request.headers,
        _at_most(limit, timed(request, seconds)),
        max_files=MOST_FIELDS,
        max_fields=MOST_FIELDS,
        max_part_size=limit,
    )
    try:
        form = await parser.parse()
    except _TooMuch:  # a form's files stand behind what was typed
        return Posted([(name, value) for name, value in parser.items if isinstance(value, str)], whole=False)
    except (MultiPartException, ValueError):  # what is not UTF-8
        raise _not_a_form() from None
    except OSError as error:  # large files wait on the disk while they come in
        raise StoreUnavailable("Files cannot be kept: the disk is full.") from error
    try:
        return await _posted(form)
    finally:
        await form.close()


def _not_a_form() -> Problem:
    return Problem(422, "does-not-fit", "This is not a form that was sent in UTF-8.")


class _TooMuch(Exception):
    """More came than is taken."""


async def _at_most(limit: int, stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    left = limit
    async with contextlib.aclosing(stream):
        async for chunk in stream:
            yield chunk[:left]
            left -= len(chunk)
            if left < 0:
                raise _TooMuch


async def _posted(form: FormData) -> Posted:
    """What is named like a file but is none is what browsers send where nothing was chosen."""
    items = form.multi_items()
    pairs = [(name, value) for name, value in items if isinstance(value, str)]
    chosen = [value for _, value in items if isinstance(value, UploadFile) and value.filename]
    if len(chosen) > MOST_FILES or sum(each.size or 0 for each in chosen) > MOST_BYTES:
        return Posted(pairs, whole=False)
    files = [Upload(each.filename or "", each.content_type or "", await each.read()) for each in chosen]
    return Posted(pairs, tuple(files))
