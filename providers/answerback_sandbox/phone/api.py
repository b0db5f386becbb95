"""The phone over HTTP: the page, its live events, and the control interface under /phone/api/."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from answerback_sandbox.faults import FaultKind
from answerback_sandbox.mail import far
from answerback_sandbox.people import Reach
from answerback_sandbox.phone import files, pages, telegram
from answerback_sandbox.phone.http import HEADERS, Act, Json, action, guarded, word
from answerback_sandbox.phone.mail import Mail
from answerback_sandbox.phone.view import Apps, Phones, phone
from answerback_sandbox.phone.whatsapp import WhatsApp
from answerback_sandbox.telegram.state import Chat, Person
from answerback_sandbox.twilio.far import Twilio

PERSON = "/phone/api/people/{person:int}"


class Controls(Phones, telegram.Controls, Protocol):
    """What people can do, as the sandbox offers it."""

    twilio: Twilio
    mail: far.Mail

    @property
    def people(self) -> Sequence[Person]: ...
    def reach(self, person: int) -> Reach: ...
    def add_person(self, person_id: int, first_name: str, username: str | None = None) -> Person: ...
    def add_group(self, title: str, members: Sequence[int]) -> Chat: ...
    def fail(
        self, kind: FaultKind, calls: int | None = 1, *, method: str | None = None, seconds: float = 1.0
    ) -> None: ...
    def heal_all(self) -> None: ...


class PhoneApi:
    """Routes of the page and its JSON. GET changes nothing; every POST is a JSON object."""

    def __init__(self, box: Controls) -> None:
        self._box = box
        whatsapp = WhatsApp(box.twilio, box.reach, box.world.name)
        self._apps = Apps(telegram.Telegram(box), whatsapp, Mail(box.mail, box.reach))
        self.routes: list[BaseRoute] = [
            *pages.ROUTES,
            Route("/phone/api/events", self._events, methods=["GET"]),
            Route(PERSON, guarded(self._show), methods=["GET"]),
            Route(f"{PERSON}/mail/{{id}}", self._apps.mail.body, methods=["GET"]),
            Route("/phone/api/people", action(self._add_person), methods=["POST"]),
            Route("/phone/api/groups", action(self._add_group), methods=["POST"]),
            Route("/phone/api/faults", action(self._fail), methods=["POST"]),
            Route("/phone/api/faults/clear", action(self._heal), methods=["POST"]),
        ]
        for base, app in (("", self._apps.telegram), ("/whatsapp", whatsapp), ("/mail", self._apps.mail)):
            for name, act in app.actions.items():
                self.routes.append(Route(f"{PERSON}{base}/{name}", action(act), methods=["POST"]))
        files_to: list[tuple[str, Act]] = [
            ("", self._apps.telegram.send_file),
            ("/whatsapp", whatsapp.send_file),
            ("/mail", self._apps.mail.send_file),
        ]
        for base, send in files_to:
            self.routes.append(Route(f"{PERSON}{base}/file", action(send, files.MOST_BODY), methods=["POST"]))

    async def _show(self, request: Request) -> Json:
        return phone(self._box, request.path_params["person"], self._apps)

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(_versions(self._box), headers=HEADERS, media_type="text/event-stream")

    def _add_person(self, _: int, body: Json) -> Json:
        taken = [item.id for item in self._box.people]
        wanted = int(body.get("id") or max(taken, default=1000) + 1)
        username = str(body.get("username") or "") or None
        return {"id": self._box.add_person(wanted, word(body, "first_name"), username).id}

    def _add_group(self, _: int, body: Json) -> Json:
        return {"id": self._box.add_group(word(body, "title"), [int(item) for item in body["members"]]).id}

    def _fail(self, _: int, body: Json) -> Json:
        asked = body.get("calls", 1)
        calls = None if asked is None else int(asked)
        seconds = float(body.get("seconds", 1))
        self._box.fail(FaultKind(body["kind"]), calls, method=body.get("method"), seconds=seconds)
        return {}

    def _heal(self, _: int, body: Json) -> Json:
        """Everything works again, in every service."""
        self._box.heal_all()
        return {}


async def _versions(box: Phones) -> AsyncIterator[str]:
    """Server-sent events: the number of the latest change, now and whenever it grows."""
    seen = -1
    while not box.changes.closed:
        seen = box.changes.version
        yield f"retry: 1000\ndata: {seen}\n\n"
        await box.changes.after(seen)
