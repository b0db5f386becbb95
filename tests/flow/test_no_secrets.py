"""Law 11: tokens, answers, codes and phone numbers are in no log record, error text or repr."""

import logging
import re

import pytest

from answerback.ask import AskRequest
from answerback.errors import TryLater
from answerback.model import Question, QuestionKind
from answerback.testing import ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.gateway import gateway

SECRET_ANSWER = "the combination is 7-21-9"


async def test_nothing_secret_is_logged_on_the_way_of_an_answer(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    agent = ScriptedAgent(asks("Which?"), asks("Sure?", confirm=True))
    async with gateway(database, agent, form_auth="code") as g:
        g.memory.failures.extend([TryLater(1, "busy"), RuntimeError("a bug")])
        await g.run()
        await g.later(60)
        await g.later(60)
        agent.failures = [RuntimeError("odd")]
        await g.types("1001", SECRET_ANSWER)
        await g.types("+4366012345678", "hello from a stranger")
        await g.types("1001", "raise while parsing")
        await g.later(60)
        asked = await g.app.asker.ask(AskRequest((Question("q1", "Wipe?", QuestionKind.CONFIRM),)))
        await g.app.idle()
        token = g.memory.shown[-1].message.token
        await g.app.forms.send_code(token)
        await g.app.idle()
        code = re.search(r"\d{6}", g.memory.shown[-1].message.title)
        secrets = [
            SECRET_ANSWER,
            "+4366012345678",
            token,
            asked.form_url.rpartition("/")[2],
            g.app.settings.secret or "no secret configured",
            code[0] if code else "no code",
        ]
        shown = repr(g.memory.shown[-2].message)
    assert agent.journal
    logged = "\n".join(f"{record.getMessage()} {record.exc_text} {vars(record)}" for record in caplog.records)
    assert [secret for secret in secrets if str(secret) in logged] == []
    assert f"token='{token}'" not in shown
