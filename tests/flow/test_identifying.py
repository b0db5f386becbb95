"""A function of the operator's own says who a request is from: over HTTP and in the inbox (law 7)."""

import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from answerback import app as composition
from answerback.caller import Caller, Headers, Request
from answerback.cli.site import site
from answerback.errors import ConfigurationError
from answerback.identify import Identifier
from answerback.model import InteractionStatus, Question, QuestionKind
from answerback.settings import ApiKey, Plugin
from answerback.testing import ScriptedAgent, asks
from tests.flow.test_inbox import OURS, Browser, answer_of, ask, text_of
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway, settings_for
from tests.support.serving import client_of, served

pytestmark = pytest.mark.either_database

PUBLIC = "https://ask.example.org"
KEYS = (ApiKey("ops", SecretStr("ops-key")), ApiKey("bens-desk", SecretStr("ben-key"), contact="ben"))
SECRET = "eyJhbGciOiJIUzI1NiJ9"
WIPE = Question("q1", "Wipe production?", QuestionKind.CONFIRM)
PEOPLE = {
    "alice@example.org": Caller(name="alice@example.org", scopes={"answer"}, contact="alice"),
    "ben@example.org": Caller(name="ben@example.org", scopes={"answer", "read"}, contact="ben"),
    "boss": Caller(name="boss", scopes={"answer", "read"}, operator=True),
    "auditor": Caller(name="auditor", scopes={"read", "admin"}),
    "billing": Caller(name="billing", scopes={"ask", "read", "answer"}, agents={"billing"}, operator=True),
    "gone": Caller(name="gone", scopes={"answer"}, contact="somebody"),
    "ben": Caller(name="ben", scopes={"answer"}, operator=True),  # which is another's id
    "nobody": Caller(name="nobody", scopes=set()),
    "root": Caller(name="root", scopes={"everything"}),
    "ops": Caller(name="ops", scopes={"admin"}),
}


def who(request: Request) -> Caller | None:
    """What a proxy with single sign-on has found out stands in a header."""
    user = request.headers.get("x-user", "")
    if user == "raises":
        raise RuntimeError(f"this token is no good: {request.headers['x-token']}")
    if user == "something else":
        return {"name": user}  # type: ignore[return-value]
    return PEOPLE.get(user)


@contextlib.asynccontextmanager
async def knowing(
    database: Database,
    function: Callable[[Request], Any] = who,
    *agents: ScriptedAgent,
    seconds: float = 60.0,
    **more: object,
) -> AsyncIterator[Gateway]:
    more = {"api_keys": KEYS, "public_url": PUBLIC, "agents": {"billing": Plugin("billing", "x")}, **more}
    async with gateway(database, *agents, **more) as g:
        g.app.identifier = Identifier(function, g.app.context, seconds)
        yield g


@contextlib.asynccontextmanager
async def browser(g: Gateway, user: str = "", **headers: str) -> AsyncIterator[Browser]:
    """Somebody's browser; the proxy adds who they are to whatever it sends."""
    sent = headers | ({"x-user": user} if user else {})
    async with through(site(g.app), PUBLIC, headers=sent) as http:
        yield Browser(http)


async def respond(b: Browser, id: str, value: object, **headers: str) -> httpx.Response:
    return await b.http.post(f"/v1/interactions/{id}/respond", json={"response": value}, headers=headers)


async def audited(g: Gateway, id: str) -> list[tuple[str, str]]:
    """What the audit says of a question: event and actor."""
    entries = (await g.app.auditor.entries(200)).items
    return [(entry.event, entry.actor) for entry in entries if entry.interaction_id == id]


# -- from the configuration


async def test_the_function_that_the_configuration_names_decides(database: Database, tmp_path: Path) -> None:
    source = (
        "from answerback.caller import Caller\n"
        "async def who(request):\n"
        "    if request.headers.get('x-user') == 'ana':\n"
        "        return Caller(name='ana', scopes={'answer'}, contact='alice')\n"
    )
    (tmp_path / "flow_sso.py").write_text(source)
    settings = {"authenticate": "flow_sso:who", "base_dir": str(tmp_path), "public_url": PUBLIC}
    async with gateway(database, api_keys=KEYS, **settings) as g, browser(g, "ana") as ana:
        id = await ask(g)
        assert (await respond(ana, id, "Vienna")).json()["status"] == "success"
        assert await answer_of(g, id) == ("Vienna", "alice", "api")


