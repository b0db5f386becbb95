"""The inbox: who signs in with a key, or is known without, sees what waits for them, and answers it there."""

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from answerback.errors import AlreadyAnswered, Closed, DoesNotFit, NotAllowed, NotFound
from answerback.inbox import Viewer
from answerback.model import InteractionStatus
from answerback.store.waiting import Place
from answerback.web import inbox_pages as pages
from answerback.web import sessions
from answerback.web.auth import key_of
from answerback.web.callers import Callers
from answerback.web.csrf import from_our_page
from answerback.web.fields import fill
from answerback.web.inbox_pages import Said
from answerback.web.paged import in_a_page
from answerback.web.pages import in_place, takes_files
from answerback.web.posted import Posted
from answerback.web.posting import Posts
from answerback.web.problems import Problem
from answerback.web.records import Ascii
from answerback.web.services import Caller, Inbox, Services
from answerback.web.sessions import Session
from answerback.web.typed import text_reader
from answerback.web.wording import preferred, word

if TYPE_CHECKING:
    from answerback.forms import FormView

_ID = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_AFTER = re.compile(r"(-?\d{1,19})\.([A-Za-z0-9-]{1,64})", re.ASCII)
_Signed = Callable[[Request, Session], Awaitable[Response]]


def routes(services: Services, callers: Callers) -> list[Route]:
    """`/inbox` and the posts of its forms; a GET of any of them changes nothing (law 5)."""
    if services.inbox is None:
        return []
    inbox = InboxPages(services, services.inbox, callers)
    return [
        Route("/inbox", in_a_page(inbox.signed(inbox.show)), methods=["GET"], name="inbox"),
        Route("/inbox/status", inbox.status, methods=["GET"]),
        Route("/inbox/sign-in", in_a_page(inbox.sign_in), methods=["POST"]),
        Route("/inbox/sign-out", in_a_page(inbox.sign_out), methods=["POST"]),
        Route("/inbox/{id}", in_a_page(inbox.signed(inbox.answer)), methods=["POST"]),
        Route("/inbox/{id}", in_a_page(inbox.back), methods=["GET"]),
    ]


