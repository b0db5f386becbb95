"""The loop over WhatsApp: Twilio's real client, its webhooks and status callbacks, the 24 hours."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.model import Address, Contact, InteractionStatus, Question, QuestionKind, RunStatus
from answerback.provider import ProviderContext
from answerback.run import Run, RunRequest
from answerback.settings import Route, Settings
from answerback.store import deliveries
from answerback.testing import MemoryProvider, ScriptedAgent, asks
from answerback_providers.whatsapp import WhatsApp
from answerback_providers.whatsapp.provider import Clock
from answerback_sandbox import Sandbox
from answerback_sandbox.twilio.state import Note
from tests.flow.test_telegram_loop import PATIENCE
from tests.providers.whatsapp.described import misfits
from tests.providers.whatsapp.support import ANA, ON_TIME, Ahead
from tests.support.databases import Database
from tests.support.reading import Reading
from tests.support.serving import served

pytestmark = [pytest.mark.needs_extra("whatsapp", "telegram", "langgraph"), pytest.mark.either_database]


@dataclass(slots=True)
class Loop:
    box: Sandbox
    app: App
    memory: MemoryProvider
    time: Reading

    async def run(self) -> Run:
        return await self.app.runner.start(RunRequest("scripted", {}))

    async def see(self, part: str, times: int = 1) -> Note:
        """The latest message on Ana's handset with these words."""

        def seen() -> list[Note]:
            return [note for note in self.box.twilio.received(ANA) if part in note.body]

        await self.box.wait_for(lambda: len(seen()) >= times, PATIENCE)
        return seen()[-1]

    async def reads(self) -> None:
        """Until it is known that the question was sent, and a while longer."""
        await self.app.idle()
        self.time.reads()

    async def types(self, text: str) -> None:
        """As a person does, who reads first: what comes in faster would be asked about."""
        await self.reads()
        self.box.twilio.type(ANA, text)

    def refused(self, code: int) -> int:
        """How many messages failed with this error, once Twilio has said so and we have taken it."""
        failed = [note for note in self.box.twilio.world.notes if note.error == code]
        posted = self.box.twilio.courier.posted
        return len(failed) if posted and posted[-1][1] == 200 and not self.box.twilio.mail else 0

    async def statuses(self) -> list[str]:
        """Of the questions, oldest first."""
        records = (await self.app.reader.interactions()).items
        rows = await self.app.context.store.read(
            lambda tx: [row for record in records for row in tx.all(deliveries.OF, interaction_id=record.id)]
        )
        return [row["status"] for row in rows if row["kind"] == "question" and row["provider"] == "whatsapp"]


@contextlib.asynccontextmanager
async def looping(
    database: Database,
    agent: ScriptedAgent,
    box: Sandbox | None = None,
    clock: Clock = ON_TIME,
    ago: int = 0,
) -> AsyncIterator[Loop]:
    """A gateway that Twilio reaches, asking Ana on WhatsApp first and in memory next."""
    async with contextlib.AsyncExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        if box is None:
            box = await stack.enter_async_context(Sandbox.start())
            box.twilio.add_person(ANA, "Ana")
        public_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        far, memory = box.twilio, MemoryProvider()
        box.twilio.webhook(f"{public_url}/in/whatsapp")
        options = {
            "account_sid": far.account_sid, "auth_token": far.auth_token, "sender": far.sender,
            "content_sid": far.content_sid, "api_base": box.url,
        }  # fmt: skip
        addresses = (Address("whatsapp", ANA, ANA), Address("memory", "ana", "ana"))
        settings = Settings(
            data_dir=str(database.data_dir / "var"),
            database=database.url,
            public_url=public_url,
            contacts={"ana": Contact("ana", "Ana", addresses=addresses)},
            routes={"default": Route("default", ask=("ana",), providers=("whatsapp", "memory"))},
        )
        checked = WhatsApp.Settings.model_validate(options)
        whatsapp = WhatsApp("whatsapp", checked, ProviderContext(public_url), clock)
        providers = {"whatsapp": whatsapp, "memory": memory}
        now = Reading(ago)
        database.prepare(database.data_dir / "var")
        app = composition.build(settings, providers=providers, agents={"scripted": agent}, time=now)
        await stack.enter_async_context(served(app, listener))
        await app.start()
        try:
            yield Loop(box, app, memory, now)
        finally:
            await app.stop()
        assert [misfit for call in far.calls for misfit in misfits(call)] == []


