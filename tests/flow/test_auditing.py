"""The audit can be read and checked: whoever changes the database behind the gateway's back is found out."""

import asyncio

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from answerback.ask import AskRequest
from answerback.auditing import Checked
from answerback.cli.site import site
from answerback.errors import NotFound, Undeliverable
from answerback.history import Event
from answerback.model import Question, QuestionKind
from answerback.settings import ApiKey
from answerback.store.query import Query
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

KEYS = (
    ApiKey("ops", SecretStr("all")),
    ApiKey("asker", SecretStr("asks"), scopes=frozenset({"ask", "read", "answer"})),
    ApiKey("narrow", SecretStr("narrow"), agents=frozenset({"scripted"})),
)

WIPE = Question("q1", "Wipe production?", QuestionKind.CONFIRM)


async def ask(g: Gateway, *questions: Question, **more: object) -> str:
    asked = await g.app.asker.ask(AskRequest(questions or (WIPE,), **more))
    await g.app.idle()
    return asked.interaction.id


async def change(g: Gateway, statement: str, **values: object) -> None:
    """Somebody with a database client."""
    g.tampers = True
    changed = await g.app.context.store.write(lambda tx: tx.run(Query(text(statement)), **values))
    assert changed, "this statement changed nothing, so it proves nothing"


async def found(g: Gateway) -> list[str]:
    """What a check of everything says."""
    return [flaw.what for _, flaw in (await g.app.auditor.check()).flaws]


def client(g: Gateway, key: str = "all") -> httpx.AsyncClient:
    return through(
        site(g.app),
        "http://here",
        headers={"Authorization": f"Bearer {key}"},
    )


async def test_what_the_gateway_wrote_is_whole_however_it_ended(database: Database) -> None:
    agent = ScriptedAgent(asks("Which?"))
    async with gateway(database, agent) as g:
        await g.run()
        await g.types("1001", "this one")  # answered, and given to its agent
        await ask(g)
        await g.taps("1001", "No")
        await ask(g, expires_in=60.0)
        await g.later(61)  # expired
        cancelled = await ask(g)
        await g.app.asker.cancel(cancelled)
        await ask(g)  # still open
        checked = await g.app.auditor.check()
        assert (checked.chains, checked.flaws, checked.next) == (5, (), None)
        assert checked.entries >= 10


TAMPERED = {
    "UPDATE interaction SET answer = replace(answer, 'false', 'true')": (
        "Its record does not hold the answer that was given."
    ),
    "UPDATE interaction SET answered_by = 'ben'": "Its record says that somebody else answered.",
    "UPDATE interaction SET questions = replace(questions, 'production', 'the test server')": (
        "Its record does not hold the question that was asked."
    ),
    "UPDATE interaction SET status = 'pending'": "Its record says “pending”, its entries say “completed”.",
    "UPDATE interaction SET status = 'expired'": "Its record says “expired”, its entries say “completed”.",
    "DELETE FROM interaction": (
        "Its question is gone: a question is erased, but its record is never deleted."
    ),
    "UPDATE audit SET actor = 'ben' WHERE event = 'answered'": (
        "Entry 3 was changed: its hash is not that of what it says."
    ),
    "UPDATE audit SET at = at - 60000000 WHERE event = 'answered'": (
        "Entry 3 was changed: its hash is not that of what it says."
    ),
    "UPDATE audit SET salt = '' WHERE event = 'answered'": (
        "Its record does not hold the answer that was given."
    ),
    "DELETE FROM audit WHERE event = 'asked'": "What was before entry 2 is missing.",
    "DELETE FROM audit WHERE event = 'answered'": ("Its record says “completed”, its entries say “pending”."),
    "DELETE FROM audit": "There is no entry that it was asked.",
}


@pytest.mark.parametrize("statement", TAMPERED)
async def test_whatever_is_changed_behind_its_back_is_found(statement: str, database: Database) -> None:
    async with gateway(database) as g:
        await ask(g)
        await g.taps("1001", "No")
        assert await found(g) == []
        await change(g, statement)
        assert TAMPERED[statement] in await found(g)


