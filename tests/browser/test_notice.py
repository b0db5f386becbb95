"""The page of a notice in a real browser: all of its text, nothing to press, on any telephone."""

from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

from answerback.notices import NoticeRequest
from tests.browser.test_form import SMALLEST, open_page, violations
from tests.support.databases import Database
from tests.support.gateway import gateway
from tests.support.serving import served

WORD = "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüssel" * 2


@pytest.mark.parametrize("title", ["", "Deploy · web", WORD])
async def test_it_shows_all_of_its_text_and_asks_nothing(chromium, tmp_path: Path, title: str) -> None:
    complaints: list[str] = []
    async with gateway(Database("sqlite", tmp_path)) as g, served(g.app) as url:
        await g.app.notices.send(NoticeRequest(f"First line.\n{WORD}\n<b>last</b>", title=title))
        await g.app.idle()
        token = g.memory.shown[-1].message.token
        page = await open_page(chromium, f"{url}/f/{token}", complaints)
        await page.set_viewport_size(SMALLEST)
        assert await page.locator("h1").inner_text() == (title or "Message")
        assert (await page.locator(".told").inner_text()).splitlines()[::2] == ["First line.", "<b>last</b>"]
        assert await page.locator("button, input, form").count() == 0
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        assert await violations(page) + complaints == []