async def test_nothing_starts_without_the_function_that_is_named(database: Database) -> None:
    with pytest.raises(ConfigurationError, match=r"authenticate: there is no module no_such_module\."):
        composition.build(settings_for(database, authenticate="no_such_module:who"))


# -- the API


async def test_whom_it_knows_answers_as_their_contact_and_the_audit_says_so(database: Database) -> None:
    agent = ScriptedAgent(asks("Which city?"))
    async with knowing(database, who, agent) as g, browser(g, "alice@example.org") as alice:
        run = await g.run()
        (id,) = run.interactions
        assert (await respond(alice, id, "Vienna")).status_code == 200
        await g.settled(run.id)
        assert (await g.app.reader.interaction(id)).answered_by == "alice"
        assert ("answered", "alice") in await audited(g, id)
    assert [answer.text for _, _, answer in agent.journal] == ["Vienna"]


async def test_an_operator_answers_in_their_own_name(database: Database) -> None:
    async with knowing(database) as g, browser(g, "boss") as boss:
        id = await ask(g)
        await respond(boss, id, "Graz")
        assert await answer_of(g, id) == ("Graz", "boss", "api")
        assert ("answered", "boss") in await audited(g, id)


async def test_law_7_they_answer_only_what_they_are_asked_and_only_with_that_scope(
    database: Database,
) -> None:
    async with (
        knowing(database) as g,
        browser(g, "ben@example.org") as ben,
        browser(g, "auditor") as auditor,
        browser(g, "billing") as billing,
    ):
        id = await ask(g)  # of Alice
        refused = await respond(ben, id, "mine now")
        assert (refused.status_code, refused.json()["detail"]) == (
            403,
            "This question is not for Alice.",
        ) or (refused.status_code == 403 and "not for Ben" in refused.json()["detail"])
        assert (await respond(auditor, id, "mine now")).status_code == 403
        assert (await respond(billing, id, "mine now")).status_code == 404
        own = await ask(g, asks("From billing?"), agent="billing")
        listed = (await billing.http.get("/v1/interactions")).json()["items"]
        assert [each["id"] for each in listed] == [own]
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


