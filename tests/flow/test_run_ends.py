"""After a run: "Open" shows the person all of it, and "Try again" has a failed one tried again, once."""

import asyncio
import re

import httpx
import pytest
from sqlalchemy import bindparam, text

from answerback.agent import Failed, Finished, Paused, State
from answerback.app import App
from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.errors import AgentUnavailable, Conflict, NotAllowed, NotFound
from answerback.model import Address, Contact, InteractionStatus, Json, RunStatus
from answerback.provider import Message
from answerback.settings import Plugin, Route
from answerback.store import Tx, contacts, deliveries
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

pytestmark = pytest.mark.either_database

PUBLIC = "https://ask.example.org"
REPORT = "12 passages.\n\n## <b>First</b>\n" + "All about coding practices. " * 60 + "\nThe end."
BOTH = {"default": Route("default", ask=("alice", "ben"), providers=("memory",), at_once=True)}


class Ends(ScriptedAgent):
    """Its result is what it is given; tried again, it does what it is told to, or asks once more."""

    def __init__(self, *steps: object, result: Json = None, then: State | Exception | None = None) -> None:
        super().__init__(*steps)
        self.result, self.then, self.tried = result, then, 0

    def _enter(self, thread: str, found: object) -> State:
        state = super()._enter(thread, found)
        return Finished(self.result) if isinstance(state, Finished) and self.result is not None else state

    async def retry(self, thread: str) -> State:
        self.tried += 1
        if isinstance(self.then, Exception):
            raise self.then
        return self.then or Paused(await self.pending(thread))


def page(app: App) -> httpx.AsyncClient:
    return through(site(app), PUBLIC)


def told(g: Gateway, who: str = "1001") -> Message:
    """The newest message on somebody's phone that says how a run ended."""
    found = [
        each.message
        for each in g.memory.shown
        if each.message.to.place == who and each.message.kind == "notice"
    ]
    return found[-1]


def labels(message: Message) -> list[str]:
    return [button.label for button in message.buttons]


def token_of(message: Message) -> str:
    return message.form_url.rpartition("/")[2]


def proof_in(html: str) -> str:
    found = re.search(r'name="proof" value="([0-9a-f]+)"', html)
    assert found is not None
    return found[1]


async def failed(g: Gateway, **more: object) -> str:
    """The id of a run that has failed with its only answer."""
    run = await g.run(**more)
    await g.types("1001", "fail")
    run = await g.settled(run.id)
    assert run.status is RunStatus.FAILED
    return run.id


async def status(g: Gateway, id: str) -> RunStatus:
    """How it stands a second later, when what was due is done."""
    await g.later(1)
    return (await g.settled(id)).status


# -- open


async def test_what_a_message_shows_whole_has_nothing_to_open_and_no_token(database: Database) -> None:
    async with gateway(database, Ends(asks("Which?"), result={"report": "Short."}), public_url=PUBLIC) as g:
        await g.run()
        await g.types("1001", "a")
        message = told(g)
        assert (message.title, message.buttons, message.form_url) == ("📄 Report ready: Short.", (), "")
        (row,) = await g.app.context.store.read(
            lambda tx: tx.all(Query(text("SELECT token_hash FROM delivery WHERE kind = 'notice'")))
        )
        assert row["token_hash"] == ""


