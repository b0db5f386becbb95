"""Another secret for the installation: what was sent with the old one opens nothing, and the rest goes on."""

import pytest

from answerback.ask import AskRequest
from answerback.errors import ConfigurationError, NotFound
from answerback.installation import renewed
from answerback.model import InteractionStatus, Question, QuestionKind
from answerback.store import Store, choose, renewing
from answerback.tokens import Tokens, hashed
from tests.support.databases import Database
from tests.support.gateway import gateway, settings_for

TEXT = Question("q1", "Which city?")
WIPE = Question("q1", "Wipe?", QuestionKind.CONFIRM)


async def renew(database: Database) -> int:
    store = Store(choose(database.url, str(database.data_dir)))
    store.open()
    try:
        with renewed(settings_for(database)) as secret:
            tokens = Tokens(secret, "")
            return await store.write(
                lambda tx: renewing.renew(tx, tokens.fingerprint, lambda id: hashed(tokens.of(id)))
            )
    finally:
        store.close()


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


async def test_a_renewed_secret_ends_the_links_that_were_sent_and_begins_new_ones(database: Database) -> None:
    async with gateway(database) as g:
        asked = await g.app.asker.ask(AskRequest((WIPE,)))
        await g.app.idle()
        old, sent = token_of(asked.form_url), g.memory.tapped("1001", "Yes")
    assert await renew(database) == 2  # the asker's, and the one in the message
    async with gateway(database) as g:
        with pytest.raises(NotFound):
            await g.app.forms.view(old)
        new = await g.app.asker.ask(AskRequest((TEXT,)))
        await g.app.forms.submit(token_of(new.form_url), {"q1": "Vienna"}, text="Vienna")
        await g.receive(sent)  # from the account that was asked, in the message that asked it
        records = (await g.app.reader.interactions()).items
        assert [(one.status, one.answered_by) for one in records] == [
            (InteractionStatus.COMPLETED, "alice"),
            (InteractionStatus.COMPLETED, ""),
        ]


async def test_without_that_step_another_secret_is_refused_and_the_way_out_is_named(
    database: Database,
) -> None:
    async with gateway(database):
        pass
    (database.data_dir / "secret").unlink()
    with pytest.raises(ConfigurationError, match="db renew-secret"):
        async with gateway(database):
            pass
    await renew(database)
    async with gateway(database) as g:
        assert g.app.context.store.is_open


def test_the_old_secret_stays_until_the_database_has_the_new_one(database: Database) -> None:
    settings, file = settings_for(database), database.data_dir / "secret"
    file.write_text("the old one")
    with pytest.raises(RuntimeError), renewed(settings):
        raise RuntimeError("the disk is full")
    assert file.read_text() == "the old one"
    with renewed(settings) as secret:
        assert file.read_text() == "the old one"
    assert file.read_text().strip().encode() == secret
    assert oct(file.stat().st_mode)[-3:] == "600"
    assert {path.name for path in database.data_dir.glob("secret*")} == {"secret"}
