"""The suite that every provider passes, ours and yours: subclass `ProviderContract` in a test module.

    class TestChat(ProviderContract):
        provider_class = Chat
        options = {"url": "https://chat.example", "token": "secret"}

That is enough for one that needs no service to send. For all else, `far_side` starts something that behaves
like the service; see `Hooks`. It needs pytest and nothing else: every test has an event loop of its own.
"""

from answerback.testing.contract.building import Building
from answerback.testing.contract.case import Case
from answerback.testing.contract.hearing import Hearing
from answerback.testing.contract.hooks import Hooks
from answerback.testing.contract.polling import Polling
from answerback.testing.contract.sending import Sending

__all__ = ["Case", "Hooks", "ProviderContract"]


class ProviderContract(Building, Sending, Hearing, Polling):
    """Version `answerback.provider.CONTRACT_VERSION` of the contract, as tests.

    What a provider can do is found by the methods that it overrides, and only that is tested. What was left
    out is skipped, with the reason (`pytest -rs` shows it).
    """