async def test_open_leads_to_the_whole_result_and_to_what_was_asked(database: Database) -> None:
    agent = Ends(asks("Which <term>?", "Coding", "Costing"), result={"report": REPORT, "count": 12})
    async with gateway(database, agent, public_url=PUBLIC) as g, page(g.app) as browser:
        await g.run()
        await g.taps("1001", "Coding")
        message = told(g)
        assert labels(message) == ["Open"]
        (button,) = message.buttons
        assert button.url == message.form_url and button.url.startswith(f"{PUBLIC}/f/")
        assert "The end." not in message.text and message.token == ""
        before = await g.app.context.store.read(everything)
        shown = await browser.get(button.url)
        assert (await browser.head(button.url)).status_code == 200
        assert shown.status_code == 200
        assert "<h1" in shown.text and "Scripted is done." in shown.text
        assert "12 passages.\n\n&lt;b&gt;First&lt;/b&gt;\n" in shown.text and "The end." in shown.text
        assert '<dt dir="auto">Count</dt><dd dir="auto">12</dd>' in shown.text
        assert "Which &lt;term&gt;?" in shown.text and "You chose “Coding” on memory" not in shown.text
        assert "You chose “Coding”" in shown.text
        assert "<form" not in shown.text and "set-cookie" not in shown.headers
        assert "no-store" in shown.headers["cache-control"]
        assert await g.app.context.store.read(everything) == before


def everything(tx: Tx) -> list[dict[str, object]]:
    """All that a look could have changed (law 5)."""
    tables = ("run", "interaction", "delivery", "audit", "reply")
    return [row for name in tables for row in tx.all(Query(text(f"SELECT * FROM {name}")))]  # noqa: S608


async def test_on_a_page_of_this_machine_the_link_stands_in_the_text(database: Database) -> None:
    async with gateway(database, Ends(asks("Which?"), result=REPORT)) as g:
        await g.run()
        await g.types("1001", "a")
        message = told(g)
        assert message.buttons == ()
        assert message.body.endswith(f"\n\nMore here: {message.form_url}")


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("de", "Scripted ist fertig.", "Was gefragt wurde"),
        ("fr", "Scripted a terminé.", "Ce qui a été demandé"),
        ("es", "Scripted terminó.", "Lo que se preguntó"),
        ("zh", "Scripted 已完成。", "问过的问题"),
    ],
)
async def test_the_page_is_in_the_person_s_language(
    database: Database, language: str, said: str, asked: str
) -> None:
    people = {"ana": Contact("ana", "Ana", language, addresses=(Address("memory", "1001", "1001"),))}
    routes = {"default": Route("default", ask=("ana",), providers=("memory",))}
    given = {"contacts": people, "routes": routes, "public_url": PUBLIC}
    async with gateway(database, Ends(asks("Which?"), result=REPORT), **given) as g, page(g.app) as browser:
        await g.run()
        await g.types("1001", "a")
        shown = (await browser.get(told(g).form_url)).text
        assert f'lang="{language}"' in shown and said in shown and asked in shown


async def test_a_link_that_is_no_run_s_shows_none_and_a_run_s_link_is_no_form_and_no_notice(
    database: Database,
) -> None:
    async with gateway(database, Ends(asks("Which?"), result=REPORT), public_url=PUBLIC) as g:
        await g.run()
        question = g.memory.shown[-1].message.token
        await g.types("1001", "a")
        token = token_of(told(g))
        assert (await g.app.endings.view(token)).result == REPORT
        for other in ("", "x", "a" * 26, question, token[:-1] + ("a" if token[-1] != "a" else "b")):
            with pytest.raises(NotFound):
                await g.app.endings.view(other)
            with pytest.raises(NotFound):
                await g.app.endings.retry(other)
        with pytest.raises(NotFound):
            await g.app.forms.view(token)
        with pytest.raises(NotFound):
            await g.app.notices.page(token)


async def test_a_sensitive_question_and_what_somebody_else_was_asked_are_not_shown(
    database: Database,
) -> None:
    agent = Ends(asks("Xopen?"), asks("Xsecret?"), asks("Xother?"), result=REPORT)
    async with gateway(database, agent, public_url=PUBLIC) as g, page(g.app) as browser:
        run = await g.run()
        for answer in ("one", "Xanswer", "three"):
            await g.types("1001", answer)
        _, secret, other = (await g.settled(run.id)).interactions
        await g.app.context.store.write(lambda tx: tx.run(SECRET, key=secret))
        await g.app.context.store.write(lambda tx: tx.run(BENS, key=other))
        shown = (await browser.get(told(g).form_url)).text
        assert "Xopen?" in shown and "You wrote “one”" in shown
        code = (await g.app.reader.interaction(secret)).code
        assert f"#{code}" in shown and "You answered" in shown
        assert not any(word in shown for word in ("Xsecret", "Xanswer", "Xother", "three"))
        await g.app.context.store.write(lambda tx: tx.run(PLAIN, key=secret))


