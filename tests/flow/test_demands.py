"""Law 8: what a question demands of its answer is checked before it counts, whatever way it comes in."""

import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import bindparam, update

from answerback.agent import Paused, Pending, State
from answerback.ask import AskRequest
from answerback.cli import question as terminal
from answerback.cli.site import site
from answerback.model import (
    Attachment,
    Choice,
    Contact,
    InteractionStatus,
    OnExpire,
    Question,
    QuestionKind,
    RunStatus,
    Written,
)
from answerback.provider import Inbound, ProviderContext, Receipt, Reply
from answerback.settings import ApiKey, Hitl
from answerback.store.query import Query
from answerback.tables import InteractionRow
from answerback.testing import MemoryProvider, ScriptedAgent
from answerback.uploads import Upload
from answerback_providers.console.wording import shown
from answerback_providers.default import Default
from answerback_providers.llm.asking import prompt_of
from answerback_providers.llm.settings import LLMSettings
from answerback_providers.scripted import Scripted
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import ALICE, Gateway, gateway
from tests.support.stand_ins import Stand, ask, routed

pytestmark = pytest.mark.either_database

CODE = Question(
    "q1",
    "Which code?",
    demands={"minLength": 4, "maxLength": 4, "pattern": "^[A-Z]+$", "examples": ["KQZX"]},
)
MAIL = Question("q2", "Whose mail?", demands={"format": "email"})
PAIRS = Question("q3", "How many?", QuestionKind.NUMBER, whole=True, minimum=2, demands={"multipleOf": 2})
PLACE = Question(
    "q4",
    "Where?",
    demands={
        "type": "object",
        "properties": {"zip": {"type": "string", "minLength": 4}},
        "required": ["zip"],
    },
    written=Written.JSON,
)
SOME = Question(
    "q5", "Which?", QuestionKind.CHOICES, (Choice("a", "A"), Choice("b", "B")), demands={"minItems": 2}
)
EVERY = (CODE, MAIL, PAIRS, PLACE, SOME)
HINT = "Write exactly 4 characters. Write it like KQZX."
OLD = Query(
    update(InteractionRow.__table__)  # type: ignore[attr-defined]
    .where(InteractionRow.__table__.c.id == bindparam("key"))  # type: ignore[attr-defined]
    .values(questions=bindparam("questions_"))
)


def web(g: Gateway) -> httpx.AsyncClient:
    headers = {"authorization": "Bearer all"}
    return through(site(g.app), "http://127.0.0.1:8700", headers=headers)


KEYS = {"api_keys": (ApiKey("all", SecretStr("all")),)}
CONTEXT = ProviderContext()


class Sending(MemoryProvider):
    """Whatever is typed comes with a photo."""

    def parse(self, inbound: Inbound) -> list[Reply | Receipt]:
        photo = (Attachment("f1", "photo.jpg"),)
        return [
            replace(each, attachments=photo) for each in super().parse(inbound) if isinstance(each, Reply)
        ]


async def status(g: Gateway, id: str) -> InteractionStatus:
    return (await g.app.reader.interaction(id)).status


# -- messages


async def test_a_message_says_what_is_demanded_and_then_what_is_wrong(database: Database) -> None:
    agent = ScriptedAgent(CODE)
    async with gateway(database, agent) as g:
        run = await g.run()
        assert g.memory.shown[0].message.body == HINT
        for text, need in [
            ("KQZ", "Write exactly 4 characters."),
            ("kqzx", "Write it like KQZX."),
            ("KQZX.", "Write exactly 4 characters."),
        ]:
            await g.types("1001", text)
            assert g.memory.titles("1001")[-1] == f"“{text}” does not fit. {need}"
            assert agent.journal == [] and (await g.settled(run.id)).status is RunStatus.WAITING
        await g.types("1001", "KQZX")
        assert (await g.settled(run.id)).result == ["KQZX"]
        ((_, _, answer),) = agent.journal
        assert (answer.values, answer.text) == ({"q1": "KQZX"}, "KQZX")