async def test_an_answer_put_in_by_hand_is_found(database: Database) -> None:
    """Somebody lets a second answer win, and chains an entry for it as the gateway would."""
    async with gateway(database) as g:
        id = await ask(g)
        await g.taps("1001", "No")
        copied = (
            "INSERT INTO audit "
            "(interaction_id, seq, id, at, event, actor, content_hash, salt, previous, hash) "
            "SELECT interaction_id, 4, id, at, event, 'ben', content_hash, salt, hash, hash FROM audit "
            "WHERE interaction_id = :id AND seq = 3"
        )
        await change(g, copied, id=id)
        assert "It ended with entry 3 and cannot end again." in await found(g)


async def test_what_an_agent_was_told_when_nobody_answered_cannot_be_changed_either(
    database: Database,
) -> None:
    async with gateway(database) as g:
        await ask(g, expires_in=60.0)
        await g.later(61)
        assert await found(g) == []
        await change(g, "UPDATE interaction SET answer = replace(answer, '{}', '{\"q1\"\\:true}')")
        assert await found(g) == ["Its record does not hold what its agent was to be told."]


async def test_one_changed_question_is_found_among_many_whatever_the_pages_are(database: Database) -> None:
    async with gateway(database) as g:
        ids = [await ask(g, asks(f"Question {number}?")) for number in range(7)]
        await change(g, "DELETE FROM audit WHERE interaction_id = :id", id=ids[3])
        await change(g, "DELETE FROM interaction WHERE id = :id", id=ids[5])
        for size in (1, 2, 3, 200):
            pages: list[Checked] = []
            after: str | None = ""
            while after is not None:
                pages.append(await g.app.auditor.check(size, after))
                after = pages[-1].next
            assert sum(page.chains for page in pages) == 7
            assert sum(page.entries for page in pages) == 6 * 2
            assert [id for page in pages for id, _ in page.flaws] == [ids[3], ids[5]]


async def test_while_answers_are_taken_nothing_is_found_that_is_not_there(database: Database) -> None:
    async with gateway(database) as g:
        ids = [await ask(g, asks(f"Question {number}?")) for number in range(40)]

        async def answer(some: list[str]) -> None:
            for id in some:
                await g.app.receiver.respond(id, "yes", by="alice", via="api")

        for first in range(0, len(ids), 8):
            flaws, _ = await asyncio.gather(found(g), answer(ids[first : first + 8]))
            assert flaws == []


async def test_erasing_leaves_an_audit_that_is_whole(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g)
        await g.taps("1001", "No")
        await g.app.eraser.now(id, "ops")
        assert await found(g) == []
        await change(g, "UPDATE interaction SET answered_by = 'ben'")
        assert await found(g) == ["Its record says that somebody else answered."]


async def test_a_damaged_question_that_was_set_aside_is_told_as_such(database: Database) -> None:
    async with gateway(database) as g:
        await ask(g, expires_in=60.0)
        await change(g, "UPDATE interaction SET questions = 'not JSON'")
        await g.later(61)
        assert await found(g) == ["Its record does not hold the question that was asked."]


async def test_law_11_all_entries_are_listed_in_pages_and_tell_nothing_of_what_was_said(
    database: Database,
) -> None:
    async with gateway(database, api_keys=KEYS) as g, client(g) as http:
        ids = [await ask(g, asks("Where is the quokka?")) for _ in range(3)]
        await g.app.receiver.respond(ids[0], "in the numbat", by="alice", via="api")
        whole = (await http.get("/v1/audit?limit=200")).json()
        assert whole["next"] is None
        assert [(entry["interaction_id"], entry["seq"]) for entry in whole["items"]] == [
            *((ids[0], seq) for seq in (1, 2, 3)), *((id, seq) for id in ids[1:] for seq in (1, 2))
        ]  # fmt: skip
        paged, after = [], ""
        while after is not None:
            page = (
                await http.get("/v1/audit", params={"limit": 1} | ({"after": after} if after else {}))
            ).json()
            paged += page["items"]
            after = page["next"]
        assert paged == whole["items"]
        assert set(paged[0]) == {
            "interaction_id", "seq", "id", "at", "event", "actor", "content_hash", "previous", "hash"
        }  # fmt: skip
        assert "quokka" not in str(whole) and "numbat" not in str(whole)