SECRET = Query(text("UPDATE interaction SET sensitive = 1 WHERE id = :key"))
PLAIN = Query(text("UPDATE interaction SET sensitive = 0 WHERE id = :key"))
BENS = Query(text("UPDATE delivery SET contact_id = 'ben' WHERE interaction_id = :key"))


async def test_an_erased_run_says_that_nothing_of_it_is_kept(database: Database) -> None:
    day = 86_400.0
    agent = Ends(asks("Xasked?"), result=REPORT)
    async with gateway(database, agent, public_url=PUBLIC, retention=30 * day) as g, page(g.app) as browser:
        await g.run()
        await g.types("1001", "Xanswer")
        link = told(g).form_url
        await g.later(31 * day)
        await g.app.eraser.sweep()
        shown = await browser.get(link)
        assert shown.status_code == 200
        assert "Scripted is done." in shown.text
        assert "What came out of it is not kept any more." in shown.text
        assert not any(word in shown.text for word in ("passages", "Xasked", "Xanswer"))


async def test_the_page_says_how_the_run_stands_meanwhile(database: Database) -> None:
    async with gateway(database, Ends(asks("Which?")), public_url=PUBLIC) as g, page(g.app) as browser:
        id = await failed(g)
        link = told(g).form_url

        async def said() -> str:
            html = (await browser.get(link)).text
            return re.findall(r"<h1[^>]*>([^<]*)</h1>", html)[0]

        assert await said() == "Scripted stopped."
        assert "ValueError: told to fail" in (await browser.get(link)).text
        await g.app.runner.retry(id)
        await g.settled(id)
        assert await said() == "Scripted is waiting for an answer."
        await g.app.runner.cancel(id)
        assert await said() == "Scripted was stopped."
        html = (await browser.get(link)).text
        assert "told to fail" not in html and "<form" not in html


# -- try again, by a tap


async def test_a_tap_has_a_failed_run_tried_again_and_it_goes_on(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        assert labels(told(g)) == ["Open", "Try again"]
        await g.taps("1001", "Try again")
        assert g.memory.titles("1001")[-1] == "Scripted tries it again."
        assert await status(g, id) is RunStatus.WAITING
        assert agent.tried == 1
        await g.types("1001", "better")
        assert (await g.settled(id)).result == ["better"]


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (None, "Scripted is waiting for an answer."),
        (Finished("ok"), "Scripted is done."),
        (
            Failed("no."),
            "It was tried again meanwhile, and it stopped again. Please use the newest message.",
        ),
    ],
)
async def test_a_second_tap_tries_nothing_and_says_how_it_stands(
    database: Database, then: State | None, said: str
) -> None:
    agent = Ends(asks("Which?"), then=then)
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        first, second = g.memory.tapped("1001", "Try again"), g.memory.tapped("1001", "Try again")
        await g.receive(first)
        await status(g, id)
        await g.receive(second)
        await g.receive(second)  # the service sends it once more
        assert await status(g, id) is not RunStatus.RUNNING
        assert agent.tried == 1
        assert [title for title in g.memory.titles("1001") if title == said] == [said]


async def test_law_2_taps_at_the_same_time_try_it_once(database: Database) -> None:
    agent = Ends(asks("Which?"), then=Finished("ok"))
    async with gateway(database, agent, public_url=PUBLIC, routes=BOTH) as g:
        id = await failed(g)
        taps = [g.memory.tapped(who, "Try again") for who in ("1001", "2002", "1001", "2002")]
        await asyncio.gather(*(g.app.receiver.webhook("memory", tap) for tap in taps))
        assert await status(g, id) is RunStatus.COMPLETED
        assert agent.tried == 1
        said = g.memory.titles("1001") + g.memory.titles("2002")
        assert (
            said.count("Scripted tries it again."),
            said.count("Scripted is working on it right now."),
        ) == (
            1,
            3,
        )


