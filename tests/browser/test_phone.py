"""One question everywhere, answered on the sandbox's phone in the browser, through the real clients."""

import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

pytest.importorskip("playwright", reason="Playwright is not installed: make test installs it")

from playwright.async_api import Locator, Page, expect

from answerback import app as composition
from answerback import settings as configuration
from answerback.app import App
from answerback.ask import AskRequest
from answerback.model import Action, Question, QuestionKind, RunStatus
from answerback.run import RunRequest
from answerback.testing import ScriptedAgent, asks
from answerback_demo.written import described
from answerback_sandbox import Sandbox
from answerback_sandbox.endpoints import endpoints
from tests.flow.test_intake import until
from tests.providers.sandbox.pages import PHONE, open_phone
from tests.support.databases import put_tables
from tests.support.reading import Reading
from tests.support.serving import served

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email", "langgraph")
ALICE = 1001
APPS = ("telegram", "whatsapp", "mail")
PATIENCE = 40.0
SLOW = 40_000  # milliseconds until the page has to show something: a message a second to each place


@dataclass(frozen=True, slots=True)
class Loop:
    """A gateway that asks Alice and Bob in three apps at once, and the sandbox that those are."""

    box: Sandbox
    app: App
    agent: ScriptedAgent
    time: Reading

    async def greeted(self) -> None:
        """Alice and Bob have written on WhatsApp, which takes any text for a day then."""
        for person in self.box.everyone:
            self.box.twilio.type(person.whatsapp, "Hello")
        await self.box.wait_for(
            lambda: all(self.box.twilio.received(person.whatsapp) for person in self.box.everyone), PATIENCE
        )
        await self.app.idle()

    async def asked(self) -> str:
        """Start a run; its id, once the question is out everywhere."""
        run = await self.app.runner.start(RunRequest("scripted", {}))
        mail, whatsapp = self.box.reach(ALICE).mail, self.box.reach(ALICE).whatsapp
        await self.box.wait_for(
            lambda: (
                self.box.received(ALICE)
                and self.box.twilio.received(whatsapp)
                and self.box.mail.received(mail)
            ),
            PATIENCE,
        )
        await self.app.idle()
        return run.id

    async def answered(self, run: str) -> tuple[str, str]:
        """What the agent got, and through what."""
        await until(lambda: bool(self.agent.journal))
        await self.app.idle()
        assert (await self.app.runner.get(run)).status is RunStatus.COMPLETED
        ((_, _, answer),) = self.agent.journal
        return answer.text, answer.via


@pytest_asyncio.fixture(loop_scope="session")
async def loop(chromium: "Browser", tmp_path: Path) -> AsyncIterator[Loop]:
    async with contextlib.AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        box = Sandbox(people=("Alice", "Bob"))
        await stack.enter_async_context(box.serve())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        box.twilio.webhook(f"{url}/in/whatsapp")
        text = described(endpoints(box), url, APPS, terminal=False)
        written = configuration.parse(text, file="answerback.yaml", environ={})
        settings = replace(written, data_dir=str(tmp_path), agents={})
        agent = ScriptedAgent(asks("Which term?", "coding", "costing"))
        now = Reading()
        put_tables(tmp_path)
        app = composition.build(settings, agents={"scripted": agent}, time=now)
        await stack.enter_async_context(served(app, listener))
        await app.start()
        try:
            yield Loop(box, app, agent, now)
        finally:
            await app.stop()


def app(page: Page, name: str) -> Locator:
    """What opens an app, whatever is new in it."""
    return page.get_by_role("navigation", name="Apps").get_by_role("button", name=name)


async def test_a_reply_by_mail_on_the_page_is_the_answer_and_every_app_says_so(
    chromium: "Browser", loop: Loop
) -> None:
    await loop.greeted()
    async with open_phone(chromium, loop.box, **PHONE) as page:
        run = await loop.asked()
        await page.get_by_role("button", name="Mail, 1 new").tap()
        await page.get_by_role("button", name="Which term?").tap()
        mail = page.frame_locator("iframe")
        await expect(mail.get_by_role("heading", name="Which term?")).to_be_visible()
        await page.get_by_role("combobox", name="Quote like").select_option("Outlook")
        await page.get_by_role("textbox", name="Reply to").fill("costing")
        await page.get_by_role("button", name="Send").tap()
        assert await loop.answered(run) == ("costing", "email")
        await app(page, "Telegram").tap()
        shown = page.get_by_role("log")
        await expect(shown.get_by_text("✅ You chose “costing”").first).to_be_visible(timeout=SLOW)
        await expect(shown.get_by_text("edited", exact=True)).to_be_visible()
        await app(page, "WhatsApp").tap()
        await expect(shown.get_by_text("✅ You chose “costing”").first).to_be_visible(timeout=SLOW)
        await page.get_by_role("combobox", name="Phone of").select_option("Bob")
        await expect(shown.get_by_text("✅ Alice chose “costing”").first).to_be_visible(timeout=SLOW)