async def test_it_is_told_in_the_language_of_who_wrote(database: Database) -> None:
    anna = Contact("alice", "Anna", language="de", addresses=ALICE.addresses)
    async with gateway(database, ScriptedAgent(PAIRS), contacts={"alice": anna}) as g:
        await g.run()
        body = "Schreiben Sie eine Zahl: mindestens 2. Schreiben Sie ein Vielfaches von 2."
        assert g.memory.shown[0].message.body == body
        await g.types("1001", "7")
        assert g.memory.titles("1001")[-1] == "„7“ passt nicht. Schreiben Sie ein Vielfaches von 2."


async def test_the_choices_that_are_too_few_are_asked_for_again(database: Database) -> None:
    async with gateway(database, ScriptedAgent(SOME)) as g:
        run = await g.run()
        await g.types("1001", "1")
        assert g.memory.titles("1001")[-1] == "“1” does not fit. How many: at least 2."
        await g.types("1001", "1, 2")
        assert (await g.settled(run.id)).result == [["a", "b"]]


@pytest.mark.parametrize("files", [True, False])
async def test_a_photo_for_several_questions_is_told_whether_it_can_be_sent_on_the_form(
    database: Database, files: bool
) -> None:
    optional = Question("q2", "What else?", required=False)
    questions = tuple(replace(each, files=files) for each in (CODE, optional))
    async with gateway(database, ScriptedAgent(), providers={"memory": Sending()}) as g:
        await g.app.asker.ask(AskRequest(questions))
        await g.app.idle()
        link = g.memory.shown[-1].message.form_url
        await g.types("1001", "here it is")
        said = g.memory.titles("1001")[-1]
        assert said.startswith("There are several questions") and said.endswith(link)
        assert ("files do not reach the agent" in said) is not files


async def test_a_photo_is_no_code(database: Database) -> None:
    async with gateway(database, ScriptedAgent(CODE), providers={"memory": Sending()}) as g:
        run = await g.run()
        await g.types("1001", "")
        assert g.memory.titles("1001")[-1].startswith("I found no answer in your message.")
        assert (await g.settled(run.id)).status is RunStatus.WAITING


# -- the API


@pytest.mark.parametrize(
    ("question", "wrong", "why", "right"),
    [
        (CODE, "kqz", "it needs at least 4 and at most 4 characters", "KQZX"),
        (MAIL, "ana", "it must be written like ana@example.org", "ana@example.org"),
        (PAIRS, 7, "it must be a multiple of 2", 8),
        (PAIRS, "7", "Write a multiple of 2.", "8"),
        (PLACE, '{"zip": "1"}', "zip needs at least 4 characters", '{"zip": "1010"}'),
        (PLACE, "Ring 1", "it must be JSON", '{"zip": "1010"}'),
        (SOME, ["a"], "it has too few or too many items: at least 2", ["a", "b"]),
    ],
)
async def test_law_8_the_api_refuses_it_with_the_reason_and_the_question_stays(
    database: Database, question: Question, wrong: Any, why: str, right: Any
) -> None:
    async with gateway(database, **KEYS) as g, web(g) as client:
        record = await ask(g, question)
        place = f"/v1/interactions/{record.id}"
        asked = (await client.get(place)).json()["questions"][0]
        assert (asked["demands"], asked["written"]) == (question.demands, str(question.written))
        refused = await client.post(f"{place}/respond", json={"response": wrong})
        assert refused.status_code == 422
        assert why in refused.json()["detail"]
        assert await status(g, record.id) is InteractionStatus.PENDING
        assert (await client.post(f"{place}/respond", json={"response": right})).status_code == 200
        assert await status(g, record.id) is InteractionStatus.COMPLETED


# -- the form


