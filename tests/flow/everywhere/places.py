"""The four places where one person sees a question, and how she answers at each of them."""

import asyncio
import email
import email.policy
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import EmailMessage
from functools import partial

import aiohttp

from answerback.app import App
from answerback.ask import AskRequest
from answerback.model import Choice, Interaction, InteractionStatus, Question, QuestionKind
from answerback.store import Row, contacts, deliveries
from answerback_sandbox import Sandbox
from answerback_sandbox.twilio.state import Note
from tests.providers.email.dovecot import Box
from tests.providers.email.replies import OURS
from tests.providers.email.support import Mailroom

ANA = "+436601234567"
QUESTION = Question("q1", "Which term?", QuestionKind.CHOICE, (Choice("a", "coding"), Choice("b", "costing")))
PATIENCE = 50.0  # seconds until a test gives up; nothing takes that long


async def until(happened: Callable[[], object]) -> None:
    """Wait for what somebody else does."""
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 (of four far sides, not all tell us)
            await asyncio.sleep(0.01)


@dataclass(slots=True)
class Places:
    """`interaction` and `form` are of the question that was asked last."""

    app: App
    box: Sandbox
    room: Mailroom
    mailbox: Box
    interaction: str = ""
    form: str = field(default="", repr=False)

    # -- asking

    async def open_whatsapp(self) -> None:
        """She writes there, so that free text is taken for 24 hours."""
        self.box.twilio.type(ANA, "hello")
        await until(lambda: self.notes("No question is open") or self.notes(""))
        await self.settled()

    async def ask(self, *, wait_for: tuple[str, ...] = ("telegram", "whatsapp", "email")) -> None:
        """One question; back once it is to be seen at these places."""
        asked = await self.app.asker.ask(AskRequest((QUESTION,), title="Research"))
        self.interaction, self.form = asked.interaction.id, asked.form_url
        for place in wait_for:
            await until(partial(self.says, place, "Which term?"))
        await self.settled()
        for mail in self.mails("Which term?")[:1]:  # her own link, not the one that anybody may have
            token = text_of(mail).partition("/f/")[2][: len(self.token())]
            self.form = self.app.context.settings.public_url + "/f/" + token

    async def settled(self) -> None:
        """Nothing is under way in this process any more, and Twilio has said what it had to say."""
        await until(lambda: not self.box.twilio.mail)
        await self.app.idle()
        await self.app.context.store.settled()
        await self.app.idle()

    async def record(self) -> Interaction:
        return await self.app.reader.interaction(self.interaction)

    async def waits(self, kind: str) -> bool:
        """Whether something of this kind is still to be sent."""
        rows = await self.every()
        return any(row["kind"] == kind and row["status"] == "queued" for row in rows)

    async def every(self) -> list[Row]:
        """All that was sent or is to be sent because of the question."""
        return await self.app.context.store.read(
            lambda tx: tx.all(deliveries.OF, interaction_id=self.interaction)
        )

    async def rows(self, kind: str) -> dict[str, Row]:
        """What was sent of this kind, by provider; once each, or the test fails here."""
        wanted = [row for row in await self.every() if row["kind"] == kind and row["provider"] != "form"]
        assert len({row["provider"] for row in wanted}) == len(wanted)
        return {row["provider"]: row for row in wanted}

    # -- seeing

    def texts(self) -> list[str]:
        """On Telegram, as the messages stand there now."""
        return [message.text for message in self.box.received(1001)]

    def notes(self, part: str) -> list[Note]:
        """On WhatsApp."""
        return [note for note in self.box.twilio.received(ANA) if part in note.body]

    def mails(self, part: str = "") -> list[EmailMessage]:
        """In her own mailbox."""
        every = [
            email.message_from_bytes(mail.content or b"", policy=email.policy.default)
            for mail in self.room.mails
        ]
        return [mail for mail in every if part in text_of(mail).partition("\n>")[0]]

    async def page(self) -> str:
        """What the form shows, as text with its markup."""
        async with aiohttp.ClientSession() as client, client.get(self.form) as answer:
            assert answer.status == 200
            return await answer.text()

    def says(self, place: str, part: str) -> int:
        """How many messages there say this now."""
        match place:
            case "telegram":
                return sum(part in text for text in self.texts())
            case "whatsapp":
                return len(self.notes(part))
        return len([mail for mail in self.mails() if part in text_of(mail)])

    # -- answering

    def token(self) -> str:
        return self.form.rpartition("/")[2]

    async def answer(self, place: str, label: str = "coding") -> None:
        """She answers there; back as soon as she has let go of it."""
        match place:
            case "telegram":
                self.box.tap(1001, self.box.received(1001)[-1].id, label)
            case "whatsapp":
                self.box.twilio.tap(ANA, self.notes("Which term?")[-1].sid, label)
            case "email":
                await self.reply(label)
            case _:
                ids = {choice.label: choice.id for choice in QUESTION.choices}
                await self.app.forms.submit(self.token(), {"q1": ids[label]}, text=label)

    async def reply(self, text: str) -> None:
        asked = self.mails("Which term?")[0]
        mail = EmailMessage()
        mail["Authentication-Results"] = f"{OURS}; dmarc=pass header.from=x.org"
        mail["From"], mail["To"] = "Ana Lima <Ana@x.org>", asked["reply-to"]
        mail["Subject"], mail["Date"] = f"Re: {asked['subject']}", asked["date"]
        mail["In-Reply-To"] = asked["message-id"]
        mail.set_content(text + "\n")
        await self.mailbox.deliver(mail.as_bytes(policy=email.policy.SMTP), to=str(asked["reply-to"]))

    async def write(self, place: str) -> None:
        """She writes something there of her own accord."""
        match place:
            case "telegram":
                self.box.type(1001, "hello")
            case "whatsapp":
                self.box.twilio.type(ANA, "hello")
            case _:
                mail = EmailMessage()
                mail["Authentication-Results"] = f"{OURS}; dmarc=pass header.from=x.org"
                mail["From"], mail["To"], mail["Subject"] = "Ana@x.org", "agent@example.org", "hello"
                mail.set_content("hello\n")
                await self.mailbox.deliver(mail.as_bytes(policy=email.policy.SMTP))

    async def dead(self) -> list[str]:
        """The providers where she cannot be reached."""
        person = await self.app.context.store.read(lambda tx: contacts.contact(tx, "ana"))
        return [address.provider for address in person.addresses if not address.reachable]

    async def answered(self) -> None:
        """The answer is in, and everybody who is to hear of it has."""
        async with asyncio.timeout(PATIENCE):
            while (await self.record()).status is InteractionStatus.PENDING:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await self.settled()
        async with asyncio.timeout(PATIENCE):
            while await self.waits("outcome"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await self.settled()


def text_of(mail: EmailMessage) -> str:
    return str(mail.get_body(("plain",)).get_content())
