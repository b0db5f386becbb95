"""The form in a real browser: on a phone, without scripts, by keyboard, for a screen reader."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

from axe_playwright_python.async_playwright import Axe

from answerback.model import Action, Question, QuestionKind
from tests.browser.pages import CLOSED, OPEN, PAGES
from tests.browser.serving import serving
from tests.unit.web.fakes import CHOICE, CONFIRM, REVIEW, answered, interaction, view

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PHONE: Any = {"width": 390, "height": 844}
SMALLEST: Any = {"width": 320, "height": 640}


async def open_page(
    chromium: "Browser", link: str, complaints: list[str] | None = None, **options: Any
) -> "Page":
    """A page in a context of its own; what the browser complains about goes to `complaints`."""
    heard = [] if complaints is None else complaints
    page = await (await chromium.new_context(viewport=PHONE, **options)).new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    await page.goto(link)
    return page


async def violations(page: "Page") -> list[str]:
    found = await Axe().run(page)
    return [f"{one['id']}: {[node['html'] for node in one['nodes']]}" for one in found.response["violations"]]


async def each_page(chromium: "Browser", pages: dict, look, **options) -> dict:
    """What `look(page, link)` finds on each page, by name; pages on which it finds nothing are left out."""
    found = {}
    async with serving(OPEN["text"]) as (world, link):
        page = await open_page(chromium, "about:blank", **options)
        for name, world.forms.page in pages.items():
            await page.goto(link)
            found[name] = await look(page, link)
    return {name: one for name, one in found.items() if one}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_and_the_browser_does_not_complain(chromium, scheme):
    complaints: list[str] = []

    async def look(page, link):
        found = await violations(page) + complaints
        complaints.clear()
        return found

    assert await each_page(chromium, PAGES, look, color_scheme=scheme, complaints=complaints) == {}


async def test_axe_finds_nothing_when_something_is_wrong_or_unknown_or_described(chromium):
    async with serving(OPEN["several questions"]) as (_, link):
        page = await open_page(chromium, link)
        await page.get_by_role("button", name="Send answers").click()
        await page.wait_for_selector(".problem")
        assert await violations(page) == []
        for address in (f"{link}x", link.partition("/f/")[0] + "/docs"):
            await page.goto(address)
            assert await violations(page) == []


async def test_nothing_scrolls_sideways_and_everything_can_be_hit_at_320_pixels(chromium):
    async def look(page, link):
        await page.set_viewport_size(SMALLEST)
        too_small = await page.evaluate(
            """[...document.querySelectorAll('button, summary, textarea, select, .pick, '
                + 'input:not([type=radio], [type=checkbox], [type=hidden])')]
                .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 44)
                .map(one => one.outerHTML)"""
        )
        width = await page.evaluate("document.documentElement.scrollWidth")
        return too_small + ([width] if width > 320 else [])

    assert await each_page(chromium, PAGES, look) == {}


async def test_what_would_be_run_can_be_read_where_letters_are_twice_as_large(chromium):
    async with serving(OPEN["review"]) as (_, link):
        page = await open_page(chromium, link)
        await page.set_viewport_size(SMALLEST)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        widths = "[...document.querySelectorAll('.call dd')].map(one => one.getBoundingClientRect().width)"
        assert min(await page.evaluate(widths)) > 150
        ends = "[...document.querySelectorAll('main button')].map(one => one.getBoundingClientRect().right)"
        assert max(await page.evaluate(ends)) <= 280  # as far as the rest of the page
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320


async def test_the_title_says_what_is_asked_or_that_it_was_not_sent(chromium):
    async with serving(OPEN["text"]) as (_, link):
        page = await open_page(chromium, link)
        title = "Which term should I search for? · Research · term check"
        assert await page.title() == title
        await page.get_by_role("button", name="Send answer").click()
        await page.wait_for_selector(".problem")
        assert await page.title() == f"Not sent: {title}"


async def test_the_question_is_the_largest_thing_on_the_page(chromium):
    async def look(page, link):
        return await page.evaluate(
            """() => {
                const size = one => parseFloat(getComputedStyle(one).fontSize);
                const most = size(document.querySelector('h1'));
                const larger = [...document.querySelectorAll('main *')].filter(one => size(one) > most);
                return larger.map(one => one.outerHTML);
            }"""
        )

    assert await each_page(chromium, OPEN, look) == {}


async def test_no_other_host_is_asked_for_anything(chromium):
    async def look(page, link):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.reload()
        assert link in asked
        return [url for url in asked if not url.startswith((link.partition("/f/")[0], "data:"))]

    assert await each_page(chromium, PAGES, look) == {}


async def test_dark_is_dark_and_light_is_light(chromium):
    async with serving(OPEN["text"]) as (_, link):
        shades = {}
        for scheme in ("light", "dark"):
            page = await open_page(chromium, link, color_scheme=scheme)
            shade = await page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
            shades[scheme] = sum(int(part) for part in shade[4:-1].split(","))
    assert shades["light"] > 700 and shades["dark"] < 150


@pytest.mark.parametrize("scripts", [True, False])
async def test_one_tap_answers_and_a_reload_does_not_resend(chromium, scripts):
    async with serving(OPEN["choice"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=scripts)
        await page.get_by_role("button", name="Use “coding”").click()
        await page.wait_for_url(f"{link}?sent=1")
        assert "You chose “Use ‘coding’”" in await page.inner_text("main")
        await page.reload()
        assert "You chose" in await page.inner_text("main")
    assert world.forms.submitted == [({"which": "coding"}, "Use “coding”", "")]


async def test_without_scripts_a_whole_form_is_filled_in_and_nothing_typed_is_lost(chromium):
    async with serving(OPEN["several questions"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=False)
        await page.get_by_label("Which term should I search for?").fill(" PSR\n\nbest ")
        await page.get_by_role("button", name="Send answers").click()
        await page.wait_for_selector(".problem")
        assert await page.get_by_label("Which term should I search for?").input_value() == " PSR\n\nbest "
        await page.get_by_label("No", exact=True).check()
        await page.get_by_label("Use “PSR”").first.check()
        await page.get_by_role("checkbox", name="Use “coding”").check()
        await page.get_by_label("How many?").fill("3")
        await page.get_by_label("Reject", exact=True).check()
        await page.get_by_role("button", name="Send answers").click()
        await page.wait_for_selector(".outcome")
    [(values, _, _)] = world.forms.submitted
    assert values["term"] == " PSR\n\nbest " and values["go"] is False and values["count"] == 3
    assert values["act"] == {"decision": "reject"}


async def test_law_7_in_the_browser_a_code_then_yes(chromium):
    async with serving(OPEN["confirm by code"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=False)
        await page.get_by_role("button", name="Send me a code").click()
        await page.get_by_label("Six-digit code").fill("000000")
        await page.get_by_role("button", name="Yes").click()
        await page.wait_for_selector("#code-error")
        await page.get_by_label("Six-digit code").fill("123456")
        await page.get_by_role("button", name="Yes").click()
        await page.wait_for_selector(".outcome")
    assert world.forms.codes == 1 and world.forms.submitted == [({"go": True}, "Yes", "123456")]


@pytest.mark.parametrize(
    ("name", "field"),
    [("confirm by code", "#code"), ("review", "input[id='q0.arg.1']")],
)
async def test_enter_in_a_field_decides_nothing(chromium, name, field):
    async with serving(OPEN[name]) as (world, link):
        page = await open_page(chromium, f"{link}?code=sent")
        posts: list[str] = []
        page.on("request", lambda request: posts.append(request.method))
        if name == "review":
            await page.get_by_text("Change it first…").click()
        await page.locator(field).press("Enter")
        await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert posts == [] and world.forms.submitted == []


async def test_enter_in_a_plain_field_sends_the_answer(chromium):
    async with serving(OPEN["number"]) as (world, link):
        page = await open_page(chromium, link)
        await page.get_by_role("textbox").fill("7")
        await page.get_by_role("textbox").press("Enter")
        await page.wait_for_selector(".outcome")
    assert world.forms.submitted == [({"count": 7}, "7", "")]


async def test_by_keyboard_the_order_is_that_of_the_page_and_the_focus_is_seen(chromium):
    async with serving(OPEN["review"]) as (_, link):
        page = await open_page(chromium, link)
        seen = []
        for _ in range(5):
            await page.keyboard.press("Tab")
            seen.append(await page.evaluate("document.activeElement.textContent.trim()"))
            assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert seen == ["Approve", "Reject", "Change it first…", "Reject and say why…", "Reply instead…"]


@pytest.mark.parametrize("kind", ["confirm", "choice", "choices", "review", "text"])
async def test_of_several_the_first_that_is_missing_has_the_focus(chromium, kind):
    first = {
        "confirm": CONFIRM,
        "choice": CHOICE,
        "choices": replace(CHOICE, kind=QuestionKind.CHOICES, free_text=False),
        "review": REVIEW,
        "text": Question("a", "Why?"),
    }[kind]
    asked = (replace(first, id="a"), Question("b", "Which city?"))
    async with serving(view(interaction(*asked))) as (_, link):
        page = await open_page(chromium, link)
        await page.get_by_role("button", name="Send answers").click()
        await page.wait_for_selector(".problem")
        assert await page.evaluate("document.activeElement.name") == "q0"


async def test_changing_a_call_by_hand(chromium):
    async with serving(OPEN["review"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=False)
        await page.get_by_text("Change it first…").click()
        await page.get_by_label("amount").fill("80")
        await page.get_by_label("notify").select_option("false")
        await page.get_by_role("button", name="Approve with changes").click()
        await page.wait_for_selector(".outcome")
    args = {"customer": "Ana Lima (c_8812)", "amount": 80, "notify": False}
    assert world.forms.submitted[0][0] == {"act": {"decision": "edit", "args": args}}


async def test_a_change_of_one_argument_leaves_the_line_ends_of_the_others(chromium):
    odd = {"mac": "a\rb", "both": "a\r\nb\rc\nd", "list": ["x\r", {"y": "\r\n"}], "end": "\ntext\n\r"}
    asked = replace(REVIEW, action=Action("send", {**odd, "amount": 1}))
    async with serving(view(interaction(asked))) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=False)
        await page.get_by_text("Change it first…").click()
        await page.get_by_label("amount").fill("80")
        await page.get_by_role("button", name="Approve with changes").click()
        await page.wait_for_selector(".outcome")
    assert world.forms.submitted[0][0] == {"act": {"decision": "edit", "args": {**odd, "amount": 80}}}


async def test_to_press_approve_after_a_change_approves_nothing_and_keeps_the_change(chromium):
    async with serving(OPEN["review"]) as (world, link):
        page = await open_page(chromium, link)
        await page.get_by_text("Change it first…").click()
        await page.get_by_label("amount").fill("80")
        await page.get_by_role("button", name="Approve", exact=True).click()
        await page.get_by_text("would not be sent with this").wait_for()
        assert world.forms.submitted == [] and await violations(page) == []
        assert await page.get_by_label("amount").input_value() == "80"
        await page.get_by_role("button", name="Approve with changes").click()
        await page.wait_for_selector(".outcome")
    assert world.forms.submitted[0][0]["act"]["args"]["amount"] == 80


async def test_a_post_from_another_site_decides_nothing(chromium):
    async with serving(OPEN["choice"]) as (world, link):
        page = await open_page(chromium, link)  # the browser has the cookie
        await page.goto("data:text/html,<title>elsewhere</title>")
        html = f'<form method="post" action="{link}"><button name="q0" value="1">Win!</button></form>'
        await page.set_content(html)
        await page.get_by_role("button").click()
        await page.wait_for_selector(".problem")
        assert world.forms.submitted == []


async def test_an_open_page_shows_that_it_was_answered_elsewhere(chromium):
    async with serving(OPEN["choice"]) as (world, link):
        page = await open_page(chromium, "about:blank")
        await page.clock.install()
        await page.goto(link)
        world.forms.page = view(answered(interaction(CHOICE), "psr", by="ben", via="email"), answerer="Ben")
        await page.clock.run_for(6000)
        await page.wait_for_selector(".outcome")
        assert "Ben chose “Use ‘PSR’” by mail" in await page.inner_text("main")


async def test_what_was_typed_is_not_taken_away_when_somebody_else_answers(chromium):
    async with serving(OPEN["open choice"]) as (world, link):
        page = await open_page(chromium, "about:blank")
        await page.clock.install()
        await page.goto(link)
        await page.get_by_label("Something else").fill("my words")
        world.forms.page = view(answered(interaction(CHOICE), "psr", by="ben"), answerer="Ben")
        await page.clock.run_for(6000)
        await page.get_by_role("status").wait_for()
        assert await page.get_by_label("Something else").input_value() == "my words"


async def test_what_is_closed_has_no_form_and_asks_for_nothing(chromium):
    async def look(page, link):
        return await page.locator("form, button, script").count()

    assert await each_page(chromium, CLOSED, look) == {}


async def test_law_5_a_preview_decides_nothing(chromium):
    async with serving(view(interaction(CONFIRM))) as (world, link):
        for agent in ("Mozilla/5.0", "Slackbot-LinkExpanding 1.0", "facebookexternalhit/1.1"):
            await open_page(chromium, f"{link}?q0=yes", user_agent=agent)
    assert world.forms.submitted == []


def file_of(name: str, size: int) -> Any:
    return {"name": name, "mimeType": "image/jpeg", "buffer": b"\xff\xd8" + bytes(size - 2)}


@pytest.mark.parametrize("scripts", [True, False])
async def test_photos_are_sent_with_the_answer(chromium, scripts):
    async with serving(OPEN["text"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=scripts)
        photos = [file_of("one.jpg", 2_000_000), file_of("zwei ü.jpg", 300)]
        await page.get_by_label("Photos or files").set_input_files(photos)
        await page.get_by_role("button", name="Send answer").click()
        await page.wait_for_url("**?sent=1")
    assert [(each.name, len(each.content)) for each in world.forms.files] == [
        ("one.jpg", 2_000_000),
        ("zwei ü.jpg", 300),
    ]


async def test_what_is_too_large_is_told_before_it_is_sent_and_nothing_is_lost(chromium):
    async with serving(OPEN["text"]) as (world, link):
        page = await open_page(chromium, link)
        await page.get_by_role("textbox").fill("This is how it looks.")
        chosen = page.get_by_label("Photos or files")
        await chosen.set_input_files([file_of("large.mov", 12_000_000)])
        told = page.get_by_text("at most 20 files and 8 MB in all")
        assert await told.is_visible() and await violations(page) == []
        await page.get_by_role("button", name="Send answer").click()
        assert await told.is_visible() and world.forms.submitted == []
        await chosen.set_input_files([file_of("small.jpg", 500)])
        assert not await told.is_visible()
        await page.get_by_role("button", name="Send answer").click()
        await page.wait_for_url("**?sent=1")
    assert [text for _, text, _ in world.forms.submitted] == ["This is how it looks."]


async def test_without_scripts_what_is_too_large_is_told_by_the_gateway(chromium, tmp_path):
    video = tmp_path / "large.mov"  # on the disk, where a browser has its files: it need not be brought there
    video.write_bytes(bytes(40_000_000))
    async with serving(OPEN["text"]) as (world, link):
        page = await open_page(chromium, link, java_script_enabled=False)
        await page.get_by_role("textbox").fill("This is how it looks.")
        await page.get_by_label("Photos or files").set_input_files([video])
        await page.get_by_role("button", name="Send answer").click()
        await page.get_by_text("at most 20 files and 8 MB in all").wait_for()
        assert await page.get_by_role("textbox").input_value() == "This is how it looks."
    assert world.forms.submitted == []
