"""callback_url: how a question ended is posted to its asker, signed, from the outbox, at least once."""

import asyncio
import base64
import contextlib
import datetime
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr
from standardwebhooks import Webhook as Signer

from answerback.ask import AskRequest
from answerback.errors import DoesNotFit
from answerback.faults import Faults
from answerback.gates import ROOM_PLACE
from answerback.installation import signing_key
from answerback.model import Interaction, Json, OnExpire, Question, QuestionKind
from answerback.outbox import CALLER
from answerback.settings import Settings
from answerback.signing import key_of, secret_of
from answerback.store import Row, deliveries
from answerback.testing import ManualClock, asks
from tests.flow.test_intake import until
from tests.flow.test_letters import letters, replay, spoil
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
HERE = {"outgoing": ("localhost",), "signing_secret": SecretStr(SECRET)}
DAY = 86_400.0


@dataclass(slots=True)
class Asker:
    """Somebody's server: keeps what was signed right, answers as told."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)  # of the next answers; then 200
    headers: dict[str, str] = field(default_factory=dict)
    held: asyncio.Event | None = None  # answers wait for it
    waiting: int = 0
    got: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    secret: str = SECRET

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.held is not None:
            self.waiting += 1
            await self.held.wait()
        self.got.append(Signer(self.secret).verify(body, dict(request.headers)))
        self.ids.append(request.headers["webhook-id"])
        status = self.statuses.pop(0) if self.statuses else 200
        return web.Response(status=status, headers=self.headers)


@contextlib.asynccontextmanager
async def asker(host: str = "localhost") -> AsyncIterator[Asker]:
    there = Asker()
    app = web.Application()
    app.router.add_post("/hook", there.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    there.url = f"http://{host}:{runner.addresses[0][1]}/hook?key=a-secret-of-theirs"
    try:
        yield there
    finally:
        if there.held is not None:
            there.held.set()
        await runner.cleanup()


@pytest.fixture
async def there() -> AsyncIterator[Asker]:
    async with asker() as found:
        yield found


def today() -> ManualClock:
    """The signature's time is checked by the receiver's own clock."""
    return ManualClock(round(time.time() * 1e6))


async def ask(g: Gateway, there: Asker, question: Question | None = None, **more: Any) -> Interaction:
    question = question or asks("Which?")
    asked = await g.app.asker.ask(AskRequest((question,), callback_url=there.url, **more))
    await g.app.idle()
    return asked.interaction


async def posts(g: Gateway, id: str) -> list[Row]:
    found = await g.app.context.store.read(lambda tx: tx.all(deliveries.OF, interaction_id=id))
    return [row for row in found if row["provider"] == CALLER]


async def test_an_answer_is_posted_once_it_is_given(database: Database, there: Asker) -> None:
    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there, agent="mine", state={"step": 3})
        assert there.got == []
        await g.types("1001", "this one")
        (event,) = there.got
        assert event["type"] == "interaction.completed"
        assert datetime.datetime.fromisoformat(event["timestamp"]).tzinfo is not None
        data = event["data"]
        assert (data["id"], data["status"], data["agent"]) == (record.id, "completed", "mine")
        assert data["state"] == {"step": 3}
        answer = data["answer"]
        assert (answer["value"], answer["text"], answer["by"]) == ("this one", "this one", "alice")
        assert (answer["via"], answer["expired"]) == ("memory", False)
        await g.later(DAY)
        assert len(there.got) == 1


async def test_the_state_is_kept_until_its_asker_has_it_and_not_longer(
    database: Database, there: Asker
) -> None:
    there.statuses = [500]
    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there, state={"step": 3})
        assert await g.app.reader.state(record.id) == {"step": 3}
        await g.types("1001", "this one")
        assert await g.app.reader.state(record.id) == {"step": 3}  # it was not taken
        await g.later(60)
        assert [event["data"]["state"] for event in there.got] == [{"step": 3}] * 2
        assert await g.app.reader.state(record.id) is None


async def test_who_polls_gets_the_state_too(database: Database) -> None:
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((asks("Which?"),), state=[1, {"a": None}]))
        await g.app.idle()
        await g.types("1001", "this one")
        await g.later(DAY)
        assert await g.app.reader.state(asked.interaction.id) == [1, {"a": None}]
        other = await g.app.asker.ask(AskRequest((asks("Which?"),)))
        assert await g.app.reader.state(other.interaction.id) is None


async def test_the_data_is_what_the_api_shows(database: Database, there: Asker) -> None:
    from answerback.web.records import interaction_out

    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there, expires_in=60.0, user="u-17")
        await g.types("1001", "this one")
        shown = interaction_out(await g.app.reader.interaction(record.id)).model_dump()
        data = there.got[0]["data"]
        assert {name: shown[name] for name in data if name != "state"} == {
            name: value for name, value in data.items() if name != "state"
        }
        assert data["user"] == "u-17"


async def test_an_expiry_and_a_withdrawal_are_posted_too(database: Database, there: Asker) -> None:
    async with gateway(database, clock=today(), **HERE) as g:
        await ask(g, there, expires_in=60.0, on_expire=OnExpire.NO_RESPONSE)
        await g.later(61)
        withdrawn = await ask(g, there)
        await g.app.asker.cancel(withdrawn.id, "not needed any more")
        await g.app.idle()
        expired, cancelled = there.got
        assert (expired["type"], expired["data"]["answer"]["expired"]) == ("interaction.expired", True)
        assert (cancelled["type"], cancelled["data"]["answer"]) == ("interaction.cancelled", None)
        assert cancelled["data"]["reason"] == "not needed any more"


async def test_who_asked_hears_of_a_damaged_question(database: Database, there: Asker) -> None:
    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there, expires_in=60.0)
        await spoil(g, record.id)
        await g.later(61)
        await g.later(61)
        assert [event["type"] for event in there.got] == ["interaction.cancelled"]


async def test_it_is_tried_again_under_the_same_id_until_it_is_taken(
    database: Database, there: Asker
) -> None:
    there.statuses = [500, 503, 404, 302]
    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there)
        await g.types("1001", "this one")
        for _ in range(8):
            g.clock.advance(30)  # the receiver takes what is at most five minutes off
            await g.sweep()
        assert len(there.got) == 5
        assert len(set(there.ids)) == 1
        assert [event["data"] for event in there.got] == [there.got[0]["data"]] * 5
        assert [row["status"] for row in await posts(g, record.id)] == ["sent"]


async def test_a_receiver_that_is_gone_for_good_is_left_alone_and_the_letter_can_be_replayed(
    database: Database, there: Asker
) -> None:
    there.statuses = [410]
    async with gateway(database, clock=today(), **HERE) as g:
        await ask(g, there, agent="mine")
        await g.types("1001", "this one")
        await g.later(60)
        assert len(there.got) == 1
        (letter,) = await letters(g)
        assert "The receiver says that it is gone (410)." in f"{letter.reason}"
        assert (letter.agent, "a-secret-of-theirs" in repr(letter)) == ("mine", False)
        await replay(g, letter.id)
        assert len(there.got) == 2 and len(set(there.ids)) == 1
        assert await letters(g) == []


async def test_one_that_is_away_for_days_is_a_letter_in_the_end(database: Database) -> None:
    nobody = Asker("http://localhost:9/hook")
    async with gateway(database, clock=today(), **HERE) as g:
        await ask(g, nobody)
        await g.types("1001", "this one")
        for _ in range(74):
            await g.later(3600)
        (letter,) = await letters(g)
        assert "cannot be reached" in letter.reason


async def test_a_receiver_that_hangs_delays_nobody(database: Database) -> None:
    both = HERE | {"outgoing": ("localhost", "127.0.0.1")}
    async with asker("127.0.0.1") as slow, asker() as quick, gateway(database, clock=today(), **both) as g:
        slow.held = asyncio.Event()
        for there in (*[slow] * 6, quick):
            request = AskRequest((asks("Which?"),), callback_url=there.url)
            asked = await g.app.asker.ask(request)
            await g.app.receiver.respond(asked.interaction.id, "this", by="", via="api")
        await until(lambda: len(quick.got) == 1)
        await until(lambda: slow.waiting == 2)  # no more at a time to one host
        assert slow.got == []
        slow.held.set()
        await g.app.idle()
        assert len(slow.got) == 6


async def test_a_crowd_of_calls_waits_in_its_rows_and_is_posted_in_the_end(
    database: Database, there: Asker
) -> None:
    there.held = asyncio.Event()
    async with gateway(database, clock=today(), **HERE) as g:
        for _ in range(ROOM_PLACE + 5):
            asked = await g.app.asker.ask(AskRequest((asks("Which?"),), callback_url=there.url))
            await g.app.receiver.respond(asked.interaction.id, "this", by="", via="api")
        await until(lambda: there.waiting == 2)
        there.held.set()
        await g.app.idle()
        assert len(there.got) == ROOM_PLACE
        await g.later(61)
        assert len(there.got) == ROOM_PLACE + 5


class Dying(Faults):
    """The process dies at a point, again and again, a number of times."""

    def __init__(self, point: str, times: int) -> None:
        self.point, self.times, self.armed = point, times, False

    def reach(self, point: str) -> None:
        super().reach(point)
        if self.armed and point == self.point and self.times:
            self.times -= 1
            raise OSError("killed here")


@pytest.mark.parametrize("point", ["deliver.before-send", "deliver.after-send", "receive.after-commit"])
async def test_killed_at_any_point_it_is_posted_at_least_once(
    database: Database, there: Asker, point: str
) -> None:
    faults = Dying(point, 1)
    async with gateway(database, clock=today(), faults=faults, **HERE) as g:
        record = await ask(g, there)
        faults.armed = True
        with contextlib.suppress(OSError):
            await g.app.receiver.respond(record.id, "this one", by="", via="api")
        clock = g.clock
    async with gateway(database, clock=clock, **HERE) as g:
        for _ in range(3):
            await g.later(61)
        assert len(there.got) >= 1
        assert len(set(there.ids)) == 1
        assert [row["status"] for row in await posts(g, record.id)] == ["sent"]


async def test_who_loses_the_race_posts_nothing_more(database: Database, there: Asker) -> None:
    async with gateway(database, clock=today(), **HERE) as g:
        record = await ask(g, there)
        answers = (g.app.receiver.respond(record.id, text, by="", via="api") for text in ("one", "two"))
        await asyncio.gather(*answers, return_exceptions=True)
        await g.app.idle()
        assert len(there.got) == 1


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example.org/x", r'needs https.*outgoing: {allow: \["hooks.example.org"\]}'),
        ("https://10.0.0.8/x", r'outgoing: {allow: \["10.0.0.8"\]}'),
        ("https://[::ffff:169.254.169.254]/x", "outgoing.allow"),
        ("ftp://hooks.example.org/x", "an address like https"),
        ("https://user:hidden@hooks.example.org/x", "without a password"),
        ("not a url", "an address like https"),
        ("https://[::1/x", "cannot be read"),
    ],
)
async def test_a_callback_url_that_may_not_be_called_is_refused_when_it_is_given(
    database: Database, url: str, why: str
) -> None:
    async with gateway(database) as g:
        with pytest.raises(DoesNotFit, match=why) as refused:
            await g.app.asker.ask(AskRequest((asks("Which?"),), callback_url=url))
        assert "hidden" not in str(refused.value)
        assert (await g.app.reader.interactions()).items == ()


async def test_with_a_list_only_what_it_names_may_be_given(database: Database) -> None:
    async with gateway(database, outgoing=("hooks.example.org",)) as g:
        await g.app.asker.ask(AskRequest((asks("a"),), callback_url="https://hooks.example.org/x"))
        with pytest.raises(DoesNotFit, match=r'allow: \["other.example"\]'):
            await g.app.asker.ask(AskRequest((asks("a"),), callback_url="https://other.example/x"))


async def test_a_name_that_leads_into_the_own_network_is_not_called(database: Database) -> None:
    async with asker() as there, gateway(database, clock=today()) as g:
        there.url = there.url.replace("http:", "https:")
        await ask(g, there)
        await g.types("1001", "this one")
        (letter,) = await letters(g)
        assert "may not be called from here (see outgoing.allow)" in letter.reason
        assert there.got == []


async def test_a_redirect_is_not_followed(database: Database, there: Asker) -> None:
    async with asker() as other, gateway(database, clock=today(), **HERE) as g:
        there.statuses, there.headers = [307], {"location": other.url}
        await ask(g, there)
        await g.types("1001", "this one")
        assert (len(there.got), len(other.got)) == (1, 0)


async def test_without_a_key_of_its_own_the_installation_s_secret_signs(
    database: Database, there: Asker
) -> None:
    own = Settings(data_dir=str(database.data_dir), secret=SecretStr("a secret of enough characters"))
    there.secret = secret_of(signing_key(own))
    async with gateway(database, clock=today(), outgoing=("localhost",), secret=own.secret) as g:
        await ask(g, there)
        await g.types("1001", "this one")
        assert len(there.got) == 1


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_short", "plain text", "whsec_!!!", SECRET[6:]])
def test_what_is_no_signing_secret_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        key_of(text)


async def test_no_secret_of_the_asker_is_in_a_log_or_a_repr(
    database: Database, there: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    there.statuses = [500, 410]
    async with gateway(database, clock=today(), **HERE) as g:
        question = Question("q", "Sure?", QuestionKind.CONFIRM)
        record: Json = await ask(g, there, question)
        await g.app.receiver.respond(record.id, True, by="", via="api")
        await g.app.idle()
        for _ in range(3):
            g.clock.advance(30)
            await g.sweep()
        assert len(there.got) == 2
        known = await g.app.reader.interaction(record.id)
    logged = "\n".join(f"{entry.getMessage()} {entry.exc_text} {vars(entry)}" for entry in caplog.records)
    ours = json.dumps([logged, repr(known), repr(AskRequest((question,), callback_url=there.url))])
    assert "a-secret-of-theirs" not in ours
    assert SECRET not in ours
