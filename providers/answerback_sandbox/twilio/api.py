"""Twilio's REST API as far as WhatsApp needs it: accounts, messages, media, content.

https://www.twilio.com/docs/messaging/api and https://www.twilio.com/docs/content/content-api-resources
"""

import base64
import binascii
import datetime
import hmac
import json
from collections import deque
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from answerback_sandbox.changes import Changes
from answerback_sandbox.faults import Fault, FaultKind, Faults
from answerback_sandbox.strict_json import loads
from answerback_sandbox.twilio import wire
from answerback_sandbox.twilio.errors import TwilioError, not_found, refused
from answerback_sandbox.twilio.state import Call, Note
from answerback_sandbox.twilio.world import World
from answerback_sandbox.wire_cut import NoResponse, cut

Handler = Callable[[Request], Awaitable[Response]]
# https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource; what stands here is
# taken, of which the sandbox understands the first six. A name that Twilio does not know is an error.
CREATE = frozenset(
    "To From Body ContentSid ContentVariables StatusCallback FallbackFrom MediaUrl MessagingServiceSid "
    "ApplicationSid MaxPrice ProvideFeedback Attempt ValidityPeriod ForceDelivery ContentRetention "
    "AddressRetention SmartEncoded PersistentAction TrafficType ShortenUrls ScheduleType SendAt SendAsMms "
    "RiskCheck".split()
)
PAGE = 50
CALLS = 1000  # as many of the latest are kept


