"""The configuration that the demo writes: valid with every set of clients that may be installed."""

import pytest

from answerback import settings as configuration
from answerback_demo.written import described
from answerback_sandbox import Sandbox
from answerback_sandbox.endpoints import endpoints

URL = "http://127.0.0.1:8700"


@pytest.mark.parametrize("others", [(), ("whatsapp",), ("mail",), ("whatsapp", "mail")])
def test_whatever_is_installed_both_are_asked_there_and_alice_in_the_terminal_too(
    others: tuple[str, ...],
) -> None:
    box = Sandbox(people=("Alice", "Bob"))
    box.url = "http://127.0.0.1:8710"
    box.mail.host, box.mail.smtp_port, box.mail.imap_port = "127.0.0.1", 8725, 8743
    text = described(endpoints(box), URL, ("telegram", *others))
    settings = configuration.parse(text, file="answerback.yaml", environ={})
    names = {"mail": "email"}
    expected = {"telegram", *(names.get(app, app) for app in others)}
    alice, bob = settings.contacts["alice"], settings.contacts["bob"]
    assert {address.provider for address in alice.addresses} == {*expected, "console"}
    assert {address.provider for address in bob.addresses} == expected
    assert set(settings.providers) == {*expected, "console"}
    assert settings.routes["default"].ask == ("alice", "bob")
    assert settings.public_url == URL
