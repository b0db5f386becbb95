"""The page of a run in a real browser: all of its result, and "Try again", on any telephone."""

from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

from answerback.model import RunStatus
from answerback.testing import asks
from tests.browser.test_form import SMALLEST, open_page, violations
from tests.flow.test_run_ends import Ends, failed, told
from tests.support.databases import Database
from tests.support.gateway import gateway
from tests.support.serving import served

WORD = "Donaudampfschifffahrtsgesellschaftskapitänskajütenschlüssel" * 2
RESULT = {
    "report": f"12 passages.\n\n1. {WORD}\n<b>last</b>",
    "found": [{"title": WORD, "where": {"file": "docs/a.md", "lines": [1, 2]}}, "b"],
    WORD: 12,
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_shows_all_of_a_result_on_the_smallest_telephone(
    chromium, tmp_path: Path, scheme: str
) -> None:
    complaints: list[str] = []
    agent = Ends(asks(f"Which {WORD}?"), result=RESULT)
    async with gateway(Database("sqlite", tmp_path), agent) as g, served(g.app) as url:
        await g.run()
        await g.types("1001", "this one")
        token = told(g).form_url.rpartition("/")[2]
        page = await open_page(chromium, f"{url}/f/{token}", complaints, color_scheme=scheme)
        await page.set_viewport_size(SMALLEST)
        assert await page.locator("h1").inner_text() == "Scripted is done."
        report = await page.locator(".told").inner_text()
        assert report.splitlines() == ["12 passages.", "", f"1. {WORD}", "<b>last</b>"]
        assert await page.get_by_text("docs/a.md").is_visible()
        assert await page.get_by_text("You wrote “this one”").is_visible()
        assert await page.locator("button, input, form").count() == 0
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        assert await violations(page) + complaints == []


async def test_a_failed_run_is_tried_again_without_scripts(chromium, tmp_path: Path) -> None:
    complaints: list[str] = []
    agent = Ends(asks("Which?"))
    async with gateway(Database("sqlite", tmp_path), agent) as g, served(g.app) as url:
        id = await failed(g)
        link = f"{url}/f/{told(g).form_url.rpartition('/')[2]}"
        page = await open_page(chromium, link, complaints, java_script_enabled=False)
        await page.set_viewport_size(SMALLEST)
        button = page.get_by_role("button", name="Try again")
        box = await button.bounding_box()
        assert box is not None and box["height"] >= 44
        await button.click()
        await page.wait_for_url(link)
        assert await page.locator("h1").inner_text() == "Scripted is working on it right now."
        assert await page.get_by_role("button").count() == 0
        await g.later(1)
        assert (await g.settled(id)).status is RunStatus.WAITING
        await page.reload()
        assert await page.locator("h1").inner_text() == "Scripted is waiting for an answer."
        assert agent.tried == 1


async def test_axe_finds_nothing_where_a_failed_run_can_be_tried_again_or_takes_a_code(
    chromium, tmp_path: Path
) -> None:
    agent = Ends(asks("Wipe?", confirm=True), asks("Which?"))
    async with gateway(Database("sqlite", tmp_path), agent, form_auth="code") as g, served(g.app) as url:
        await g.run()
        await g.taps("1001", "Yes")
        await g.types("1001", "fail")
        page = await open_page(chromium, f"{url}/f/{told(g).form_url.rpartition('/')[2]}")
        assert await violations(page) == []
        await page.get_by_role("button", name="Send me a code").click()
        await page.get_by_label("Six-digit code").fill("1")
        assert await violations(page) == []
        await page.get_by_role("button", name="Try again").click()
        assert await page.get_by_text("This code is not right").is_visible()
        assert await violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
