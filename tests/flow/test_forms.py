"""The form behind a link: plain questions by link alone, confirmations with the code of law 7."""

import re
from dataclasses import replace
from typing import Any

import pytest

from answerback.ask import AskRequest
from answerback.errors import AlreadyAnswered, Conflict, DoesNotFit, NotAllowed, NotFound
from answerback.model import InteractionStatus, OnExpire, Question, QuestionKind
from answerback.repeated import NAMED
from answerback.settings import Route
from answerback.store import interactions
from tests.support.databases import Database
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

TEXT = Question("q1", "Which city?")
WIPE = Question("q1", "Wipe?", QuestionKind.CONFIRM)


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


def newest_code(g: Gateway) -> str:
    found = re.search(r"\d{6}", g.memory.titles("1001")[-1])
    assert found is not None
    return found[0]


async def test_a_link_answers_a_plain_question(database: Database) -> None:
    async with gateway(database, form_auth="code") as g:
        asked = await g.app.asker.ask(AskRequest((TEXT,)))
        token = token_of(asked.form_url)
        assert (await g.app.forms.view(token)).interaction.status is InteractionStatus.PENDING
        view = await g.app.forms.submit(token, {"q1": "Vienna"}, text="Vienna")
        assert (view.interaction.status, view.interaction.answered_via) == (
            InteractionStatus.COMPLETED,
            "form",
        )
        with pytest.raises(AlreadyAnswered):
            await g.app.forms.submit(token, {"q1": "Graz"})


async def test_an_unknown_link_is_not_found(database: Database) -> None:
    async with gateway(database) as g:
        for token in ("", "x", "a" * 26, "é" * 26):
            with pytest.raises(NotFound):
                await g.app.forms.view(token)


async def test_a_confirmation_needs_the_code_that_was_sent_to_the_same_address(database: Database) -> None:
    async with gateway(database, form_auth="code") as g:
        asked = await g.app.asker.ask(AskRequest((WIPE,)))
        await g.app.idle()
        link = token_of(g.memory.shown[0].message.form_url)
        with pytest.raises(NotAllowed):
            await g.app.forms.submit(link, {"q1": True})
        await g.app.forms.send_code(link)
        await g.app.idle()
        with pytest.raises(NotAllowed, match="not the code"):
            await g.app.forms.submit(link, {"q1": True}, code="000000x")
        view = await g.app.forms.submit(link, {"q1": True}, code=newest_code(g))
        assert (view.interaction.status, view.you) == (InteractionStatus.COMPLETED, True)
        with pytest.raises(NotAllowed, match="not sent to anybody"):
            await g.app.forms.send_code(token_of(asked.form_url))


async def test_codes_cannot_be_guessed_or_asked_for_without_end(database: Database) -> None:
    async with gateway(database, form_auth="code") as g:
        await g.app.asker.ask(AskRequest((WIPE,)))
        await g.app.idle()
        link = token_of(g.memory.shown[0].message.form_url)
        await g.app.forms.send_code(link)
        await g.app.idle()
        with pytest.raises(Conflict, match="half a minute"):
            await g.app.forms.send_code(link)
        for _ in range(10):
            with pytest.raises(NotAllowed):
                await g.app.forms.submit(link, {"q1": True}, code="wrong")
        with pytest.raises(NotAllowed, match="Too many"):
            await g.app.forms.submit(link, {"q1": True}, code=newest_code(g))
        g.clock.advance(31)
        await g.app.forms.send_code(link)
        await g.app.idle()
        with pytest.raises(NotAllowed, match="Too many"):  # a new code does not bring new guesses
            await g.app.forms.submit(link, {"q1": True}, code=newest_code(g))


async def test_a_code_works_for_ten_minutes(database: Database) -> None:
    async with gateway(database, form_auth="code") as g:
        await g.app.asker.ask(AskRequest((WIPE,)))
        await g.app.idle()
        link = token_of(g.memory.shown[0].message.form_url)
        await g.app.forms.send_code(link)
        await g.app.idle()
        g.clock.advance(601)
        with pytest.raises(NotAllowed, match="Ask for a new one"):
            await g.app.forms.submit(link, {"q1": True}, code=newest_code(g))


async def test_every_required_question_needs_an_answer_that_fits(database: Database) -> None:
    number = Question("q2", "How many?", QuestionKind.NUMBER, whole=True, required=False)
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((TEXT, number)))
        token = token_of(asked.form_url)
        with pytest.raises(DoesNotFit, match="no answer yet"):
            await g.app.forms.submit(token, {"q2": 3})
        with pytest.raises(DoesNotFit):
            await g.app.forms.submit(token, {"q1": "Vienna", "q2": "many"})
        view = await g.app.forms.submit(token, {"q1": "Vienna"})
        assert view.interaction.status is InteractionStatus.COMPLETED


