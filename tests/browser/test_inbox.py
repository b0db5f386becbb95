"""The inbox in a real browser, before a whole gateway: at phone size, by keyboard, for a screen reader."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

import uvicorn

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.model import Action, Choice, Question, QuestionKind
from tests.browser.test_form import PHONE, SMALLEST, violations
from tests.flow.test_inbox import KEYS
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

CHOICES = (Choice("psr", "Use “PSR”"), Choice("coding", "Use “coding”"))
ARGUMENTS = {"customer": "Ana Lima (c_8812)", "amount": 100.0, "reason": "double charge"}
QUESTIONS = (
    Question("q1", "Which term should I search for?", QuestionKind.CHOICE, CHOICES, free_text=True),
    Question("q1", "Which city do you fly from?"),
    Question("q1", "Wipe production?", QuestionKind.CONFIRM),
    Question("q1", "Which ones?", QuestionKind.CHOICES, CHOICES),
    Question("q1", "How many?", QuestionKind.NUMBER, minimum=1, maximum=10),
    Question("q1", "Until when?", QuestionKind.DATE),
    Question(
        "q1",
        "Customer confirmed by phone.",
        QuestionKind.REVIEW,
        action=Action("refund_payment", ARGUMENTS),
        decisions=("approve", "edit", "reject", "respond"),
    ),
)


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Gateway, str]]:
    """A gateway behind a real server, and the address of its inbox."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        database = Database("sqlite", folder / "data")
        async with gateway(database, api_keys=KEYS, public_url=base) as g:
            server = uvicorn.Server(uvicorn.Config(site(g.app), lifespan="off", log_config=None, ws="none"))
            task = asyncio.create_task(server.serve([listener]))
            try:
                yield g, f"{base}/inbox"
            finally:
                server.should_exit = True
                await task


async def ask(g: Gateway, *questions: Question, expires_in: float = 3600.0) -> str:
    request = AskRequest(questions, title="Research · term check", expires_in=expires_in)
    id = (await g.app.asker.ask(request)).interaction.id
    await g.app.idle()
    return id


async def signed_in(chromium: "Browser", address: str, key: str = "alice-key") -> "Page":
    page = await (await chromium.new_context(viewport=PHONE)).new_page()
    await page.goto(address)
    await page.get_by_label("Your key").fill(key)
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".inbox")
    return page


async def test_somebody_signs_in_answers_one_of_many_and_sees_the_rest(
    chromium: "Browser", tmp_path: Path
) -> None:
    async with served(tmp_path) as (g, address):
        ids = [await ask(g, each, expires_in=600.0 + place) for place, each in enumerate(QUESTIONS)]
        page = await signed_in(chromium, address)
        assert await page.locator("article").count() == len(QUESTIONS)
        row = page.locator("article").filter(has_text="Which city")
        await row.get_by_role("textbox").fill("Wien")
        await row.get_by_role("button", name="Send answer").click()
        await page.wait_for_selector("text=You wrote “Wien”")
        said = await page.get_by_role("status").inner_text()
        assert said.splitlines()[0] == "Which city do you fly from?"
        assert await page.locator("article").count() == len(QUESTIONS) - 1
        record = await g.app.reader.interaction(ids[1])
        assert record.answer is not None and record.answer.values == {"q1": "Wien"}
        await page.get_by_role("button", name="Use “coding”").first.click()
        await page.wait_for_selector("text=You chose")
        record = await g.app.reader.interaction(ids[0])
        assert record.answer is not None and record.answer.values == {"q1": "coding"}
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_selector("text=Your key")


@pytest.mark.parametrize("key", ["alice-key", "ops-key"])
async def test_axe_finds_nothing_on_it_and_nothing_scrolls_sideways(
    chromium: "Browser", tmp_path: Path, key: str
) -> None:
    async with served(tmp_path) as (g, address):
        page = await signed_in(chromium, address, key)
        assert await violations(page) == []  # empty
        for each in QUESTIONS:
            await ask(g, each)
        await ask(g, QUESTIONS[1], Question("q2", "How many people?", QuestionKind.NUMBER, whole=True))
        await page.reload()
        assert await violations(page) == []
        await page.set_viewport_size(SMALLEST)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.locator("article").filter(has_text="Until when").get_by_role("button").click()
        await page.wait_for_selector(".problem:visible")
        assert await violations(page) == []
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_selector("text=Your key")
        assert await violations(page) == []


async def test_many_are_turned_over_where_letters_are_twice_as_large(
    chromium: "Browser", tmp_path: Path
) -> None:
    async with served(tmp_path) as (g, address):
        for place in range(52):
            await ask(g, QUESTIONS[place % 2], expires_in=600.0 + place)
        await ask(g, QUESTIONS[1], Question("q2", "How many people?"), expires_in=60.0)
        page = await signed_in(chromium, address)
        await page.set_viewport_size(SMALLEST)
        named = page.get_by_role("article", name="2 questions for you", exact=True)
        assert await named.get_by_label("How many people?").count() == 1
        onward = page.get_by_role("link", name="Show the next ones")
        box = await onward.bounding_box()
        assert box is not None and box["height"] >= 44
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        who = await page.get_by_text("Alice", exact=True).bounding_box()
        assert who is not None and who["height"] < 60  # in one line
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await onward.click()
        await page.get_by_role("link", name="Back to the first ones").click()
        await named.wait_for()


async def test_an_open_page_shows_what_is_asked_next_but_never_takes_away_what_was_typed(
    chromium: "Browser", tmp_path: Path
) -> None:
    async with served(tmp_path) as (g, address):
        page = await signed_in(chromium, address)
        await page.clock.install()
        await page.reload()
        await ask(g, QUESTIONS[1])
        await page.clock.run_for(6000)
        await page.wait_for_selector("text=Which city")
        await page.get_by_role("textbox").fill("Wi")
        await ask(g, QUESTIONS[2])
        await page.clock.run_for(6000)
        await page.wait_for_selector("text=Something has changed")
        assert await page.get_by_role("textbox").input_value() == "Wi"


async def test_it_works_without_scripts(chromium: "Browser", tmp_path: Path) -> None:
    async with served(tmp_path) as (g, address):
        id = await ask(g, QUESTIONS[2])
        page = await (await chromium.new_context(viewport=PHONE, java_script_enabled=False)).new_page()
        await page.goto(address)
        await page.get_by_label("Your key").fill("alice-key")
        await page.get_by_role("button", name="Open my inbox").click()
        await page.get_by_role("button", name="No", exact=True).click()
        assert "You chose “No”" in await page.locator(".note").first.inner_text()
        record = await g.app.reader.interaction(id)
        assert record.answer is not None and record.answer.values == {"q1": False}
