"""Law 10 for plugins: one whose code ends the program ends nothing, and says what happened."""

import asyncio
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerback import app as composition
from answerback.ask import AskRequest
from answerback.model import Address, Contact, Question, RunStatus
from answerback.provider import Inbound, Message, ProviderContext, Receipt, Reply, Sent
from answerback.settings import Route, parse
from answerback.store import deliveries
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from answerback_providers.callback import Callback
from tests.flow.test_intake import until
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

BOTH = Contact("alice", "Alice", addresses=(Address("other", "a", "a"), Address("memory", "1001", "1001")))
ROUTE = Route("default", ask=("alice",), providers=("other", "memory"), at_once=True)


class Exits(MemoryProvider):
    """Ends the program where it is told to."""

    where = "send"

    async def send(self, message: Message) -> Sent:
        if self.where == "send":
            await asyncio.to_thread(sys.exit, "usage: notify TEXT")
        return await super().send(message)

    async def open(self) -> None:
        if self.where == "open":
            sys.exit("usage: notify TEXT")

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        sys.exit(2)


async def test_a_provider_that_ends_the_program_while_sending_delays_nobody(database: Database) -> None:
    agent = ScriptedAgent(asks("Deploy now?", confirm=True))
    providers = {"other": Exits("other")}
    async with gateway(
        database, agent, providers=providers, contacts={"alice": BOTH}, routes={"default": ROUTE}
    ) as there:
        run = await there.run()
        assert await errors(there, "other") == ["SystemExit in the provider"]
        await there.types("1001", "yes")
        assert (await there.settled(run.id)).status is RunStatus.COMPLETED


async def test_an_event_that_ends_the_program_while_it_is_read_is_stored_with_its_error(
    database: Database,
) -> None:
    async with gateway(database, providers={"other": Exits("other")}) as there:
        await there.receive(Inbound(b"anything"), "other")
        page = await there.app.letters.list("reply", 10, None)
    assert ["SystemExit while parsing" in letter.reason for letter in page.items] == [True]


async def test_an_event_without_an_id_is_set_aside_and_is_no_duplicate_of_another(database: Database) -> None:
    async with gateway(database) as there:
        for text in ("one", "two"):
            await there.types("1001", text, event_id="")
        page = await there.app.letters.list("reply", 10, None)
    assert ["ValueError while parsing" in letter.reason for letter in page.items] == [True, True]


async def test_a_provider_that_ends_the_program_when_opened_says_so(database: Database) -> None:
    exits = Exits("other")
    exits.where = "open"
    async with gateway(database, providers={"other": exits}) as there:
        await until(lambda: there.app.intake.state["other"] != "starting")
        assert there.app.intake.state["other"] == "SystemExit in the provider"
        assert there.app.intake.state["memory"] in ("", "starting")


CONFIG = """
data_dir: .
providers:
  ends: {use: "a_script:Provider"}
  escapes: {use: "an_escape:Provider"}
  printed: {use: webform}
contacts:
  ana: {name: Ana, addresses: {ends: a, escapes: b, printed: c}}
"""


async def test_a_plugin_that_cannot_be_imported_is_named_and_the_others_carry_the_question(
    script: Path,
) -> None:
    (script / "an_escape.py").write_text("class Escape(BaseException): ...\nraise Escape('no')\n")
    sys.path.append(str(script))
    terminal = io.StringIO()
    loaded = parse(CONFIG, file=str(script / "answerback.yaml"), environ={})
    clock = ManualClock()
    app = composition.build(loaded, extra={"echo": terminal}, time=clock)
    assert [str(problem).partition(": ")[2] for problem in app.problems] == [
        "The provider ends cannot be imported: SystemExit: done.",
        "The provider escapes cannot be imported: Escape: no.",
    ]
    await app.start(clock=False)
    try:
        await app.asker.ask(AskRequest((Question("q1", "Deploy now?"),)))
        for _ in range(6):  # another process may have it; after a minute or two the next one asks
            await app.deliverer.pump()
            await app.idle()
            clock.advance(61)
    finally:
        await app.stop()
    assert "Deploy now?" in terminal.getvalue()


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "a_script.py").write_text("import sys\ndef notify(agent_message): ...\nsys.exit('done')\n")
    yield tmp_path
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]
    sys.modules.pop("a_script", None)


async def test_a_callback_in_a_script_is_told_from_one_that_works(script: Path) -> None:
    settings = Callback.Settings.model_validate({"function": "a_script:notify"})
    provider = Callback("mine", settings, ProviderContext(base_dir=str(script)))
    with pytest.raises(Exception, match="cannot be imported: SystemExit: done"):
        await provider.open()


async def errors(there: Gateway, provider: str) -> list[str]:
    """What is recorded of the deliveries through this provider."""
    [record] = (await there.app.reader.interactions(None, 10, None)).items
    rows = await there.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=record.id))
    return [row["error"] for row in rows if row["provider"] == provider]
