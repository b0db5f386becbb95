"""The inbox: whoever signs in with a key sees what waits for them, and answers where it stands."""

import contextlib
import logging
import re
from collections.abc import AsyncIterator
from html import unescape

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.model import Action, Choice, InteractionStatus, OnExpire, Question, QuestionKind
from answerback.settings import ApiKey, Limits, Route
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

ANSWER, READ = frozenset({"answer"}), frozenset({"read"})
KEYS = (
    ApiKey("ops", SecretStr("ops-key")),
    ApiKey("alices-phone", SecretStr("alice-key"), scopes=ANSWER, contact="alice"),
    ApiKey("bens-desk", SecretStr("ben-key"), scopes=ANSWER, contact="ben"),
    ApiKey("billing", SecretStr("billing-key"), scopes=ANSWER, agents=frozenset({"billing"})),
    ApiKey("ben", SecretStr("called-ben")),
    ApiKey("dashboard", SecretStr("read-key"), scopes=READ),
    ApiKey("gone", SecretStr("gone-key"), scopes=ANSWER, contact="somebody"),
)
CITY = Question("q1", "Which city?")
WIPE = Question("q1", "Wipe production?", QuestionKind.CONFIRM)
WHICH = Question(
    "q1", "Which one?", QuestionKind.CHOICE, (Choice("a", "The red one"), Choice("b", "The blue one"))
)
REFUND = Question(
    "q1", "", QuestionKind.REVIEW, action=Action("refund", {"amount": 5}), decisions=("approve", "reject")
)

MANY = Question("q2", "How many?", QuestionKind.NUMBER, whole=True)
OURS = {"origin": "null", "sec-fetch-site": "same-origin"}
DAY = 86_400.0