class InboxPages:
    """The endpoints of the inbox."""

    def __init__(self, services: Services, inbox: Inbox, callers: Callers) -> None:
        self._inbox, self._settings, self._callers = inbox, services.settings, callers
        self._posts = Posts(services.settings.limits.body_bytes)
        self._secure = services.settings.public_url.startswith("https:")

    def signed(self, endpoint: _Signed) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint for who is signed in; everybody else is asked for a key."""

        async def answer(request: Request) -> Response:
            try:
                session = await self._session(request)
            except NotAllowed:
                return self._ask_for_key(request, "inbox_not_yours", 403)
            except Problem as problem:
                page = self._ask_for_key(request, "inbox_who_are_you", problem.status)
                page.headers.update(problem.headers or {})
                return page
            if session is None:
                return self._ask_for_key(request, "")
            if not _may_answer(session.caller):
                if session.ends:
                    return self._ask_for_key(request, "")
                return self._ask_for_key(request, "inbox_not_yours", 403)
            try:
                return await endpoint(request, session)
            except NotAllowed:  # for a month, or for somebody who is no contact any more
                page = self._ask_for_key(request, "inbox_again")
                sessions.end(page)
                return page

        return answer

    async def show(self, request: Request, session: Session) -> Response:
        """What waits; above it how a question ended that was just answered here."""
        viewer = _viewer(request, session)
        after = _after(request)
        listed = await self._inbox.of(viewer, after)
        if after is not None and not listed.rows:  # what stood here is answered; others may wait before it
            return RedirectResponse("inbox", 303)
        said = None
        if done := request.query_params.get("done", ""):
            said = await self._ended(viewer, done, late=False)
        return pages.inbox_page(listed, session, said=said, later=after is not None)

    async def status(self, request: Request) -> Response:
        """A digest of what waits, for a page that is open; `null` for who is not signed in."""
        try:
            session = await self._session(request)
            if session is None or not _may_answer(session.caller):
                return Ascii({"waiting": None}, 403)
            ids = await self._inbox.ids(_viewer(request, session), _after(request))
        except NotAllowed:
            return Ascii({"waiting": None}, 403)
        return Ascii({"waiting": pages.digest(ids)})

    async def _session(self, request: Request) -> Session | None:
        """Whoever has signed in with a key, or else whom the operator's own function knows."""
        session = sessions.session_of(request, self._settings.api_keys)
        if session is not None:
            return session
        found = await self._callers.known(request.scope)
        if found is None:
            return None
        return sessions.without_key(found, await self._inbox.now(), self._callers.form_key)

    async def sign_in(self, request: Request) -> Response:
        """Take a key; the browser keeps a cookie instead of it."""
        posted = await self._posts.read(request)
        key = key_of(posted.one("key").encode("utf-8", "replace"), self._settings.api_keys)
        if not from_our_page(request, self._settings.public_url):
            return self._ask_for_key(request, "again", 403, up=True)
        if key is None:
            return self._ask_for_key(request, "inbox_wrong_key", 403, up=True)
        if not _may_answer(key):
            return self._ask_for_key(request, "inbox_no_answers", 403, up=True)
        response = RedirectResponse("../inbox", 303)
        sessions.begin(response, key, await self._inbox.now(), secure=self._secure)
        return response

    async def sign_out(self, request: Request) -> Response:
        """Forget the key in this browser."""
        response = RedirectResponse("../inbox", 303)
        if from_our_page(request, self._settings.public_url):
            sessions.end(response)
        return response

    async def back(self, request: Request) -> Response:
        """Whoever opens the address of a post is led to the list."""
        return RedirectResponse("../inbox", 303)

    async def answer(self, request: Request, session: Session) -> Response:
        """Take an answer, or show the list again with it and a sentence about what is wrong."""
        id, viewer = request.path_params["id"], _viewer(request, session)
        view = await self._view(viewer, id)
        posted = await self._posts.read(request, session.caller.name, takes_files=takes_files(view))
        if view.interaction.status is not InteractionStatus.PENDING:
            return await self._again(viewer, session, late=id)
        ours = from_our_page(request, self._settings.public_url)
        if not ours or not sessions.genuine(session, posted.one("proof")):
            said = Said(id, posted, {}, word("again", view.language))
            return await self._again(viewer, session, said, 403)
        if not posted.whole:
            said = Said(id, posted, {"files": word("files_too_much", view.language)})
            return await self._again(viewer, session, said, 413)
        return await self._take(viewer, session, view, posted)

    async def _take(self, viewer: Viewer, session: Session, view: "FormView", posted: Posted) -> Response:
        id = view.interaction.id
        filled = fill(view.interaction.questions, posted, view.language, text_reader(view))
        if filled.errors:
            said = Said(id, posted, in_place(view, filled.errors))
            return await self._again(viewer, session, said, 422)
        try:
            await self._inbox.answer(viewer, id, filled.values, text=filled.text, files=posted.files)
        except DoesNotFit as refusal:
            return await self._again(viewer, session, Said(id, posted, {}, refusal.detail), refusal.status)
        except (AlreadyAnswered, Closed):
            return await self._again(viewer, session, late=id)
        return RedirectResponse(f"../inbox?done={id}", 303)

    async def _again(
        self, viewer: Viewer, session: Session, said: Said | None = None, status: int = 409, late: str = ""
    ) -> Response:
        """The list, once more, below `/inbox/`. `late`: the question that was answered meanwhile."""
        listed = await self._inbox.of(viewer)
        if late:
            said = await self._ended(viewer, late, late=True)
        if said is not None and said.id and all(said.id != row.view.interaction.id for row in listed.rows):
            listed = pages.first(listed, await self._inbox.view(viewer, said.id))  # it stood on a later page
        return pages.inbox_page(listed, session, said=said, status=status, below=True)

    async def _ended(self, viewer: Viewer, id: str, *, late: bool) -> Said | None:
        try:
            view = await self._view(viewer, id)
        except NotFound:
            return None
        if view.interaction.status is InteractionStatus.PENDING:
            return None
        return pages.ended(view, late=late)

    async def _view(self, viewer: Viewer, id: str) -> "FormView":
        if not _ID.fullmatch(id):  # nothing that we wrote: no database is asked
            raise NotFound("There is no such question.")
        return await self._inbox.view(viewer, id)

    def _ask_for_key(self, request: Request, why: str, status: int = 200, *, up: bool = False) -> Response:
        language = preferred(request.headers.get("accept-language", ""))
        below = up or request.url.path.rstrip("/") != "/inbox"
        return pages.sign_in_page(language, word(why, language) if why else "", status, below=below)


def _may_answer(caller: Caller) -> bool:
    return not caller.scopes or "answer" in caller.scopes


def _viewer(request: Request, session: Session) -> Viewer:
    caller = session.caller
    return Viewer(
        caller.name,
        session.since,
        caller.contact,
        tuple(sorted(caller.agents)),
        operates=not caller.scopes or not caller.scopes.isdisjoint({"read", "admin"}),
        language=preferred(request.headers.get("accept-language", "")),
    )


def _after(request: Request) -> Place | None:
    """Where the page begins that is wanted; the first, if that is nothing we wrote."""
    found = _AFTER.fullmatch(request.query_params.get("after", ""))
    return Place(min(max(int(found[1]), -(2**62)), 2**62), found[2]) if found else None