async def test_law_8_the_form_says_it_first_and_takes_only_what_fits(database: Database) -> None:
    async with gateway(database) as g, web(g) as client:
        asked = await g.app.asker.ask(AskRequest(EVERY))
        place = "/f/" + asked.form_url.rpartition("/")[2]
        page = (await client.get(place)).text
        assert HINT in page and 'aria-describedby="q0-wanted"' in page
        assert 'inputmode="email"' in page and "Write it like ana@example.org." in page
        assert "≥ 2" in page and 'aria-describedby="q2-bounds q2-wanted"' in page
        fields: dict[str, Any] = {
            "q0": "kqzx",
            "q1": "ana",
            "q2": "7",
            "q3": '{"zip": 1}',
            "q4": "0",
            "q4.seen": "1",
        }
        refused = await client.post(place, data={**fields, "proof": proof_of(page)})
        assert refused.status_code == 422
        for sentence in (
            "“kqzx” does not fit. Write it like KQZX.",
            "“ana” does not fit. Write it like ana@example.org.",
            "“7” does not fit. Write a multiple of 2.",
            "zip: Write it like &#34;…&#34;.",
            "“A” does not fit. How many: at least 2.",
        ):
            assert sentence in refused.text
        assert ">\nkqzx</textarea>" in refused.text and 'value="7"' in refused.text
        assert await status(g, asked.interaction.id) is InteractionStatus.PENDING
        fields |= {
            "q0": "KQZX",
            "q1": "ana@example.org",
            "q2": "8",
            "q3": '{"zip": "1010"}',
            "q4": ["0", "1"],
        }
        await client.post(place, data={**fields, "proof": proof_of(refused.text)})
        record = await g.app.reader.interaction(asked.interaction.id)
        assert record.answer is not None
        assert record.answer.values == {
            "q1": "KQZX",
            "q2": "ana@example.org",
            "q3": 8,
            "q4": '{"zip": "1010"}',
            "q5": ["a", "b"],
        }


def proof_of(page: str) -> str:
    found = re.search(r'name="proof" value="([^"]+)"', page)
    assert found is not None
    return found[1]


async def test_a_file_alone_does_not_stand_for_a_text_that_has_to_fit(database: Database) -> None:
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((CODE,)))
        token = asked.form_url.rpartition("/")[2]
        with pytest.raises(Exception, match="has no answer yet"):
            await g.app.forms.submit(token, {}, files=(Upload("photo.jpg", "image/jpeg", b"x"),))
        assert await status(g, asked.interaction.id) is InteractionStatus.PENDING


# -- the command line


