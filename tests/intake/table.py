"""Every way in over HTTP, one row each: how a request proves where it comes from, and what a good one is.

A new provider joins with one `Door` in `DOORS`.
"""

import base64
import datetime
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import httpx
from standardwebhooks import Webhook as Signer

from answerback.metrics import Metric
from answerback.model import InteractionStatus
from tests.intake.doors import (
    ACCOUNT,
    FORM,
    HOOK_SECRET,
    JSON,
    KEY,
    PHONE,
    PUBLIC,
    SENDER,
    TELEGRAM_SECRET,
    TEXT,
    TWILIO_SECRET,
    Door,
    Headers,
    World,
)


async def answered(world: World) -> bool:
    return await world.status() is InteractionStatus.COMPLETED


# -- Telegram


def update(number: int, **message: Any) -> dict[str, Any]:
    """A text of Ana's as the Bot API has it."""
    person = {"id": 1001, "is_bot": False, "first_name": "Ana"}
    known = {"message_id": number, "from": person, "chat": {"id": 1001, "type": "private"}, "text": TEXT}
    return {"update_id": number, "message": {**known, **message}}


async def of_telegram(world: World, body: bytes, more: str) -> Headers:
    return {"x-telegram-bot-api-secret-token": TELEGRAM_SECRET}


async def telegram_text(world: World, number: int) -> bytes:
    return json.dumps(update(number)).encode()


# -- Twilio


def signature(url: str, body: bytes, secret: str = TWILIO_SECRET) -> str:
    """https://www.twilio.com/docs/usage/security#validating-requests"""
    pairs = httpx.QueryParams(body.decode("utf-8", "replace")).multi_items()
    text = url + "".join(name + value for name, value in sorted(pairs))
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()


async def of_twilio(world: World, body: bytes, more: str) -> Headers:
    return {"x-twilio-signature": signature(f"{PUBLIC}/in/whatsapp{more}", body)}


async def whatsapp_text(world: World, number: int) -> bytes:
    ends = {"From": f"whatsapp:{PHONE}", "To": f"whatsapp:{SENDER}"}
    found = {"MessageSid": f"SM{number}", "AccountSid": ACCOUNT, **ends, "Body": TEXT, "NumMedia": "0"}
    return urlencode(found).encode()


async def whatsapp_status(world: World, number: int) -> bytes:
    ends = {"From": f"whatsapp:{SENDER}", "To": f"whatsapp:{PHONE}"}
    found = {"MessageSid": f"m{number}", "AccountSid": ACCOUNT, **ends, "MessageStatus": "delivered"}
    return urlencode(found).encode()


async def received(world: World) -> bool:
    return world.app.context.metrics.of(Metric.EVENTS, "whatsapp", "receipt") > 0


# -- the signed webhook


def standard(body: bytes, *, id: str = "", age: float = 0, secret: str = HOOK_SECRET) -> Headers:
    """https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md"""
    at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age)
    id = id or "msg_" + hashlib.sha256(body).hexdigest()[:16]
    text = body.decode("utf-8", "surrogateescape")
    try:
        signed = Signer(secret).sign(id, at, text)
    except UnicodeEncodeError:  # nobody can sign this with the library: neither can we
        signed = "v1,none"
    return {"webhook-id": id, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signed}


async def of_the_hook(world: World, body: bytes, more: str) -> Headers:
    return standard(body)


async def hook_text(world: World, number: int) -> bytes:
    data = {"sender": "u1", "text": TEXT, "name": f"Ana {number}"}
    return json.dumps({"type": "reply", "data": data}).encode()


# -- the form, and the API


async def of_the_page(world: World, body: bytes, more: str) -> Headers:
    return {"origin": "null", "sec-fetch-site": "same-origin"}


async def form_text(world: World, number: int) -> bytes:
    page = await world.client.get(world.form)  # the client keeps its cookie
    found = re.search(r'name="proof" value="([0-9a-f]{64})"', page.text)
    return urlencode({"proof": found[1] if found else "", "q0": TEXT}).encode()


async def on_the_page(world: World, body: bytes) -> bytes:
    return (await form_text(world, 0)).partition(b"&")[0] + b"&" + body


async def of_a_key(world: World, body: bytes, more: str) -> Headers:
    return {"authorization": f"Bearer {KEY}"}


async def api_text(world: World, number: int) -> bytes:
    return json.dumps({"response": TEXT}).encode()


def _of(headers: Headers) -> Callable[[World, bytes], Headers]:
    return lambda world, body: headers


DOORS = (
    Door(
        "telegram",
        lambda world: "/in/telegram",
        JSON,
        of_telegram,
        telegram_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"x-telegram-bot-api-secret-token": "guessed"}),
            "empty": _of({"x-telegram-bot-api-secret-token": ""}),
            "not ASCII": _of({"x-telegram-bot-api-secret-token": "\u00fc" * 8}),
        },
    ),
    Door(
        "whatsapp",
        lambda world: "/in/whatsapp",
        FORM,
        of_twilio,
        whatsapp_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"x-twilio-signature": "Zm9yZ2Vk"}),
            "of another account's token": lambda world, body: {
                "x-twilio-signature": signature(f"{PUBLIC}/in/whatsapp", body, "another-token")
            },
            "for another address": lambda world, body: {
                "x-twilio-signature": signature("https://evil.example.net/in/whatsapp", body),
                "host": "evil.example.net",
                "x-forwarded-host": "evil.example.net",
            },
        },
    ),
    Door(
        "whatsapp",
        lambda world: "/in/whatsapp",
        FORM,
        of_twilio,
        whatsapp_status,
        received,
        {"without": _of({}), "wrong": _of({"x-twilio-signature": "Zm9yZ2Vk"})},
    ),
    Door(
        "webhook",
        lambda world: "/in/webhook",
        JSON,
        of_the_hook,
        hook_text,
        answered,
        {
            "without": _of({}),
            "wrong": lambda world, body: {**standard(body), "webhook-signature": "v1,Zm9yZ2Vk"},
            "another body's": lambda world, body: standard(b"{}"),
            "with another key": lambda world, body: standard(
                body, secret="whsec_" + base64.b64encode(b"z" * 32).decode()
            ),
            "stale": lambda world, body: standard(body, age=600),
            "from the future": lambda world, body: standard(body, age=-600),
            "not a time": lambda world, body: {**standard(body), "webhook-timestamp": "9" * 400},
        },
    ),
    Door(
        "form",
        lambda world: world.form,
        FORM,
        of_the_page,
        form_text,
        answered,
        {
            "from another site": _of({"origin": "https://evil.example.net", "sec-fetch-site": "cross-site"}),
            "from another origin": _of({"origin": "https://evil.example.net"}),
        },
        again=409,
        wrap=on_the_page,
    ),
    Door(
        "api",
        lambda world: f"/v1/interactions/{world.interaction}/respond",
        JSON,
        of_a_key,
        api_text,
        answered,
        {
            "without": _of({}),
            "wrong": _of({"authorization": "Bearer guessed"}),
            "another scheme": _of({"authorization": f"Basic {KEY}"}),
            "not ASCII": _of({"authorization": "Bearer \u00fc\u00fc"}),
        },
        again=409,
    ),
)
NAMES = ("telegram", "whatsapp", "whatsapp status", "webhook", "form", "api")
