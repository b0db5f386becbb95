"""The loop by mail that a mail server hands over: one answer, whatever breaks between commit and 250."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerback.app import App
from answerback.errors import StoreUnavailable
from answerback.faults import Faults
from answerback.run import RunRequest
from tests.flow.test_intake import until
from tests.flow.test_mail_loop import answering, gateway, mails, text_of
from tests.providers.email.handing import mail_server_at
from tests.providers.email.support import Mailroom, mail_server
from tests.support.databases import Database

pytestmark = [pytest.mark.needs_extra("email"), pytest.mark.either_database]


class Once(Faults):
    """Fails when a point is passed, as often as it is armed."""

    def __init__(self) -> None:
        self.armed: dict[str, Exception] = {}
        self.struck: list[str] = []

    def reach(self, point: str) -> None:
        if error := self.armed.pop(point, None):
            self.struck.append(point)
            raise error


@pytest.fixture
async def room() -> AsyncIterator[Mailroom]:
    async with mail_server() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "lmtp")


async def asked(app: App, room: Mailroom, place: str) -> None:
    """A run that asks, and its question in Ana's mailbox; mail can be handed over."""
    await app.runner.start(RunRequest("scripted", {}))
    await until(Path(place).exists)
    await until(lambda: len(room.mails) == 1)
    await app.idle()


async def hand_over(place: str, room: Mailroom, body: str) -> list[str]:
    question = mails(room)[0]
    async with mail_server_at(place) as server:
        return await server.hands_over(answering(question, body), str(question["reply-to"]))


async def outcomes(app: App, room: Mailroom) -> list[str]:
    """What Ana was told, once she was told anything."""
    await until(lambda: len(room.mails) > 1)
    await app.idle()
    return [text for mail in mails(room)[1:] if "You chose" in (text := text_of(mail))]


async def answers(app: App) -> list[str]:
    found = (await app.reader.interactions()).items
    return [str(record.answer.values) for record in found if record.answer is not None]


async def test_a_mail_that_is_handed_over_is_the_answer(
    database: Database, room: Mailroom, place: str
) -> None:
    app = gateway(database, room.port, lmtp=place)
    await app.start()
    await asked(app, room, place)
    assert "Or reply to this mail" in text_of(mails(room)[0])
    assert await hand_over(place, room, "costing") == ["250 2.0.0 Ok"]
    assert await answers(app) == ["{'q1': 'b'}"]  # stored before the mail server heard so
    (told,) = await outcomes(app, room)
    assert "You chose “costing”" in told
    await app.stop()


async def test_capitals_in_the_address_of_a_contact_keep_nobody_from_answering(
    database: Database, room: Mailroom, place: str
) -> None:
    app = gateway(database, room.port, lmtp=place, ana="Ana@X.Org")
    await app.start()
    await asked(app, room, place)
    assert await hand_over(place, room, "costing") == ["250 2.0.0 Ok"]
    assert await answers(app) == ["{'q1': 'b'}"]
    await app.stop()


async def test_a_mail_that_was_committed_and_comes_again_counts_once(
    database: Database, room: Mailroom, place: str
) -> None:
    """Struck between the commit and the 250, and started anew before the mail server comes again."""
    faults = Once()
    app = gateway(database, room.port, lmtp=place, faults=faults)
    await app.start()
    await asked(app, room, place)
    faults.armed["receive.after-commit"] = RuntimeError("struck")
    (heard,) = await hand_over(place, room, "costing")
    assert heard.startswith("451 ")
    await app.stop()
    assert faults.struck == ["receive.after-commit"]
    app = gateway(database, room.port, lmtp=place)
    await app.start()
    await until(Path(place).exists)
    assert await hand_over(place, room, "costing") == ["250 2.0.0 Ok"]
    assert await answers(app) == ["{'q1': 'b'}"]
    await app.idle()
    await app.stop()
    assert len([mail for mail in mails(room) if "You chose" in text_of(mail)]) <= 1


async def test_a_mail_that_the_store_could_not_take_is_brought_again_and_then_counts(
    database: Database, room: Mailroom, place: str
) -> None:
    faults = Once()
    app = gateway(database, room.port, lmtp=place, faults=faults)
    await app.start()
    await asked(app, room, place)
    faults.armed["receive.before-commit"] = StoreUnavailable("the disk is full")
    (heard,) = await hand_over(place, room, "costing")
    assert heard.startswith("451 4.3.0 ") and "disk" not in heard
    assert await answers(app) == []
    assert await hand_over(place, room, "costing") == ["250 2.0.0 Ok"]
    assert len(await outcomes(app, room)) == 1
    await app.stop()


async def test_a_second_gateway_beside_the_first_says_why_it_takes_no_mail(
    database: Database, room: Mailroom, place: str, tmp_path: Path
) -> None:
    """It tries again by itself, so that it takes over when the first one ends."""
    app = gateway(database, room.port, lmtp=place)
    await app.start()
    await asked(app, room, place)
    (tmp_path / "second").mkdir()
    second = gateway(Database("sqlite", tmp_path / "second"), room.port, lmtp=place)
    await second.start()
    await until(lambda: "another process listens there" in second.intake.state["email"])
    assert await hand_over(place, room, "costing") == ["250 2.0.0 Ok"]
    assert await answers(app) == ["{'q1': 'b'}"]
    await second.stop()
    await app.stop()


async def test_every_gateway_on_one_database_takes_mail_where_it_runs(
    postgres_url: str, room: Mailroom, place: str, tmp_path: Path
) -> None:
    """A mailbox has one reader; a mail server hands over to the gateway beside it."""
    database = Database(postgres_url, tmp_path)
    first, second = gateway(database, room.port, lmtp=place), gateway(database, room.port, lmtp=f"{place}2")
    await first.start()
    await second.start()
    await asked(first, room, place)
    await until(Path(f"{place}2").exists)
    assert await hand_over(f"{place}2", room, "costing") == ["250 2.0.0 Ok"]
    assert await hand_over(place, room, "coding") == ["250 2.0.0 Ok"]  # too late
    assert await answers(first) == ["{'q1': 'b'}"]
    await second.stop()
    await first.stop()