async def test_the_command_line_says_it_with_the_question(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async with gateway(database, **KEYS) as g, web(g) as client:
        record = await ask(g, CODE)
        terminal.show((await client.get(f"/v1/interactions/{record.id}")).json())
        assert HINT in capsys.readouterr().err
        record = await ask(g, PAIRS)
        terminal.show((await client.get(f"/v1/interactions/{record.id}")).json())
        assert "Write a number: at least 2. Write a multiple of 2." in capsys.readouterr().err


# -- stand-ins


async def test_law_8_what_a_stand_in_says_and_does_not_fit_is_passed_on_to_the_next(
    database: Database,
) -> None:
    first, then = Stand("first", "kqz"), Stand("then", "KQZX")
    async with gateway(
        database,
        ScriptedAgent(CODE),
        providers={"first": first, "then": then},
        hitl=Hitl(mode="first", enabled=False),
        routes=routed("then"),
    ) as g:
        run = await g.run()
        assert run.result == ["KQZX"]
        record = await g.app.reader.interaction(run.interactions[0])
        assert record.answered_by == "stand-in:then (some:model)"


@pytest.mark.parametrize(
    "made",
    [
        lambda: Default("first", Default.Settings.model_validate({"answers": [{"answer": "kqz"}]}), CONTEXT),
        lambda: Scripted("first", Scripted.Settings.model_validate({"answers": ["kqz"]}), CONTEXT),
    ],
)
async def test_predefined_answers_and_scripts_are_held_to_it_too(database: Database, made: Any) -> None:
    async with gateway(
        database,
        ScriptedAgent(CODE),
        providers={"first": made(), "then": Stand("then", "KQZX")},
        hitl=Hitl(mode="first", enabled=False),
        routes=routed("then"),
    ) as g:
        assert (await g.run()).result == ["KQZX"]


async def test_a_model_and_a_terminal_are_told_what_is_demanded(database: Database) -> None:
    stand = Stand("first", "KQZX")
    async with gateway(database, providers={"first": stand}, hitl=Hitl(mode="first")) as g:
        await ask(g, CODE)
        asked = stand.asked[0].asked
        assert asked is not None
        assert asked.problem("kqzx") == "“kqzx” does not fit. Write it like KQZX."
        assert HINT in shown(stand.asked[0], asked, 0)
        assert HINT in prompt_of(LLMSettings.model_validate({"model": "some:model"}), asked)


# -- what was set for silence


async def test_a_default_that_does_not_fit_is_refused_when_it_is_set(database: Database) -> None:
    async with gateway(database) as g:
        for default in ("kqz", "kqzx"):
            with pytest.raises(Exception, match="This does not fit what is asked for"):
                await ask(g, CODE, expires_in=60.0, on_expire=OnExpire.DEFAULT, default=default)
        record = await ask(g, CODE, expires_in=60.0, on_expire=OnExpire.DEFAULT, default="KQZX")
        await g.later(61)
        ended = await g.app.reader.interaction(record.id)
        assert ended.answer is not None and ended.answer.values == {"q1": "KQZX"}


# -- what was stored before, and what the agent's author got wrong


async def test_a_question_that_an_older_version_stored_is_asked_and_answered(database: Database) -> None:
    old = '[{"id":"q1","kind":"text","text":"Which code?"}]'
    async with gateway(database) as g:
        g.tampers = True
        record = await ask(g, CODE)
        await g.app.context.store.write(lambda tx: tx.run(OLD, key=record.id, questions_=old))
        read = await g.app.reader.interaction(record.id)
        assert read.questions == (Question("q1", "Which code?"),)
        await g.types("1001", "whatever")
        assert await status(g, record.id) is InteractionStatus.COMPLETED


class Demanding(ScriptedAgent):
    """Says something about what it demands."""

    def __init__(self, *questions: Question, **more: Any) -> None:
        super().__init__(*questions)
        self.more = more

    async def start(self, thread: str, input: Any, run: str = "") -> State:
        state = await super().start(thread, input, run)
        assert isinstance(state, Paused)
        return Paused(tuple(Pending(**{**as_fields(each), **self.more}) for each in state.pending))


def as_fields(pending: Pending) -> dict[str, Any]:
    return {name: getattr(pending, name) for name in Pending.__dataclass_fields__}


async def test_what_nothing_can_fit_fails_the_run_with_its_reason_and_asks_nobody(database: Database) -> None:
    agent = Demanding(CODE, impossible="code: minLength is 5 and maxLength is 3, which nothing fits.")
    async with gateway(database, agent) as g:
        run = await g.run()
        assert run.status is RunStatus.FAILED
        assert run.error == (
            "No answer could ever fit what it demands. code: minLength is 5 and maxLength is 3, "
            "which nothing fits. Correct the schema, and start the run anew."
        )
        assert g.memory.shown == []


async def test_what_is_not_checked_is_said_to_whoever_runs_the_agent(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Demanding(CODE, unusable=("code: minLength “5” is no whole number of 0 or more.",))
    async with gateway(database, agent) as g:
        run = await g.run()
        assert run.status is RunStatus.WAITING
        assert "scripted demands what is not checked: code: minLength “5” is no whole" in caplog.text
        told = await g.app.historian.of(run.interactions[0])
        assert "schema not usable" in [event.event for event in told.events]
