"""How the mail looks, in a real browser: on the narrowest phone, in the light and in the dark."""

from typing import TYPE_CHECKING, Literal

import pytest

from answerback.provider import Button
from answerback_providers.email.bodies import as_html, lay_out
from tests.providers.email.support import question

if TYPE_CHECKING:
    from playwright.async_api import Browser

LONG = question(
    title="Wipe " + "x" * 120 + "?",
    body="مرحبا بالعالم\n" + "word " * 40,
    fields=(("path", "/" + "very-long-" * 20), ("amount", "€ 100.00")),
    buttons=(Button("Yes", data="y"), Button("No, and a long reason why not " * 3, data="n")),
    placeholder="Something else…",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_mail_fits_a_phone_and_asks_nobody_for_anything(
    chromium: "Browser", scheme: Literal["light", "dark"]
) -> None:
    page = await chromium.new_page(viewport={"width": 320, "height": 700}, color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.set_content(as_html(lay_out(LONG, replies=True)))
    assert await page.evaluate("document.documentElement.scrollWidth") <= 320
    buttons = page.locator("a.choice")
    assert await buttons.count() == 3
    for height in await buttons.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)"):
        assert height >= 44
    sizes = await page.locator("body *").evaluate_all(
        "all => all.filter(one => one.tagName != 'H1').map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    title = await page.locator("h1").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert title > max(sizes)
    assert asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(chromium: "Browser", scheme: Literal["light", "dark"]) -> None:
    from axe_playwright_python.async_playwright import Axe

    for message in (LONG, question(buttons=())):
        page = await chromium.new_page(viewport={"width": 390, "height": 760}, color_scheme=scheme)
        await page.set_content(as_html(lay_out(message, replies=False)))
        found = await Axe().run(
            page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
        )
        assert found.violations_count == 0, found.generate_report()
