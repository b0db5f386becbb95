"""The webhook: a receiver checks our signature with the standard's own library, and signs with it too."""

import base64
import contextlib
import datetime
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks import Webhook as Signer

from answerback.provider import (
    Address,
    Allowed,
    Button,
    Inbound,
    Message,
    MessageKind,
    Outgoing,
    ProviderContext,
    Receipt,
    Reply,
    TryLater,
    Undeliverable,
    Unverified,
)
from answerback_providers.webhook import Webhook

SECRET = "whsec_" + base64.b64encode(b"x" * 32).decode()
NOW = datetime.datetime.now(datetime.UTC)


@dataclass(slots=True)
class Receiver:
    """Somebody's chat program: keeps what was signed right, answers as told."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.got.append(Signer(SECRET).verify(body, dict(request.headers)))
        self.ids.append(request.headers["webhook-id"])
        return web.Response(status=self.status, headers=self.headers, text=self.answer)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    there = Receiver()
    app = web.Application()
    app.router.add_post("/hook", there.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    there.url = f"http://localhost:{runner.addresses[0][1]}/hook"
    yield there
    await runner.cleanup()


@contextlib.asynccontextmanager
async def hook(url: str = "https://chat.example/hook") -> AsyncIterator[Webhook]:
    outgoing = Outgoing(Allowed(["localhost"]))
    settings = Webhook.Settings.model_validate({"url": url, "secret": SECRET})
    try:
        yield Webhook("hook", settings, ProviderContext(http=outgoing))
    finally:
        await outgoing.close()


def question(**fields: Any) -> Message:
    buttons = (Button("Yes", "t:0.y"), Button("Change…", url="https://ask.example/f/x"))
    known = {
        "heading": "Ops",
        "buttons": buttons,
        "delivery_id": "d1",
        "interaction_id": "i1",
        "code": "K7Q2",
    }
    return Message(Address("hook", "u1", "room 7"), MessageKind.QUESTION, "Deploy?", **{**known, **fields})


async def test_a_message_arrives_signed_and_in_its_parts(receiver: Receiver) -> None:
    async with hook(receiver.url) as provider:
        sent = await provider.send(question(expires_at=1_800_000_000_000_000))
    (event,) = receiver.got
    assert event["type"] == "message.question"
    data = event["data"]
    assert (data["title"], data["heading"], data["to"]) == ("Deploy?", "Ops", {"id": "u1", "place": "room 7"})
    assert data["buttons"] == [
        {"label": "Yes", "data": "t:0.y"},
        {"label": "Change…", "url": "https://ask.example/f/x"},
    ]
    assert data["expires_at"] == "2027-01-15T08:00:00+00:00"
    assert sent.message_ids == ("d1",) == (data["message_id"],)


async def test_the_same_delivery_has_the_same_id_each_time(receiver: Receiver) -> None:
    async with hook(receiver.url) as provider:
        await provider.send(question())
        await provider.send(question())
    assert receiver.ids == ["msg_d1", "msg_d1"]


async def test_a_receiver_may_give_a_message_an_id_of_its_own(receiver: Receiver) -> None:
    receiver.answer = '{"message_id": "1700.42"}'
    async with hook(receiver.url) as provider:
        assert (await provider.send(question())).message_ids == ("1700.42",)


async def test_an_outcome_edits_the_message(receiver: Receiver) -> None:
    async with hook(receiver.url) as provider:
        outcome = Message(Address("hook", "u1", "u1"), MessageKind.OUTCOME, "You chose Yes", delivery_id="d2")
        await provider.update(outcome.to, "1700.42", outcome)
    (event,) = receiver.got
    assert (event["type"], event["data"]["message_id"]) == ("message.edited", "1700.42")


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (410, Undeliverable, lambda e: e.address_dead),
        (400, Undeliverable, lambda e: not e.address_dead),
        (302, Undeliverable, lambda e: not e.address_dead),
        (429, TryLater, lambda e: e.seconds == 9 and not e.maybe_sent),
        (503, TryLater, lambda e: e.seconds == 9 and not e.maybe_sent),
        (500, TryLater, lambda e: e.maybe_sent),
    ],
)
async def test_what_a_status_means(
    receiver: Receiver, status: int, error: type[Exception], says: Callable[[Any], bool]
) -> None:
    receiver.status, receiver.headers = status, {"Retry-After": "9"}
    async with hook(receiver.url) as provider:
        with pytest.raises(error) as failure:
            await provider.send(question())
    assert says(failure.value)


async def test_an_address_inside_the_operator_s_network_is_not_called() -> None:
    async with hook("https://169.254.169.254/latest") as provider:
        with pytest.raises(Undeliverable, match=r"outgoing\.allow"):
            await provider.send(question())


def signed(event: object, id: str = "evt1", at: datetime.datetime | None = None) -> Inbound:
    text, moment = json.dumps(event), at or datetime.datetime.now(datetime.UTC)
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Signer(SECRET).sign(id, moment, text),
    }
    return Inbound(text.encode(), headers=headers)


REPLY = {"type": "reply", "data": {"sender": "u1", "place": "room 7", "text": " yes ", "name": "Ana"}}


async def test_a_signed_reply_is_read_word_for_word() -> None:
    async with hook() as provider:
        inbound = signed(REPLY)
        await provider.verify(inbound)
        assert provider.parse(inbound) == [Reply("evt1", "u1", "room 7", " yes ", name="Ana")]


async def test_a_tapped_button_and_the_message_it_stood_under() -> None:
    tapped = {"type": "reply", "data": {"sender": "u1", "button": "t:0.y", "text": "Yes", "reply_to": "d1"}}
    async with hook() as provider:
        assert provider.parse(signed(tapped)) == [Reply("evt1", "u1", "u1", data="t:0.y", references=("d1",))]


async def test_a_receipt_says_what_became_of_a_message() -> None:
    event = {"type": "receipt", "data": {"message_id": "d1", "status": "read"}}
    async with hook() as provider:
        assert provider.parse(signed(event)) == [Receipt("evt1", "d1", "read")]


@pytest.mark.parametrize("spoil", ["body", "id", "time", "signature", "garbage", "missing", "old"])
async def test_what_is_not_signed_right_is_refused(spoil: str) -> None:
    inbound = signed(REPLY, at=NOW - datetime.timedelta(minutes=6) if spoil == "old" else None)
    headers, body = dict(inbound.headers), inbound.body
    match spoil:
        case "body":
            body = body.replace(b"yes", b"no")
        case "id":
            headers["webhook-id"] = "evt2"
        case "time":
            headers["webhook-timestamp"] = "soon"
        case "signature":
            headers["webhook-signature"] = "v1," + base64.b64encode(b"y" * 32).decode()
        case "garbage":
            headers["webhook-signature"] = "v1 v1,é,,"
        case "missing":
            del headers["webhook-signature"]
    async with hook() as provider:
        with pytest.raises(Unverified):
            await provider.verify(Inbound(body, headers=headers))


@pytest.mark.parametrize(
    "body",
    [
        b"[]", b"{", b'{"type": "reply"}', b'{"type": "reply", "data": {}}', b"[" * 100_000,
        b'{"type": "reply", "data": {"sender": 7, "text": "x"}}',
        b'{"type": "receipt", "data": {"message_id": "d1", "status": "eaten"}}',
    ],
)  # fmt: skip
async def test_a_body_that_makes_no_sense_is_set_aside(body: bytes) -> None:
    async with hook() as provider:
        with pytest.raises(ValueError, match=r"not an event|needs|too deep|Expecting|recursion"):
            provider.parse(Inbound(body, headers={"webhook-id": "evt1"}))


async def test_one_that_is_replayed_without_its_headers_is_read_the_same_and_known_by_its_body() -> None:
    async with hook() as provider:
        inbound = signed(REPLY)
        (first,), (again,), (once_more,) = (
            provider.parse(each) for each in (inbound, Inbound(inbound.body), Inbound(inbound.body))
        )
    assert isinstance(again, Reply)
    assert isinstance(first, Reply)
    assert (again.text, again.sender) == (first.text, first.sender)
    assert again.event_id == once_more.event_id != first.event_id


async def test_a_type_that_is_not_known_yet_concerns_nobody() -> None:
    async with hook() as provider:
        assert provider.parse(signed({"type": "typing", "data": {}})) == []


@pytest.mark.parametrize("secret", ["", "geheim", "whsec_", "whsec_abc", "whsec_" + "A" * 200])
def test_a_secret_that_guards_nothing_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="signing secret"):
        Webhook.Settings.model_validate({"url": "https://chat.example/", "secret": secret})