@pytest.mark.parametrize(
    ("user", "status"),
    [
        ("", 401),
        ("stranger", 401),
        ("alice@example.org, boss", 401),  # as two headers come in: neither counts
        ("gone", 403),
        ("ben", 403),
        ("nobody", 403),
        ("root", 500),
        ("ops", 500),
        ("raises", 500),
        ("something else", 500),
    ],
)
async def test_law_7_whoever_is_not_clearly_somebody_gets_nothing(
    database: Database, caplog: pytest.LogCaptureFixture, user: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    async with knowing(database) as g, browser(g, user, **{"x-token": SECRET}) as somebody:
        id = await ask(g)
        for refused in (
            await respond(somebody, id, "mine now"),
            await somebody.http.get("/v1/interactions"),
            await somebody.http.get("/v1/events"),
            await somebody.http.get(f"/v1/interactions/{id}"),
        ):
            assert refused.status_code == status
            assert refused.headers["content-type"] == "application/problem+json"
            assert "Which city?" not in refused.text and SECRET not in refused.text
        page = await somebody.http.get("/inbox")
        assert "Which city?" not in page.text and "Your key" in text_of(page)
        assert page.status_code == (200 if status == 401 else status)
        posted = await somebody.posts(id, {"q0": "mine now", "proof": ""})
        assert "Your key" in text_of(posted)
        assert (await somebody.http.get("/inbox/status")).status_code == (403 if status == 401 else status)
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING
    said = [record.getMessage() for record in caplog.records if record.name == "answerback.identify"]
    assert bool(said) == (status != 401)
    assert not any(
        word in line for line in said for word in (SECRET, "this token", "everything", "somebody@")
    )


async def test_law_10_a_function_that_hangs_refuses_and_keeps_nobody_else_waiting(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    gate = threading.Event()

    def hangs(request: Request) -> Caller | None:
        gate.wait(30)
        return PEOPLE["boss"]

    async with knowing(database, hangs, seconds=0.05) as g, browser(g) as somebody:
        id = await ask(g)
        late = await respond(somebody, id, "Vienna")
        assert late.status_code == 503 and late.headers["retry-after"]
        assert "Try again." in late.json()["detail"]
        page = await somebody.http.get("/inbox")
        assert page.status_code == 503 and "I could not find out who you are." in text_of(page)
        by_key = await respond(somebody, id, "Graz", authorization="Bearer ben-key")
        assert by_key.status_code == 403  # known at once, and not who is asked
        assert (await respond(somebody, id, "Graz", authorization="Bearer ops-key")).status_code == 200
        gate.set()
        assert await answer_of(g, id) == ("Graz", "ops", "api")
    assert "did not answer within 0.05 s" in caplog.text


async def test_law_7_whoever_sends_a_key_too_has_the_powers_of_the_key_alone(database: Database) -> None:
    narrow = ApiKey("narrow", SecretStr("read-key"), scopes=frozenset({"read"}))
    async with knowing(database, api_keys=(*KEYS, narrow)) as g, browser(g, "boss") as boss:
        id = await ask(g)
        assert (await respond(boss, id, "x", authorization="Bearer read-key")).status_code == 403
        assert (await respond(boss, id, "x", authorization="Bearer ben-key")).status_code == 403
        assert (await respond(boss, id, "x", authorization="Bearer no-key")).status_code == 200


async def test_they_follow_what_happens(database: Database) -> None:
    async with (
        knowing(database) as g,
        served(g.app) as url,
        client_of(url, {"x-user": "auditor"}) as http,
        http.stream("GET", "/v1/events") as stream,
    ):
        assert stream.status_code == 200
        lines = stream.aiter_lines()
        assert (await anext(lines)).startswith("retry:")
        id = await ask(g)
        async for line in lines:
            if line.startswith("data: "):
                assert id in line
                break


async def test_law_7_it_opens_no_form_and_no_webhook(database: Database) -> None:
    async with knowing(database, form_auth="code") as g, browser(g, "boss") as boss:
        id = await ask(g, WIPE)
        token = g.memory.shown[-1].message.token
        page = await boss.http.get(f"/f/{token}")
        assert "six digits" in page.text  # whoever they are, the link alone is not enough
        assert (await boss.http.get("/f/aaaaaaaaaaaaaaaaaaaaaaaaaa")).status_code == 404
        assert (await boss.http.post("/in/nothing", content=b"{}")).status_code == 404
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


# -- the inbox


async def test_the_inbox_opens_for_whom_it_knows_and_takes_their_answer(database: Database) -> None:
    async with knowing(database) as g, browser(g, "alice@example.org") as alice:
        id = await ask(g)
        await ask(g, asks("For Ben?"), ask=("ben",))
        page = await alice.http.get("/inbox")
        assert "Which city?" in text_of(page) and "For Ben?" not in text_of(page)
        assert "Alice" in text_of(page) and "Sign out" not in text_of(page)
        assert "set-cookie" not in page.headers
        assert len((await alice.http.get("/inbox/status")).json()["waiting"]) == 16
        done = await alice.presses(id, q0="Vienna")
        assert "✅ You wrote “Vienna”" in text_of(done)
        assert await answer_of(g, id) == ("Vienna", "alice", "inbox")
        assert ("answered", "alice") in await audited(g, id)


async def test_an_operator_sees_all_of_it_and_who_may_not_answer_is_told(database: Database) -> None:
    async with (
        knowing(database) as g,
        browser(g, "boss") as boss,
        browser(g, "auditor") as auditor,
        browser(g, "billing") as billing,
    ):
        await ask(g)
        await ask(g, asks("From billing?"), agent="billing")
        page = await boss.sees()
        assert "Which city?" in page and "From billing?" in page and "Alice, memory: sent" in page
        assert "From billing?" in await billing.sees() and "Which city?" not in await billing.sees()
        refused = await auditor.http.get("/inbox")
        assert refused.status_code == 403 and "you may not answer questions here" in text_of(refused)


async def test_law_5_looking_changes_nothing(database: Database) -> None:
    async with knowing(database) as g, browser(g, "alice@example.org") as alice:
        id = await ask(g)
        before = await audited(g, id)
        for path in (
            "/inbox",
            f"/inbox?done={id}",
            f"/inbox/{id}",
            "/inbox/status",
            f"/v1/interactions/{id}",
        ):
            await alice.http.get(path)
            await alice.http.head(path)
        assert await audited(g, id) == before
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


async def test_a_page_of_another_site_can_answer_nothing_in_their_name(database: Database) -> None:
    """The proxy knows them by a cookie, which their browser sends whoever has it send something."""
    async with (
        knowing(database) as g,
        browser(g, "alice@example.org") as alice,
        browser(g, "ben@example.org") as ben,
    ):
        id = await ask(g)
        await ask(g, ask=("ben",))
        proof, of_ben = await alice.proof(), await ben.proof()
        assert proof != of_ben
        fields = {"proof": proof, "q0": "Vienna"}
        for headers in (
            {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
            {"sec-fetch-site": "same-site"},
            {"origin": "https://evil.example"},
        ):
            refused = await alice.http.post(f"/inbox/{id}", data=fields, headers=headers)
            assert refused.status_code == 403
        for forged in ("", "0" * 64, of_ben):  # nobody else's, from a browser that says nothing
            refused = await alice.http.post(f"/inbox/{id}", data={**fields, "proof": forged})
            assert refused.status_code == 403
        assert (await g.app.reader.interaction(id)).status is InteractionStatus.PENDING


async def test_a_page_may_stay_open_over_night_and_not_for_longer(database: Database) -> None:
    async with knowing(database) as g, browser(g, "alice@example.org") as alice:
        id, other = await ask(g), await ask(g)
        proof = await alice.proof()
        g.clock.advance(86_400)
        assert (await alice.posts(id, {"proof": proof, "q0": "Vienna"})).status_code == 200
        g.clock.advance(86_400)
        late = await alice.posts(other, {"proof": proof, "q0": "Vienna"})
        assert late.status_code == 403 and "press the button once more" in text_of(late)
        assert 'value="Vienna"' in late.text or "Vienna</textarea>" in late.text  # what was typed stays


async def test_who_has_signed_in_with_a_key_stays_who_they_are(database: Database) -> None:
    """The function is not asked: not even one that fails ends their session."""
    async with knowing(database) as g, browser(g, "alice@example.org") as both:
        await ask(g)
        await ask(g, asks("For Ben?"), ask=("ben",))
        await both.http.post("/inbox/sign-in", data={"key": "ben-key"}, headers=OURS)
        both.http.headers["x-user"] = "raises"
        both.http.headers["x-token"] = SECRET
        page = await both.sees()
        assert "For Ben?" in page and "Which city?" not in page and "Sign out" in page
        both.http.headers["x-user"] = "alice@example.org"
        await both.http.post("/inbox/sign-out", headers=OURS)
        assert "Which city?" in await both.sees()


# -- the document


async def test_the_example_of_the_document_knows_whom_the_proxy_knows(database: Database) -> None:
    text = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    source = next(block for block in text.split("```python\n")[1:] if "def who(" in block).partition("```")[0]
    module: dict[str, Any] = {}
    exec(compile(source, "security.md", "exec"), module)  # noqa: S102 - our own text
    async with knowing(database, module["who"]) as g, browser(g) as alice:
        id = await ask(g)
        assert (await respond(alice, id, "x")).status_code == 401
        alice.http.headers["x-auth-user"] = "alice@example.org"
        assert (await respond(alice, id, "Vienna")).status_code == 200
        assert await answer_of(g, id) == ("Vienna", "alice", "api")
        elsewhere = Request("GET", "/inbox", Headers({"x-auth-user": "alice@example.org"}), "192.0.2.7")
        assert module["who"](elsewhere) is None
