"""The page of a run: GET shows how it stands and changes nothing, POST has a failed one tried again."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from answerback.errors import Conflict, NotAllowed, NotFound, StoreUnavailable
from answerback.web import csrf, run_page
from answerback.web.pages import Entry
from answerback.web.posting import Posts
from answerback.web.problems import RETRY_SECONDS
from answerback.web.services import Services
from answerback.web.wording import word

if TYPE_CHECKING:
    from answerback.endings import Ending


class Ended:
    """The endpoints of a link to a run. All raise `NotFound` for any other link."""

    def __init__(self, services: Services) -> None:
        self._endings, self._settings = services.endings, services.settings
        self._posts = Posts(self._settings.limits.body_bytes)
        self._secure = self._settings.public_url.startswith("https:")

    async def show(self, request: Request, token: str) -> Response:
        """The run as it is now."""
        ending = await self._view(token)
        sent = request.query_params.get("code") == "sent"
        return self._page(ending, Entry(csrf.proof(request, token), code_sent=sent), 200)

    async def submit(self, request: Request, token: str) -> Response:
        """Try again, or send the code that this takes; or the page again, with what is wrong."""
        ending = await self._view(token)
        posted = await self._posts.read(request)
        entry = Entry(csrf.proof(request, token), posted, code_sent=posted.has("code"))
        if not csrf.genuine(request, token, posted.one("proof"), self._settings.public_url):
            return self._again(ending, entry, "again", 403)
        try:
            if posted.has("send-code"):
                return await self._send_code(token, ending, entry)
            return await self._retry(token, ending, entry)
        except StoreUnavailable:
            page = self._again(ending, entry, "unavailable", 503)
            page.headers["retry-after"] = str(RETRY_SECONDS)
            return page

    async def _send_code(self, token: str, ending: "Ending", entry: Entry) -> Response:
        assert self._endings is not None
        try:
            await self._endings.send_code(token)
        except NotAllowed as refusal:
            return self._again(await self._view(token), entry, "refused", refusal.status)
        except Conflict as refusal:
            return self._again(ending, entry, "code_wait", refusal.status)
        return RedirectResponse(f"./{token}?code=sent", 303)

    async def _retry(self, token: str, ending: "Ending", entry: Entry) -> Response:
        assert self._endings is not None
        code = "".join(entry.posted.one("code").split())
        if ending.retry and ending.needs_code and not code:
            return self._again(ending, entry, "code_missing", 422)
        try:
            await self._endings.retry(token, code)
        except NotAllowed as refusal:
            key = "code_wrong" if ending.retry and ending.needs_code else "refused"
            return self._again(ending, entry, key, refusal.status)
        except Conflict as refusal:  # the page itself says what became of the run
            return self._page(await self._view(token), entry, refusal.status)
        return RedirectResponse(f"./{token}", 303)

    async def _view(self, token: str) -> "Ending":
        if self._endings is None:
            raise NotFound("This link leads to no run.")
        return await self._endings.view(token)

    def _again(self, ending: "Ending", entry: Entry, key: str, status: int) -> Response:
        said = word(key, ending.language)
        about_code = key in ("code_missing", "code_wrong")
        errors = {"code": said} if about_code else {}
        problem = "" if about_code else said
        sent = about_code or entry.code_sent
        return self._page(ending, Entry(entry.proof, entry.posted, errors, problem, sent), status)

    def _page(self, ending: "Ending", entry: Entry, status: int) -> Response:
        page = run_page.page_of(ending, entry, status)
        if ending.retry:
            csrf.set_cookie(page, entry.proof, secure=self._secure)
        return page