async def test_somebody_who_never_wrote_gets_the_template_and_then_buttons(database: Database) -> None:
    agent = ScriptedAgent(asks("Which term?"), asks("Publish it?", confirm=True))
    async with looping(database, agent) as loop:
        run = await loop.run()
        first = await loop.see("Which term?")
        assert first.content_sid == loop.box.twilio.content_sid
        await loop.types("coding")
        await loop.see("You wrote “coding”")
        second = await loop.see("Publish it?")
        assert [button.title for button in second.buttons] == ["Yes", "No"]
        loop.box.twilio.tap(ANA, second.sid, "Yes")
        await loop.see("You chose “Yes”")
        await loop.app.idle()
        assert (await loop.app.runner.get(run.id)).status is RunStatus.COMPLETED


async def test_law_1_a_text_that_was_sent_twice_does_not_answer_the_next_question_too(
    database: Database,
) -> None:
    """Twilio's webhooks do not say when something was written."""
    agent = ScriptedAgent(asks("Which term?"), asks("Which tone?"))
    async with looping(database, agent) as loop:
        run = await loop.run()
        await loop.see("Which term?")
        await loop.types("coding")
        await loop.see("Which tone?")
        await loop.app.idle()
        loop.box.twilio.type(ANA, "coding")
        await loop.see("I am not sure what “coding” is for. Is it this question?")
        await loop.app.idle()
        assert [text for _, text, _ in agent.journal] == ["Which term?"]
        assert (await loop.app.runner.get(run.id)).status is RunStatus.WAITING


async def test_whoever_writes_unasked_is_answered_in_free_text(database: Database) -> None:
    async with looping(database, ScriptedAgent(asks("Which term?"))) as loop:
        loop.box.twilio.type(ANA, "Hello")
        said = await loop.see("Nothing is waiting for you.")
        assert said.content_sid == ""


async def test_a_photo_with_a_caption_is_an_answer_and_its_bytes_can_be_fetched(database: Database) -> None:
    agent = ScriptedAgent(asks("What does it look like?"))
    async with looping(database, agent) as loop:
        await loop.run()
        await loop.see("What does it look like?")
        await loop.reads()
        loop.box.twilio.send_file(ANA, b"\x00bytes", "image/jpeg", "like this")
        await loop.see("You wrote “like this”")
        (record,) = (await loop.app.reader.interactions("completed")).items
        file = await loop.app.attachments.fetch(record, 0)
        assert (file.name, file.content_type, file.content) == ("file 1", "image/jpeg", b"\x00bytes")


async def test_a_quoted_message_says_which_of_two_questions_is_meant(database: Database) -> None:
    agent = ScriptedAgent(asks("Which term?"))
    async with looping(database, agent) as loop:
        first, second = await loop.run(), await loop.run()
        await loop.see("Which term?", times=2)
        notes = [note for note in loop.box.twilio.received(ANA) if "Which term?" in note.body]
        await loop.app.idle()
        loop.box.twilio.type(ANA, "coding", notes[0].sid)
        await loop.see("You wrote “coding”")
        await loop.app.idle()
        ended = [(await loop.app.runner.get(run.id)).status for run in (first, second)]
        assert sorted(ended) == [RunStatus.COMPLETED, RunStatus.WAITING]


