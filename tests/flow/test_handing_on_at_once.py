"""A question is handed on, or closed, on one gateway while somebody answers it on another."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import text

from answerback import receipts
from answerback.ask import AskRequest
from answerback.errors import NotAllowed, NotFound
from answerback.inbox import Viewer
from answerback.model import Address, Contact, InteractionStatus, Question, QuestionKind
from answerback.settings import Route
from answerback.store.query import Query
from answerback.testing import MemoryProvider
from tests.support.gateway import ALICE, BEN
from tests.support.two import Opened, Two, at_once, opening

pytestmark = pytest.mark.needs_extra("postgres")
CARL = Contact("carl", "Carl", addresses=(Address("memory", "3003", "3003"),))
PEOPLE = {"alice": ALICE, "ben": BEN, "carl": CARL}
HANDING = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), delegates=("carl",))}
OPEN = Query(
    text("SELECT contact_id FROM delivery WHERE open = 1 AND provider <> 'form' ORDER BY contact_id, id")
)
TWICE = Question("q1", "Sure?", QuestionKind.CONFIRM), Question("q2", "Really?", QuestionKind.CONFIRM)
GONE = "You passed this on. It is for Ben, Carl now."
Answers = Callable[[Two, str], Coroutine[Any, Any, object]]


class Chat(MemoryProvider):
    """Several questions are asked one after the other."""

    one_by_one: ClassVar[bool] = True


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Opened:
    return opening(postgres_url, tmp_path)


async def open_to(both: Two) -> list[str]:
    """To whom something still looks as if they could answer it."""
    return [row["contact_id"] for row in await both.one.app.context.store.read(lambda tx: tx.all(OPEN))]


def link(both: Two, who: str) -> str:
    found = [shown.message.form_url for shown in both.one.memory.shown if shown.message.to.place == who]
    return found[-1].rpartition("/")[2]


async def have_written(both: Two) -> None:
    """Both people, a moment ago: so neither's next message has to note that they are there."""
    for who in ("1001", "2002"):
        await both.one.types(who, "help")


async def by_message(both: Two, id: str) -> None:
    await both.two.types("1001", "tea")
    for here in (both.one, both.two) * 3:  # whichever sends its sentence first: the other one waits
        await here.later(1)
    assert GONE in both.one.memory.titles("1001")


async def by_form(both: Two, id: str) -> None:
    with pytest.raises(NotFound, match="leads to no question"):
        await both.two.app.forms.submit(link(both, "1001"), {"q1": "tea"})


async def in_the_inbox(both: Two, id: str) -> None:
    with pytest.raises(NotFound, match="no such question"):
        await both.two.app.inbox.answer(Viewer("alice", both.one.clock(), "alice"), id, {"q1": "tea"})


async def over_the_api(both: Two, id: str) -> None:
    """It may have looked before or after that was handed on."""
    with pytest.raises(NotAllowed, match=r"was handed on|is not for Alice"):
        await both.two.app.receiver.respond(id, "tea", by="alice", via="api")


@pytest.mark.parametrize("answers", [by_message, by_form, in_the_inbox, over_the_api])
async def test_law_7_who_is_just_handing_it_on_does_not_answer_it(two: Opened, answers: Answers) -> None:
    async with two(routes=HANDING, contacts=PEOPLE) as both:
        await have_written(both)
        id = await both.ask()
        work = both.one.types("1001", "/delegate carl"), answers(both, id)
        _, refused = await at_once(both, "interaction", id, *work)
        assert refused is None
        record = await both.record(id)
        assert (record.status, record.route["delegated"]) == (InteractionStatus.PENDING, ["alice"])
        assert await open_to(both) == ["ben", "carl"]
        assert both.one.memory.titles("3003") == ["Which?"]


async def test_law_2_what_is_answered_as_it_is_handed_on_is_closed_for_the_new_one_too(two: Opened) -> None:
    async with two(routes=HANDING, contacts=PEOPLE) as both:
        await have_written(both)
        id = await both.ask()
        await both.at_once(id, both.one.types("1001", "/delegate carl"), both.two.types("2002", "tea"))
        record = await both.record(id)
        assert (record.status, record.answered_by) == (InteractionStatus.COMPLETED, "ben")
        assert await open_to(both) == []
        answered = [
            title for title in both.one.memory.titles("3003") if "Ben chose" in title or "tea" in title
        ]
        assert answered


async def asked_one_by_one(both: Two) -> str:
    asked = await both.one.app.asker.ask(AskRequest(TWICE))
    await both.one.app.idle()
    return asked.interaction.id


@pytest.mark.parametrize("hands_on_first", [False, True])
async def test_who_hands_on_as_they_answer_the_first_of_several_is_asked_no_other(
    two: Opened, hands_on_first: bool
) -> None:
    async with two(routes=HANDING, contacts=PEOPLE, phones={"memory": Chat()}) as both:
        await have_written(both)
        id = await asked_one_by_one(both)
        tap = both.one.memory.tapped("1001", "Yes")
        work = [both.one.types("1001", "/delegate carl"), both.two.receive(tap)]
        await at_once(both, "interaction", id, *(work if hands_on_first else reversed(work)))
        assert await open_to(both) == ["ben", "carl"]


@pytest.mark.parametrize("closes_first", [False, True])
async def test_a_question_that_is_withdrawn_as_the_first_of_several_is_answered_is_open_to_nobody(
    two: Opened, closes_first: bool
) -> None:
    async with two(phones={"memory": Chat()}) as both:
        await have_written(both)
        id = await asked_one_by_one(both)
        tap = both.one.memory.tapped("1001", "Yes")
        work = [both.one.app.asker.cancel(id), both.two.receive(tap)]
        await at_once(both, "interaction", id, *(work if closes_first else reversed(work)))
        assert await open_to(both) == []
        assert "The agent no longer needs this" in both.one.memory.titles("1001")[-1]


@pytest.mark.parametrize("closes_first", [False, True])
async def test_a_copy_that_turns_up_as_its_question_is_closed_is_told_how_it_ended(
    two: Opened, closes_first: bool
) -> None:
    async with two() as both:
        id = await both.ask()
        row, outbox = await both.message(id), both.two.app.context.outbox

        async def turns_up() -> None:  # somebody else had sent it too, when the first claim had lapsed
            store, ids = both.two.app.context.store, ("m99",)
            both.two.app.context.follow(await store.write(lambda tx: receipts.sent(tx, outbox, row, ids)))

        work = [both.one.app.asker.cancel(id), turns_up()]
        await at_once(both, "interaction", id, *(work if closes_first else reversed(work)))
        assert await open_to(both) == []
        told = [title for title in both.one.memory.titles("1001") if "no longer needs" in title]
        assert len(told) == 2