async def test_the_same_idempotency_key_asks_once(database: Database) -> None:
    async with gateway(database) as g:
        first = await g.app.asker.ask(AskRequest((TEXT,), idempotency_key="k1"))
        second = await g.app.asker.ask(AskRequest((TEXT,), idempotency_key="k1"))
        await g.app.idle()
        assert (first.created, second.created) == (True, False)
        assert (second.interaction.id, second.form_url) == (first.interaction.id, first.form_url)
        assert g.memory.titles("1001") == ["Which city?"]
        with pytest.raises(Conflict):
            await g.app.asker.ask(AskRequest((WIPE,), idempotency_key="k1"))


DIFFERS = [
    ({"agent": "another", "context": "More of it."}, "another question: its agent differs."),
    ({"context": "More of it."}, "its context differs"),
    ({"sensitive": True}, "whether it is sensitive differs"),
    ({"ask": ("ben",)}, "who is asked differs"),
    ({"ask": ("alice", "ben")}, "who is asked differs"),
    ({"ask": ()}, "who is asked differs"),
    ({"route": "default", "ask": ("ben",)}, "who is asked and its route differ"),
    ({"human_only": True}, "whether only people may answer differs"),
    ({"expires_in": 60.0}, "its deadline differs"),
    ({"on_expire": OnExpire.AUTO}, "what happens without an answer differs"),
    ({"default": "Rome"}, "its default differs"),
    ({"callback_url": "https://93.184.215.14/other"}, "its callback_url differs"),
    ({"state": {"order": 7}}, "its state differs"),
    ({"title": "Travel"}, "its title differs"),
    ({"user": "u-2"}, "its user differs"),
]


@pytest.mark.parametrize(("other", "why"), DIFFERS)
async def test_law_4_a_key_that_was_used_for_another_request_gives_nothing_of_that(
    database: Database, other: dict[str, Any], why: str
) -> None:
    """The first one's link answers its question: whoever chose the same key by chance must not get it."""
    first = {
        "agent": "one",
        "ask": ("alice",),
        "idempotency_key": "k1",
        "expires_in": 600.0,
        "on_expire": OnExpire.DEFAULT,
        "default": "Vienna",
        "callback_url": "https://93.184.215.14/ended",
        "state": {"order": 6},
        "user": "u-1",
    }
    async with gateway(database) as g:
        await g.app.asker.ask(AskRequest((TEXT,), **first))
        with pytest.raises(Conflict, match=why) as refused:
            await g.app.asker.ask(AskRequest((TEXT,), **{**first, **other}))
        await g.app.idle()
        assert "use a new key" in refused.value.detail
        assert (g.memory.titles("1001"), g.memory.titles("2002")) == (["Which city?"], [])


async def test_the_same_request_is_the_same_also_once_somebody_else_is_asked(database: Database) -> None:
    """What counts is whom the caller named, not who is asked by now."""
    route = Route("default", ask=("alice",), providers=("memory",), delegates=("ben",))
    request = AskRequest((TEXT,), ask=("alice", "alice"), idempotency_key="k1")
    async with gateway(database, routes={"default": route}) as g:
        first = await g.app.asker.ask(request)
        await g.app.idle()
        await g.types("1001", "delegate to Ben")
        again = await g.app.asker.ask(replace(request, ask=("alice",)))
        assert (again.interaction.id, again.created) == (first.interaction.id, False)
        assert again.interaction.route["ask"] == ["ben"]
        with pytest.raises(Conflict, match="who is asked"):
            await g.app.asker.ask(replace(request, ask=("ben",)))


async def test_a_request_that_an_older_version_has_stored_is_still_the_same(database: Database) -> None:
    """It does not say whom the caller named."""
    request = AskRequest((TEXT,), ask=("alice",), idempotency_key="k1")
    async with gateway(database) as g:
        first = await g.app.asker.ask(request)
        route = {name: value for name, value in first.interaction.route.items() if name != NAMED}
        older = replace(first.interaction, route=route)
        await g.app.context.store.write(lambda tx: interactions.again(tx, older, None))
        again = await g.app.asker.ask(request)
        assert (again.interaction.id, again.created) == (first.interaction.id, False)


async def test_whoever_is_named_twice_is_asked_once(database: Database) -> None:
    async with gateway(database) as g:
        await g.app.asker.ask(AskRequest((TEXT,), ask=("alice", "ben", "alice")))
        await g.app.idle()
        assert (g.memory.titles("1001"), g.memory.titles("2002")) == (["Which city?"], ["Which city?"])
