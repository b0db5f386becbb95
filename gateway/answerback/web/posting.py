"""Reads what a browser posts: a few files at a time, and never more than is taken."""

from collections import Counter

from starlette.requests import Request

from answerback.web.limits import (
    BODY_SECONDS,
    counted,
    declares_more_than,
    is_of_type,
    read_body,
    require_type,
)
from answerback.web.posted import MOST_BYTES, MULTIPART, URLENCODED, Posted, parse, receive
from answerback.web.problems import Problem

UPLOADS, UPLOAD_SECONDS = 16, 300.0  # at once, each up to this long: a telephone may have a slow line
UPLOADS_EACH = 2  # of them from one page: a link may be handed on, and must not use up what all others have


class Posts:
    """The posts of one kind of page. `usual`: bytes of a post without files."""

    def __init__(self, usual: int) -> None:
        self._usual = usual
        self._uploads: Counter[str] = Counter()  # under way, by page

    async def read(self, request: Request, page: str = "", *, takes_files: bool = False) -> Posted:
        """What was posted, files a few at a time. `page`: what posts of one page have in common.

        Raises `Problem`.
        """
        if not takes_files or not is_of_type(request, MULTIPART):
            require_type(request, URLENCODED)
            return parse(await read_body(request, self._usual))
        if request.headers.get("content-length") and not declares_more_than(self._usual, request):
            return await receive(request, self._usual, BODY_SECONDS)
        most = self._usual + MOST_BYTES
        self._require_room(page)
        with counted(self._uploads, page):
            limit = self._usual if declares_more_than(most, request) else most
            return await receive(request, limit, UPLOAD_SECONDS)

    def _require_room(self, page: str) -> None:
        if self._uploads[page] >= UPLOADS_EACH or self._uploads.total() >= UPLOADS:
            raise Problem(503, "busy", "Others are sending files right now. Try again in a moment.")
