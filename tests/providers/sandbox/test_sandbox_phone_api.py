"""The phone's JSON: what the page reads and does, for tests in other languages too."""

from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

import aiohttp
import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import NetworkError

from answerback_sandbox import FaultKind, Sandbox, ServiceName
from answerback_sandbox.phone.pages import STATIC
from tests.providers.sandbox.support import ANA

YES_NO = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]]
)


@pytest.fixture
async def session(box: Sandbox) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=box.url) as session:
        yield session


async def show(session: aiohttp.ClientSession, person: int = ANA) -> Any:
    async with session.get(f"/phone/api/people/{person}") as response:
        assert response.status == 200
        return await response.json()


async def do(session: aiohttp.ClientSession, path: str, **body: object) -> tuple[int, Any]:
    async with session.post(f"/phone/api/{path}", json=body) as response:
        return response.status, await response.json()


async def test_a_phone_shows_messages_buttons_and_edits(
    box: Sandbox, bot: Bot, session: aiohttp.ClientSession
) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    (message,) = (await show(session))["chats"][0]["messages"]
    assert (message["text"], message["rows"][0][1]["text"], message["edited"]) == ("Search?", "No", False)
    await bot.edit_message_text("✅ Yes.", ANA, sent.message_id)
    (message,) = (await show(session))["chats"][0]["messages"]
    assert (message["text"], message["rows"], message["edited"]) == ("✅ Yes.", [], True)


async def test_a_person_types_taps_and_starts(box: Sandbox, bot: Bot, session: aiohttp.ClientSession) -> None:
    sent = await bot.send_message(ANA, "Search?", reply_markup=YES_NO)
    assert await do(session, "people/1001/tap", message_id=sent.message_id, button="No") == (
        200,
        {"url": None},
    )
    assert (await show(session))["chats"][0]["messages"][0]["busy"] == 1
    assert (await do(session, "people/1001/type", text="why?", reply_to=sent.message_id))[0] == 200
    assert (await do(session, "people/1001/start", payload="abc"))[0] == 200
    tap, typed, start = await bot.get_updates()
    assert tap.callback_query is not None and tap.callback_query.data == "n"
    assert typed.message is not None and typed.message.reply_to_message is not None
    assert start.message is not None and start.message.text == "/start abc"
    await bot.answer_callback_query(tap.callback_query.id, "Going on")
    phone = await show(session)
    assert phone["notes"] == [{"id": 0, "text": "Going on", "alert": False}]
    assert phone["chats"][0]["messages"][0]["busy"] is None


async def test_people_and_groups_can_be_added(box: Sandbox, session: aiohttp.ClientSession) -> None:
    assert await do(session, "people", first_name="Ben") == (200, {"id": 1002})
    status, group = await do(session, "groups", title="Billing", members=[ANA, 1002])
    assert status == 200
    assert [chat["id"] for chat in (await show(session, 1002))["chats"]] == [1002, group["id"]]
    assert [person["name"] for person in (await show(session))["people"]] == ["Ana", "Ben"]


async def test_the_bot_can_be_blocked_and_telegram_be_down(
    box: Sandbox, bot: Bot, session: aiohttp.ClientSession
) -> None:
    await do(session, "people/1001/block")
    assert (await show(session))["chats"][0]["blocked"]
    await do(session, "people/1001/unblock")
    box.switch(ServiceName.TELEGRAM, FaultKind.DOWN, True)
    assert (await show(session))["faults"][0]["switches"][0]["on"]
    with pytest.raises(NetworkError):
        await bot.get_me()
    await do(session, "faults/clear")
    await bot.get_me()


async def test_the_commands_of_the_bot_are_offered(bot: Bot, session: aiohttp.ClientSession) -> None:
    await bot.set_my_commands([("pending", "What is open")])
    assert (await show(session))["commands"] == [{"command": "pending", "description": "What is open"}]