async def test_when_whatsapp_says_that_the_24_hours_are_over_the_template_follows(database: Database) -> None:
    agent = ScriptedAgent(asks("Which term?"), asks("Which tone?"))
    async with looping(database, agent) as loop:
        await loop.run()
        await loop.see("Which term?")
        await loop.types("coding")
        loop.box.twilio.world.handset(ANA).last_wrote_at = None  # WhatsApp counts otherwise than we do
        await loop.box.wait_for(lambda: loop.refused(63016) > 0, PATIENCE)
        await loop.app.deliverer.pump()
        template = await loop.see("Which tone?")
        assert template.content_sid == loop.box.twilio.content_sid


async def test_status_callbacks_in_any_order_end_at_the_highest(database: Database) -> None:
    async with looping(database, ScriptedAgent(asks("Which term?"))) as loop:
        loop.box.twilio.courier.shuffled = True
        await loop.run()
        await loop.see("Which term?")
        loop.box.twilio.world.reads(ANA)
        await loop.box.wait_for(lambda: len(loop.box.twilio.courier.posted) >= 3, PATIENCE)
        await loop.app.idle()
        assert await loop.statuses() == ["read"]


async def test_somebody_who_blocked_the_sender_is_asked_elsewhere_at_once(database: Database) -> None:
    async with looping(database, ScriptedAgent(asks("Which term?"))) as loop:
        loop.box.twilio.world.handset(ANA).blocked = True
        await loop.run()
        await loop.box.wait_for(lambda: loop.refused(63024) > 0, PATIENCE)
        await loop.app.idle()
        assert loop.memory.titles("ana") == ["Which term?"]
        assert await loop.statuses() == ["failed"]


async def given_up(box: Sandbox) -> None:
    """Twilio's webhooks are lost, and it does not try again."""
    while box.twilio.mail:  # noqa: ASYNC110 (a task of the sandbox takes it)
        await asyncio.sleep(0)


async def test_what_was_written_while_we_were_down_is_listed_and_answers_once_they_say_which(
    database: Database,
) -> None:
    """The list does not say what it was written to."""
    agent = ScriptedAgent(asks("Which term?"))
    async with Sandbox.start() as box:
        box.twilio.add_person(ANA, "Ana")
        async with looping(database, agent, box) as loop:
            run = await loop.run()
            await loop.see("Which term?")
            await loop.app.idle()
        box.twilio.webhook("")
        box.twilio.type(ANA, "coding")
        await given_up(box)
        clock = Ahead()
        async with looping(database, agent, box, clock) as loop:
            asked = await loop.see("I am not sure what “coding” is for. Is it this question?")
            assert agent.journal == []
            clock.by = ON_TIME.by  # the tap waits for its webhook
            (record,) = (await loop.app.reader.interactions()).items
            assert f"#{record.code} Which term?" in asked.body
            box.twilio.tap(ANA, asked.sid, f"#{record.code}")
            await loop.see("You wrote “coding”")
            await loop.app.idle()
            assert (await loop.app.runner.get(run.id)).status is RunStatus.COMPLETED


async def test_law_1_a_tap_on_what_has_ended_since_confirms_no_other_question(database: Database) -> None:
    agent = ScriptedAgent()
    async with Sandbox.start() as box:
        box.twilio.add_person(ANA, "Ana")
        async with looping(database, agent, box, ago=3) as loop:  # she has read what she taps
            box.twilio.type(ANA, "hi")
            await loop.see("Nothing is waiting")  # from now on questions have buttons
            questions = [Question("q", text, QuestionKind.CONFIRM) for text in ("Send it?", "Wipe it?")]
            first, second = [await loop.app.asker.ask(AskRequest((each,))) for each in questions]
            tapped = await loop.see("Send it?")
            await loop.see("Wipe it?")
            box.twilio.webhook("")
            box.twilio.tap(ANA, tapped.sid, "Yes")
            await given_up(box)
            await loop.app.asker.cancel(first.interaction.id)
            await loop.app.idle()
        async with looping(database, agent, box, Ahead()) as loop:
            await loop.see("I am not sure what “Yes” is for. Is it this question?")
            record = await loop.app.reader.interaction(second.interaction.id)
            assert record.status is InteractionStatus.PENDING