async def test_of_a_run_that_failed_again_the_newest_message_tries_it_once_more(database: Database) -> None:
    agent = Ends(asks("Which?"), then=Failed("Still no."))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        old = g.memory.tapped("1001", "Try again")
        await g.taps("1001", "Try again")
        assert await status(g, id) is RunStatus.FAILED
        assert told(g).title == "⚠️ Scripted stopped: Still no."
        await g.receive(old)
        assert await status(g, id) is RunStatus.FAILED
        assert agent.tried == 1
        agent.then = Finished("at last")
        await g.taps("1001", "Try again")
        assert await status(g, id) is RunStatus.COMPLETED


async def test_a_cancelled_run_is_not_tried_again(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        await g.app.runner.cancel(id)
        await g.taps("1001", "Try again")
        assert g.memory.titles("1001")[-1] == "Scripted was stopped."
        assert (await status(g, id), agent.tried) == (RunStatus.CANCELLED, 0)


async def test_law_7_somebody_else_s_tap_and_a_stranger_s_try_nothing(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        data = next(button.data for button in told(g).buttons if button.data)
        said = len(g.memory.shown)
        for who, place in (("2002", "2002"), ("2002", "1001"), ("6666", "6666"), ("6666", "1001")):
            await g.receive(g.memory._event(sender=who, place=place, data=data, private=place == who))
        assert [toast for _, toast in g.memory.toasts[-4:]] == ["This is for Alice."] * 4
        assert (await status(g, id), agent.tried, len(g.memory.shown)) == (RunStatus.FAILED, 0, said)


async def test_law_7_an_account_that_is_somebody_else_s_by_now_tries_nothing(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        tap, token = g.memory.tapped("1001", "Try again"), token_of(told(g))
        moved = Query(
            contacts.A.update().where(contacts.A.c.external_id == bindparam("of")).values(contact_id="ben")
        )
        await g.app.context.store.write(lambda tx: tx.run(moved, of="1001"))
        await g.receive(tap)
        assert not (await g.app.endings.view(token)).retry
        with pytest.raises(NotAllowed):
            await g.app.endings.retry(token)
        assert (await status(g, id), agent.tried) == (RunStatus.FAILED, 0)


async def test_a_token_of_something_else_tries_nothing(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        await g.run()
        question = g.memory.shown[-1].message.token
        for data in (f"{question}:retry", f"{question}:open", "nonsense:retry", ":retry"):
            await g.receive(g.memory._event(sender="1001", data=data))
        assert [each.value for each, _ in g.memory.toasts[-4:]] == ["not allowed"] * 4
        (record,) = (await g.app.reader.interactions()).items
        assert (record.status, agent.tried) == (InteractionStatus.PENDING, 0)


async def test_law_1_what_comes_to_a_run_s_own_token_answers_no_question(database: Database) -> None:
    """A mail to the address of such a message, or a button that was never there."""
    async with gateway(database, Ends(asks("Which?")), public_url=PUBLIC) as g:
        await failed(g)
        token = token_of(told(g))
        asked = await g.app.asker.ask(AskRequest((asks("Wipe?", confirm=True),)))
        await g.app.idle()
        await g.types("1001", "yes", token=token)
        await g.receive(g.memory._event(sender="1001", data=f"{token}:0.y"))
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.status is InteractionStatus.PENDING


async def test_an_answer_that_could_not_be_given_is_what_a_tap_tries_again(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        run = await g.run()
        agent.failures = [RuntimeError("a bug in the adapter") for _ in range(10)]
        await g.types("1001", "kept")
        for _ in range(15):
            await g.later(600)
        assert (await g.settled(run.id)).status is RunStatus.FAILED
        await g.taps("1001", "Try again")
        assert await status(g, run.id) is RunStatus.COMPLETED
        assert (await g.settled(run.id)).result == ["kept"]
        assert agent.tried == 0


async def test_a_try_that_cannot_even_begin_is_told_too(database: Database) -> None:
    agent = Ends(asks("Which?"), then=Conflict("The thread is gone."))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        await g.taps("1001", "Try again")
        assert await status(g, id) is RunStatus.FAILED
        assert told(g).title == "⚠️ Scripted stopped: The thread is gone."


async def test_law_3_a_tap_that_is_committed_is_done_by_the_next_process(database: Database) -> None:
    async with gateway(database, Ends(asks("Which?")), public_url=PUBLIC) as g:
        id = await failed(g)
        await g.taps("1001", "Try again")  # and this process ends before anything is begun
        clock = g.clock
    agent = Ends(asks("Which?"), then=Finished("done by another"))
    async with gateway(database, agent, public_url=PUBLIC, clock=clock) as g:
        assert await status(g, id) is RunStatus.COMPLETED
        assert agent.tried == 1


class Away(Ends):
    """It cannot be begun until it is back."""

    def __init__(self, *steps: object) -> None:
        super().__init__(*steps)
        self.is_away, self.inputs = True, list[Json]()

    async def start(self, thread: str, input: Json, run: str = "") -> State:
        if self.is_away:
            raise AgentUnavailable("its disk is full")
        self.inputs.append(input)
        return await super().start(thread, input, run)

    async def retry(self, thread: str) -> State:
        return await ScriptedAgent.retry(self, thread)


async def test_what_never_began_begins_when_whoever_started_it_has_it_tried_again(
    database: Database,
) -> None:
    agent = Away(asks("Which tea?"))
    may = {"scripted": Plugin("scripted", "x", may_start=("alice",), input_key="topic")}
    async with gateway(database, agent, agents=may, public_url=PUBLIC) as g:
        await g.types("1001", "run scripted tea")
        for _ in range(12):
            await g.later(7200)
        assert told(g).title == "⚠️ Scripted stopped: its disk is full"
        agent.is_away = False
        await g.taps("1001", "Try again")
        await g.later(1)
        assert g.memory.titles("1001")[-2:] == ["Scripted tries it again.", "Which tea?"]
        assert agent.inputs == [{"topic": "tea"}]


# -- try again, on the page


async def test_the_page_has_a_failed_run_tried_again_once(database: Database) -> None:
    agent = Ends(asks("Which?"), then=Finished("ok"))
    async with gateway(database, agent, public_url=PUBLIC) as g, page(g.app) as browser:
        id = await failed(g)
        link = told(g).form_url
        shown = await browser.get(link)
        assert ">Try again</button>" in shown.text
        fields = {"proof": proof_in(shown.text)}
        done = await browser.post(link, data=fields)
        assert (done.status_code, done.headers["location"]) == (303, f"./{token_of(told(g))}")
        late = await browser.post(link, data=fields)
        assert late.status_code == 409 and "Scripted is working on it right now." in late.text
        assert await status(g, id) is RunStatus.COMPLETED
        late = await browser.post(link, data=fields)
        assert late.status_code == 409 and "Scripted is done." in late.text
        assert agent.tried == 1
        events = await g.app.context.store.read(
            lambda tx: tx.all(Query(text("SELECT event, actor FROM audit WHERE event = 'replayed'")))
        )
        assert events == [{"event": "replayed", "actor": "alice"}]


async def test_a_post_that_is_not_from_our_page_tries_nothing(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g:
        id = await failed(g)
        link = told(g).form_url
        async with page(g.app) as browser, page(g.app) as other:
            proof = proof_in((await browser.get(link)).text)
            await other.get(link)
            attempts = [
                await other.post(link, data={"proof": proof}),
                await browser.post(link, data={"else": "1"}),
                await browser.post(link, data={"proof": "0" * 64}),
                await browser.post(link, data={"proof": proof}, headers={"sec-fetch-site": "cross-site"}),
                await browser.post(link, data={"proof": proof}, headers={"origin": "https://evil.example"}),
            ]
            assert [each.status_code for each in attempts] == [403] * 5
            assert "Please press the button once more." in attempts[1].text
            wrong = await browser.post(link, json={"proof": proof})
            assert wrong.status_code == 415
        assert (await status(g, id), agent.tried) == (RunStatus.FAILED, 0)


async def test_an_older_message_s_page_does_not_try_what_failed_again(database: Database) -> None:
    agent = Ends(asks("Which?"), then=Failed("Still no."))
    async with gateway(database, agent, public_url=PUBLIC) as g, page(g.app) as browser:
        id = await failed(g)
        link = told(g).form_url
        await g.taps("1001", "Try again")
        assert await status(g, id) is RunStatus.FAILED
        html = (await browser.get(link)).text
        assert "Please use the newest message." in html and "<form" not in html
        with pytest.raises(Conflict):
            await g.app.endings.retry(link[-26:])
        assert agent.tried == 1


async def test_where_something_was_confirmed_the_link_takes_a_code_and_a_tap_does_not(
    database: Database,
) -> None:
    agent = Ends(asks("Wipe?", confirm=True), asks("Which?"), then=Finished("ok"))
    given = {"public_url": PUBLIC, "form_auth": "code"}
    async with gateway(database, agent, **given) as g, page(g.app) as browser:
        run = await g.run()
        await g.taps("1001", "Yes")
        await g.types("1001", "fail")
        assert (await g.settled(run.id)).status is RunStatus.FAILED
        link = told(g).form_url
        shown = await browser.get(link)
        assert ">Try again</button>" not in shown.text and ">Send me a code</button>" in shown.text
        fields = {"proof": proof_in(shown.text)}
        assert (await browser.post(link, data=fields)).status_code == 422
        with pytest.raises(NotAllowed):
            await g.app.endings.retry(link[-26:])
        sent = await browser.post(link, data=fields | {"send-code": "1"})
        assert sent.headers["location"].endswith("?code=sent")
        await g.app.idle()
        (code,) = re.findall(r"\d{6}", g.memory.titles("1001")[-1])
        assert "Six-digit code" in (await browser.get(f"{link}?code=sent")).text
        soon = await browser.post(link, data=fields | {"send-code": "1"})
        assert soon.status_code == 409 and "half a minute" in soon.text
        wrong = await browser.post(link, data=fields | {"code": "000000" if code != "000000" else "1"})
        assert wrong.status_code == 403 and "This code is not right" in wrong.text
        assert (await status(g, run.id), agent.tried) == (RunStatus.FAILED, 0)
        assert (await browser.post(link, data=fields | {"code": code})).status_code == 303
        assert (await status(g, run.id), agent.tried) == (RunStatus.COMPLETED, 1)


async def test_a_link_that_went_to_nobody_in_particular_tries_nothing(database: Database) -> None:
    agent = Ends(asks("Which?"))
    async with gateway(database, agent, public_url=PUBLIC) as g, page(g.app) as browser:
        id = await failed(g)
        link = told(g).form_url
        nobody = Query(deliveries.D.update().where(deliveries.D.c.kind == "notice").values(contact_id=""))
        await g.app.context.store.write(lambda tx: tx.run(nobody))
        html = (await browser.get(link)).text
        assert "Scripted stopped." in html and "<form" not in html
        with pytest.raises(NotAllowed):
            await g.app.endings.retry(link[-26:])
        with pytest.raises(NotAllowed):
            await g.app.endings.send_code(link[-26:])
        assert (await status(g, id), agent.tried) == (RunStatus.FAILED, 0)
