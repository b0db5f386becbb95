"""`providers try` with Telegram: the message arrives, asks nothing, and errors hold no secret."""

from answerback.cli import trying
from answerback.settings import Settings, parse
from answerback_sandbox import Sandbox
from tests.providers.telegram.support import ANA, BOT, TOKEN

YAML = """
providers:
  telegram: {{use: telegram, token: "{token}", api_base: "{url}"}}
contacts:
  ana: {{name: Ana, language: fr, addresses: {{telegram: "{ana}"}}}}
"""


def configured(url: str) -> Settings:
    return parse(YAML.format(token=TOKEN, url=url, ana=ANA), file="a.yaml", environ={})


async def test_a_test_message_reaches_the_phone_and_asks_nothing(box: Sandbox) -> None:
    done = await trying.attempt(configured(box.url), "telegram", "ana")
    [message] = box.received(ANA)
    assert (done.status, done.message_ids) == ("sent", (f"{BOT}:{ANA}:{message.id}",))
    assert message.text.startswith("Ceci est un test.")
    assert not message.buttons


async def test_someone_whom_the_bot_may_not_write_to_is_told_to_be_unreachable(box: Sandbox) -> None:
    done = await trying.attempt(configured(box.url), "telegram", "4711")
    assert done.status == "undeliverable"
    assert "telegram refuses it for good" in done.detail


async def test_a_service_that_is_away_is_said_without_the_token() -> None:
    done = await trying.attempt(configured("http://127.0.0.1:9"), "telegram", "ana")
    assert done.status == "later"
    assert "nothing was sent" in done.detail
    assert TOKEN not in done.detail
    assert TOKEN.partition(":")[2] not in done.detail
