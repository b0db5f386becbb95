"""What is done with a service, step by step: look who we are there, tell, ask, hear, and say how it ended."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from answerback import app as composition
from answerback.app import App
from answerback.ask import AskRequest
from answerback.cli import checking
from answerback.model import Choice, InteractionStatus, Question, QuestionKind
from answerback.notices import NoticeRequest
from answerback.settings import Settings
from answerback.store import Row, deliveries
from tests.support.serving import served

QUESTION = Question("way", "Left or right?", QuestionKind.CHOICE, (Choice("l", "Left"), Choice("r", "Right")))
ARRIVED = ("sent", "delivered", "read")
SENDING = 60.0  # seconds for a message to be taken
Person = Callable[[str, str], Awaitable[None]]  # gives the question with this text this answer


class Wrong(Exception):
    """Something is not as it should be, in a sentence."""


@dataclass(frozen=True, slots=True)
class Live:
    """A gateway with one service. `hears`: whether replies come in; the person has `patience` seconds."""

    app: App
    name: str
    hears: bool
    person: Person
    patience: float

    async def every_step(self, say: Callable[[str], None]) -> None:
        """In order, a sentence after each. Raises `Wrong`; TimeoutError if a message is not taken."""
        say(await self.probe())
        id = await self.ask()
        say("The question is sent.")
        if not self.hears:
            await self.app.asker.cancel(id)
            return say("The question is withdrawn, as no reply can come in. NOT TRIED: a reply, a notice.")
        say(await self.hear(id))
        say(await self.tell())  # WhatsApp takes it from now on, as this person has just written

    async def probe(self) -> str:
        """As `answerback check --online`."""
        found = await checking.check(self.app.settings, online=True)
        if found.problems:
            raise Wrong(" ".join(found.problems))
        return dict(found.facts)[f"provider {self.name}"]

    async def tell(self) -> str:
        notice, _ = await self.app.notices.send(NoticeRequest("This asks nothing.", title="Live test"))
        found = await self.app.notices.wait(notice.id, SENDING)
        if found.status not in ARRIVED:
            raise Wrong(f"The notice is {found.status}: {found.deliveries[0].error}")
        return "The notice is sent."

    async def ask(self) -> str:
        """The id of a question that the service has taken."""
        asked = await self.app.asker.ask(AskRequest((QUESTION,), title="Live test"))
        await self._taken(asked.interaction.id, "question")
        return asked.interaction.id

    async def hear(self, id: str) -> str:
        """The answer is this person's, came through this service, and is what they were told to give."""
        await self.person(QUESTION.text, "Right")
        record = await self.app.reader.wait(id, self.patience)
        if record.status is not InteractionStatus.COMPLETED:
            raise Wrong(f"No answer came within {self.patience:g} seconds.")
        found = (record.answered_by, record.answered_via, record.answer.values)
        if found != ("you", self.name, {"way": "r"}):
            raise Wrong(f"This is not the answer that was asked for: {found}")
        edits = type(self.app.providers[self.name]).can("update")
        if (await self._taken(id, "outcome"))["message_ids"] != "[]" and edits:
            raise Wrong("The message could not be edited: how it ended stands in another one.")
        return f"The answer is here, and {'its message was edited' if edits else 'another message says so'}."

    async def _taken(self, id: str, kind: str) -> Row:
        """The message of this kind about a question, once the service has it."""
        async with asyncio.timeout(SENDING):
            while True:
                rows = await self.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
                for row in rows:  # the form has one too
                    if (row["provider"], row["kind"]) == (self.name, kind) and row["status"] != "queued":
                        if row["status"] in ARRIVED:
                            return row
                        raise Wrong(f"The {kind} is {row['status']}: {row['error']}")
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def live(
    settings: Settings, person: Person, patience: float, listener: socket.socket | None = None
) -> AsyncIterator[Live]:
    """The gateway as it is served: it polls, reads the mailbox, and takes webhooks where it listens."""
    app = composition.build(settings)
    if app.problems:
        raise Wrong(" ".join(str(problem.error) for problem in app.problems))
    [name] = settings.providers
    hears = name != "whatsapp" or listener is not None  # it has nothing but webhooks
    async with contextlib.AsyncExitStack() as stack:
        if listener is not None:
            await stack.enter_async_context(served(app, listener))
        await app.start()
        stack.push_async_callback(app.stop)
        yield Live(app, name, hears, person, patience)
