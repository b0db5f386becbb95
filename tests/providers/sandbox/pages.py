"""The phone's page in a browser: opened, watched for what goes wrong, and measured."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from answerback_sandbox import Sandbox

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROW = {"viewport": {"width": 320, "height": 568}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 900}}


@asynccontextmanager
async def open_phone(browser: Browser, box: Sandbox, path: str = "/", **context: Any) -> AsyncIterator[Page]:
    """The page, drawn; afterwards, that it asked no other host and that nothing went wrong in it."""
    wrong: list[str] = []
    asked: list[str] = []
    tab = await browser.new_context(**context)
    page = await tab.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(box.url + path)
    await expect(page.get_by_role("heading", level=1)).not_to_have_text("…")
    yield page
    await tab.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(box.url)] == []


async def is_sound(page: Page) -> None:
    """Axe finds nothing, nothing sticks out sideways, and what can be tapped is at least 44 px."""
    results = await Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = "[...document.querySelectorAll('.scroll, .inbox, .letter, dialog')]"
    assert await page.evaluate(f"{boxes}.every(one => one.scrollWidth <= innerWidth)")
    small = """[...document.querySelectorAll('button, select, textarea, .switch, .attach')]
        .filter(one => one.checkVisibility())
        .map(one => [one.id || one.textContent, one.getBoundingClientRect()])
        .filter(([, box]) => box.width < 44 || box.height < 44).map(([name]) => name)"""
    assert await page.evaluate(small) == []
