"""The form: GET shows the question and changes nothing, POST answers it, and a reload does not resend."""

import contextlib
import re
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from answerback.errors import (
    AlreadyAnswered,
    Closed,
    Conflict,
    DoesNotFit,
    NotAllowed,
    NotFound,
    StoreUnavailable,
)
from answerback.model import InteractionStatus
from answerback.web import csrf, pages
from answerback.web.ended import Ended
from answerback.web.fields import Filled, fill
from answerback.web.paged import in_a_page
from answerback.web.pages import Entry, outcome_page
from answerback.web.posting import Posts
from answerback.web.prefilled import prefilled
from answerback.web.problems import RETRY_SECONDS
from answerback.web.records import Ascii
from answerback.web.services import Services
from answerback.web.typed import text_reader
from answerback.web.wording import word

if TYPE_CHECKING:
    from answerback.forms import FormView

_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,128}")


def routes(services: Services) -> list[Route]:
    """`/f/{token}` for people; `/f/{token}/status` tells an open page that it was answered elsewhere."""
    form = Form(services)
    return [
        Route("/f/{token}", in_a_page(form.show), methods=["GET"], name="form"),
        Route("/f/{token}", in_a_page(form.submit), methods=["POST"]),
        Route("/f/{token}/status", form.status, methods=["GET"], name="form_status"),
    ]


class Form:
    """The endpoints of one form link."""

    def __init__(self, services: Services) -> None:
        self._forms, self._settings = services.forms, services.settings
        self._notices, self._ended = services.notices, Ended(services)
        self._posts = Posts(self._settings.limits.body_bytes)
        self._secure = self._settings.public_url.startswith("https:")

    async def show(self, request: Request) -> Response:
        """The question as it is now, or how it ended."""
        token = _token(request)
        try:
            view = await self._forms.view(token)
        except NotFound:
            return await self._asks_nothing(request, token)
        if view.interaction.status is not InteractionStatus.PENDING:
            here = request.query_params.get("sent") == "1" and not csrf.proof(request, token).fresh
            return outcome_page(view, here=here)
        sent = request.query_params.get("code") == "sent"
        begun = prefilled(view)
        entry = Entry(csrf.proof(request, token), begun, code_sent=sent, begun=bool(begun))
        return self._page(view, entry, 200)

    async def _asks_nothing(self, request: Request, token: str) -> Response:
        """The page of a notice, or of a run."""
        if self._notices is not None:
            with contextlib.suppress(NotFound):
                return pages.notice_page(await self._notices.page(token))
        return await self._ended.show(request, token)

    async def status(self, request: Request) -> Response:
        """Only whether it is still open: `{"status": "pending"}`."""
        view = await self._forms.view(_token(request))
        return Ascii({"status": str(view.interaction.status)})

    async def submit(self, request: Request) -> Response:
        """Take what was posted, or show the page again with it and a sentence about what is wrong."""
        token = _token(request)
        try:
            view = await self._forms.view(token)
        except NotFound:
            return await self._ended.submit(request, token)
        posted = await self._posts.read(request, token, takes_files=pages.takes_files(view))
        if view.interaction.status is not InteractionStatus.PENDING:
            return outcome_page(view, _late_status(view), late=True)
        entry = Entry(csrf.proof(request, token), posted, code_sent=posted.has("code"))
        if not posted.whole:
            return self._again(view, entry, {"files": word("files_too_much", view.language)}, "", 413)
        if not csrf.genuine(request, token, posted.one("proof"), self._settings.public_url):
            return self._again(view, entry, {}, word("again", view.language), 403)
        if posted.has("send-code"):
            return await self._send_code(token, view, entry)
        return await self._answer(token, view, entry)

    async def _send_code(self, token: str, view: "FormView", entry: Entry) -> Response:
        try:
            await self._forms.send_code(token)
        except NotAllowed as refusal:
            return self._again(view, entry, {}, word("code_impossible", view.language), refusal.status)
        except Conflict as refusal:
            return self._again(view, entry, {}, word("code_wait", view.language), refusal.status)
        return RedirectResponse(f"./{token}?code=sent", 303)

    async def _answer(self, token: str, view: "FormView", entry: Entry) -> Response:
        posted = entry.posted
        filled = fill(view.interaction.questions, posted, view.language, text_reader(view))
        errors = dict(filled.errors)
        code = "".join(posted.one("code").split())
        if view.needs_code and not code:
            errors["code"] = word("code_missing", view.language)
        if errors:
            several = len(view.interaction.questions) > 1
            summary = word("missing_summary", view.language) if several else ""
            return self._again(view, entry, pages.in_place(view, errors), summary, 422)
        return await self._accept(token, view, entry, filled, code)

    async def _accept(
        self, token: str, view: "FormView", entry: Entry, filled: Filled, code: str
    ) -> Response:
        try:
            files = entry.posted.files
            await self._forms.submit(token, filled.values, text=filled.text, code=code, files=files)
        except DoesNotFit as refusal:
            return self._again(view, entry, {}, refusal.detail, refusal.status)
        except NotAllowed as refusal:
            if not view.needs_code:
                return self._again(view, entry, {}, refusal.detail, refusal.status)
            errors = {"code": word("code_wrong", view.language)}
            return self._again(view, entry, errors, "", refusal.status)
        except (AlreadyAnswered, Closed) as refusal:
            return outcome_page(await self._forms.view(token), refusal.status, late=True)
        except StoreUnavailable:
            page = self._again(view, entry, {}, word("unavailable", view.language), 503)
            page.headers["retry-after"] = str(RETRY_SECONDS)
            return page
        return RedirectResponse(f"./{token}?sent=1", 303)

    def _again(
        self, view: "FormView", entry: Entry, errors: dict[str, str], problem: str, status: int
    ) -> Response:
        again = Entry(entry.proof, entry.posted, errors, problem, entry.code_sent)
        return self._page(view, again, status)

    def _page(self, view: "FormView", entry: Entry, status: int) -> Response:
        page = pages.question_page(view, entry, status)
        csrf.set_cookie(page, entry.proof, secure=self._secure)
        return page


def _token(request: Request) -> str:
    token: str = request.path_params["token"]
    if not _TOKEN.fullmatch(token):
        raise NotFound("There is no such link.")
    return token


def _late_status(view: "FormView") -> int:
    return 409 if view.interaction.status is InteractionStatus.COMPLETED else 410