class Browser:
    """A browser without scripts that somebody has open at the inbox."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def signs_in(self, key: str) -> httpx.Response:
        return await self.http.post("/inbox/sign-in", data={"key": key}, headers=OURS, follow_redirects=True)

    async def sees(self, query: str = "") -> str:
        """The text of the page, tags left out."""
        return text_of(await self.http.get(f"/inbox{query}", follow_redirects=True))

    async def presses(self, id: str, follow: bool = True, **fields: str) -> httpx.Response:
        """Send the form of one question as it stands on the page."""
        return await self.posts(id, {"proof": await self.proof(), **fields}, follow)

    async def proof(self) -> str:
        """What the forms of this session carry."""
        found = re.search(r'name="proof" value="([0-9a-f]{64})"', (await self.http.get("/inbox")).text)
        assert found is not None
        return found[1]

    async def posts(self, id: str, fields: dict[str, str], follow: bool = True) -> httpx.Response:
        return await self.http.post(f"/inbox/{id}", data=fields, headers=OURS, follow_redirects=follow)


def text_of(page: httpx.Response) -> str:
    body = page.text.partition("<main>")[2]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@contextlib.asynccontextmanager
async def browser(g: Gateway, key: str = "") -> AsyncIterator[Browser]:
    async with through(site(g.app), "https://ask.example.org") as http:
        found = Browser(http)
        if key:
            assert (await found.signs_in(key)).status_code == 200
        yield found


@contextlib.asynccontextmanager
async def inbox(database: Database, *agents: ScriptedAgent, **more: object) -> AsyncIterator[Gateway]:
    more = {"api_keys": KEYS, "public_url": "https://ask.example.org", **more}
    async with gateway(database, *agents, **more) as g:
        yield g


async def ask(g: Gateway, *questions: Question, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest(questions or (CITY,), **more))
    await g.app.idle()
    return asked.interaction.id


async def answer_of(g: Gateway, id: str) -> tuple[object, str, str]:
    """The value of the only question, who gave it, through what."""
    record = await g.app.reader.interaction(id)
    assert record.answer is not None
    return record.answer.values["q1"], record.answered_by, record.answered_via


class TestWhoSeesWhat:
    async def test_law_7_nobody_sees_anything_without_a_key(self, database: Database) -> None:
        async with inbox(database) as g, browser(g) as alice:
            id = await ask(g)
            assert "Which city?" not in await alice.sees() and "Your key" in await alice.sees()
            for cookie in ("x", "b3Bz.1.00", "b3Bz.999999999999999999.", "b3Bz..", "b3Bz.1e9.00"):
                alice.http.cookies.set("answerback_inbox", cookie)
                assert "Which city?" not in await alice.sees()
            refused = await alice.posts(id, {"q0": "Vienna"})
            assert "Your key" in text_of(refused)
            assert (await alice.http.get("/inbox/status")).status_code == 403
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING

    @pytest.mark.parametrize(
        ("key", "sentence"),
        [("wrong", "I don't know this key."), ("", "I don't know this key."), ("read-key", "may not answer")],
    )
    async def test_a_key_that_may_not_answer_opens_nothing(
        self, database: Database, key: str, sentence: str
    ) -> None:
        async with inbox(database) as g, browser(g) as somebody:
            refused = await somebody.signs_in(key)
            assert (refused.status_code, sentence in text_of(refused)) == (403, True)
            assert "set-cookie" not in refused.headers

    async def test_a_person_sees_what_they_may_answer_and_nothing_else(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice, browser(g, "ben-key") as ben:
            await ask(g, asks("For Alice?"))
            id = await ask(g, asks("For Ben?"), ask=("ben",))
            await ask(g, asks("For both?"), ask=("ben", "alice"))
            seen = [await somebody.sees() for somebody in (alice, ben)]
            assert [["For Alice?" in page, "For Ben?" in page, "For both?" in page] for page in seen] == [
                [True, False, True],
                [False, True, True],
            ]
            refused = await alice.presses(id, q0="mine now")
            assert refused.status_code == 404
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING

    async def test_an_operator_sees_everything_and_where_it_was_sent(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "ops-key") as operator, browser(g, "alice-key") as alice:
            await ask(g, asks("For Alice?"))
            await ask(g, asks("For Ben?"), ask=("ben",))
            page = await operator.sees()
            assert "For Alice?" in page and "For Ben?" in page
            assert "Alice, memory: sent" in page and "Ben, memory: sent" in page
            assert "Alice, memory" not in await alice.sees()

    async def test_a_key_for_some_agents_sees_what_these_ask(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "billing-key") as billing:
            await ask(g, asks("From billing?"), agent="billing")
            await ask(g, asks("From billing two?"), agent="billing_2")
            await ask(g, asks("From nobody?"))
            page = await billing.sees()
            assert [each in page for each in ("From billing?", "two?", "nobody?")] == [True, False, False]

    async def test_law_7_a_key_that_is_called_like_somebody_is_theirs(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "called-ben") as ben:
            id = await ask(g, asks("For Alice?"))
            assert "For Alice?" not in await ben.sees()
            own = await ask(g, CITY, ask=("ben",))
            assert (await ben.presses(id, q0="no")).status_code == 404
            await ben.presses(own, q0="Graz")
            assert await answer_of(g, own) == ("Graz", "ben", "inbox")

    async def test_a_session_ends_with_its_key_its_month_and_its_person(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice, browser(g) as other:
            await ask(g)
            cookie = alice.http.cookies["answerback_inbox"]
            assert "alice-key" not in cookie
            name, since, mac = cookie.split(".")
            for forged in (f"b3Bz.{since}.{mac}", f"{name}.{int(since) + 1}.{mac}"):
                other.http.cookies.set("answerback_inbox", forged)
                assert "Which city?" not in await other.sees()
            g.clock.advance(29 * DAY)
            assert "Which city?" in await alice.sees()
            g.clock.advance(2 * DAY)
            page = await alice.http.get("/inbox")
            assert "Please sign in again." in text_of(page) and "Max-Age=0" in page.headers["set-cookie"]
            other.http.cookies.clear()
            assert "Please sign in again." in text_of(await other.signs_in("gone-key"))

    async def test_law_11_neither_key_nor_session_nor_answer_is_logged(
        self, database: Database, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await alice.presses(await ask(g), q0="Vienna, of all places")
            secrets = ("alice-key", alice.http.cookies["answerback_inbox"], "of all places")
        said = [record.getMessage() for record in caplog.records if not record.name.startswith("http")]
        assert not any(secret in line for secret in secrets for line in said)

    async def test_signing_out_forgets_the_key_in_this_browser(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await alice.http.post("/inbox/sign-out", headers={"sec-fetch-site": "cross-site"})
            assert "Nothing is waiting" in await alice.sees()
            await alice.http.post("/inbox/sign-out", headers=OURS)
            assert "Your key" in await alice.sees()


class TestTheList:
    async def test_the_nearest_deadline_comes_first_and_those_without_come_last(
        self, database: Database
    ) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            for name, seconds in (
                ("whenever", None),
                ("tomorrow", DAY),
                ("soon", 600.0),
                ("next week", 7 * DAY),
            ):
                await ask(g, asks(f"Due {name}?"), expires_in=seconds)
            found = re.findall(r"Due ([a-z ]+)\?", await alice.sees())
            assert found == ["soon", "tomorrow", "next week", "whenever"]

    async def test_an_overdue_question_that_stays_open_stands_on_top(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await ask(g, asks("Later?"), expires_in=DAY)
            await ask(g, asks("Overdue?"), expires_in=60.0, on_expire=OnExpire.LEAVE)
            await g.later(3600)
            assert re.findall(r"(Later|Overdue)\?", await alice.sees()) == ["Overdue", "Later"]

    async def test_it_is_shown_in_pages(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            for number in range(53):
                await ask(g, asks(f"Number {number}?"), expires_in=600.0 if number % 2 else None)
            page, seen = await alice.http.get("/inbox"), set[str]()
            seen |= set(re.findall(r"Number \d+", page.text))
            assert len(seen) == 50
            following = re.search(r'href="inbox(\?after=[^"]+)"', page.text)
            assert following is not None
            rest = await alice.http.get(f"/inbox{following[1]}")
            assert "after=" not in rest.text.partition("<main>")[2]
            assert len(seen | set(re.findall(r"Number \d+", rest.text))) == 53
            assert 'href="inbox"' in rest.text and 'href="inbox"' not in page.text

    async def test_a_later_page_that_has_been_answered_does_not_say_that_nothing_waits(
        self, database: Database
    ) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await ask(g)
            gone = await alice.http.get(f"/inbox?after={1 << 62}.z")
            assert (gone.status_code, gone.headers["location"]) == (303, "inbox")
            assert "Which city?" in await alice.sees(f"?after={1 << 62}.z")

    async def test_a_place_that_is_none_is_the_first_page(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await ask(g)
            for after in ("", "x", "1", "1.", ".1", "9" * 25 + ".a", "1.a%00", "-1.é"):
                page = await alice.http.get(f"/inbox?after={after}")
                assert (page.status_code, "Which city?" in page.text) == (200, True)

    async def test_what_is_no_question_of_ours_is_not_found(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await ask(g)
            for id in ("nothing", "a%00b", "é", "x" * 100, "..%2f"):
                assert (await alice.presses(id, q0="x")).status_code == 404
                assert (await alice.http.get(f"/inbox?done={id}")).status_code == 200

    async def test_a_damaged_question_is_shown_to_nobody_and_keeps_none_from_the_others(
        self, database: Database
    ) -> None:
        async with inbox(database) as g, browser(g, "ops-key") as operator:
            g.tampers = True
            id = await ask(g, asks("Broken?"))
            await ask(g, asks("Whole?"))
            damage = text("UPDATE interaction SET questions = '[' WHERE id = :id")
            await g.app.context.store.write(lambda tx: tx.run(Query(damage), id=id))
            assert "Whole?" in await operator.sees() and "Broken?" not in await operator.sees()
            assert (await operator.presses(id, q0="x")).status_code == 404

    async def test_an_empty_one_says_when_the_last_answer_was_given(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice, browser(g, "ben-key") as ben:
            assert "Nothing is waiting for you." in await alice.sees()
            assert "last answer" not in await alice.sees()
            await alice.presses(await ask(g), q0="Vienna")
            assert "The last answer was given" in await alice.sees()
            assert "last answer" not in await ben.sees()

    async def test_it_speaks_the_persons_language(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "ops-key") as operator:
            german = await operator.http.get("/inbox", headers={"accept-language": "de-AT,en;q=0.5"})
            assert "Nichts wartet auf Sie." in german.text and '<html lang="de">' in german.text


class TestAnswering:
    async def test_law_9_each_kind_is_answered_in_its_row_word_for_word(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            for question, fields, value in (
                (CITY, {"q0": "  Vienna "}, "  Vienna "),
                (WIPE, {"q0": "no"}, False),
                (WHICH, {"q0": "1"}, "b"),
                (REFUND, {"q0": "approve"}, {"decision": "approve"}),
            ):
                id = await ask(g, question)
                page = await alice.presses(id, **fields)
                assert text_of(page).count("✅ You ") == 1
                assert await answer_of(g, id) == (value, "alice", "inbox")

    async def test_law_1_among_many_each_form_answers_its_own_question(self, database: Database) -> None:
        agents = [ScriptedAgent(asks(f"Number {number}?"), name=f"agent{number}") for number in range(5)]
        async with inbox(database, *agents) as g, browser(g, "alice-key") as alice:
            runs = [await g.run(agent.name) for agent in agents]
            for run, agent in reversed(list(zip(runs, agents, strict=True))):
                await alice.presses(run.interactions[0], q0=f"for {agent.name}")
            await g.app.idle()
            assert [[answer.text for _, _, answer in agent.journal] for agent in agents] == [
                [f"for {agent.name}"] for agent in agents
            ]

    async def test_law_2_who_comes_second_hears_who_was_first(self, database: Database) -> None:
        route = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), at_once=True)}
        async with (
            inbox(database, routes=route) as g,
            browser(g, "alice-key") as alice,
            browser(g, "ben-key") as ben,
        ):
            id = await ask(g)
            proof = await alice.proof()
            await ben.presses(id, q0="Graz")
            assert "Which city?" not in await alice.sees()
            late = await alice.posts(id, {"proof": proof, "q0": "Vienna"})
            assert late.status_code == 409
            assert "Ben answered this" in text_of(late) and "Nothing changed." in text_of(late)
            assert (await answer_of(g, id))[:2] == ("Graz", "ben")
            assert any("Ben wrote" in title and "in the inbox" in title for title in g.memory.titles("1001"))

    async def test_what_does_not_fit_is_said_in_its_row_and_what_was_typed_stays(
        self, database: Database
    ) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            other = await ask(g, asks("Another?"), expires_in=60.0)
            id = await ask(g, CITY, MANY)
            page = await alice.presses(id, q0="Vienna", q1="many")
            assert page.status_code == 422
            before, _, row = page.text.partition(f'action="{id}"')
            assert "Vienna" in row and 'value="many"' in row and 'aria-invalid="true"' in row
            assert "Vienna" not in before and "aria-invalid" not in before
            assert page.text.count(f'action="{other}"') == 1
            again = await alice.http.get(f"/inbox/{id}", follow_redirects=True)
            assert again.status_code == 200 and "How many?" in again.text

    async def test_a_deadline_that_has_passed_is_told(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            id = await ask(g, expires_in=60.0, on_expire=OnExpire.NO_RESPONSE)
            proof = await alice.proof()
            await g.later(61)
            late = await alice.posts(id, {"proof": proof, "q0": "Vienna"})
            assert late.status_code == 409 and "This closed at" in text_of(late)

    async def test_law_5_looking_answers_nothing(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            id = await ask(g, WIPE)
            for method in ("GET", "HEAD"):
                for path in ("/inbox?q0=yes", f"/inbox/{id}?q0=yes", f"/inbox?done={id}", "/inbox/status"):
                    await alice.http.request(method, path, follow_redirects=True)
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING

    async def test_a_post_from_another_page_answers_nothing(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice, browser(g, "ops-key") as operator:
            id = await ask(g, WIPE)
            for proof in ("", "0" * 64, "é"):
                refused = await alice.posts(id, {"q0": "yes", "proof": proof})
                assert refused.status_code == 403
            assert (await alice.posts(id, {"q0": "yes", "proof": await operator.proof()})).status_code == 403
            for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
                fields = {"q0": "yes", "proof": await alice.proof()}
                refused = await alice.http.post(f"/inbox/{id}", data=fields, headers=headers)
                assert refused.status_code == 403
            assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING

    async def test_files_come_along(self, database: Database) -> None:
        async with inbox(database, limits=Limits(body_bytes=100_000)) as g, browser(g, "alice-key") as alice:
            id = await ask(g)
            proof = await alice.proof()
            done = await alice.http.post(
                f"/inbox/{id}",
                data={"proof": proof, "q0": "like this"},
                files={"files": ("photo.jpg", b"jpeg", "image/jpeg")},
                headers=OURS,
            )
            assert done.status_code == 303
            record = await g.app.reader.interaction(id)
            assert record.answer is not None
            (file,) = record.answer.attachments
            assert (file.name, (await g.app.attachments.fetch(record, 0)).content) == ("photo.jpg", b"jpeg")

    async def test_an_open_page_learns_that_something_else_waits(self, database: Database) -> None:
        async with inbox(database) as g, browser(g, "alice-key") as alice:
            await ask(g)
            before = (await alice.http.get("/inbox/status")).json()
            assert before["waiting"] in (await alice.http.get("/inbox")).text
            await ask(g, asks("Another?"))
            assert (await alice.http.get("/inbox/status")).json() != before