async def test_a_check_over_the_api_says_where_to_go_on(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g, client(g) as http:
        ids = [await ask(g) for _ in range(2)]
        await change(g, "UPDATE audit SET actor = 'ben' WHERE interaction_id = :id AND seq = 1", id=ids[1])
        first = (await http.get("/v1/audit/check?limit=1")).json()
        assert first == {"chains": 1, "entries": 2, "flaws": [], "next": ids[0]}
        second = (await http.get(f"/v1/audit/check?limit=1&after={ids[0]}")).json()
        what = "Entry 1 was changed: its hash is not that of what it says."
        assert second["flaws"] == [{"interaction_id": ids[1], "entry": 1, "what": what}]


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/check"])
async def test_the_audit_of_all_agents_is_for_keys_that_see_all(path: str, database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g:
        async with client(g, "asks") as http:
            assert (await http.get(path)).status_code == 403
        async with client(g, "narrow") as http:
            refused = await http.get(path)
        assert (refused.status_code, refused.json()["detail"]) == (
            403, "The audit is of all agents: use a key that names none."
        )  # fmt: skip


async def told(g: Gateway, id: str) -> list[tuple[str, str, str, str]]:
    return [
        (event.event, event.actor, event.provider, event.kind)
        for event in (await g.app.historian.of(id)).events
    ]


async def test_the_history_of_a_question_tells_where_it_went_and_what_came_back(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g)
        await g.types("1001", "yes but not prod")
        await g.taps("1001", "No")
        await g.sweep()
        events = await told(g, id)
        for wanted in (
            ("asked", "", "", ""),
            ("sent", "alice", "memory", "question"),
            ("reply", "", "memory", "asked again"),
            ("reply", "", "memory", "accepted"),
            ("answered", "alice", "", ""),
            ("sent", "alice", "memory", "outcome"),
        ):
            assert wanted in events
        assert events.index(("reply", "", "memory", "asked again")) < events.index(
            ("answered", "alice", "", "")
        )
        assert (await g.app.historian.of(id)).next_at is None


async def test_the_history_says_why_a_message_did_not_arrive_and_when_the_gateway_goes_on(
    database: Database,
) -> None:
    async with gateway(database) as g:
        g.memory.failures.append(Undeliverable("the person blocked the bot"))
        id = await ask(g, expires_in=3600.0)
        history = await g.app.historian.of(id)
        failed = next(event for event in history.events if event.event == "failed")
        assert (failed.actor, failed.provider, failed.error) == (
            "alice", "memory", "the person blocked the bot"
        )  # fmt: skip
        assert history.next_at == (await g.app.reader.interaction(id)).expires_at


async def test_law_11_the_history_holds_nothing_of_what_was_said(database: Database) -> None:
    async with gateway(database) as g:
        id = await ask(g, asks("Where is the quokka?"))
        await g.types("1001", "with the numbat")
        history = await g.app.historian.of(id)
        assert all(isinstance(event, Event) for event in history.events)
        assert "quokka" not in str(history) and "numbat" not in str(history)


async def test_a_history_is_for_keys_that_see_its_agent(database: Database) -> None:
    async with gateway(database, api_keys=KEYS) as g:
        id = await ask(g)
        async with client(g) as http:
            events = (await http.get(f"/v1/interactions/{id}/history")).json()["events"]
            assert {"event": "asked", "actor": "", "provider": "", "kind": "", "error": ""}.items() <= (
                events[0].items()
            )
            assert (await http.get("/v1/interactions/nothing/history")).status_code == 404
        async with client(g, "narrow") as http:
            assert (await http.get(f"/v1/interactions/{id}/history")).status_code == 404
        with pytest.raises(NotFound):
            await g.app.historian.of("nothing")