async def test_events_announce_every_change(box: Sandbox, session: aiohttp.ClientSession) -> None:
    async with session.get("/phone/api/events") as response:
        seen = [line async for line in _data(response, 1)]
        box.type(ANA, "x")
        seen += [line async for line in _data(response, 1)]
    assert int(seen[1]) > int(seen[0])


async def _data(response: aiohttp.ClientResponse, count: int) -> AsyncIterator[str]:
    while count:
        line = (await response.content.readline()).decode()
        if line.startswith("data: "):
            count -= 1
            yield line.removeprefix("data: ")


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("people/4711/type", {"text": "x"}, 400, "there is no person 4711"),
        ("people/1001/type", {}, 422, "the body does not fit this action"),
        ("people/1001/type", {"text": 5}, 422, "the body does not fit this action"),
        ("people/1001/tap", {"message_id": 9, "button": 0}, 400, "there is no message 9"),
        ("people", {}, 400, "first_name is missing"),
        ("faults", {"kind": "earthquake"}, 422, "the body does not fit this action"),
        ("people/4711/whatsapp/type", {"text": "x"}, 400, "there is no person 4711"),
        ("people/1001/whatsapp/type", {"text": " "}, 400, "a message needs a text or a file"),
        ("people/1001/whatsapp/tap", {"message_id": "SM1", "button": 0}, 400, "message SM1 has no buttons"),
        (
            "people/1001/whatsapp/tap",
            {"message_id": 1, "button": 0},
            422,
            "the body does not fit this action",
        ),
        ("people/1001/mail/reply", {"id": "x", "text": "yes"}, 400, "there is no such mail"),
        ("people/1001/mail/reply", {"id": "x", "text": " "}, 400, "a reply needs a text"),
        (
            "people/1001/mail/reply",
            {"id": "x", "text": "yes", "style": "fax"},
            422,
            "the body does not fit this action",
        ),
        ("people/1001/mail/write", {"subject": "x", "text": " "}, 400, "a mail needs a text"),
        ("people/1001/mail/write", {"text": "x"}, 422, "the body does not fit this action"),
        ("people/1001/mail/forge", {"id": "x", "text": "yes"}, 400, "there is no such mail"),
        ("people/1001/mail/bounce", {}, 422, "the body does not fit this action"),
        ("people/1001/mail/away", {"away": "yes"}, 422, "the body does not fit this action"),
        ("people/4711/mail/seen", {"id": "x"}, 400, "there is no person 4711"),
        ("people/1001/type", {"text": "x" * 70_000}, 400, "the body is too long"),
    ],
)
async def test_what_does_not_fit_is_refused_with_a_sentence(
    session: aiohttp.ClientSession, path: str, body: dict[str, object], status: int, error: str
) -> None:
    assert await do(session, path, **body) == (status, {"error": error})


async def test_a_form_of_another_site_cannot_post(box: Sandbox, session: aiohttp.ClientSession) -> None:
    async with session.post("/phone/api/people/1001/type", data=b'{"text": "x"}') as response:
        assert response.status == 400
    async with session.post(
        "/phone/api/people/1001/type", json={"text": "x"}, headers={"Origin": "http://evil.example.org"}
    ) as response:
        assert response.status == 403
    assert box.messages(ANA) == ()


async def test_the_page_may_load_from_here_only(session: aiohttp.ClientSession) -> None:
    for path in (
        "/",
        "/phone",
        *(f"/phone/static/{name}" for name in STATIC),
    ):
        async with session.get(path) as response:
            assert response.status == 200
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
            text = await response.text()
        assert "https://" not in text.replace("http://www.w3.org/2000/svg", "")
    written = files("answerback_sandbox.phone") / "static"
    assert {one.name for one in written.iterdir()} == {*STATIC, "index.html"}
    async with session.get("/phone/static/..%2f..%2fapi.py") as response:
        assert response.status == 404