class TwilioApi:
    """The endpoints of one account, by Basic auth."""

    def __init__(
        self, world: World, faults: Faults, changes: Changes, auth_token: str, url: Callable[[], str]
    ) -> None:
        self._world, self._faults, self._changes = world, faults, changes
        self._secret, self._url = auth_token, url
        self.calls: deque[Call] = deque(maxlen=CALLS)
        account = "/2010-04-01/Accounts/{account}"
        self.routes = [
            Route(account + ".json", self._call(self._account, "account"), methods=["GET"]),
            Route(account + "/Messages.json", self._call(self._create, "create"), methods=["POST"]),
            Route(account + "/Messages.json", self._call(self._list, "list"), methods=["GET"]),
            Route(account + "/Messages/{sid}/Media.json", self._call(self._files, "media"), methods=["GET"]),
            Route(account + "/Messages/{sid}/Media/{file}", self._call(self._file, "media"), methods=["GET"]),
            Route(account + "/Messages/{sid}.json", self._call(self._show, "fetch"), methods=["GET"]),
            Route("/v1/Content", self._call(self._make, "content"), methods=["POST"]),
            Route("/v1/Content", self._call(self._contents, "contents"), methods=["GET"]),
        ]

    def _call(self, handler: Handler, name: str) -> Handler:
        async def endpoint(request: Request) -> Response:
            body, signed_in = b"", False
            try:
                body = await request.body()
                self._authorise(request)
                signed_in = True
                answer = await self._carry_out(request, handler, self._faults.take(name))
            except TwilioError as error:
                answer = error.response()
            except ClientDisconnect:
                return NoResponse()
            self.calls.append(_call(request, body, answer, signed_in))
            return answer

        return endpoint

    async def _carry_out(self, request: Request, handler: Handler, fault: Fault | None) -> Response:
        kind = fault.kind if fault else None
        if kind is FaultKind.DOWN:
            raise TwilioError(503, 20503, "Service unavailable")
        if kind is FaultKind.REFUSED:
            return await cut(request)
        if fault is not None and kind is FaultKind.RATE_LIMITED:
            raise TwilioError(429, 20429, "Too many requests", max(1, round(fault.seconds)))
        if fault is not None and kind is FaultKind.SLOW:
            await self._wait(fault.seconds)
        answer = await handler(request)
        return await cut(request) if kind is FaultKind.DROPPED else answer

    def _authorise(self, request: Request) -> None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        try:
            name, _, password = base64.b64decode(given, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise refused() from None
        right = name == self._world.account and hmac.compare_digest(password.encode(), self._secret.encode())
        if scheme.lower() != "basic" or not right:
            raise refused()
        if request.path_params.get("account", name) != name:
            raise not_found(request.url.path)

    async def _account(self, request: Request) -> Response:
        return JSONResponse(wire.account(self._world.account, self._secret, self._world.started_at))

    async def _create(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).multi_items()}
        unknown = sorted(set(form) - CREATE)
        if unknown:
            raise TwilioError(400, 20001, f"Twilio knows no parameter {unknown[0]}")
        if form.get("From") != wire.PREFIX + self._world.sender:
            raise TwilioError(400, 63007, "Twilio could not find a Channel with the specified From address")
        to, callback = form.get("To", ""), form.get("StatusCallback", "")
        if not to.startswith(wire.PREFIX):
            raise TwilioError(400, 21211, f"Invalid 'To' Phone Number: {to}")
        to = to.removeprefix(wire.PREFIX)
        if sid := form.get("ContentSid", ""):
            note = self._world.send_content(to, sid, _variables(form.get("ContentVariables", "")), callback)
        else:
            note = self._world.send(to, form.get("Body", ""), callback)
        return JSONResponse(self._message(note), 201)

    async def _list(self, request: Request) -> Response:
        """Newest first; by receiver and by time, a page at a time."""
        query = dict(request.query_params)
        to, after = query.get("To"), _moment(query.get("DateSent>", ""))
        every = (self._message(note) for note in self._world.notes if note.at // 1_000_000 >= after)
        found = [item for item in every if to is None or item["to"] == to]
        size, page = int(query.get("PageSize", PAGE)), int(query.get("Page", 0))
        shown = found[page * size : (page + 1) * size]

        def uri(number: int) -> str:
            return f"{request.url.path}?{urlencode(query | {'Page': str(number)})}"

        return JSONResponse({"messages": shown, **wire.page(uri, page, size, len(found))})

    async def _show(self, request: Request) -> Response:
        return JSONResponse(self._message(self._world.note(request.path_params["sid"])))

    async def _files(self, request: Request) -> Response:
        note = self._world.note(request.path_params["sid"])
        listed = [wire.media(file, note, self._world.account) for file in note.files]
        return JSONResponse(
            {"media_list": listed, **wire.page(lambda _: request.url.path, 0, PAGE, len(listed))}
        )

    async def _file(self, request: Request) -> Response:
        note = self._world.note(request.path_params["sid"])
        wanted = request.path_params["file"]
        for file in note.files:
            if wanted == file.sid:
                return Response(file.content, media_type=file.content_type)
            if wanted == f"{file.sid}.json":
                return JSONResponse(wire.media(file, note, self._world.account))
        raise not_found(request.url.path)

    async def _make(self, request: Request) -> Response:
        try:
            body = loads(await request.body())
            made = self._world.make_content(
                str(body.get("friendly_name") or ""),
                str(body["language"]),
                {str(name): str(value) for name, value in (body.get("variables") or {}).items()},
                body["types"],
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TwilioError(400, 20001, "The content resource cannot be read") from None
        return JSONResponse(wire.content(made, self._world.account, self._url()), 201)

    async def _contents(self, request: Request) -> Response:
        every = [
            wire.content(item, self._world.account, self._url()) for item in self._world.contents.values()
        ]
        url = f"{self._url()}/v1/Content?PageSize={PAGE}&Page=0"
        meta = {"key": "contents", "page": 0, "page_size": len(every), "url": url, "first_page_url": url}
        others = {"next_page_url": None, "previous_page_url": None}
        return JSONResponse({"contents": every, "meta": meta | others})

    def _message(self, note: Note) -> wire.Json:
        return wire.message(note, self._world.account, self._world.sender)

    async def _wait(self, seconds: float) -> None:
        try:
            await self._changes.wait_for(lambda: self._changes.closed, seconds)
        except TimeoutError:
            return


def _call(request: Request, body: bytes, answer: Response, signed_in: bool) -> Call:
    return Call(
        request.method,
        request.url.path,
        tuple(request.query_params.multi_items()),
        request.headers.get("content-type", ""),
        body,
        signed_in,
        answer.status_code,
        bytes(answer.body),
    )


def _variables(text: str) -> dict[str, str]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise TwilioError(400, 21656, "The ContentVariables parameter is invalid")
    return found


def _moment(text: str) -> float:
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0