async def test_a_quick_reply_on_whatsapp_is_the_answer_and_telegram_changes(
    chromium: "Browser", loop: Loop
) -> None:
    whatsapp = loop.box.reach(ALICE).whatsapp
    async with open_phone(chromium, loop.box, "/?app=whatsapp", **PHONE) as page:
        await expect(page.get_by_text("Only templates may be sent until you write.")).to_be_visible()
        await page.get_by_role("textbox", name="Message").fill("Hello")
        await page.get_by_role("button", name="Send").tap()
        await loop.box.wait_for(lambda: loop.box.twilio.received(whatsapp), PATIENCE)
        await loop.app.idle()
        run = await loop.asked()
        await page.get_by_role("button", name="costing", exact=True).tap()
        assert await loop.answered(run) == ("costing", "whatsapp")
        await expect(page.locator(".mine .ticks.delivered")).to_have_count(2)
        await app(page, "Telegram").tap()
        shown = page.get_by_role("log")
        await expect(shown.get_by_text("✅ You chose “costing”").first).to_be_visible(timeout=SLOW)


async def test_a_forged_reply_decides_nothing_and_a_file_on_telegram_goes_with_the_answer(
    chromium: "Browser", loop: Loop
) -> None:
    await loop.greeted()
    mailbox = loop.box.reach(ALICE).mail
    run = await loop.asked()
    async with open_phone(chromium, loop.box, "/?app=mail", **PHONE) as page:
        await page.get_by_role("button", name="Which term?").tap()
        await page.get_by_role("button", name="Menu of this mail").tap()
        await page.get_by_role("button", name="Reply as somebody else").tap()
        await page.get_by_role("textbox", name="Text").fill("coding")
        await page.get_by_role("dialog").get_by_role("button", name="Send").tap()
        told = await loop.box.wait_for(lambda: loop.box.mail.received(mailbox)[1:], PATIENCE)
        assert "I can't be sure this mail is from you" in told[0].text.replace("’", "'")
        assert loop.agent.journal == []
        await app(page, "Telegram").tap()
        plan = [{"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}]
        await page.get_by_label("Attach a file").filter(visible=True).set_input_files(plan)
        await page.get_by_role("textbox", name="Message").fill("costing")
        await page.get_by_role("button", name="Send").tap()
        assert await loop.answered(run) == ("costing", "telegram")
    assert [file.name for file in loop.agent.journal[0][2].attachments] == ["plan.pdf"]


async def test_when_telegram_is_down_the_same_question_is_answered_elsewhere(
    chromium: "Browser", loop: Loop
) -> None:
    async with open_phone(chromium, loop.box, **PHONE) as page:
        await page.get_by_role("button", name="Break something").tap()
        await page.get_by_role("switch", name="Telegram is down").tap()
        await page.get_by_role("button", name="Close").tap()
        run = (await loop.app.runner.start(RunRequest("scripted", {}))).id
        await page.get_by_role("button", name="WhatsApp, 1 new").tap(timeout=SLOW)
        await expect(page.get_by_role("log").get_by_text("Which term?")).to_be_visible()
        await loop.app.idle()  # what is written before we know that it was sent is asked about
        loop.time.reads()
        await page.get_by_role("textbox", name="Message").fill("coding")
        await page.get_by_role("button", name="Send").tap()
        assert await loop.answered(run) == ("coding", "whatsapp")
        assert loop.box.received(ALICE) == ()


async def test_several_calls_are_tapped_through_on_telegram_one_after_the_other(
    chromium: "Browser", loop: Loop
) -> None:
    calls = (
        Question("q1", "", QuestionKind.REVIEW, action=Action("refund_payment", {"amount": 100.0})),
        Question("q2", "", QuestionKind.REVIEW, action=Action("close_account", {"customer": "c_8812"})),
    )
    async with open_phone(chromium, loop.box, **PHONE) as page:
        asked = await loop.app.asker.ask(AskRequest(calls, title="Billing", ask=("alice",)))
        shown = page.get_by_role("log")
        await expect(shown.get_by_text("1 of 2")).to_be_visible(timeout=SLOW)
        await page.get_by_role("button", name="Approve").last.tap()
        await expect(shown.get_by_text("2 of 2")).to_be_visible(timeout=SLOW)
        await expect(shown.get_by_text("☑️ You approved this").first).to_be_visible(timeout=SLOW)
        await page.get_by_role("button", name="Reject").last.tap()
        await expect(shown.get_by_text("✅ You answered").first).to_be_visible(timeout=SLOW)
        record = await loop.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None
        assert record.answer.values == {"q1": {"decision": "approve"}, "q2": {"decision": "reject"}}
